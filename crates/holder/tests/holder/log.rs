//! The log has a bound: past it the child waits, and nothing is lost.

use bytes::Bytes;
use greenroom_model::{ExitStatus, Offset};
use greenroom_proto::{Spawn, ToHolder};

use crate::daemon::{Daemon, Holder, eventually, shell, started, state};

const KEEP: u64 = 64 << 10;

fn checkpoint(daemon: &mut Daemon, at: Offset) {
    daemon.send(&ToHolder::Checkpoint { at, keep: at, blob: Bytes::from_static(b"screen") });
}

/// Where the log ends, as a daemon that comes by is told.
fn end(holder: &Holder) -> Offset {
    holder.connect().hello().end
}

#[test]
fn a_full_log_blocks_the_child_and_a_checkpoint_lets_it_go_on() {
    const LINES: u32 = 100_000;
    let script = format!("seq {LINES}; exit 4");
    let (holder, mut daemon) = Holder::start(Spawn { keep_bytes: KEEP, ..shell(&script) });
    daemon.hello();
    drop(daemon);
    let mut before = Offset(0);
    eventually("the log is full", || {
        let now = end(&holder);
        now.0 >= KEEP && std::mem::replace(&mut before, now) == now
    });
    assert!(before.0 < KEEP + (64 << 10), "hardly more than the bound: {before}");
    assert!(greenroom_pty::descendants(holder.pid()).len() > 1, "the writer waits");

    let mut daemon = holder.connect();
    daemon.hello();
    let (mut at, mut output) = (Offset(0), Vec::new());
    let status = loop {
        if let Some(status) = daemon.output(&mut at, &mut output) {
            break status;
        }
        checkpoint(&mut daemon, at);
    };
    assert_eq!(status, ExitStatus::Code(4));
    let expected: String = (1..=LINES).map(|line| format!("{line}\r\n")).collect();
    assert!(output == expected.as_bytes(), "{} of {} bytes", output.len(), expected.len());
}

#[test]
fn a_child_that_ends_against_a_full_log_is_told_whole() {
    // It ends while its last bytes are with the kernel, because the log has no room.
    let script = "head -c 8000 /dev/zero | tr '\\0' x";
    let (holder, mut daemon) = Holder::start(Spawn { keep_bytes: 1, ..shell(script) });
    let hello = daemon.hello();
    let (mut at, mut output) = (Offset(0), Vec::new());
    assert_eq!(daemon.output(&mut at, &mut output), None);
    eventually("the child has ended", || state(hello.child_pid).is_none());
    assert!(lives_on(&holder));
    let status = loop {
        checkpoint(&mut daemon, at);
        if let Some(status) = daemon.output(&mut at, &mut output) {
            break status;
        }
    };
    assert_eq!((output.len(), status), (8_000, ExitStatus::Code(0)));
}

fn lives_on(holder: &Holder) -> bool {
    state(holder.pid()).is_some_and(|state| state == "S" || state == "R")
}

#[test]
fn a_daemon_that_reads_nothing_gets_it_all_later() {
    let (_holder, mut daemon, hello) = started("seq 500000");
    // The holder reads on while the socket is full, so the child can end.
    eventually("the child has ended", || state(hello.child_pid).is_none());
    let ended = daemon.until_ended(Offset(0));
    assert_eq!(ended.text.lines().count(), 500_000);
    assert!(ended.text.ends_with("499999\r\n500000\r\n"));
}

#[test]
fn a_checkpoint_in_the_middle_of_a_message_harms_neither() {
    let (holder, mut daemon, hello) = started("seq 500000; read line");
    let lines: String = (1..=500_000).map(|line| format!("{line}\r\n")).collect();
    let length = Offset(lines.len() as u64);
    eventually("all is in the log", || end(&holder) == length);
    assert_eq!(hello.kept, Offset(0));
    drop(daemon);
    daemon = holder.connect();
    daemon.hello();
    // By now the socket is full and a message half in it. These are beyond what was sent.
    checkpoint(&mut daemon, length);
    assert!(daemon.until("500000\r\n", Offset(0)) == lines);
    eventually("the log is empty", || holder.connect().hello().kept == length);
}

#[test]
fn a_checkpoint_from_another_time_is_ignored() {
    let (holder, mut daemon, _) = started("echo 0123456789; read line");
    daemon.until("\n", Offset(0));
    checkpoint(&mut daemon, Offset(5));
    checkpoint(&mut daemon, Offset(2));
    checkpoint(&mut daemon, Offset(13));
    checkpoint(&mut daemon, Offset(u64::MAX));
    // It hears a daemon out before it greets the next.
    let mut next = holder.connect();
    assert_eq!(next.hello().kept, Offset(5));
    assert!(next.next("a checkpoint").is_some());
    next.type_in("\n");
    assert_eq!(next.until_ended(Offset(5)).text, "56789\r\n\r\n");
}
