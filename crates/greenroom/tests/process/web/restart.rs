//! The daemon dies; sessions, ids and numbers do not.

use serde_json::json;

use super::Site;
use crate::support::{call, wait_for_text};

#[test]
fn a_terminal_goes_on_where_it_was_after_the_daemon_was_killed() {
    let mut site = Site::new();
    let (mut socket, id) = site.pty("session_name=kept");
    socket.type_in("stty -echo; PS1=; echo re''ady; read x; echo after; read y; echo \"[$x$y]\"\n");
    let (_, seq) = socket.until("ready\r\n");
    let mut native = site.home.connect();
    let before = call(&mut native, "session.info", json!({"sessionId": "kept"}));
    site.restart();
    let mut native = site.home.connect();
    let after = call(&mut native, "session.info", json!({"sessionId": "kept"}));
    assert_eq!(before["pid"], after["pid"]);
    call(&mut native, "session.send", json!({"sessionId": "kept", "text": "one\n"}));
    wait_for_text(&mut native, "kept", "after");
    let mut socket = site.socket(&format!("/ws/pty?session_id={id}&since={seq}"));
    let session = socket.json("the session");
    assert_eq!((&session["session_id"], &session["provider"]), (&json!(id), &json!("shell")));
    assert_eq!(socket.json("what was missed")["data"], "after\r\n");
    socket.type_in("two\n");
    socket.until("[onetwo]");
    // Somebody who knows no number gets the history of both daemons' time.
    let (mut other, _) = site.pty(&format!("session_id={id}"));
    let (text, _) = other.until("[onetwo]");
    assert!(text.contains("ready") && text.contains("after"), "{text}");
}

#[test]
fn browsers_are_told_when_the_daemon_stops() {
    let site = Site::new();
    let (mut socket, _) = site.pty("");
    let mut native = site.socket("/ws/native");
    call(&mut site.home.connect(), "daemon.stop", json!({}));
    assert_eq!(socket.closed().0, 1001);
    assert!(matches!(native.closed().0, 1001 | 1008));
}
