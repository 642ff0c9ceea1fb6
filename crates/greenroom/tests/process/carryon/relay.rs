//! A client at a session's socket goes on over daemons: killed, stopped, upgraded, and away (K1, K6, B1).

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use greenroom_testkit::{Daemon, Home, LINE, Lines, Signal, count, eventually, line, process};
use serde_json::{Value, json};

use super::{Attached, attach, call, connect, create, kind};
use crate::support::{home, wait_for_text};

/// The relays of a home.
fn relays(home: &Home) -> Vec<u32> {
    let is_relay = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|&byte| byte == 0).nth(1) == Some(b"relay")
    };
    home.processes().into_iter().filter(is_relay).collect()
}

/// A session that runs a line, and a client at its socket; the first connection is gone.
#[track_caller]
fn attached(home: &Home, name: &str, line: &str) -> (String, Attached) {
    let mut wire = home.wire();
    call(&mut wire, "client.identify", json!({"type": "vscode", "name": "an editor"}));
    let id = create(&mut wire, name, line);
    let path = attach(&mut wire, &id);
    (id, Attached::connect(&path))
}

/// Sends a daemon a signal that ends it, and waits until it has.
fn stop(mut daemon: Daemon) {
    daemon.signal(Signal::TERM);
    assert_eq!(daemon.wait_for_end().code(), Some(0));
}

fn info(home: &Home, id: &str) -> Value {
    call(&mut home.wire(), "session.info", json!({"sessionId": id}))
}

/// K1, at the session's own socket.
#[test]
fn every_byte_comes_once_however_often_the_daemon_is_killed() {
    let megabytes = count(12, 100) as u64;
    let kills = count(12, 200) as u64;
    let total = megabytes * 1_000_000 / (line(1).len() as u64 + 1);
    let home = home();
    home.configure("[clients]\nlag_bytes = 67108864\n");
    let mut daemon = home.start();
    let script = format!(
        "trap 'exit 9' HUP; stty -echo -onlcr; echo ready; read go; seq -f '{LINE}' 1 {total} || exit 8; \
         printf done; read end; exit 7"
    );
    let mut wire = home.wire();
    let id = create(&mut wire, "printer", &script);
    wait_for_text(&mut home.connect(), "printer", "ready");
    let mut client = Attached::connect(&attach(&mut wire, &id));
    client.send(kind::DATA, b"\r");
    let (mut lines, mut killed) = (Lines::default(), 0);
    while lines.begun() != b"done" {
        // Spread over the stream; every third one dies as soon as it answers.
        if killed < kills && lines.count() > total * killed / (kills + 1) {
            daemon.restart(&home);
            killed += 1;
            if killed % 3 == 0 && killed < kills {
                daemon.restart(&home);
                killed += 1;
            }
        }
        match client.frame().expect("the connection outlives every daemon") {
            (kind::DATA, bytes) => lines.feed(&bytes),
            other => panic!("{other:?} in the middle of the output"),
        }
    }
    assert_eq!((lines.count(), killed), (total, kills));
    client.send(kind::DATA, b"\r");
    assert_eq!(client.until_exit().0, 7);
    eventually("the relay has ended", || relays(&home).is_empty());
}

#[test]
fn what_is_typed_while_there_is_no_daemon_is_typed_by_the_next() {
    let home = home();
    let daemon = home.start();
    let (id, mut client) = attached(&home, "typed", "stty -echo; echo up; exec cat");
    client.until_text("up");
    client.resize(100, 30);
    eventually("the session has the size", || info(&home, &id)["cols"] == 100);
    stop(daemon);
    client.send(kind::DATA, b"one ");
    client.send(kind::DATA, b"line\r");
    // How things stood is still told.
    client.send(kind::STATUS, b"");
    let (status, _) = client.until(kind::STATUS_IS);
    assert_eq!((status.len(), &status[8..12]), (14, &[0, 100, 0, 30][..]));
    assert_eq!(status[..4], client.greeting.pid.to_be_bytes());
    let daemon = home.start();
    client.until_text("one line");
    // It is who it was, and one client.
    eventually("the relay has said for whom it came back", || {
        info(&home, &id)["clients"][0]["type"] == "vscode"
    });
    let session = info(&home, &id);
    assert_eq!((&session["attachedClients"], &session["cols"]), (&json!(1), &json!(100)));
    assert_eq!(session["clients"][0]["name"], "an editor");
    assert_eq!(session["clients"][0]["pid"], std::process::id());
    // A size that nobody heard is said to the next daemon.
    daemon.kill();
    client.resize(90, 20);
    let _daemon = home.start();
    eventually("the session has the new size", || info(&home, &id)["cols"] == 90);
    client.send(kind::STATUS, b"");
    let (status, _) = client.until(kind::STATUS_IS);
    assert_eq!(status[8..14], [0, 90, 0, 20, 0, 1]);
}

