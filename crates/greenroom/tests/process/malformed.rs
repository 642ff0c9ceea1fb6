//! Frames of every bad kind: short, huge, unknown, random, cut anywhere (N1, N2).

use std::io::Read as _;
use std::time::Instant;

use greenroom_frame::binary::{encode, kind};
use greenroom_frame::rpc;
use greenroom_testkit::{Daemon, Home, Wire, create, eventually_ok, process};
use serde_json::{Value, json};

use crate::support::{Random, SERVED, home, mutated, wait_for_text};

/// Frames that make sense, none of which ends a session or the daemon.
pub(crate) fn valid() -> Vec<Vec<u8>> {
    let call = |method: &str, params: Value| {
        encode(kind::JSON_RPC, "", &rpc::request(7, method, &params)).unwrap()
    };
    let frame = |kind, id, payload: &[u8]| encode(kind, id, payload).unwrap();
    vec![
        call("greenroom.hello", json!({"protocol": 1, "client": "test"})),
        call("session.list", json!({"ended": true})),
        call("session.attach", json!({"sessionId": "1", "stream": true, "cols": 90, "rows": 20})),
        call("session.read", json!({"sessionId": "1", "what": "all", "lines": 3})),
        call("session.wait", json!({"sessionId": "1", "for": {"regex": "a+"}, "timeoutMs": 1})),
        call("session.resize", json!({"sessionId": "1", "cols": 100, "rows": 30})),
        call("session.search", json!({"sessionId": "1", "regex": "(x|y)*"})),
        frame(kind::INPUT, "stream-1", b"typed"),
        frame(kind::TERMINAL_DATA, "1", b"typed"),
        frame(kind::RESIZE, "1", br#"{"cols":80,"rows":24}"#),
        frame(kind::STREAM_CLOSE, "1", b""),
        frame(0x77, "unknown", b"whatever"),
    ]
}

/// A valid client is served.
#[track_caller]
fn serves(home: &Home) {
    let begin = Instant::now();
    assert!(home.wire().call("session.list", &json!({})).unwrap().is_ok());
    assert!(begin.elapsed() <= SERVED, "a valid client waited for {:?}", begin.elapsed());
}

fn target(home: &Home) -> Daemon {
    let daemon = home.start();
    create(&mut home.connect(), "target", "stty -echo raw; echo up; exec sleep 1000");
    wait_for_text(&mut home.connect(), "target", "up");
    daemon
}

#[test]
fn ten_thousand_bad_frames_end_nothing_but_their_connection() {
    let home = home();
    let daemon = target(&home);
    let (valid, mut random) = (valid(), Random(20_261_115));
    let mut open = None;
    for round in 0..10_000 {
        let mut wire = home.wire();
        let bytes = match round % 2 {
            0 => {
                let length = 1 + random.below(200);
                random.bytes(length)
            }
            _ => mutated(&mut random, &valid),
        };
        // It may be refused before all of it is sent.
        wire.send_bytes(&bytes).unwrap_or_default();
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
    let mut connection = home.connect();
    let info = connection.call("session.info", &json!({"sessionId": "1"})).unwrap();
    assert_eq!(info["state"], "running");
}

#[test]
fn a_request_is_understood_however_it_is_cut() {
    let home = home();
    let _daemon = target(&home);
    let mut wire = home.wire();
    let (_, whole) = wire.request("daemon.status", &json!({}));
    for cut in 1..whole.len() {
        let (id, bytes) = wire.request("daemon.status", &json!({}));
        let cut = cut.min(bytes.len());
        wire.send_bytes(&bytes[..cut]).unwrap();
        wire.send_bytes(&bytes[cut..]).unwrap();
        assert!(wire.answer(&id.into()).unwrap().is_ok(), "cut at {cut}");
    }
    let (id, bytes) = wire.request("daemon.status", &json!({}));
    for byte in bytes {
        wire.send_bytes(&[byte]).unwrap();
    }
    assert!(wire.answer(&id.into()).unwrap().is_ok(), "byte by byte");
}

/// The header of a frame that says that so much follows.
fn header(id: u32, payload: u32) -> Vec<u8> {
    let id_bytes = if id == 0 { &b""[..] } else { &b"x"[..] };
    [&[kind::JSON_RPC][..], &id.to_be_bytes(), id_bytes, &payload.to_be_bytes()].concat()
}

fn is_cut_off(wire: &Wire) -> bool {
    matches!(wire.stream().read(&mut [0]), Ok(0) | Err(_))
}

#[test]
fn a_huge_length_is_refused_before_anything_is_kept_for_it() {
    let home = home();
    let daemon = target(&home);
    serves(&home);
    let (memory, ticks) = (process::memory_kib(daemon.pid()), process::cpu_ticks(daemon.pid()));
    let mut open = Vec::new();
    for (id, payload) in [(0, 1 << 30), (0, u32::MAX), (1 << 30, 0), (u32::MAX, 0), (4097, 0)] {
        let mut wire = home.wire();
        wire.send_bytes(&header(id, payload)).unwrap();
        assert!(is_cut_off(&wire), "id {id}, payload {payload}");
    }
    // The largest that is allowed is only waited for.
    for _ in 0..20 {
        let mut wire = home.wire();
        wire.send_bytes(&header(0, 64 << 20)).unwrap();
        open.push(wire);
    }
    serves(&home);
    let grown = process::memory_kib(daemon.pid()).saturating_sub(memory);
    // 20 connections have a buffer for what they read next, 32 KiB each.
    assert!(grown <= 1024 + 20 * 64, "the daemon grew by {grown} KiB");
    let used = process::cpu_ticks(daemon.pid()) - ticks;
    assert!(used <= 5, "{used} ticks of 10 ms were used");
}
