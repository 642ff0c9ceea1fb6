//! What is typed at a program that does not read: it waits, and nothing else does.

use greenroom_testkit::{Framing, Rpc};
use serde_json::{Value, json};

use super::{create, home, private, shell, typed, wait_for};

/// More than a terminal takes.
const MUCH: usize = 20_000;

/// More than a session's queue takes at once.
const MORE: usize = 2 << 20;

/// Says `up`, and never reads.
const DEAF: &str = "stty raw -echo; printf up; exec sleep 1000";

/// A session that does not read.
fn deaf(rpc: &mut Rpc) -> String {
    let session = create(rpc, DEAF);
    wait_for(rpc, &session, "up");
    session
}

#[track_caller]
fn refused(rpc: &mut Rpc, id: &Value) -> Value {
    rpc.answer(id).expect("the connection stays").expect_err("an error")
}

#[test]
fn what_is_not_read_keeps_nobody_but_who_types() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    for (bytes, end) in [
        (MUCH, "session.kill"),
        (MUCH, "session.close"),
        (MORE, "session.kill"),
        (MORE, "session.close"),
    ] {
        let session = deaf(&mut rpc);
        let named = json!({"session": session, "cells": false});
        let stuck = rpc.begin("session.input", &typed(&session, &"x".repeat(bytes)));
        let behind = rpc.begin("session.input", &typed(&session, "y"));
        rpc.call("session.snapshot", &named);
        rpc.call("session.list", &json!({}));
        rpc.call("adapter.live", &json!({}));
        let other = create(&mut rpc, "exec cat");
        rpc.call("session.input", &typed(&other, "z"));
        rpc.call(end, &named);
        assert_eq!(refused(&mut rpc, &stuck)["code"], -32002, "{end} {bytes}");
        assert_eq!(refused(&mut rpc, &behind)["code"], -32002, "{end} {bytes}");
    }
}

#[test]
fn what_is_typed_behind_much_stays_behind_it() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let go = home.path().join("go");
    let until = format!("while ! [ -e {} ]; do sleep 0.01; done", go.display());
    let script =
        format!("stty raw -echo; printf up; {until}; head -c {} | tail -c 3; read x", MORE + 3);
    let session = create(&mut rpc, &script);
    wait_for(&mut rpc, &session, "up");
    let mut ids = vec![rpc.begin("session.input", &typed(&session, &"x".repeat(MORE)))];
    // What does not type goes on, and what types behind that is still behind what was typed.
    rpc.call("session.snapshot", &json!({"session": session, "cells": false}));
    ids.push(rpc.begin("session.input", &typed(&session, "12")));
    rpc.call("session.snapshot", &json!({"session": session, "cells": false}));
    ids.push(rpc.begin("session.input", &typed(&session, "3")));
    std::fs::write(&go, "").unwrap();
    for id in &ids {
        rpc.answer(id).unwrap().unwrap();
    }
    wait_for(&mut rpc, &session, "up123");
}

#[test]
fn texts_that_together_are_more_than_may_wait_are_typed_one_after_the_other() {
    const EACH: usize = 1_000_000;
    let home = home();
    let (_server, mut rpc) = private(&home);
    let count = format!(
        "stty raw -echo; printf up; head -c {} | tail -c {} | sort -u; read x",
        2 * EACH + 6,
        EACH + 3
    );
    let session = create(&mut rpc, &count);
    wait_for(&mut rpc, &session, "up");
    let ids = ["x", "y"].map(|letter| {
        let text = format!("{}\n{letter}\n", letter.repeat(EACH));
        rpc.begin("session.input", &typed(&session, &text))
    });
    for id in &ids {
        rpc.answer(id).unwrap().unwrap();
    }
    // Nothing but the second text is behind the first.
    let transcript = wait_for(&mut rpc, &session, "y\n")["transcript_tail"].clone();
    assert!(!transcript.as_str().unwrap().contains('x'), "{transcript}");
}

#[test]
fn a_text_that_was_begun_is_typed_whole_though_who_sent_it_is_gone() {
    let home = home();
    let _daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    let go = home.path().join("go");
    let until = format!("while ! [ -e {} ]; do sleep 0.01; done", go.display());
    let count = format!("stty raw -echo; printf up; {until}; head -c {MORE} | wc -c; read x");
    let session = create(&mut rpc, &count);
    wait_for(&mut rpc, &session, "up");
    let mut gone = home.ptywright(Framing::Lines);
    let id = gone.begin("session.input", &typed(&session, &"x".repeat(MORE)));
    // It was begun when what is asked behind it is answered.
    gone.call("session.snapshot", &json!({"session": session, "cells": false}));
    assert!(!id.is_null());
    drop(gone);
    rpc.call("session.list", &json!({}));
    std::fs::write(&go, "").unwrap();
    wait_for(&mut rpc, &session, &MORE.to_string());
}

#[test]
fn no_more_waits_to_be_typed_than_there_is_room_for() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let session = deaf(&mut rpc);
    let text = "x".repeat(15 << 20);
    let ids: Vec<Value> =
        (0..6).map(|_| rpc.begin("session.input", &typed(&session, &text))).collect();
    // The others wait, and nobody waits for them.
    for id in &ids[2..] {
        let error = refused(&mut rpc, id);
        assert_eq!(error["code"], -32603, "{error}");
    }
    rpc.call("session.kill", &json!({"session": session}));
    for id in &ids[..2] {
        assert_eq!(refused(&mut rpc, id)["code"], -32002);
    }
}

#[test]
fn a_server_whose_client_left_does_not_wait_for_a_program_that_does_not_read() {
    let home = home();
    let (mut server, mut rpc) = private(&home);
    let session = deaf(&mut rpc);
    let stuck = rpc.begin("session.input", &typed(&session, &"x".repeat(MUCH)));
    rpc.finish();
    assert_eq!(refused(&mut rpc, &stuck)["code"], -32002);
    assert!(server.wait_for_end().success());
}

#[test]
fn an_adapter_whose_program_does_not_read_can_be_closed_and_its_turn_is_over_in_time() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let mut start = shell(DEAF);
    start["plugin"] = "shell".into();
    let run = json!({"intent": "run", "params": {"command": "x".repeat(MUCH)}});

    let adapter = rpc.call("adapter.start", &start)["adapter"].clone();
    let up = json!({"adapter": adapter, "matcher": {"type": "contains_text", "value": "up"}});
    rpc.call("adapter.wait", &up);
    let turn = json!({"adapter": adapter, "send": run, "wait": {"timeout_ms": 100}});
    let late = rpc.refused("adapter.turn", &turn);
    assert_eq!((&late["code"], &late["data"]["screen"]), (&json!(-32001), &json!("up")), "{late}");

    let mut send = run;
    send["adapter"] = adapter.clone();
    let stuck = rpc.begin("adapter.send", &send);
    rpc.call("adapter.live", &json!({}));
    rpc.call("adapter.close", &json!({"adapter": adapter}));
    let error = refused(&mut rpc, &stuck);
    assert_eq!(error["code"], -32002, "{error}");
}
