//! Notifications: after the answer, in order, whole, and only of what was asked for.

use greenroom_testkit::{Framing, Rpc, Serving, count};
use serde_json::{Value, json};

use super::{create, home, private, shell, told_until, type_in, typed, wait_for};

fn listen(rpc: &mut Rpc) {
    rpc.call("server.set_notifications", &json!({"enabled": true}));
}

#[test]
fn an_answer_comes_before_the_notifications_of_what_it_caused() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    listen(&mut rpc);
    for round in 0..count(20, 500) {
        let id = rpc.begin("session.create", &shell("printf one; exit 3"));
        let first = rpc.message().unwrap();
        assert_eq!(first["id"], id, "round {round}");
        let session = first["result"]["session"].clone();
        let mut last = 0;
        let mut told = Vec::new();
        loop {
            let note = rpc.message().unwrap();
            assert_eq!(note["params"]["session"], session, "{note}");
            let sequence = note["params"]["sequence"].as_u64().unwrap();
            assert!(sequence >= last, "{note} after {last}");
            last = sequence;
            told.push(note["method"].as_str().unwrap().to_owned());
            if told.last().is_some_and(|it| it == "session.exited") {
                assert_eq!(note["params"]["exit_code"], 3);
                break;
            }
        }
        told.dedup();
        let usual = ["session.changed", "session.output", "session.exited"];
        assert!(told.ends_with(&usual.map(str::to_owned)[1..]), "{told:?}");
        assert_eq!(told[0], usual[0]);
        let id = rpc.begin("session.close", &json!({"session": session}));
        let closed = rpc.message().unwrap();
        assert_eq!(closed["id"], id, "the end is told once: {closed}");
    }
}

#[test]
fn what_is_typed_right_behind_the_subscription_is_told() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    create(&mut rpc, "stty -echo; printf before; while read line; do echo got-$line; done");
    wait_for(&mut rpc, "s1", "before");
    for round in 0..count(60, 500) {
        let off = rpc.begin("server.set_notifications", &json!({"enabled": false}));
        let on = rpc.begin("server.set_notifications", &json!({"enabled": true}));
        let sent = rpc.begin("session.input", &typed("s1", &format!("{round}\n")));
        for id in [off, on, sent] {
            rpc.answer(&id).unwrap().unwrap();
        }
        let told = told_until(&mut rpc, "s1", &format!("got-{round}\r\n"));
        assert!(!told.contains("before"), "{told:?}");
    }
}

#[test]
fn everything_that_is_printed_is_told_once_and_in_order() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    listen(&mut rpc);
    let lines = count(3_000, 100_000);
    // The transcript keeps all of it, so nothing has to be left out.
    let mut printer = shell(&format!("stty -opost; seq 1 {lines}; echo over"));
    printer["transcript_max_chars"] = (4 << 20).into();
    let session = rpc.call("session.create", &printer)["session"].as_str().unwrap().to_owned();
    let told = told_until(&mut rpc, &session, "over\n");
    let expected: String = (1..=lines).map(|number| format!("{number}\n")).collect();
    assert_eq!(told, expected + "over\n");
}

#[test]
fn nothing_is_left_out_though_large_answers_are_in_the_way() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    listen(&mut rpc);
    // Some 8 MB an answer.
    let wide = rpc.call("session.create", &json!({"program": "cat", "rows": 100, "cols": 400}));
    let lines = 15_000;
    let script = format!("stty -opost -echo; echo up; read go; seq 1 {lines}; echo over; exit 4");
    let session = create(&mut rpc, &script);
    told_until(&mut rpc, &session, "up\n");
    let shots: Vec<Value> = (0..4)
        .map(|_| rpc.begin("session.snapshot", &json!({"session": wide["session"]})))
        .collect();
    rpc.begin("session.input", &typed(&session, "go\n"));
    // Nothing is read until all of that is under way.
    let mut other = String::new();
    while !other.ends_with("over\n") {
        let note = rpc.note("output", |note| {
            note["method"] == "session.output" && note["params"]["session"] == session.as_str()
        });
        assert_eq!(note["params"]["dropped"], Value::Null, "the transcript has all of it");
        other.push_str(note["params"]["output"].as_str().unwrap());
    }
    let expected: String = (1..=lines).map(|number| format!("{number}\n")).collect();
    assert_eq!(other, expected + "over\n");
    let exited = rpc.note("the end", |note| note["method"] == "session.exited");
    assert_eq!(exited["params"]["exit_code"], 4);
    for shot in shots {
        assert!(rpc.answer(&shot).unwrap().is_ok());
    }
}

