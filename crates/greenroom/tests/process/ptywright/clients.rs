//! Clients that vanish, are half there, or never read (N6, B1).

use std::time::{Duration, Instant};

use greenroom_testkit::{Daemon, Framing, LINE, Rpc, count, eventually_ok, line, process};
use serde_json::{Value, json};

use super::{create, home, type_in, wait_for, wait_for_end};
use crate::support::SERVED;

/// How much a daemon may grow for a client that does not read, in KiB.
const GROWTH: u64 = 16 << 10;

fn open_files(daemon: &Daemon) -> usize {
    process::fds(daemon.pid()).len()
}

/// What a session shares with its holder for who waits, from the first moment on in which it is calm: a pipe, two
/// pages and a lock.
const SHARED: usize = 5;

#[test]
fn half_open_connections_are_let_go() {
    let home = home();
    let daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    create(&mut rpc, "yes noise");
    wait_for(&mut rpc, "s1", "noise");
    let before = open_files(&daemon);

    // Says its last word and hears the answer still.
    for framing in [Framing::Lines, Framing::Headers] {
        let mut asks = home.ptywright(framing);
        let id = asks.begin("session.list", &json!({}));
        asks.finish();
        assert_eq!(asks.answer(&id).unwrap().unwrap(), json!({"sessions": ["s1"]}));
        assert!(asks.message().is_none(), "then the daemon hangs up, too");
    }

    // Says its last word in the middle of a message, with a wait that never ends.
    let mut waits = home.ptywright(Framing::Headers);
    let matcher = json!({"type": "contains_text", "value": "never"});
    let wait = json!({"session": "s1", "matcher": matcher, "timeout_ms": 600_000});
    let (_, request) = waits.request("session.wait", &wait);
    waits.send_bytes(&request).unwrap();
    waits.send_bytes(&request[..7]).unwrap();
    waits.finish();

    // Says its last word, and never reads what it is told.
    let mut told = home.ptywright(Framing::Lines);
    told.call("server.set_notifications", &json!({"enabled": true}));
    told.finish();

    // Is gone in the middle of a message, and with notifications under way.
    for _ in 0..count(20, 500) {
        let mut gone = home.ptywright(Framing::Lines);
        gone.call("server.set_notifications", &json!({"enabled": true}));
        gone.send_bytes(br#"{"jsonrpc":"2.0","id"#).unwrap();
    }

    eventually_ok("the daemon has let them go", || match open_files(&daemon) {
        now if now <= before + SHARED => Ok(()),
        now => Err(format!("({now} descriptors, {before} before)")),
    });
    assert_eq!(rpc.call("session.list", &json!({})), json!({"sessions": ["s1"]}));
    drop((waits, told));
}

/// Makes a printer that waits for a line, and prints many.
fn printer(rpc: &mut Rpc, lines: usize) -> String {
    let script = format!("stty -echo; echo ready; read go; seq -f '{LINE}' 1 {lines}; read end");
    let session = create(rpc, &script);
    wait_for(rpc, &session, "ready");
    session
}

/// Waits for the last line of very many: longer than one wait may take.
#[track_caller]
fn wait_long(rpc: &mut Rpc, session: &str, text: &str) {
    let matcher = json!({"type": "transcript_contains", "value": text});
    let wait =
        json!({"session": session, "matcher": matcher, "cells": false, "timeout_ms": 20_000});
    for _ in 0..30 {
        match rpc.try_call("session.wait", &wait).unwrap() {
            Ok(_) => return,
            Err(error) => assert_eq!(error["code"], -32001, "{error}"),
        }
    }
    panic!("`{session}` never printed `{text}`");
}

#[test]
fn a_client_that_listens_and_never_reads_harms_nobody() {
    let home = home();
    let daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    let lines = count(200_000, 20_000_000);
    let last = line(lines as u64);
    let echo = create(&mut rpc, "stty -echo; while read x; do echo heard-$x-; done");
    let (alone, watched) = (printer(&mut rpc, lines), printer(&mut rpc, lines));

    let memory = process::memory_kib(daemon.pid());
    let begin = Instant::now();
    type_in(&mut rpc, &alone, "\n");
    wait_long(&mut rpc, &alone, &last);
    let without = begin.elapsed();
    let usual = process::memory_kib(daemon.pid()).saturating_sub(memory);

    let mut slow = home.ptywright(Framing::Lines);
    slow.call("server.set_notifications", &json!({"enabled": true}));
    let memory = process::memory_kib(daemon.pid());
    let begin = Instant::now();
    type_in(&mut rpc, &watched, "\n");
    for round in 0..10 {
        type_in(&mut rpc, &echo, &format!("{round}\n"));
        wait_for(&mut rpc, &echo, &format!("heard-{round}-"));
    }
    wait_long(&mut rpc, &watched, &last);
    let with = begin.elapsed();
    let grown = process::memory_kib(daemon.pid()).saturating_sub(memory);
    assert!(grown <= usual + GROWTH, "the daemon grew by {grown} KiB, else by {usual}");
    // Only a run that takes some seconds can be compared with another one.
    if count(0, 1) == 1 {
        let most = without.mul_f64(1.2) + Duration::from_secs(1);
        assert!(with <= most, "{with:?} with a slow client, {without:?} without");
    }

    // When it reads at last, it is told that something is missing, and then of the end.
    let note = slow.note("that something is missing", |note| note["params"]["dropped"] == true);
    assert_eq!(note["params"]["session"], watched.as_str());
    let is_last = |note: &serde_json::Value| {
        let output = note["params"]["output"].as_str();
        output.is_some_and(|it| it.ends_with(&format!("{last}\r\n")))
    };
    // It may be the same: what is missing and what is told last come together then.
    if !is_last(&note) {
        slow.note("the last line", is_last);
    }
}

#[test]
fn a_client_that_asks_for_much_and_never_reads_is_not_kept_in_memory() {
    let home = home();
    let daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    // Some 8 MB an answer.
    let wide = json!({"program": "cat", "rows": 100, "cols": 400});
    let many = count(12, 50);
    let sessions: Vec<Value> =
        (0..many).map(|_| rpc.call("session.create", &wide)["session"].clone()).collect();
    let memory = process::memory_kib(daemon.pid());
    let mut slow = home.ptywright(Framing::Lines);
    for session in sessions.iter().chain(&sessions) {
        slow.begin("session.snapshot", &json!({"session": session}));
    }
    // Others are served meanwhile; when they have been, the daemon has done all it could of that.
    for session in &sessions {
        rpc.call("session.snapshot", &json!({"session": session, "cells": false}));
    }
    let grown = process::memory_kib(daemon.pid()).saturating_sub(memory);
    assert!(grown <= 3 * GROWTH, "the daemon grew by {grown} KiB");
}

#[test]
fn the_largest_screen_can_be_read_without_filling_memory() {
    let home = home();
    let daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    rpc.call("session.create", &json!({"program": "cat", "rows": 1024, "cols": 4096}));
    let memory = process::memory_kib(daemon.pid());
    let mut greedy = home.ptywright(Framing::Lines);
    greedy.begin("session.snapshot", &json!({"session": "s1"}));
    let begin = Instant::now();
    rpc.call("session.snapshot", &json!({"session": "s1", "cells": false}));
    let waited = begin.elapsed();
    let grown = process::memory_kib(daemon.pid()).saturating_sub(memory);
    assert!(grown <= 128 << 10, "one answer made the daemon grow by {grown} KiB");
    assert!(waited <= Duration::from_secs(2), "others waited for {waited:?}");
}

#[test]
fn a_matcher_of_many_parts_is_refused_before_it_is_built() {
    let home = home();
    let daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    create(&mut rpc, "exec cat");
    let memory = process::memory_kib(daemon.pid());
    let part = json!({"type": "screen_regex", "value": "\\w{10}"});
    let any = json!({"type": "any", "value": vec![part; count(2_000, 20_000)]});
    let mut other = home.ptywright(Framing::Lines);
    let wait =
        rpc.begin("session.wait", &json!({"session": "s1", "matcher": any, "timeout_ms": 1}));
    let begin = Instant::now();
    other.call("session.list", &json!({}));
    let waited = begin.elapsed();
    assert_eq!(rpc.answer(&wait).unwrap().unwrap_err()["code"], -32602);
    assert!(waited <= SERVED, "others waited for {waited:?}");
    let grown = process::memory_kib(daemon.pid()).saturating_sub(memory);
    assert!(grown <= GROWTH, "the daemon grew by {grown} KiB");
}

#[test]
fn clients_that_come_and_go_leave_nothing() {
    let home = home();
    let daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    create(&mut rpc, "seq 1 50; read line");
    wait_for(&mut rpc, "s1", "50");
    // The session may be calm before it is counted, or only later.
    let (before, rounds) = (open_files(&daemon) + SHARED, count(150, 10_000));
    let visit = |round: usize| {
        let mut rpc = home.ptywright(Framing::Lines);
        let (_, bytes) = rpc.request("session.snapshot", &json!({"session": "s1"}));
        if round.is_multiple_of(3) {
            rpc.call("server.set_notifications", &json!({"enabled": true}));
        }
        // A different cut each time.
        rpc.send_bytes(&bytes[..(round * 7919) % bytes.len()]).unwrap();
    };
    let settled = || {
        eventually_ok("all clients are gone", || match open_files(&daemon) {
            now if now <= before => Ok(()),
            now => Err(format!("({now} descriptors, {before} before)")),
        });
    };
    // Once the daemon has what so many clients at a time need, it needs no more.
    (0..rounds).for_each(visit);
    settled();
    let memory = process::memory_kib(daemon.pid());
    (0..rounds).for_each(visit);
    settled();
    let grown = process::memory_kib(daemon.pid()).saturating_sub(memory);
    assert!(grown <= 1024, "the daemon grew by {grown} KiB");
}

#[test]
fn sessions_that_are_made_and_closed_leave_nothing() {
    let home = home();
    let daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    rpc.call("server.set_notifications", &json!({"enabled": true}));
    let round = |rpc: &mut Rpc| {
        let session = create(rpc, "echo here");
        wait_for_end(rpc, &session);
        rpc.call("session.close", &json!({"session": session}));
    };
    round(&mut rpc);
    let before = open_files(&daemon);
    (0..count(20, 500)).for_each(|_| round(&mut rpc));
    eventually_ok("all sessions are gone", || match open_files(&daemon) {
        now if now <= before => Ok(()),
        now => Err(format!("({now} descriptors, {before} before)")),
    });
    assert_eq!(rpc.call("session.list", &json!({})), json!({"sessions": []}));
}

/// A session that says what it got.
fn repeating(rpc: &mut Rpc) -> String {
    let session = create(rpc, "stty -echo; printf up; while read line; do echo got-$line; done");
    wait_for(rpc, &session, "up");
    session
}

/// As `printf … | nc -U` does it, and whoever dies right behind its request.
#[test]
fn what_was_asked_for_is_done_though_nobody_waits_for_the_answer() {
    let home = home();
    let _daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    let session = repeating(&mut rpc);
    for round in 0..count(20, 500) {
        let mut gone = home.ptywright(Framing::Lines);
        let slow = json!({"text": format!("{round}\n"), "chunk_chars": 1, "delay_ms": 5});
        for action in
            [json!({"type": "text", "value": "a"}), json!({"type": "stream_text", "value": slow})]
        {
            gone.begin("session.input", &json!({"session": session, "action": action}));
        }
        drop(gone);
        wait_for(&mut rpc, &session, &format!("got-a{round}\r\n"));
    }
}

#[test]
fn what_a_turn_types_is_typed_though_nobody_waits_for_its_end() {
    let home = home();
    let _daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    let start = json!({"plugin": "shell", "program": "bash", "args": ["--norc"]});
    let adapter = rpc.call("adapter.start", &start)["adapter"].clone();
    for round in 0..count(5, 100) {
        let matcher = json!({"type": "contains_text", "value": format!("got-{round}")});
        let mut gone = home.ptywright(Framing::Lines);
        let run = json!({"intent": "run", "params": {"command": format!("echo got-$(({round}))")}});
        gone.begin("adapter.turn", &json!({"adapter": adapter, "send": run}));
        drop(gone);
        rpc.call("adapter.wait", &json!({"adapter": adapter, "matcher": matcher}));
    }
}

/// A wait keeps what was sent right behind it for a moment, for it may be a script; who is gone has none.
#[test]
fn what_was_asked_for_behind_a_wait_is_done_when_its_client_is_gone() {
    let home = home();
    let _daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    let session = repeating(&mut rpc);
    let mut gone = home.ptywright(Framing::Lines);
    let never = json!({"type": "contains_text", "value": "never"});
    let wait = json!({"session": session, "matcher": never, "wait_id": "w", "timeout_ms": 600_000});
    gone.begin("session.wait", &wait);
    gone.begin("session.input", &super::typed(&session, "behind\n"));
    drop(gone);
    wait_for(&mut rpc, &session, "got-behind\r\n");
    // The wait is gone, and so its name is free.
    assert_eq!(rpc.call("session.cancel_wait", &json!({"wait_id": "w"}))["cancelled"], false);
}