#[test]
fn a_session_that_ends_without_a_daemon_is_told_when_there_is_one() {
    let home = home();
    home.configure("[clients]\nlag_bytes = 67108864\n");
    let daemon = home.start();
    let lines = 20_000;
    let script = format!(
        "stty -echo; echo ready; read go; while [ -e {}/wait ]; do sleep 0.01; done; \
         seq -f '{LINE}' 1 {lines}; exit 5",
        home.path().display()
    );
    fs::write(home.path().join("wait"), "").unwrap();
    let (id, mut client) = attached(&home, "brief", &script);
    client.until_text("ready");
    client.send(kind::DATA, b"\r");
    let program = client.greeting.pid;
    // What is typed is in the terminal before the daemon goes.
    eventually("the program went on", || process::children(program).len() == 1);
    daemon.kill();
    fs::remove_file(home.path().join("wait")).unwrap();
    eventually("the program has ended", || !process::lives(program));
    let _daemon = home.start();
    let (code, output) = client.until_exit();
    assert_eq!(code, 5);
    let mut numbered = Lines::default();
    let begin = output.iter().position(|&byte| byte == b'l').expect("a line");
    numbered.feed(&output[begin..]);
    assert_eq!(numbered.count(), lines);
    assert_eq!(info(&home, &id)["code"], 5);
    eventually("the relay has ended", || relays(&home).is_empty());
}

#[test]
fn sizes_are_asked_for_as_before_a_restart() {
    let home = home();
    let mut daemon = home.start();
    let mut wire = home.wire();
    let id = create(&mut wire, "shared", "echo up; exec cat");
    let path = attach(&mut wire, &id);
    let (mut one, mut two) = (Attached::connect(&path), Attached::connect(&path));
    two.resize(90, 20);
    eventually("the session has its size", || info(&home, &id)["cols"] == 90);
    one.resize(100, 30);
    eventually("the session has the other's", || info(&home, &id)["cols"] == 100);
    for _ in 0..3 {
        daemon.restart(&home);
        eventually("both are back", || info(&home, &id)["attachedClients"] == 2);
        let session = info(&home, &id);
        assert_eq!((&session["cols"], &session["rows"]), (&json!(100), &json!(30)));
    }
    two.send(kind::DATA, b"x");
    assert_eq!(two.until(kind::RESIZE_REQUEST).0, b"");
    two.resize(90, 20);
    eventually("the session has its size again", || info(&home, &id)["cols"] == 90);
    daemon.restart(&home);
    eventually("both are back again", || info(&home, &id)["attachedClients"] == 2);
    // Who sized last before is not asked; the other one is.
    two.send(kind::DATA, b"y");
    two.send(kind::STATUS, b"");
    let frame = std::iter::from_fn(|| two.frame()).find(|it| it.0 != kind::DATA);
    assert_eq!(frame.expect("a status").0, kind::STATUS_IS);
    one.send(kind::DATA, b"z");
    assert_eq!(one.until(kind::RESIZE_REQUEST).0, b"");
}

#[test]
fn another_build_of_the_daemon_carries_on() {
    let home = home();
    let other = home.bring_programs("other");
    let daemon = home.start();
    let (_, mut client) = attached(&home, "old", "stty -echo; echo up; exec cat");
    client.until_text("up");
    daemon.kill();
    let daemon = Daemon::start_of(&home, &other);
    client.send(kind::DATA, b"newer\r");
    client.until_text("newer");
    stop(daemon);
    let _daemon = home.start();
    client.send(kind::DATA, b"older\x04\r\x04");
    client.until_text("older");
    assert_eq!(client.until_exit().0, 0);
}

