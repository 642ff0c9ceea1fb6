//! Ending a session ends everything that came of it.

use std::time::{Duration, Instant};

use greenroom_model::{ExitStatus, Offset};
use greenroom_proto::{Spawn, ToHolder};

use crate::daemon::{Holder, eventually, lives, shell, started};

/// How long a holder that was told to end waits for a daemon.
const NOBODY_COMES: Duration = Duration::from_secs(5);

/// The numbers after `pid` in a text.
fn pids(text: &str) -> Vec<u32> {
    text.split("pid ").skip(1).map(|it| it.split('.').next().unwrap().parse().unwrap()).collect()
}

/// A tree with one that left the session, one that has no parent, and those that ignore what asks
/// them to end. Each tells its number.
const TREE: &str = "
    trap '' HUP TERM
    setsid sh -c 'echo pid $$.; while :; do sleep 100; done' &
    (setsid sh -c 'echo pid $$.; sleep 100; :' &)
    sh -c 'echo pid $$.; sleep 100; :' &
    echo pid $$.
    while :; do sleep 100; done";

#[test]
fn a_tree_that_does_not_want_to_end_is_killed() {
    let (mut holder, mut daemon, _) = started(TREE);
    let mut at = Offset(0);
    let mut output = Vec::new();
    while output.iter().filter(|&&byte| byte == b'.').count() < 4 {
        assert_eq!(daemon.output(&mut at, &mut output), None);
    }
    let members = pids(&String::from_utf8(output).unwrap());
    let all = greenroom_pty::descendants(holder.pid());
    assert!(members.iter().all(|pid| all.contains(pid)), "{members:?} of {all:?}");
    daemon.send(&ToHolder::Kill { grace_ms: 50 });
    let ended = daemon.until_ended(at);
    assert_eq!(ended.status, ExitStatus::Signal(9));
    daemon.send(&ToHolder::Release);
    assert!(holder.wait());
    for pid in all {
        eventually("everyone is gone", || !lives(pid));
    }
}

#[test]
fn who_ends_when_asked_has_the_grace_for_it() {
    let script =
        "trap '' HUP; trap 'echo bye; exit 6' TERM; echo ready; while :; do sleep 0.01; done";
    let (holder, mut daemon, _) = started(script);
    daemon.until("ready", Offset(0));
    daemon.send(&ToHolder::Kill { grace_ms: 60_000 });
    let ended = daemon.until_ended(Offset(7));
    assert!(ended.text.contains("bye"), "{:?}", ended.text);
    assert_eq!(ended.status, ExitStatus::Code(6));
    eventually("nobody is left", || greenroom_pty::descendants(holder.pid()).is_empty());
    // With nobody left there is nothing to wait for, so the holder can go at once.
    daemon.send(&ToHolder::Release);
    let mut holder = holder;
    assert!(holder.wait());
}

#[test]
fn a_stopped_child_ends_too() {
    let (_holder, mut daemon, hello) = started("echo ready; kill -STOP $$; echo never");
    daemon.until("ready", Offset(0));
    eventually("it is stopped", || crate::daemon::state(hello.child_pid).as_deref() == Some("T"));
    daemon.send(&ToHolder::Kill { grace_ms: 60_000 });
    let ended = daemon.until_ended(Offset(7));
    assert_eq!(ended.status, ExitStatus::Signal(1));
}

#[test]
fn release_waits_for_a_kill_under_way() {
    let (mut holder, mut daemon, _) = started(
        "setsid sh -c 'trap \"\" HUP TERM; echo pid $$.; while :; do sleep 100; done' & read line",
    );
    let text = daemon.until(".", Offset(0));
    let pid = pids(&text)[0];
    daemon.send(&ToHolder::Kill { grace_ms: 300 });
    daemon.until_ended(Offset(text.len() as u64));
    daemon.send(&ToHolder::Release);
    assert!(holder.wait());
    eventually("it is killed though the session had ended", || !lives(pid));
}

#[test]
fn a_second_kill_can_only_hasten_it() {
    let (_holder, mut daemon, _) =
        started("trap '' HUP TERM; echo ready; while :; do sleep 100; done");
    daemon.until("ready", Offset(0));
    daemon.send(&ToHolder::Kill { grace_ms: u32::MAX });
    daemon.send(&ToHolder::Kill { grace_ms: 0 });
    daemon.send(&ToHolder::Kill { grace_ms: u32::MAX });
    assert_eq!(daemon.until_ended(Offset(7)).status, ExitStatus::Signal(9));
}

