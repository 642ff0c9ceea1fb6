//! Expressions that take long to look for: whoever brings them waits for the answer, and nobody else does.

use greenroom_testkit::{Framing, Rpc};
use serde_json::{Value, json};

use super::{create, home, private, wait_for_end};

/// Hundreds of states at once, on a text that nobody can foresee.
const SLOW: &str = "[01]{40}[^01]{0,3}1[01]{100}2";

/// Prints so many noughts and ones, in lines.
fn noise(bytes: usize) -> String {
    let script = "BEGIN { srand(1); for (i = 0; i < n; i++) printf \"%d%s\", rand() * 2, \
        i % 99 == 98 ? \"\\n\" : \"\"; printf \"END\" }";
    format!("awk -v n={bytes} '{script}'")
}

/// A session whose transcript has a million of them.
fn noisy(rpc: &mut Rpc) -> String {
    let line = noise(1_000_000);
    let params = json!({"program": "sh", "args": ["-c", line], "transcript_max_chars": 2_000_000});
    let made = rpc.call("session.create", &params);
    let session = made["session"].as_str().unwrap().to_owned();
    wait_for_end(rpc, &session);
    session
}

fn rules(regexes: usize) -> Value {
    json!({"enabled": true, "replacement": "#", "extra_regexes": vec![SLOW; regexes]})
}

/// Asks for something that takes long, and then for something else: that is answered first.
#[track_caller]
fn check(rpc: &mut Rpc, other: &str, method: &str, params: &Value) -> Value {
    let slow = rpc.begin(method, params);
    let quick = rpc.begin("session.snapshot", &json!({"session": other, "cells": false}));
    let first = rpc.message().expect("the connection stays");
    assert_eq!(first["id"], quick, "{method} held it up");
    rpc.answer(&slow).expect("the connection stays").expect("an answer")
}

#[test]
fn expressions_that_take_long_hold_nobody_up() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let (noisy, other) = (noisy(&mut rpc), create(&mut rpc, "exec cat"));
    let read = json!({"session": noisy, "redaction": rules(2)});
    let transcript = check(&mut rpc, &other, "session.transcript", &read);
    assert!(transcript["text"].as_str().unwrap().ends_with("END"));
    let matcher = json!({"type": "any", "value": [
        {"type": "screen_regex", "value": "no such"}, {"type": "transcript_contains", "value": "END"}]});
    let wait = json!({"session": noisy, "matcher": matcher, "redaction": rules(32)});
    let waited = check(&mut rpc, &other, "session.wait", &wait);
    assert_eq!(waited["outcome"]["matched"]["kind"], "transcript_contains");
    assert!(waited["transcript_tail"].as_str().unwrap().ends_with("END"));
    assert_eq!(waited["snapshot"]["cells"].as_array().unwrap().len(), 24 * 80);
}

/// What a pattern takes long for is looked at beside the session, and is found there as well.
#[test]
fn patterns_that_take_long_are_looked_for_elsewhere() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let other = create(&mut rpc, "exec cat");
    let line = format!("stty raw -echo; {}; read go; printf '\\nGONE'; read go", noise(1_000_000));
    let params = json!({"program": "bash", "args": ["-c", line], "rows": 1000, "cols": 1000});
    let made = rpc.call("session.create", &params);
    let session = made["session"].as_str().unwrap();
    let end = json!({"type": "contains_text", "value": "END"});
    rpc.call("session.wait", &json!({"session": session, "matcher": end, "evidence": false}));
    let patterns = [SLOW, "GO(NE)|[01]{40}[^01]{0,3}1[01]{99}2"];
    let parts = patterns.map(|it| json!({"type": "screen_regex", "value": it}));
    let matcher = json!({"type": "any", "value": parts});
    let mut wait =
        json!({"session": session, "matcher": matcher, "evidence": false, "timeout_ms": 1});
    let slow = rpc.begin("session.wait", &wait);
    let quick = rpc.begin("session.snapshot", &json!({"session": other, "cells": false}));
    assert_eq!(rpc.message().expect("the connection stays")["id"], quick);
    let late = rpc.answer(&slow).expect("the connection stays").expect_err("a time-out");
    assert_eq!(late["code"], -32001);
    wait["timeout_ms"] = json!(60_000);
    let found = rpc.begin("session.wait", &wait);
    rpc.call("session.input", &super::typed(session, "go\n"));
    let found = rpc.answer(&found).expect("the connection stays").expect("it is found");
    let matched = &found["outcome"]["matched"];
    assert_eq!((&matched["kind"], &matched["capture"]), (&json!("screen_regex"), &json!("NE")));
}

/// Whoever asks for hundreds that take long stands before nobody else, and a daemon that ends waits for none.
#[test]
fn a_client_with_many_that_take_long_is_in_nobodys_way() {
    let home = home();
    let _daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    let (noisy, other) = (noisy(&mut rpc), create(&mut rpc, "printf up; exec cat"));
    let read = json!({"session": noisy, "redaction": rules(8)});
    rpc.begin("session.transcript", &read);
    let patterns: Vec<Value> = (0..60)
        .map(|it| json!({"type": "screen_regex", "value": format!(r"\w{{12}}{it}")}))
        .collect();
    let many = json!({"type": "any", "value": patterns});
    for _ in 0..100 {
        let wait = json!({"session": other, "matcher": many, "timeout_ms": 1, "cells": false});
        rpc.begin("session.wait", &wait);
    }
    let mut quick = home.ptywright(Framing::Lines);
    let matcher = json!({"type": "screen_regex", "value": "^u(.)"});
    let wait = json!({"session": other, "matcher": matcher, "redaction": rules(1), "cells": false});
    let found = quick.call("session.wait", &wait);
    assert_eq!(found["outcome"]["capture"], "p");
    let stopped = home.command(["daemon", "stop"]).output().unwrap();
    assert!(stopped.status.success(), "{stopped:?}");
}