#[test]
fn a_relay_ends_with_its_client_also_without_a_daemon() {
    let home = home();
    let daemon = home.start();
    let mut wire = home.wire();
    let id = create(&mut wire, "left", "seq 1 500; exec cat");
    let path = attach(&mut wire, &id);
    let (leaves, stays) = (Attached::connect(&path), Attached::connect(&path));
    let mut typist = Attached::connect(&path);
    assert_eq!(relays(&home).len(), 3);
    stop(daemon);
    // Also one that has typed what nobody took.
    typist.send(kind::DATA, b"nobody hears this");
    drop((leaves, typist));
    eventually("two relays have ended", || relays(&home).len() == 1);
    let _daemon = home.start();
    eventually("one client is back", || info(&home, &id)["attachedClients"] == 1);
    drop(stays);
    eventually("nobody is attached", || info(&home, &id)["attachedClients"] == 0);
    eventually("no relay is left", || relays(&home).is_empty());
}

#[test]
fn a_relay_ends_with_its_client_also_while_a_daemon_says_nothing() {
    let home = home();
    let daemon = home.start();
    let mut wire = home.wire();
    let id = create(&mut wire, "left", "stty -echo; echo up; exec cat");
    let path = attach(&mut wire, &id);
    let (leaves, mut stays) = (Attached::connect(&path), Attached::connect(&path));
    stays.until_text("up");
    daemon.kill();
    // To who connects, a daemon that was stopped: the system takes the connection, and nobody answers.
    fs::remove_file(home.socket()).unwrap();
    let silent = UnixListener::bind(home.socket()).unwrap();
    let waiting: Vec<_> = (0..2).map(|_| silent.accept().unwrap().0).collect();
    let left = Instant::now();
    drop(leaves);
    eventually("one relay has ended", || relays(&home).len() == 1);
    // Long before it gives up on the daemon.
    assert!(left.elapsed() < Duration::from_secs(3), "it took {:?}", left.elapsed());
    stays.send(kind::DATA, b"heard\r");
    drop((silent, waiting));
    fs::remove_file(home.socket()).unwrap();
    let _daemon = home.start();
    stays.until_text("heard");
    drop(stays);
    eventually("no relay is left", || relays(&home).is_empty());
}

