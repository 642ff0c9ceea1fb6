//! Requests at once: what waits for what, waits and their cancelling, answers before notifications.

use greenroom_testkit::{Framing, Rpc, count};
use serde_json::{Value, json};

use super::{create, home, private, shell, typed, wait_for};

fn wait(session: &str, text: &str) -> Value {
    let matcher = json!({"type": "contains_text", "value": text});
    json!({"session": session, "matcher": matcher, "timeout_ms": 20_000, "cells": false})
}

/// The answers to requests, each of which must be there.
#[track_caller]
fn all(rpc: &mut Rpc, ids: &[Value]) -> Vec<Result<Value, Value>> {
    ids.iter().map(|id| rpc.answer(id).expect("the connection stays")).collect()
}

#[test]
fn requests_sent_at_once_run_in_their_order() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let line = "stty -echo; while read line; do echo got-$line; done";
    let mut ids = vec![rpc.begin("session.create", &shell(line))];
    for number in 0..50 {
        ids.push(rpc.begin("session.input", &typed("s1", &format!("{number}\n"))));
    }
    ids.push(rpc.begin("session.resize", &json!({"session": "s1", "rows": 60, "cols": 90})));
    ids.push(rpc.begin("session.wait", &wait("s1", "got-49")));
    let answers = all(&mut rpc, &ids);
    let seen = answers.last().unwrap().as_ref().unwrap();
    assert_eq!(seen["snapshot"]["size"]["rows"], 60, "{seen}");
    let expected: Vec<String> = (0..50).map(|number| format!("got-{number}")).collect();
    let transcript = rpc.call("session.transcript", &json!({"session": "s1"}));
    // What was typed before the program switched it off is echoed.
    let lines = transcript["text"].as_str().unwrap().lines();
    let answers: Vec<&str> = lines.filter(|line| line.starts_with("got-")).collect();
    assert_eq!(answers, expected);
}

/// A script that is piped in, as upstream's own examples do it: nothing waits for an answer.
#[test]
fn what_is_sent_behind_a_wait_sees_what_was_waited_for() {
    let home = home();
    let (mut server, mut rpc) = private(&home);
    let named = json!({"session": "s1", "cells": false});
    let ids = [
        rpc.begin("session.create", &shell("read go; printf ready; read x")),
        rpc.begin("session.input", &typed("s1", "go\n")),
        rpc.begin("session.wait", &wait("s1", "ready")),
        rpc.begin("session.snapshot", &named),
        rpc.begin("session.transcript", &named),
        rpc.begin("session.close", &named),
        rpc.begin("session.list", &json!({})),
    ];
    rpc.finish();
    let answers = all(&mut rpc, &ids);
    let [_, _, waited, shot, transcript, closed, list] = answers.as_slice() else { unreachable!() };
    assert_eq!(waited.as_ref().unwrap()["matched"], true);
    assert_eq!(shot.as_ref().unwrap()["plain_text"], "go\nready");
    assert_eq!(transcript.as_ref().unwrap()["text"], "go\r\nready");
    assert_eq!(closed.as_ref().unwrap()["closed"], true);
    assert_eq!(list.as_ref().unwrap(), &json!({"sessions": []}));
    assert!(server.wait_for_end().success());
}

#[test]
fn a_list_sent_behind_a_close_does_not_have_what_was_closed() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    for _ in 0..5 {
        let session = create(&mut rpc, "exec cat");
        let closed = rpc.begin("session.close", &json!({"session": session}));
        let list = rpc.begin("session.list", &json!({}));
        rpc.answer(&closed).unwrap().unwrap();
        assert_eq!(rpc.answer(&list).unwrap().unwrap(), json!({"sessions": []}));
    }
}

#[test]
fn a_wait_is_fulfilled_by_what_its_own_connection_sends_behind_it() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    create(&mut rpc, "stty -echo; read line; echo got-$line; read x");
    let waits = rpc.begin("session.wait", &wait("s1", "got-this"));
    let typed = rpc.begin("session.input", &typed("s1", "this\n"));
    assert!(rpc.answer(&typed).unwrap().is_ok());
    assert_eq!(rpc.answer(&waits).unwrap().unwrap()["matched"], true);
}

