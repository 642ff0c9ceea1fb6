//! What sessions are called: one name, one running session, unless somebody wants it otherwise.

use std::process::{Output, Stdio};

use greenroom_testkit::{Home, create};
use serde_json::{Value, json};

use crate::support::{call, home};

#[track_caller]
fn check(home: &Home, line: &[&str], code: i32) -> Output {
    let output = home.command(line).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{line:?}: {output:?}");
    output
}

/// It fails with this code and says that.
#[track_caller]
fn refused(home: &Home, line: &[&str], code: i32, texts: &[&str]) {
    let output = check(home, line, code);
    let said = String::from_utf8(output.stderr).unwrap();
    for text in texts {
        assert!(said.contains(text), "{line:?}: {said}");
    }
    assert!(!said.contains("parameter"), "{line:?}: {said}");
}

#[test]
fn a_name_is_that_of_one_running_session() {
    let home = home();
    let _daemon = home.start();
    check(&home, &["new", "-d", "-n", "one", "--", "sleep", "1000"], 0);
    let taken = ["session `1`", "`one`", "`greenroom attach", "another name"];
    refused(&home, &["new", "-d", "-n", "one", "--", "cat"], 1, &taken);
    refused(&home, &["run", "-n", "one", "--", "true"], 1, &taken);
    check(&home, &["new", "-d", "-n", "two", "--", "sleep", "1000"], 0);
    refused(&home, &["rename", "two", "one"], 1, &taken);
    check(&home, &["rename", "two", "two"], 0);
    // One that has ended is in nobody's way.
    check(&home, &["kill", "one"], 0);
    check(&home, &["rename", "two", "one"], 0);
    let info = check(&home, &["info", "one", "--json"], 0);
    let info: Value = serde_json::from_slice(&info.stdout).unwrap();
    assert_eq!(info["number"], 2, "the one that runs is meant, and what was refused has no number");
}

#[test]
fn of_many_that_want_a_name_at_once_one_gets_it() {
    let home = home();
    let _daemon = home.start();
    let new = ["new", "-d", "-n", "one", "--", "sleep", "1000"];
    let start = || home.command(new).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let children: Vec<_> = (0..8).map(|_| start().unwrap()).collect();
    let ended = children.into_iter().map(|mut it| it.wait().unwrap());
    assert_eq!(ended.filter(|it| it.success()).count(), 1);
}

#[test]
fn of_many_that_want_the_default_session_all_get_the_same() {
    let home = home();
    let _daemon = home.start();
    let start = || home.command(["--json"]).stdout(Stdio::piped()).spawn();
    let children: Vec<_> = (0..6).map(|_| start().unwrap()).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let session: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(session["number"], 1, "{session}");
    }
}

#[test]
fn the_newest_of_those_that_ended_under_a_name_is_read() {
    let home = home();
    let _daemon = home.start();
    for text in ["older", "newer"] {
        check(&home, &["run", "-n", "one", "--keep", "--", "echo", text], 0);
    }
    let read = check(&home, &["read", "one"], 0);
    assert_eq!(String::from_utf8_lossy(&read.stdout), "newer\n");
    check(&home, &["search", "one", "newer"], 0);
    refused(&home, &["forget", "one"], 3, &["could be any of 1, 2"]);
}

#[test]
fn a_name_that_cannot_be_seen_is_refused_and_spelled_out() {
    let home = home();
    let _daemon = home.start();
    let session = create(&mut home.connect(), "a\u{202e}b", "read line");
    for name in ["", "a\u{202e}b", "a\u{1b}b", "\u{200f}x", "x\u{2066}"] {
        refused(&home, &["new", "-d", "-n", name, "--", "cat"], 2, &["name"]);
        refused(&home, &["run", "-n", name, "--", "true"], 2, &["name"]);
        refused(&home, &["rename", "1", name], 2, &["name"]);
    }
    let list = String::from_utf8(check(&home, &["ls"], 0).stdout).unwrap();
    assert!(list.contains(r"a\u{202e}b") && !list.contains('\u{202e}'), "{list}");
    assert_eq!(session["name"], "a\u{202e}b", "other clients may");
    call(&mut home.connect(), "session.kill", json!({"sessionId": 1}));
}
