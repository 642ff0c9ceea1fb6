//! All output, then the exit, exactly once, and the holder stays until it is released.

use std::time::Instant;

use greenroom_model::{ExitStatus, Offset};
use greenroom_proto::{FromHolder, ToHolder};

use crate::daemon::{Holder, eventually, lives, shell, started};

#[test]
fn output_then_the_exit_code() {
    let (_holder, mut daemon, _) = started("echo hello; exit 3");
    let ended = daemon.until_ended(Offset(0));
    assert_eq!((ended.text.as_str(), ended.status), ("hello\r\n", ExitStatus::Code(3)));
}

#[test]
fn output_then_the_signal() {
    let (_holder, mut daemon, _) = started("echo hello; kill -SEGV $$");
    let ended = daemon.until_ended(Offset(0));
    assert_eq!((ended.text.as_str(), ended.status), ("hello\r\n", ExitStatus::Signal(11)));
}

#[test]
fn what_is_typed_comes_back() {
    let (_holder, mut daemon, _) = started("read line; echo \"got $line\"");
    daemon.type_in("some text\n");
    let ended = daemon.until_ended(Offset(0));
    assert_eq!(ended.text, "some text\r\ngot some text\r\n");
}

#[test]
fn a_hundred_quick_programs_lose_nothing() {
    const BYTES: usize = 100 << 10;
    let script = format!("head -c {BYTES} /dev/zero | tr '\\0' x");
    for _ in 0..10 {
        let held: Vec<_> = (0..10).map(|_| Holder::start(shell(&script))).collect();
        for (_holder, mut daemon) in held {
            daemon.hello();
            let ended = daemon.until_ended(Offset(0));
            assert_eq!((ended.text.len(), ended.status), (BYTES, ExitStatus::Code(0)));
        }
    }
}

#[test]
fn an_end_without_a_daemon_is_told_to_the_next() {
    let (mut holder, daemon, hello) = started("read line; seq 20000; kill -9 $$");
    let mut first = daemon;
    first.type_in("\n");
    drop(first);
    eventually("the child is gone", || !lives(hello.child_pid));
    for _ in 0..2 {
        let mut next = holder.connect();
        assert_eq!(next.hello().kept, Offset(0));
        let ended = next.until_ended(Offset(0));
        assert_eq!(ended.text.lines().skip(1).count(), 20_000);
        assert_eq!(ended.status, ExitStatus::Signal(9));
    }
    let mut last = holder.connect();
    last.send(&ToHolder::Release);
    assert!(last.closes());
    assert!(holder.wait());
    assert!(!holder.socket().exists());
}

#[test]
fn release_ends_the_holder_and_only_after_the_child() {
    let (mut holder, mut daemon, _) = started("read line; echo $line");
    daemon.send(&ToHolder::Release);
    daemon.type_in("on\n");
    let ended = daemon.until_ended(Offset(0));
    assert_eq!(ended.text, "on\r\non\r\n");
    assert!(holder.socket().exists());
    daemon.send(&ToHolder::Release);
    assert_eq!(daemon.next("the end"), None);
    assert!(holder.wait());
    assert!(!holder.socket().exists());
}

#[test]
fn a_background_process_does_not_delay_the_end_and_lives_on() {
    let script = "trap '' HUP; sleep 100 & echo pid $!.";
    let (mut holder, mut daemon, _) = started(script);
    let began = Instant::now();
    let ended = daemon.until_ended(Offset(0));
    assert!(began.elapsed().as_secs() < 10);
    let pid = ended.text.split([' ', '.']).nth(1).unwrap().parse().unwrap();
    assert!(lives(pid), "it is left alone");
    daemon.send(&ToHolder::Release);
    assert!(holder.wait());
    assert!(lives(pid));
    assert!(greenroom_pty::kill(pid, 9));
}

#[test]
fn a_terminal_nobody_has_open_for_a_while_is_no_end() {
    let script = "exec </dev/null >/dev/null 2>&1; i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; \
                  echo back >/dev/tty; exit 5";
    let (_holder, mut daemon, _) = started(script);
    let ended = daemon.until_ended(Offset(0));
    assert_eq!((ended.text.as_str(), ended.status), ("back\r\n", ExitStatus::Code(5)));
}

#[test]
fn orphans_are_reaped() {
    let script = "(sh -c 'exit 1' & ); (sh -c 'echo orphan $$.' & ); read line";
    let (holder, mut daemon, hello) = started(script);
    let text = daemon.until(".", Offset(0));
    let pid: u32 = text.split([' ', '.']).nth(1).unwrap().parse().unwrap();
    eventually("the orphan is no zombie", || crate::daemon::state(pid).is_none());
    let left = greenroom_pty::descendants(holder.pid());
    eventually("the child alone is left", || {
        left == [hello.child_pid] || greenroom_pty::descendants(holder.pid()) == [hello.child_pid]
    });
}

#[test]
fn an_ended_session_still_says_its_size() {
    let (holder, mut daemon, _) = started("exit 0");
    daemon.until_ended(Offset(0));
    drop(daemon);
    let mut next = holder.connect();
    assert_eq!(next.hello().end, Offset(0));
    assert!(next.has_terminal());
    assert_eq!(next.next("the end"), Some(FromHolder::Ended(ExitStatus::Code(0))));
}
