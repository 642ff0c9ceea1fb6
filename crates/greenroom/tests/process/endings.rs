//! Programs that end at once, with and without a daemon to see it (K7).

use std::fs::OpenOptions;
use std::process::Command;

use greenroom_client::{AttachOptions, Connection, Stream};
use greenroom_testkit::{LINE, create, eventually, line, process};
use serde_json::json;

use crate::support::{call, home, pid, wait_for_end};

/// How many programs end while there is a daemon, and as many while there is none.
const PROGRAMS: u64 = 50;

/// More than a terminal's buffer and than a pipe's.
const LINES: u64 = 1_400;

/// Prints 70 kB and ends: a third of them by a signal, the others with a code of their own.
fn script(number: u64) -> String {
    let end = match number % 3 {
        0 => "kill -9 $$".to_owned(),
        _ => format!("exit {}", number % 7),
    };
    format!("seq -f '{LINE}' 1 {LINES}; printf last-{number}; {end}")
}

fn check(connection: &mut Connection, number: u64) {
    let name = format!("fast-{number}");
    let info = wait_for_end(connection, &name);
    assert_eq!(info["state"], "ended", "{name}");
    match number % 3 {
        0 => assert_eq!((&info["signal"], &info["code"]), (&9.into(), &json!(null)), "{name}"),
        _ => assert_eq!(info["code"], number % 7, "{name}"),
    }
    let last = format!("last-{number}");
    let printed = LINES * (line(1).len() as u64 + 2) + last.len() as u64;
    assert_eq!(info["offset"], printed, "{name}");
    let read = call(connection, "session.read", json!({"sessionId": name, "lines": 2}));
    assert_eq!(read["text"], format!("{}\n{last}", line(LINES)), "{name}");
}

#[test]
fn the_status_and_the_last_byte_of_every_fast_program_are_known() {
    let home = home();
    let mut daemon = home.start();
    let mut connection = home.connect();
    for number in 0..PROGRAMS {
        create(&mut connection, &format!("fast-{number}"), &script(number));
    }
    for number in 0..PROGRAMS {
        check(&mut connection, number);
    }

    // All wait for somebody to open the gate, which happens when there is no daemon.
    let gate = home.path().join("gate");
    assert!(Command::new("mkfifo").arg(&gate).status().unwrap().success());
    let mut programs = Vec::new();
    for number in PROGRAMS..2 * PROGRAMS {
        let gated = format!("cat {} >&2; {}", gate.display(), script(number));
        programs.push(pid(&create(&mut connection, &format!("fast-{number}"), &gated), "pid"));
    }
    let waits = |pid: &u32| process::children(*pid).len() == 1;
    eventually("all programs wait at the gate", || programs.iter().all(waits));
    daemon.signal(greenroom_testkit::Signal::KILL);
    daemon.wait_for_end();
    drop(OpenOptions::new().write(true).open(&gate).unwrap());
    eventually("all programs have ended", || !programs.iter().any(|pid| process::lives(*pid)));
    daemon.restart(&home);
    let mut connection = home.connect();
    for number in PROGRAMS..2 * PROGRAMS {
        check(&mut connection, number);
    }
    eventually("all holders were let go", || home.holder_sockets().is_empty());
    eventually("only the daemon is left", || home.processes() == [daemon.pid()]);

    // They are remembered, too.
    daemon.restart(&home);
    let mut connection = home.connect();
    for number in [0, 1, PROGRAMS, 2 * PROGRAMS - 1] {
        check(&mut connection, number);
    }
}

#[test]
fn a_session_that_was_killed_leaves_no_holder_for_a_client_that_was_cut_off() {
    let home = home();
    let mut daemon = home.start();
    let mut connection = home.connect();
    create(&mut connection, "doomed", "exec sleep 1000");
    let mut cut_off = home.connect();
    Stream::attach(&mut cut_off, "doomed", AttachOptions::default()).unwrap();
    // Without a word: the daemon expects it back.
    drop(cut_off);
    eventually("nobody is attached", || {
        let info = call(&mut connection, "session.info", json!({"sessionId": "doomed"}));
        info["attachedClients"] == 0
    });
    call(&mut connection, "session.kill", json!({"sessionId": "doomed"}));
    daemon.signal(greenroom_testkit::Signal::TERM);
    daemon.wait_for_end();
    eventually("the daemon and the holder have gone", || home.processes().is_empty());
    assert!(home.holder_sockets().is_empty());
}
