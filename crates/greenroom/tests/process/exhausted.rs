//! The system has no terminal or process left, or a program takes them all (R6).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use greenroom_client::{Error, ErrorKind, Refusal};
use greenroom_testkit::{
    Daemon, Home, count, create, eventually, eventually_ok, process, session_list,
};
use serde_json::json;

use crate::strace::{Fault, Holders, Tampered};
use crate::support::{ANSWERS, assert_answers, call, pid};

/// Forks as fast as it can, also into sessions of their own, and heeds no signal that can be
/// ignored.
const BOMB: &str = "use POSIX; $SIG{$_} = 'IGNORE' for qw(HUP TERM INT); while (1) { \
    my $child = fork; if (!defined $child) { REST } elsif (!$child && rand() < 0.3) { setsid } }";

/// What it does in the suite where it is refused: other tests want to run, too.
const REST: &str = "select undef, undef, undef, 0.002";

/// A user nobody is: root has no limit on processes.
const NOBODY: u32 = 61_234;

fn home() -> Home {
    Home::with_programs(env!("CARGO_BIN_EXE_greenroom"))
}

/// The refusal of a session; nothing is left of it, and the next one works.
#[track_caller]
fn refused(home: &Home, undo: impl FnOnce()) -> Refusal {
    let answer = home.connect().call("session.create", &json!({"argv": ["sh", "-c", "read line"]}));
    undo();
    let Err(Error::Refused(refusal)) = answer else { panic!("it was made: {answer:?}") };
    let mut connection = home.connect();
    assert_eq!(session_list(&mut connection, true).len(), 1, "nothing half-made is listed");
    assert_answers(&mut connection, "other", 1);
    create(&mut connection, "next", ANSWERS);
    assert_answers(&mut connection, "next", 1);
    call(&mut connection, "session.kill", json!({"sessionId": "next", "graceMs": 0}));
    eventually("nothing is left of it", || home.holder_sockets().len() == 1);
    refusal
}

#[test]
fn without_terminals_a_session_is_refused_and_nothing_is_left() {
    let home = home();
    let holders = Holders::of(&home);
    let _daemon = home.start();
    create(&mut home.connect(), "other", ANSWERS);
    let file = Some("/dev/ptmx");
    holders.tamper(Fault { call: "open,openat", error: "ENOSPC", nth: 1, file });
    let refusal = refused(&home, || assert!(holders.leave_alone(), "the fault was met"));
    assert_eq!(refusal.kind, ErrorKind::Spawn);
    assert!(refusal.message.contains("open a terminal"), "{}", refusal.message);
    assert!(refusal.hint.is_some_and(|it| it.contains("terminals")));
}

/// Has terminals of its own, so many of them, and becomes what follows: nobody else runs out.
const FEW_TERMINALS: &str = "mount -t devpts -o newinstance,ptmxmode=0666,max=\"$1\" devpts /dev/pts \
    && mount --bind /dev/pts/ptmx /dev/ptmx && shift && exec \"$@\"";

#[test]
fn the_last_terminal_of_the_system_is_given_out_and_again_when_it_is_free() {
    let home = home();
    let binary = home.binary().display().to_string();
    // Who is not root is root of a world of its own.
    let apart = if rustix::process::getuid().is_root() { "-m" } else { "-rm" };
    let words = [apart, "sh", "-c", FEW_TERMINALS, "sh", "2", &binary];
    let daemon = ["daemon", "start", "--foreground"];
    let command = home.command_of(Path::new("unshare"), words.iter().chain(&daemon));
    let mut daemon = Daemon::begin(&home, command);
    daemon.wait_until_it_answers(&home);
    let mut connection = home.connect();
    create(&mut connection, "other", ANSWERS);
    create(&mut connection, "last", ANSWERS);
    let argv = json!({"argv": ["sh", "-c", "read line"]});
    let answer = connection.call("session.create", &argv);
    let Err(Error::Refused(refusal)) = answer else { panic!("it was made: {answer:?}") };
    assert_eq!(refusal.kind, ErrorKind::Spawn);
    assert!(refusal.message.contains("open a terminal"), "{}", refusal.message);
    assert!(refusal.hint.is_some_and(|it| it.contains("terminals")));
    assert_eq!(session_list(&mut connection, true).len(), 2, "nothing half-made is listed");
    assert_answers(&mut connection, "other", 1);
    assert_answers(&mut connection, "last", 1);
    call(&mut connection, "session.kill", json!({"sessionId": "last", "graceMs": 0}));
    eventually("its terminal is free", || home.holder_sockets().len() == 1);
    create(&mut connection, "next", ANSWERS);
    assert_answers(&mut connection, "next", 1);
}

