//! Nothing a daemon sends harms the session.

use greenroom_model::Offset;
use greenroom_proto::ToHolder;

use crate::daemon::{Holder, shell, started};

/// Sends bytes on a connection of their own, and wants the session to be as it was.
#[track_caller]
fn check(holder: &Holder, bytes: &[u8], closes: bool) {
    let mut daemon = holder.connect();
    // The holder may close while they are being sent.
    let _closed = daemon.send_bytes(bytes);
    if closes {
        assert!(daemon.closes());
    }
    holder.connect().hello();
}

#[test]
fn garbage_ends_a_connection_and_not_the_session() {
    let (holder, mut daemon, _) = started("echo ready; read line; echo $line");
    daemon.until("ready", Offset(0));
    check(&holder, &[8, 255, 255, 255, 255], true);
    check(&holder, &[2, 0, 0, 0, 4, 0, 0, 0, 0], true);
    check(&holder, &[6, 0, 0, 0, 2, 1, 1], true);
    check(&holder, &[1, 0, 0, 0, 4, 255, 255, 255, 255], true);
    check(&holder, &[200, 0, 0, 0, 3, 1, 2, 3], false);
    check(&holder, &[6, 3, 255, 255, 255], false);
    let mut spawn = Vec::new();
    ToHolder::Spawn(Box::new(shell("echo another"))).encode(&mut spawn);
    check(&holder, &spawn, true);

    let mut state = 1_u64;
    for _ in 0..200 {
        let mut bytes = vec![0; 300];
        for byte in &mut bytes {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *byte = (state >> 56) as u8;
        }
        // Not one of the messages that do something on purpose.
        bytes[0] |= 0x10;
        check(&holder, &bytes, false);
    }
    let mut last = holder.connect();
    last.hello();
    last.type_in("fine\n");
    assert!(last.until_ended(Offset(0)).text.ends_with("fine\r\nfine\r\n"));
}

#[test]
fn a_message_may_come_byte_by_byte() {
    let (_holder, mut daemon, _) = started("stty size; read line; stty size");
    daemon.until("24 80\r\n", Offset(0));
    let mut bytes = Vec::new();
    ToHolder::Resize { size: greenroom_model::Size::clamped(10, 5), set: true }.encode(&mut bytes);
    for byte in bytes {
        daemon.send_bytes(&[byte]).unwrap();
    }
    // Answered in order: this connection's messages are handled before it is replaced.
    daemon.send(&ToHolder::Signal(0));
    crate::daemon::eventually("the new size is told", || {
        _holder.connect().hello().size == greenroom_model::Size::clamped(10, 5)
    });
}

#[test]
fn garbage_instead_of_the_first_message_ends_the_holder() {
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[1, 0, 0, 0, 1, 0], &[1, 255, 0, 0, 0]] {
        let (mut holder, mut daemon) = Holder::silent();
        daemon.send_bytes(bytes).unwrap();
        drop(daemon);
        assert!(!holder.wait());
        assert!(!holder.socket().exists());
    }
}
