//! Messages of every bad kind: random, mutated, huge, without headers (N1, N2).

use std::time::Instant;

use greenroom_testkit::{Daemon, Framing, Home, Rpc, count, eventually_ok, process};
use serde_json::{Value, json};

use super::{create, home, wait_for};
use crate::support::{Random, SERVED, mutated};

/// Messages that make sense, none of which ends a session.
fn valid(framing: Framing) -> Vec<Vec<u8>> {
    let call = |method: &str, params: Value| {
        let request = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        framing.frame(request.to_string().as_bytes())
    };
    let matcher = json!({"type": "any", "value": [{"type": "screen_regex", "value": "a+"},
        {"type": "screen_stable", "value": {"min_ms": 1}}]});
    vec![
        call("server.capabilities", json!({})),
        call("server.set_notifications", json!({"enabled": true, "sessions": ["s1"]})),
        call("session.list", json!({})),
        call("session.snapshot", json!({"session": "s1", "redact": true, "cells": false})),
        call(
            "session.transcript",
            json!({"session": "s1", "redaction":
            {"enabled": true, "replacement": "-", "extra_regexes": ["(x|y)*"]}}),
        ),
        call("session.wait", json!({"session": "s1", "matcher": matcher, "timeout_ms": 1})),
        call("session.resize", json!({"session": "s1", "rows": 30, "cols": 100})),
        call("session.input", json!({"session": "s1", "action": {"type": "key", "value": "up"}})),
        call("session.cancel_wait", json!({"wait_id": "w"})),
        call("adapter.send", json!({"adapter": "e1", "intent": "x", "params": {}})),
        call("plugin.describe", json!({"plugin": "x"})),
        call("plugin.validate_manifest", json!({"manifest": {"name": "x", "kind": "macro"}})),
    ]
}

fn target(home: &Home) -> Daemon {
    let daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    create(&mut rpc, "stty -echo raw; echo up; exec sleep 1000");
    wait_for(&mut rpc, "s1", "up");
    daemon
}

/// A valid client is served.
#[track_caller]
fn serves(home: &Home) {
    let begin = Instant::now();
    home.ptywright(Framing::Lines).call("session.list", &json!({}));
    assert!(begin.elapsed() <= SERVED, "a valid client waited for {:?}", begin.elapsed());
}

#[test]
fn ten_thousand_bad_messages_end_nothing_but_their_connection() {
    let home = home();
    let daemon = target(&home);
    let mut random = Random(20_261_116);
    let framings = [Framing::Lines, Framing::Headers];
    let valid = framings.map(valid);
    let mut open = None;
    for round in 0..10_000 {
        let which = random.below(2);
        let mut rpc = home.ptywright(framings[which]);
        let bytes = match round % 2 {
            0 => {
                let length = 1 + random.below(200);
                random.bytes(length)
            }
            _ => mutated(&mut random, &valid[which]),
        };
        // It may be refused before all of it is sent.
        rpc.send_bytes(&bytes).unwrap_or_default();
        if round % 500 == 0 {
            serves(&home);
            open = Some(process::fds(daemon.pid()).len()).filter(|_| round == 1_000).or(open);
        }
    }
    serves(&home);
    let open = open.unwrap() + 2;
    eventually_ok("all connections are gone", || match process::fds(daemon.pid()).len() {
        now if now <= open => Ok(()),
        now => Err(format!("({now} descriptors, {open} before)")),
    });
    let list = home.ptywright(Framing::Lines).call("session.list", &json!({}));
    assert_eq!(list, json!({"sessions": ["s1"]}));
}