#[test]
fn without_processes_a_session_is_refused_and_nothing_is_left() {
    let home = home();
    let holders = Holders::of(&home);
    let daemon = home.start();
    create(&mut home.connect(), "other", ANSWERS);
    let fault = Fault { call: "clone,clone3,fork,vfork", error: "EAGAIN", nth: 1, file: None };
    let out = |refusal: Refusal| {
        let text = refusal.message.to_lowercase();
        assert!(text.contains("resource temporarily unavailable"), "{text}");
        let hint = refusal.hint.unwrap_or_default();
        assert!(hint.contains("processes"), "{hint}");
        refusal.kind
    };
    // The daemon has none for a holder, then the holder none for the program.
    let tampered = Tampered::attach(&home, daemon.pid(), fault);
    let refusal = refused(&home, || assert!(tampered.detach(), "the fault was met"));
    out(refusal);
    call(&mut home.connect(), "session.forget", json!({"sessionId": "next"}));
    holders.tamper(fault);
    let refusal = refused(&home, || assert!(holders.leave_alone(), "the fault was met"));
    assert_eq!(out(refusal), ErrorKind::Spawn);
}

/// How many threads a user has.
fn threads_of(user: u32) -> usize {
    let status = |pid| fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let field = |status: &str, name: &str| -> Option<u32> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let all = process::all().into_iter().map(status);
    let theirs = all.filter(|it| field(it, "Uid:") == Some(user));
    theirs.filter_map(|it| field(&it, "Threads:")).sum::<u32>() as usize
}

#[test]
fn a_kill_ends_a_fork_bomb_at_its_limit() {
    let home = home();
    let daemon = home.start();
    let mut connection = home.connect();
    let other = create(&mut connection, "other", ANSWERS);
    let us = rustix::process::getuid();
    let user = if us.is_root() { NOBODY } else { us.as_raw() };
    let (bombs, bomb) =
        (count(60, 150), BOMB.replace("REST", if count(0, 1) == 1 { "" } else { REST }));
    let limit = format!("--nproc={}", threads_of(user) + bombs);
    let (reuid, regid) = (format!("--reuid={user}"), format!("--regid={user}"));
    let become_nobody = ["setpriv", &reuid, &regid, "--clear-groups"];
    let mut argv = if us.is_root() { become_nobody.to_vec() } else { Vec::new() };
    argv.extend(["prlimit", &limit, "perl", "-e", &bomb]);
    call(&mut connection, "session.create", json!({"name": "bomb", "argv": argv}));
    eventually("the bomb has all the processes it gets", || home.processes().len() > bombs);
    assert_answers(&mut connection, "other", 1);

    call(&mut connection, "session.kill", json!({"sessionId": "bomb", "graceMs": 0}));
    let expected = BTreeSet::from([daemon.pid(), pid(&other, "pid"), pid(&other, "holderPid")]);
    eventually_ok("nobody of it is left", || {
        let left: BTreeSet<u32> = home.processes().into_iter().collect();
        if left == expected { Ok(()) } else { Err(format!("{left:?}, expected {expected:?}")) }
    });
    assert_answers(&mut connection, "other", 2);
}
