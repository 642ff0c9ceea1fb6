//! Daemons come and go; every byte is told once to each, from what is kept on.

use bytes::Bytes;
use greenroom_model::{ExitStatus, Offset, Size};
use greenroom_proto::{FromHolder, ToHolder};

use crate::daemon::{eventually, started};

/// A few thousand random-looking decisions, the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

#[test]
fn every_byte_once_over_many_daemons() {
    const LINES: u64 = 300_000;
    let (holder, mut daemon, _) = started(&format!("seq {LINES}; exit 9"));
    let mut dice = Dice(1);
    let mut output = Vec::new();
    let mut at = Offset(0);
    let (mut daemons, mut checkpointed) = (1, false);
    let status = 'all: loop {
        for _ in 0..dice.below(4) {
            if let Some(status) = daemon.output(&mut at, &mut output) {
                break 'all status;
            }
        }
        if dice.below(2) == 0 {
            // All but the last few bytes are in the checkpoint, so those come again.
            let keep = Offset(at.0.saturating_sub(dice.below(10_000)));
            let blob = Bytes::from(at.0.to_be_bytes().to_vec());
            daemon.send(&ToHolder::Checkpoint { at, keep, blob });
            checkpointed = true;
        }
        daemon = holder.connect();
        daemons += 1;
        let hello = daemon.hello();
        assert!(hello.kept <= at && at <= hello.end, "{hello:?} at {at}");
        at = hello.kept;
        output.truncate(at.0 as usize);
        assert_eq!(hello.checkpoint, checkpointed);
        if checkpointed {
            let checkpoint = daemon.next("a checkpoint");
            assert!(
                matches!(checkpoint, Some(FromHolder::Checkpoint { at, .. }) if at >= hello.kept)
            );
        }
    };
    assert!(daemons > 5, "{daemons}");
    assert_eq!(status, ExitStatus::Code(9));
    let expected: String = (1..=LINES).map(|line| format!("{line}\r\n")).collect();
    assert!(output == expected.as_bytes(), "{} of {} bytes", output.len(), expected.len());
}

#[test]
fn a_new_daemon_replaces_the_one_before() {
    let (holder, first, _) = started("read line; echo $line");
    let mut second = holder.connect();
    second.hello();
    assert!(first.closes());
    second.type_in("hi\n");
    assert_eq!(second.until_ended(Offset(0)).text, "hi\r\nhi\r\n");
}

#[test]
fn what_a_daemon_left_is_told_to_the_next() {
    let (holder, mut daemon, _) = started("echo 0123456789; read line");
    daemon.until("\n", Offset(0));
    let size = Size::new(100, 40).unwrap();
    daemon.send(&ToHolder::Resize { size, set: true });
    daemon.send(&ToHolder::Describe(Bytes::from_static(b"another")));
    daemon.send(&ToHolder::Answered(Offset(6)));
    daemon.send(&ToHolder::Answered(Offset(4)));
    let blob = Bytes::from(vec![b'x'; 3 << 20]);
    daemon.send(&ToHolder::Checkpoint { at: Offset(8), keep: Offset(3), blob: blob.clone() });
    eventually("all of it was taken", || {
        let mut next = holder.connect();
        let Some(FromHolder::Hello(hello)) = next.next("a hello") else { panic!() };
        if hello.kept == Offset(0) {
            return false;
        }
        assert_eq!((hello.size, hello.answered), (size, Offset(6)));
        assert_eq!((hello.kept, hello.end), (Offset(3), Offset(12)));
        let description = FromHolder::Description(Bytes::from_static(b"another"));
        assert_eq!(next.next("a description"), Some(description));
        let checkpoint = FromHolder::Checkpoint { at: Offset(8), blob: blob.clone() };
        assert_eq!(next.next("a checkpoint"), Some(checkpoint));
        assert_eq!(next.until("\n", Offset(3)), "3456789\r\n");
        true
    });
}

#[test]
fn a_daemon_that_leaves_the_size_to_the_holder_sizes_a_terminal_that_its_program_has_sized() {
    let script =
        "stty cols 50 rows 20; trap 'stty size' WINCH; echo ready; while :; do read line; done";
    let (_holder, mut daemon, _) = started(script);
    daemon.until("ready", Offset(0));
    daemon.send(&ToHolder::Resize { size: Size::new(33, 11).unwrap(), set: false });
    daemon.until("11 33", Offset(7));
}

#[test]
fn a_resize_reaches_the_child() {
    let script = "trap 'stty size; exit' WINCH; echo ready; while :; do read line; done";
    let (_holder, mut daemon, _) = started(script);
    daemon.until("ready", Offset(0));
    daemon.send(&ToHolder::Resize { size: Size::new(33, 11).unwrap(), set: true });
    assert!(daemon.until_ended(Offset(7)).text.contains("11 33"));
}