#[test]
fn bad_messages_on_one_connection_are_answered_or_end_it() {
    let home = home();
    let _daemon = target(&home);
    let mut random = Random(7);
    let valid = valid(Framing::Lines);
    let mut rpc = home.ptywright(Framing::Lines);
    for round in 0..count(300, 5_000) {
        let mut line = mutated(&mut random, &valid);
        line.retain(|&byte| byte != b'\n');
        // A letter first would be the beginning of a header, on the first line.
        line.insert(0, b' ');
        rpc.send(&line).unwrap();
        if round % 50 == 49 {
            // Waits among them may be long; this one is at the end of nobody's line, and its id is
            // nothing that a mutation makes.
            let id = json!(format!("settled {round}"));
            let cancel = json!({"jsonrpc": "2.0", "id": id, "method": "session.cancel_wait",
                "params": {"wait_id": "none"}});
            rpc.send(cancel.to_string().as_bytes()).unwrap();
            assert_eq!(rpc.answer(&id).unwrap().unwrap(), json!({"cancelled": false}));
        }
    }
}

#[track_caller]
fn is_cut_off(rpc: &mut Rpc) -> bool {
    rpc.message().is_none()
}

#[test]
fn a_huge_length_is_refused_before_anything_is_kept_for_it() {
    let home = home();
    let daemon = target(&home);
    serves(&home);
    let (memory, ticks) = (process::memory_kib(daemon.pid()), process::cpu_ticks(daemon.pid()));
    for header in [
        "Content-Length: 1073741824\r\n\r\n",
        "Content-Length: 99999999999999999999999999\r\n\r\n",
        "Content-Length: -1\r\n\r\n",
        "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        "Content-Length:\r\n\r\n",
        "Content-Type: text\r\n\r\n{}",
        "no header at all\r\n\r\n",
    ] {
        let mut rpc = home.ptywright(Framing::Headers);
        rpc.send_bytes(header.as_bytes()).unwrap();
        assert!(is_cut_off(&mut rpc), "{header:?}");
    }
    // A header without an end.
    for line in ["X-Name: value\r\n", "x"] {
        let mut rpc = home.ptywright(Framing::Headers);
        // It is refused before all of it is sent.
        rpc.send_bytes(line.repeat(1 << 20).as_bytes()).unwrap_or_default();
        assert!(is_cut_off(&mut rpc), "{line:?} without an end");
    }
    // The largest that is allowed is only waited for.
    let open: Vec<Rpc> = (0..20)
        .map(|_| {
            let mut rpc = home.ptywright(Framing::Headers);
            rpc.send_bytes(b"Content-Length: 16777216\r\n\r\n").unwrap();
            rpc
        })
        .collect();
    serves(&home);
    let grown = process::memory_kib(daemon.pid()).saturating_sub(memory);
    // 20 connections have a buffer for what they read next, 32 KiB each.
    assert!(grown <= 1024 + 20 * 64, "the daemon grew by {grown} KiB");
    let used = process::cpu_ticks(daemon.pid()) - ticks;
    assert!(used <= 10, "{used} ticks of 10 ms were used");
    drop(open);
}

#[test]
fn other_headers_and_other_cases_are_read_over() {
    let home = home();
    let _daemon = home.start();
    let mut rpc = home.ptywright(Framing::Headers);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"session.list"}"#;
    let head = format!("content-LENGTH: {}\r\nContent-Type: x; charset=utf-8\r\n\r\n", body.len());
    rpc.send_bytes(format!("{head}{body}").as_bytes()).unwrap();
    assert_eq!(rpc.answer(&json!(1)).unwrap().unwrap(), json!({"sessions": []}));
}

#[test]
fn a_line_that_is_too_long_is_an_error_and_the_next_is_served() {
    let home = home();
    let daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    let memory = process::memory_kib(daemon.pid());
    let megabyte = vec![b' '; 1 << 20];
    rpc.send_bytes(b"{").unwrap();
    for _ in 0..count(40, 1024) {
        rpc.send_bytes(&megabyte).unwrap();
    }
    rpc.send_bytes(b"}\n").unwrap();
    let error = rpc.answer(&Value::Null).unwrap().unwrap_err();
    assert_eq!(error["code"], -32700);
    assert_eq!(rpc.call("session.list", &json!({})), json!({"sessions": []}));
    let grown = process::memory_kib(daemon.pid()).saturating_sub(memory);
    assert!(grown <= 20 << 10, "the daemon keeps {grown} KiB of a line that was refused");
}