#[test]
fn a_wait_is_cancelled_on_its_own_connection_and_on_another() {
    let home = home();
    let _daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    create(&mut rpc, "exec cat");
    let mut named = wait("s1", "never");
    for (round, other) in [false, true].into_iter().enumerate() {
        named["wait_id"] = format!("w{round}").into();
        let waits = rpc.begin("session.wait", &named);
        // Answered behind the wait, which therefore is under way.
        rpc.call("session.snapshot", &json!({"session": "s1", "cells": false}));
        let cancel = json!({"wait_id": named["wait_id"]});
        let cancelled = match other {
            true => home.ptywright(Framing::Headers).call("session.cancel_wait", &cancel),
            false => rpc.call("session.cancel_wait", &cancel),
        };
        assert_eq!(cancelled["cancelled"], true);
        let error = rpc.answer(&waits).unwrap().unwrap_err();
        assert_eq!(error["code"], -32005, "{error}");
    }
}

#[test]
fn a_wait_that_was_said_to_be_cancelled_is_told_nothing_else() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    create(&mut rpc, "exec cat");
    let mut named = wait("s1", "never");
    named["wait_id"] = "w".into();
    named["timeout_ms"] = 2.into();
    for round in 0..count(300, 5_000) {
        let waits = rpc.begin("session.wait", &named);
        // It comes before, at and behind the end of its time.
        for _ in 0..round % 16 {
            rpc.call("session.list", &json!({}));
        }
        let cancelled = rpc.call("session.cancel_wait", &json!({"wait_id": "w"}));
        let code = if cancelled["cancelled"] == true { -32005 } else { -32001 };
        let error = rpc.answer(&waits).unwrap().unwrap_err();
        assert_eq!(error["code"], code, "round {round}: {cancelled}");
    }
}

#[test]
fn a_cancel_does_not_find_a_wait_that_comes_behind_it() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    create(&mut rpc, "echo here; exec cat");
    let mut named = wait("s1", "here");
    named["wait_id"] = "w".into();
    for round in 0..20 {
        let [cancel, waits] = ["session.cancel_wait", "session.wait"].map(|method| {
            let params = if method == "session.wait" { &named } else { &json!({"wait_id": "w"}) };
            json!({"jsonrpc": "2.0", "id": format!("{method} {round}"), "method": method,
                "params": params})
        });
        // Both come in one piece.
        rpc.send(format!("{cancel}\n{waits}").as_bytes()).unwrap();
        let answers = all(&mut rpc, &[cancel["id"].clone(), waits["id"].clone()]);
        assert_eq!(answers[0].as_ref().unwrap(), &json!({"cancelled": false}));
        assert_eq!(answers[1].as_ref().unwrap()["matched"], true);
    }
}

#[test]
fn a_wait_that_is_cancelled_before_its_turn_is_told_so_and_not_why_it_could_not_run() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    for round in 0..10 {
        let session = create(&mut rpc, "exec cat");
        let mut wait = wait(&session, "never");
        wait["wait_id"] = "w".into();
        let ids = [
            rpc.begin("session.close", &json!({"session": session})),
            rpc.begin("session.wait", &wait),
            rpc.begin("session.cancel_wait", &json!({"wait_id": "w"})),
        ];
        let answers = all(&mut rpc, &ids);
        // Without a name the session would be unknown.
        let code = match answers[2].as_ref().unwrap()["cancelled"] == true {
            true => -32005,
            false => -32602,
        };
        assert_eq!(answers[1].as_ref().unwrap_err()["code"], code, "round {round}: {answers:?}");
    }
}

#[test]
fn a_script_may_use_a_name_of_a_wait_again() {
    let home = home();
    let (mut server, mut rpc) = private(&home);
    let mut ids = vec![rpc.begin("session.create", &shell("stty -echo; exec cat"))];
    for word in ["one", "two", "three"] {
        ids.push(rpc.begin("session.input", &typed("s1", &format!("{word}\n"))));
        let mut named = wait("s1", word);
        named["wait_id"] = "w".into();
        ids.push(rpc.begin("session.wait", &named));
    }
    rpc.finish();
    for answer in all(&mut rpc, &ids) {
        answer.unwrap();
    }
    assert!(server.wait_for_end().success());
}