#[test]
fn a_relay_is_the_daemons_own_program_whatever_lies_in_its_place() {
    let home = Home::with_programs(env!("CARGO_BIN_EXE_greenroom"));
    let _daemon = home.start();
    let mut wire = home.wire();
    let id = create(&mut wire, "moved", "stty -echo; echo up; exec cat");
    let path = attach(&mut wire, &id);
    fs::remove_file(home.binary()).unwrap();
    let mut removed = Attached::connect(&path);
    removed.until_text("up");
    fs::write(home.binary(), "#!/bin/sh\nexit 1\n").unwrap();
    fs::set_permissions(home.binary(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut replaced = Attached::connect(&path);
    replaced.until_text("up");
    replaced.send(kind::DATA, b"to both\r");
    removed.until_text("to both");
    replaced.until_text("to both");
}

#[test]
fn a_relay_whose_home_is_gone_ends() {
    let home = home();
    let daemon = home.start();
    let (_, mut client) = attached(&home, "lost", "echo up; exec cat");
    client.until_text("up");
    let relay = relays(&home)[0];
    stop(daemon);
    // The holder goes with its folder, or not: nobody will ever reach it.
    fs::rename(home.path().join("run"), home.path().join("gone")).unwrap();
    assert_eq!(client.until_exit().0, -1);
    eventually("the relay has ended", || !process::lives(relay));
}

/// K4 and K6, at the session's own socket.
#[test]
fn a_killed_holder_is_told_also_by_the_next_daemon() {
    let home = home();
    let daemon = home.start();
    let (_, mut client) = attached(&home, "held", "echo up; exec cat");
    client.until_text("up");
    stop(daemon);
    process::kill(client.greeting.holder_pid, Signal::KILL);
    let _daemon = home.start();
    assert_eq!(client.until_exit().0, -1);
    eventually("the relay has ended", || relays(&home).is_empty());
}

#[test]
fn a_killed_relay_costs_its_client_alone() {
    let home = home();
    let daemon = home.start();
    let (id, mut client) = attached(&home, "one", "stty -echo; echo up; exec cat");
    client.until_text("up");
    let relay = relays(&home)[0];
    process::kill(relay, Signal::KILL);
    assert!(client.frame().is_none());
    eventually("nobody is attached", || info(&home, &id)["attachedClients"] == 0);
    eventually("it is reaped", || process::children(daemon.pid()).iter().all(|it| *it != relay));
    let mut client = Attached::connect(&attach(&mut home.wire(), &id));
    client.send(kind::DATA, b"again\r");
    client.until_text("again");
}

/// B1, at the session's own socket: what a client does not read is kept nowhere.
#[test]
fn a_client_that_does_not_read_costs_its_relay_nothing_either() {
    let home = home();
    let _daemon = home.start();
    let lines = count(400_000, 20_000_000);
    let script = format!("stty -echo; read go; seq -f '{LINE}' 1 {lines}; echo the tail; read end");
    let (id, mut slow) = attached(&home, "flood", &script);
    let relay = relays(&home)[0];
    slow.send(kind::DATA, b"\r");
    let mut connection = home.connect();
    let patience = std::time::Duration::from_secs(count(25, 600) as u64);
    crate::support::wait_long_for_text(&mut connection, &id, "the tail", patience);
    let memory = process::memory_kib(relay);
    assert!(memory <= 16 << 10, "the relay has {memory} KiB");
    slow.send(kind::DATA, b"\r");
    let (code, output) = slow.until_exit();
    assert_eq!(code, 0);
    assert!(String::from_utf8_lossy(&output).contains("the tail"));
    assert!(output.len() < lines * line(1).len() / 2, "{} bytes were kept", output.len());
}

#[test]
fn a_client_that_does_not_read_goes_on_and_the_program_does_not_wait_for_it_for_long() {
    let home = home();
    let mut daemon = home.start();
    let lines = 400_000;
    let script = format!("stty -echo; read go; seq -f '{LINE}' 1 {lines}; echo the tail; exit 6");
    let (id, mut slow) = attached(&home, "flood", &script);
    slow.send(kind::DATA, b"\r");
    for round in 1..4 {
        let printed = || info(&home, &id)["offset"].as_u64().unwrap();
        eventually("some of it is printed", || printed() > round << 20);
        daemon.restart(&home);
        // It has not read a byte, and its relay is back.
        eventually("it is back", || info(&home, &id)["attachedClients"] == 1);
    }
    crate::support::wait_for_end(&mut home.connect(), &id);
    let (code, output) = slow.until_exit();
    assert_eq!(code, 6);
    assert!(String::from_utf8_lossy(&output).contains("the tail"));
}

#[test]
fn a_relay_has_nothing_of_the_daemons() {
    let home = home();
    let daemon = home.start();
    let (_, mut client) = attached(&home, "clean", "echo up; exec cat");
    client.until_text("up");
    let relay = relays(&home)[0];
    assert!(process::environment(relay).is_empty());
    let fds = process::fds(relay);
    // Standard streams, the client twice more for reading and writing, the daemon, the holder.
    assert!(fds.len() <= 7, "{fds:?}");
    let shared = process::fds(daemon.pid());
    let is_socket = |what: &std::path::Path| what.to_string_lossy().starts_with("socket:");
    let both = fds.iter().find(|it| is_socket(&it.1) && shared.iter().any(|that| that.1 == it.1));
    assert_eq!(both, None, "a socket that the daemon has, too");
    let session = |pid: u32| rustix::process::getsid(rustix::process::Pid::from_raw(pid as i32));
    assert_eq!(session(relay).unwrap().as_raw_nonzero().get(), relay as i32);
}

/// K6: a client that is gone at any point, whether or not there is a daemon.
#[test]
fn clients_that_die_while_daemons_do_leave_nothing_behind() {
    let home = home();
    let mut daemon = home.start();
    let id = create(&mut home.wire(), "target", "seq 1 500; exec cat");
    for round in 0..count(6, 200) {
        let path = attach(&mut home.wire(), &id);
        let clients: Vec<_> = (0..8)
            .map(|it| {
                let mut stream = connect(&path);
                let mut some = vec![0; it * 97];
                stream.read_exact(&mut some).unwrap();
                stream
            })
            .collect();
        if round % 2 == 0 {
            drop(clients);
            daemon.restart(&home);
        } else {
            daemon.restart(&home);
            drop(clients);
        }
    }
    eventually("no relay is left", || relays(&home).is_empty());
    eventually("nobody is attached", || info(&home, &id)["attachedClients"] == 0);
    wait_for_text(&mut home.connect(), "target", "500");
}