/// What streams a text into a session.
fn streamed(session: &str, text: &str, delay_ms: u64) -> Value {
    let value = json!({"text": text, "chunk_chars": 1, "delay_ms": delay_ms});
    json!({"session": session, "action": {"type": "stream_text", "value": value}})
}

#[test]
fn what_a_slow_text_causes_is_told_while_it_is_typed() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    listen(&mut rpc);
    let session = create(&mut rpc, "stty raw -echo; printf up; exec cat");
    told_until(&mut rpc, &session, "up");
    let slow = rpc.begin("session.input", &streamed(&session, "abcdefgh", 100));
    let mut told = String::new();
    let answer = loop {
        let message = rpc.message().unwrap();
        if message["id"] == slow {
            break message;
        }
        if message["method"] == "session.output" {
            told.push_str(message["params"]["output"].as_str().unwrap());
        }
    };
    assert_eq!(answer["result"], json!({"sent": true}));
    assert!(told.starts_with("abc"), "{told:?}");

    // One that is typed as fast as others is answered as they are: first.
    if !told.ends_with('h') {
        told_until(&mut rpc, &session, "h");
    }
    let fast = rpc.begin("session.input", &streamed(&session, "ijk", 0));
    assert_eq!(rpc.message().unwrap()["id"], fast);
    told_until(&mut rpc, &session, "k");
}

#[test]
fn the_end_of_a_session_is_told_when_its_adapter_is_closed() {
    let home = home();
    for _ in 0..3 {
        let (_server, mut rpc) = private(&home);
        listen(&mut rpc);
        let mut start = shell("printf up; exec cat");
        start["plugin"] = "shell".into();
        let made = rpc.call("adapter.start", &start);
        let (adapter, session) = (made["adapter"].clone(), made["session"].clone());
        told_until(&mut rpc, session.as_str().unwrap(), "up");
        let closed = rpc.begin("adapter.close", &json!({"adapter": adapter}));
        let first = rpc.message().unwrap();
        assert_eq!((&first["id"], &first["result"]), (&closed, &json!({"closed": true})));
        let exited = rpc.note("its end", |note| note["method"] == "session.exited");
        assert_eq!(exited["params"]["session"], session);
        assert!(exited["params"]["signal"].is_i64(), "{exited}");
    }
}

/// While a program takes its time to end, other things happen in the house.
#[test]
fn the_end_is_told_to_who_listens_to_the_adapter_that_is_closed() {
    let home = home();
    let _daemon = home.start();
    let (mut rpc, mut other) = (home.ptywright(Framing::Lines), home.ptywright(Framing::Lines));
    let mut start = shell("trap '' HUP TERM; printf up; while :; do sleep 0.1; done");
    start["plugin"] = "shell".into();
    let made = other.call("adapter.start", &start);
    let (adapter, session) = (&made["adapter"], made["session"].as_str().unwrap());
    rpc.call("server.set_notifications", &json!({"enabled": true, "adapters": [adapter]}));
    let up = json!({"type": "contains_text", "value": "up"});
    other.call("adapter.wait", &json!({"adapter": adapter, "matcher": up}));
    let closed = other.begin("adapter.close", &json!({"adapter": adapter}));
    create(&mut rpc, "exec cat");
    create(&mut rpc, "exec cat");
    let exited = rpc.note("its end", |note| note["method"] == "session.exited");
    assert_eq!(exited["params"]["session"], session, "{exited}");
    other.answer(&closed).unwrap().unwrap();
}

