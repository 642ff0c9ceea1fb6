//! Frames of a client that never said hello: cut, too long, unknown, about sizes and ends.

use std::io::Read as _;

use greenroom_frame::binary::{Frame, encode, kind};
use greenroom_frame::rpc;
use greenroom_model::Size;
use greenroom_screen::{Options, Screen};
use greenroom_testkit::{Wire, count, eventually, eventually_ok, process};
use serde_json::{Value, json};

use super::{call, client, compat_home, create};
use crate::support::{Random, home, mutated};

/// Reads until a frame of this kind.
#[track_caller]
fn until(wire: &mut Wire, wanted: u8) -> Frame {
    loop {
        let frame = wire.frame().expect("the daemon does not hang up");
        if frame.kind == wanted {
            return frame;
        }
    }
}

#[track_caller]
fn until_text(wire: &mut Wire, text: &str) {
    let mut output = Vec::new();
    while !String::from_utf8_lossy(&output).contains(text) {
        output.extend_from_slice(&until(wire, kind::TERMINAL_DATA).payload);
    }
}

#[test]
fn a_session_is_driven_with_frames_cut_anywhere() {
    let home = compat_home();
    let _daemon = home.start();
    let mut wire = client(&home);
    let id = create(&mut wire, "one", "echo up; exec cat");
    let frames = [
        wire.request("session.attach", &json!({"sessionId": id})).1,
        encode(0x77, "unknown", b"skipped").unwrap(),
        encode(kind::RESIZE, &id, br#"{"cols":100,"rows":30}"#).unwrap(),
        encode(kind::RESIZE, &id, b"no size").unwrap(),
        encode(kind::RESIZE, &id, br#"{"cols":"many","rows":[]}"#).unwrap(),
        encode(kind::TERMINAL_DATA, &id, b"typed\r").unwrap(),
    ];
    for byte in frames.concat() {
        wire.send_bytes(&[byte]).unwrap();
    }
    until_text(&mut wire, "typed");
    let info = call(&mut wire, "session.info", json!({"sessionId": id}));
    assert_eq!((&info["cols"], &info["rows"]), (&json!(100), &json!(30)));
    // The client closes the stream: it has left. The daemon closes it when the session ends.
    wire.send(kind::STREAM_CLOSE, &id, b"").unwrap();
    eventually("the client has left", || {
        call(&mut wire, "session.info", json!({"sessionId": id}))["attachedClients"] == 0
    });
    call(&mut wire, "session.attach", json!({"sessionId": id}));
    wire.send(kind::TERMINAL_DATA, &id, b"\x04").unwrap();
    assert_eq!(until(&mut wire, kind::STREAM_CLOSE).id, id);
}

#[test]
fn a_client_that_was_behind_sees_the_last_screen_before_the_end() {
    let home = home();
    let _daemon = home.start();
    let mut slow = home.wire();
    let lines =
        "stty -echo; read go; seq -f 'a line that is long enough to fill queues %.0f' 1 200000";
    let id = create(&mut slow, "flood", &format!("{lines}; echo the tail"));
    call(&mut slow, "session.attach", json!({"sessionId": id}));
    slow.send(kind::TERMINAL_DATA, &id, b"\r").unwrap();
    let mut other = home.connect();
    crate::support::wait_for_end(&mut other, "flood");
    let mut screen = Screen::new(Size::DEFAULT, Options::default());
    loop {
        let frame = slow.frame().expect("the daemon does not hang up");
        match frame.kind {
            kind::TERMINAL_DATA => drop(screen.feed(&frame.payload)),
            kind::STREAM_CLOSE => break,
            _ => {}
        }
    }
    assert!(screen.text().contains("queues 200000\nthe tail"), "{}", screen.text());
}

#[test]
fn who_attaches_twice_gets_every_byte_once() {
    let home = home();
    let _daemon = home.start();
    let mut wire = home.wire();
    let id = create(&mut wire, "one", "stty -echo; echo up; read line; echo got:$line; read line");
    call(&mut wire, "session.attach", json!({"sessionId": id}));
    call(&mut wire, "session.attach", json!({"sessionId": id}));
    until_text(&mut wire, "up");
    wire.send(kind::TERMINAL_DATA, &id, b"once\r").unwrap();
    until_text(&mut wire, "got:once");
    // Whatever a second stream had to say would be here before this answer.
    let info = call(&mut wire, "session.info", json!({"sessionId": id}));
    assert_eq!(info["attachedClients"], 1, "{info}");
    wire.send(kind::TERMINAL_DATA, &id, b"end\r").unwrap();
    let mut closes = 0;
    let ended = wire.request("session.wait", &json!({"sessionId": id, "for": {"exit": true}}));
    wire.send_bytes(&ended.1).unwrap();
    loop {
        let frame = wire.frame().expect("the daemon does not hang up");
        let again = String::from_utf8_lossy(&frame.payload).contains("got:once");
        assert!(frame.kind != kind::TERMINAL_DATA || !again, "a byte came twice");
        closes += usize::from(frame.kind == kind::STREAM_CLOSE);
        if frame.kind == kind::JSON_RPC
            && serde_json::from_slice::<Value>(&frame.payload).unwrap()["id"] == ended.0
        {
            break;
        }
    }
    assert!(closes <= 1, "{closes} closes");
}

#[test]
fn typing_at_a_program_that_does_not_read_holds_up_no_request() {
    let home = home();
    let _daemon = home.start();
    let mut wire = home.wire();
    let id = create(&mut wire, "deaf", "stty raw -echo; echo up; exec sleep 1000");
    call(&mut wire, "session.attach", json!({"sessionId": id}));
    until_text(&mut wire, "up");
    for _ in 0..64 {
        wire.send(kind::TERMINAL_DATA, &id, &[b'x'; 8 << 10]).unwrap();
    }
    call(&mut wire, "remote.status", json!({}));
    call(&mut wire, "session.kill", json!({"sessionId": id}));
}

#[test]
fn a_size_without_an_attach_is_taken() {
    let home = home();
    let _daemon = home.start();
    let mut wire = home.wire();
    let id = create(&mut wire, "one", "exec cat");
    wire.send(kind::RESIZE, &id, br#"{"cols":90,"rows":20}"#).unwrap();
    eventually("the session has the size", || {
        call(&mut wire, "session.info", json!({"sessionId": id}))["cols"] == 90
    });
}

#[test]
fn who_types_after_somebody_else_sized_is_asked_for_a_size() {
    let home = home();
    let _daemon = home.start();
    let (mut one, mut two, mut ours) = (home.wire(), home.wire(), home.wire());
    call(&mut ours, "greenroom.hello", json!({"protocol": 1}));
    let id = create(&mut one, "one", "stty -echo; exec cat");
    for wire in [&mut one, &mut two, &mut ours] {
        call(wire, "session.attach", json!({"sessionId": id}));
    }
    one.send(kind::RESIZE, &id, br#"{"cols":90,"rows":20}"#).unwrap();
    eventually("the session has the size", || {
        call(&mut one, "session.info", json!({"sessionId": id}))["cols"] == 90
    });
    two.send(kind::TERMINAL_DATA, &id, b"from two\r").unwrap();
    let asked = until(&mut two, kind::RESIZE_REQUEST);
    assert_eq!((asked.id.as_str(), asked.payload.len()), (&*id, 0));
    two.send(kind::RESIZE, &id, br#"{"cols":80,"rows":24}"#).unwrap();
    call(&mut two, "session.info", json!({"sessionId": id}));
    // One of our own is never asked: it says its size by itself.
    ours.send(kind::TERMINAL_DATA, &id, b"from ours\r").unwrap();
    loop {
        let frame = ours.frame().unwrap();
        assert_ne!(frame.kind, kind::RESIZE_REQUEST);
        if String::from_utf8_lossy(&frame.payload).contains("from ours") {
            break;
        }
    }
    one.send(kind::TERMINAL_DATA, &id, b"from one\r").unwrap();
    until(&mut one, kind::RESIZE_REQUEST);
}

#[test]
fn what_is_too_long_closes_the_connection_before_its_body() {
    let home = compat_home();
    let _daemon = home.start();
    for header in [
        [&[0xff][..], &4097_u32.to_be_bytes()].concat(),
        [&[0xff][..], &0_u32.to_be_bytes(), &((64_u32 << 20) + 1).to_be_bytes()].concat(),
    ] {
        let mut wire = client(&home);
        wire.send_bytes(&header).unwrap();
        assert!(matches!(wire.stream().read(&mut [0]), Ok(0) | Err(_)));
    }
    call(&mut client(&home), "session.list", json!({}));
}

#[test]
fn clients_that_die_while_they_attach_leave_nothing_behind() {
    let home = compat_home();
    let daemon = home.start();
    let mut wire = client(&home);
    let id = create(&mut wire, "one", "seq 1 500; exec cat");
    let mut sample = client(&home);
    let (_, request) = sample.request("session.attach", &json!({"sessionId": id}));
    drop(sample);
    call(&mut wire, "daemon.status", json!({}));
    let open = process::fds(daemon.pid()).len();
    for cut in 0..=request.len() {
        let mut dying = client(&home);
        dying.send_bytes(&request[..cut]).unwrap();
        if cut == request.len() {
            let _some = dying.stream().read(&mut [0; 100]);
        }
    }
    // The session's own socket was made once, and stays.
    let open = open + 1;
    eventually_ok("all connections are gone", || match process::fds(daemon.pid()).len() {
        now if now <= open => Ok(()),
        now => Err(format!("({now} descriptors, {open} before)")),
    });
    eventually("nobody is attached", || {
        call(&mut wire, "session.info", json!({"sessionId": id}))["attachedClients"] == 0
    });
}

/// N1, with carryOn's methods.
#[test]
fn bad_frames_end_nothing_but_their_connection() {
    let home = compat_home();
    let _daemon = home.start();
    let id = create(&mut client(&home), "one", "exec cat");
    let request = |method: &str, params: Value| {
        encode(kind::JSON_RPC, "", &rpc::request(7, method, &params)).unwrap()
    };
    let valid = vec![
        request("client.identify", json!({"clientType": "cli", "clientName": "x", "pid": 1})),
        request("session.attach", json!({"sessionId": id})),
        request("config.set", json!({"key": "local.port", "value": "9000"})),
        request("config.get", json!({"key": "local.port"})),
        request("project.terminals", json!({"path": "/", "start": false})),
        request("daemon.logs", json!({"last": 3, "follow": true, "level": "info"})),
        request("subscribe.cancel", json!({"subscriptionId": "logs-1-00000000"})),
        encode(kind::TERMINAL_DATA, &id, b"typed").unwrap(),
        encode(kind::RESIZE, &id, br#"{"cols":80,"rows":24}"#).unwrap(),
        encode(kind::STREAM_CLOSE, &id, b"").unwrap(),
    ];
    let mut random = Random(20_261_116);
    for round in 0..count(3_000, 10_000) {
        let mut wire = client(&home);
        wire.send_bytes(&mutated(&mut random, &valid)).unwrap_or_default();
        if round % 500 == 0 {
            call(&mut client(&home), "session.list", json!({}));
        }
    }
    let list = call(&mut client(&home), "session.list", json!({}));
    assert_eq!(list[0]["state"], "running");
}

#[test]
fn who_follows_the_log_is_told_and_who_does_not_read_costs_nothing() {
    let home = home();
    let daemon = home.start();
    let (mut follower, mut lazy, mut other) = (home.wire(), home.wire(), home.wire());
    let follow = json!({"last": 0, "follow": true});
    let answer = call(&mut follower, "daemon.logs", follow.clone());
    let id = answer["subscriptionId"].as_str().unwrap().to_owned();
    let parts: Vec<&str> = id.split('-').collect();
    assert!(parts.len() == 3 && parts[0] == "logs" && parts[2].len() == 8, "{id}");
    for _ in 0..16 {
        call(&mut lazy, "daemon.logs", follow.clone());
    }
    assert!(lazy.call("daemon.logs", &follow).unwrap().is_err(), "there is a bound");
    let memory = process::memory_kib(daemon.pid());
    for _ in 0..count(2_000, 20_000) {
        call(&mut other, "config.reload", json!({}));
    }
    let grown = process::memory_kib(daemon.pid()).saturating_sub(memory);
    assert!(grown <= 16 << 10, "the daemon grew by {grown} KiB");
    let frame = until(&mut follower, kind::JSON_RPC);
    let note: Value = serde_json::from_slice(&frame.payload).unwrap();
    assert_eq!(note["method"], "daemon.logs.entry");
    assert_eq!(note["params"]["subscriptionId"], id.as_str());
    assert_eq!(note["params"]["entry"]["message"], "the configuration was read again");
    call(&mut follower, "subscribe.cancel", json!({"subscriptionId": id}));
}