#[test]
fn a_cancel_sent_right_behind_its_wait_finds_it() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    create(&mut rpc, "exec cat");
    let mut named = wait("s1", "never");
    named["wait_id"] = "w".into();
    named["timeout_ms"] = 2_000.into();
    for _ in 0..20 {
        // The input is under way when the cancel comes, and the wait is behind it.
        let ids = [
            rpc.begin("session.input", &typed("s1", "x")),
            rpc.begin("session.wait", &named),
            rpc.begin("session.cancel_wait", &json!({"wait_id": "w"})),
        ];
        let answers = all(&mut rpc, &ids);
        assert_eq!(answers[2].as_ref().unwrap()["cancelled"], true);
        assert_eq!(answers[1].as_ref().unwrap_err()["code"], -32005);
    }
}

#[test]
fn a_wait_ends_with_its_connection_and_its_name_is_free() {
    let home = home();
    let _daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    create(&mut rpc, "exec cat");
    let mut named = wait("s1", "never");
    named["wait_id"] = "w".into();
    let mut leaves = home.ptywright(Framing::Lines);
    leaves.begin("session.wait", &named);
    leaves.call("session.snapshot", &json!({"session": "s1", "cells": false}));
    drop(leaves);
    named["timeout_ms"] = 1.into();
    greenroom_testkit::eventually("the name is free", || {
        rpc.refused("session.wait", &named)["code"] == -32001
    });
}

#[test]
fn many_waits_on_many_sessions_are_each_fulfilled_by_their_own() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let many = count(40, 200);
    let makes: Vec<Value> = (0..many)
        .map(|_| rpc.begin("session.create", &shell("stty -echo; read x; echo saw-$x; read x")))
        .collect();
    let made = all(&mut rpc, &makes).into_iter().map(|it| it.unwrap()["session"].clone());
    let sessions: Vec<String> = made.map(|it| it.as_str().unwrap().to_owned()).collect();
    let waits: Vec<Value> = sessions
        .iter()
        .map(|it| rpc.begin("session.wait", &wait(it, &format!("saw-{it}"))))
        .collect();
    for session in sessions.iter().rev() {
        rpc.begin("session.input", &typed(session, &format!("{session}\n")));
    }
    for (session, waited) in sessions.iter().zip(all(&mut rpc, &waits)) {
        let tail = waited.unwrap()["transcript_tail"].as_str().unwrap().to_owned();
        assert!(tail.contains(&format!("saw-{session}\r\n")), "{session}: {tail:?}");
    }
}

#[test]
fn a_turn_of_the_wait_is_not_lost_when_the_program_ends_with_it() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    for _ in 0..count(10, 200) {
        let session = create(&mut rpc, "printf last-words");
        let waited = wait_for(&mut rpc, &session, "last-words");
        assert_eq!(waited["transcript_tail"], "last-words");
        rpc.call("session.close", &json!({"session": session}));
    }
}

#[test]
fn what_is_typed_slowly_is_in_nobodys_way() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let session = create(&mut rpc, "stty raw; cat");
    let other = create(&mut rpc, "cat");
    // For twenty seconds.
    let slowly = json!({"text": "x".repeat(200), "chunk_chars": 1, "delay_ms": 100});
    let slowly = json!({"session": session, "action": {"type": "stream_text", "value": slowly}});
    let streaming = rpc.begin("session.input", &slowly);
    // Nor is what waits for its turn to be typed behind it.
    let behind = rpc.begin("session.input", &typed(&session, "\n"));
    let ask = |method: &str, params: Value| (method.to_owned(), params);
    let interrupt = json!({"session": session, "action": {"type": "interrupt"}});
    for (method, params) in [
        ask("session.snapshot", json!({"session": session, "cells": false})),
        ask("session.list", json!({})),
        ask("session.input", typed(&other, "x")),
        ask("session.input", interrupt),
        ask("session.kill", json!({"session": session})),
    ] {
        rpc.call(&method, &params);
    }
    // The program has ended; so has what was typed into it.
    for id in [streaming, behind] {
        let error = rpc.answer(&id).unwrap().unwrap_err();
        assert_eq!(error["code"], -32002, "{error}");
    }
}

#[test]
fn a_wait_has_a_name_or_none() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let session = create(&mut rpc, "cat");
    let matcher = json!({"type": "process_exited"});
    let wait = json!({"session": session, "matcher": matcher, "wait_id": 5});
    assert_eq!(rpc.refused("session.wait", &wait)["code"], -32602);
}