#[test]
fn a_session_that_a_filter_takes_in_later_is_told_from_then_on() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    create(&mut rpc, "exec cat");
    create(&mut rpc, "stty -echo; printf old; read x; printf new; read x");
    wait_for(&mut rpc, "s2", "old");
    let only = |sessions: Value| json!({"enabled": true, "sessions": sessions});
    rpc.call("server.set_notifications", &only(json!(["s1"])));
    rpc.call("server.set_notifications", &only(json!(["s1", "s2"])));
    type_in(&mut rpc, "s2", "\n");
    assert_eq!(told_until(&mut rpc, "s2", "new"), "new");
}

/// A place in a session moves when notifications are switched on, and when they are told.
#[test]
fn a_session_made_later_is_told_whole_whenever_a_filter_takes_it_in() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let only = |sessions: Value| json!({"enabled": true, "sessions": sessions});
    rpc.call("server.set_notifications", &only(json!(["s99"])));
    create(&mut rpc, "stty -echo; printf one; read x; printf two; read x; printf three; read x");
    wait_for(&mut rpc, "s1", "one");
    rpc.call("server.set_notifications", &only(json!(["s1", "s99"])));
    assert_eq!(told_until(&mut rpc, "s1", "one"), "one");
    rpc.call("server.set_notifications", &only(json!(["s99"])));
    type_in(&mut rpc, "s1", "\n");
    wait_for(&mut rpc, "s1", "two");
    rpc.call("server.set_notifications", &only(json!(["s1"])));
    type_in(&mut rpc, "s1", "\n");
    assert_eq!(told_until(&mut rpc, "s1", "three"), "twothree");
}

/// A script that is piped in hears of all that its requests caused.
#[test]
fn what_happens_behind_the_last_answer_of_a_script_is_told() {
    let home = home();
    for last in ["session.wait", "session.kill"] {
        let (mut server, mut rpc) = private(&home);
        rpc.begin("server.set_notifications", &json!({"enabled": true}));
        let script = if last == "session.wait" { "echo ready; exit 3" } else { "echo ready; cat" };
        rpc.begin("session.create", &shell(script));
        let ready =
            json!({"session": "s1", "matcher": {"type": "contains_text", "value": "ready"}});
        rpc.begin("session.wait", &ready);
        let exited = json!({"type": "process_exited"});
        let id = rpc.begin(last, &json!({"session": "s1", "matcher": exited, "cells": false}));
        rpc.finish();
        let came: Vec<Value> = std::iter::from_fn(|| rpc.message()).collect();
        assert!(came.iter().any(|it| it["id"] == id && it["error"].is_null()), "{last}: {came:?}");
        let output = came.iter().filter_map(|it| it["params"]["output"].as_str());
        assert_eq!(output.collect::<String>(), "ready\r\n", "{last}");
        let ends = came.iter().filter(|it| it["method"] == "session.exited").count();
        assert_eq!(ends, 1, "{last}: {came:?}");
        assert!(server.wait_for_end().success());
    }
}