#[test]
fn what_is_left_after_the_childs_end_can_be_killed_later() {
    let (holder, mut daemon, _) = started("trap '' HUP; sleep 100 & echo pid $!.");
    let ended = daemon.until_ended(Offset(0));
    let pid = pids(&ended.text)[0];
    assert!(lives(pid));
    daemon.send(&ToHolder::Kill { grace_ms: 60_000 });
    eventually("it is gone", || greenroom_pty::descendants(holder.pid()).is_empty());
    assert!(!lives(pid));
}

#[test]
fn a_signal_goes_to_the_foreground() {
    // With job control the `sleep` is a group of its own, and the shell is not signalled.
    let script = "set -m; trap 'echo wrong' INT; sh -c 'echo ready; exec sleep 100'; echo code $?";
    let (_holder, mut daemon, _) = started(script);
    daemon.until("ready", Offset(0));
    daemon.send(&ToHolder::Signal(15));
    let ended = daemon.until_ended(Offset(7));
    assert!(ended.text.contains("code 143"), "{:?}", ended.text);
    assert!(!ended.text.contains("wrong"), "{:?}", ended.text);
}

#[test]
fn senseless_signals_do_nothing() {
    let (_holder, mut daemon, _) = started("read line; echo $line");
    for signal in [0, -1, i32::MIN, 65, i32::MAX] {
        daemon.send(&ToHolder::Signal(signal));
    }
    daemon.type_in("hi\n");
    assert_eq!(daemon.until_ended(Offset(0)).status, ExitStatus::Code(0));
}

#[test]
fn a_holder_told_to_end_ends_its_child_and_reports_it() {
    let (mut holder, mut daemon, _) = started("echo ready; exec sleep 100");
    daemon.until("ready", Offset(0));
    // A hangup is the daemon's terminal's business and none of ours.
    assert!(greenroom_pty::kill(holder.pid(), 1));
    assert!(greenroom_pty::kill(holder.pid(), 15));
    assert_eq!(daemon.until_ended(Offset(7)).status, ExitStatus::Signal(1));
    assert!(lives(holder.pid()));
    // Told again, it does not wait for anybody to take the last bytes.
    assert!(greenroom_pty::kill(holder.pid(), 15));
    assert!(holder.wait());
}

#[test]
fn a_holder_told_to_end_goes_when_nobody_comes_for_the_rest() {
    // The second fills its log, so that its last bytes cannot even be read.
    for spawn in [shell("exec sleep 100"), Spawn { keep_bytes: 1, ..shell("exec yes") }] {
        let (mut holder, mut daemon) = Holder::start(spawn);
        daemon.hello();
        drop(daemon);
        assert!(greenroom_pty::kill(holder.pid(), 15));
        assert!(holder.wait());
        assert!(!holder.socket().exists());
    }
}

#[test]
fn a_daemon_that_comes_soon_gets_the_last_bytes_of_a_holder_told_to_end() {
    let script =
        "trap '' HUP; trap 'echo bye; exit 6' TERM; echo ready; while :; do sleep 0.01; done";
    let (mut holder, mut daemon, hello) = started(script);
    daemon.until("ready", Offset(0));
    drop(daemon);
    assert!(greenroom_pty::kill(holder.pid(), 15));
    eventually("the child is gone", || !lives(hello.child_pid));
    let mut next = holder.connect();
    next.hello();
    let ended = next.until_ended(Offset(0));
    assert!(ended.text.contains("bye"), "{:?}", ended.text);
    assert_eq!(ended.status, ExitStatus::Code(6));
    next.send(&ToHolder::Release);
    assert!(holder.wait());
}

#[test]
fn a_holder_told_to_end_that_nobody_can_find_waits_for_nobody() {
    let (mut holder, daemon, _) = started("exec sleep 100");
    std::fs::remove_file(holder.socket()).unwrap();
    drop(daemon);
    let began = Instant::now();
    assert!(greenroom_pty::kill(holder.pid(), 15));
    assert!(holder.wait());
    assert!(began.elapsed() < NOBODY_COMES, "{:?}", began.elapsed());
}

#[test]
fn a_session_on_a_leash_ends_with_its_daemon() {
    for script in [TREE, "echo pid $$.; echo pid $$.; echo pid $$.; echo pid $$."] {
        let spawn = Spawn { leashed: true, ..shell(script) };
        let (mut holder, mut daemon) = Holder::start(spawn);
        daemon.hello();
        let mut output = Vec::new();
        let mut at = Offset(0);
        while output.iter().filter(|&&byte| byte == b'.').count() < 4 {
            assert_eq!(daemon.output(&mut at, &mut output), None);
        }
        let all = greenroom_pty::descendants(holder.pid());
        drop(daemon);
        assert!(holder.wait());
        assert!(!holder.socket().exists());
        for pid in all {
            eventually("everyone is gone", || !lives(pid));
        }
    }
}