#[test]
fn what_a_filter_leaves_out_is_not_told() {
    let home = home();
    let _daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    for _ in 0..3 {
        create(&mut rpc, "stty -echo; read x; echo heard-$x; read x");
    }
    rpc.call("server.set_notifications", &json!({"enabled": true, "sessions": ["s2", "s77"]}));
    for session in ["s1", "s2", "s3"] {
        type_in(&mut rpc, session, "it\n");
        wait_for(&mut rpc, session, "heard-it");
    }
    told_until(&mut rpc, "s2", "heard-it\r\n");
    rpc.call("server.set_notifications", &json!({"enabled": false}));
    rpc.call("session.list", &json!({}));
    let rest = std::iter::from_fn(|| {
        rpc.send(br#"{"jsonrpc":"2.0","id":"last","method":"session.list"}"#).ok()?;
        rpc.message().filter(|it| it["id"] != "last")
    });
    for note in rest {
        assert_eq!(note["params"]["session"], "s2", "{note}");
    }
}

/// A client may name an adapter before there is one.
#[test]
fn an_adapter_that_was_named_before_it_began_is_told_of() {
    let home = home();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = folder.join("../door-ptywright/tests/plugins/echo.toml");
    let arguments = ["--plugin".to_owned(), manifest.display().to_string()];
    let (_server, mut rpc) = Serving::start(&home, Framing::Lines, &arguments);
    rpc.call("server.set_notifications", &json!({"enabled": true, "adapters": ["e1"]}));
    let started = rpc.call("adapter.start", &json!({"plugin": "echo"}));
    assert_eq!(started["adapter"], "e1");
    assert_eq!(told_until(&mut rpc, "s1", "> "), "> ");
    let say = json!({"adapter": "e1", "intent": "say", "params": {"text": "hello"}});
    rpc.call("adapter.send", &say);
    assert_eq!(told_until(&mut rpc, "s1", "> "), "said hello\r\n> ");
}

#[test]
fn the_end_of_a_session_that_is_closed_is_told() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    rpc.call("server.set_notifications", &json!({"enabled": true}));
    for _ in 0..5 {
        let session = create(&mut rpc, "printf up; exec cat");
        assert_eq!(told_until(&mut rpc, &session, "up"), "up");
        rpc.call("session.close", &json!({"session": session}));
        let exited = rpc.note("its end", |note| {
            note["method"] == "session.exited" && note["params"]["session"] == session.as_str()
        });
        assert!(exited["params"]["signal"].is_i64(), "{exited}");
    }
}

/// Everything that a connection is told of a session up to its end: the output, whether some is missing before it, and
/// the sequence at the end.
#[track_caller]
fn told_to_the_end(rpc: &mut Rpc, session: &str) -> (String, bool, u64) {
    let (mut told, mut has_gap) = (String::new(), false);
    loop {
        let note = rpc.note("the end", |note| {
            note["params"]["session"] == session && note["method"] != "session.changed"
        });
        if note["method"] == "session.exited" {
            return (told, has_gap, note["params"]["sequence"].as_u64().unwrap());
        }
        if note["params"]["dropped"] == true {
            (has_gap, told) = (true, String::new());
        }
        told.push_str(note["params"]["output"].as_str().unwrap());
    }
}

#[test]
fn what_was_printed_last_is_told_of_a_session_that_is_closed_at_once() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    listen(&mut rpc);
    for round in 0..count(20, 500) {
        let session = create(&mut rpc, "read go; printf 1; printf 2; printf last");
        type_in(&mut rpc, &session, "go\n");
        let named =
            json!({"session": session, "matcher": {"type": "process_exited"}, "cells": false});
        let waited = rpc.begin("session.wait", &named);
        let closed = rpc.begin("session.close", &named);
        let (told, has_gap, _) = told_to_the_end(&mut rpc, &session);
        assert!(told.ends_with("last") && !has_gap, "round {round}: {told:?}");
        // The close may have come before the wait.
        let _waited = rpc.answer(&waited).unwrap();
        rpc.answer(&closed).unwrap().unwrap();
    }
}

#[test]
fn a_client_that_reads_too_late_hears_that_something_is_missing_of_a_session_that_was_closed() {
    let home = home();
    let _daemon = home.start();
    let (mut slow, mut rpc) = (home.ptywright(Framing::Lines), home.ptywright(Framing::Lines));
    listen(&mut slow);
    let line = "i=0; while [ $i -lt 60000 ]; do echo $i is a line of some length, which nobody reads; i=$((i + 1)); done; printf last";
    let session = create(&mut rpc, line);
    let waited = super::wait_for_end(&mut rpc, &session);
    rpc.call("session.close", &json!({"session": session}));
    let (told, has_gap, sequence) = told_to_the_end(&mut slow, &session);
    assert!(
        has_gap && told.ends_with("last"),
        "{has_gap}, {:?}",
        &told[told.len().saturating_sub(80)..]
    );
    assert_eq!(sequence, waited["sequence"].as_u64().unwrap());
}
