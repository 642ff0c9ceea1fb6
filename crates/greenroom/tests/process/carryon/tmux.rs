//! The user's own tmux, by carryOn's words: here a server of the test's own.

use std::process::Stdio;

use greenroom_frame::binary::kind as frame;
use greenroom_testkit::{Home, Wire, eventually, process};
use serde_json::{Value, json};

use super::{Attached, attach, call, kind};
use crate::support::home;

/// Says something to tmux, as its user would.
#[track_caller]
fn tmux(home: &Home, arguments: &[&str]) {
    let mut command = std::process::Command::new("tmux");
    command.args(arguments).env_clear().envs(home.environment());
    command.stdin(Stdio::null()).stdout(Stdio::null());
    assert!(command.status().expect("running tmux").success(), "{arguments:?}");
}

/// How many clients tmux has.
fn clients_of_tmux(home: &Home) -> usize {
    let mut command = std::process::Command::new("tmux");
    command.arg("list-clients").env_clear().envs(home.environment()).stdin(Stdio::null());
    let output = command.output().expect("running tmux");
    String::from_utf8_lossy(&output.stdout).lines().count()
}

#[track_caller]
fn make(wire: &mut Wire, name: &str, line: &str) {
    let params = json!({"name": name, "command": line, "backend": "tmux"});
    assert_eq!(call(wire, "session.create", params)["id"], format!("tmux-{name}"));
}

/// How often something was told of a session so far.
fn told(wire: &mut Wire, method: &str, id: &str) -> usize {
    // Everything told so far has come when the answer to one more request has.
    let (request, bytes) = wire.request("daemon.status", &json!({}));
    wire.send_bytes(&bytes).unwrap();
    let mut count = 0;
    loop {
        let message = wire.frame().expect("the daemon does not hang up");
        let Ok(message) = serde_json::from_slice::<Value>(&message.payload) else { continue };
        if message["id"] == request {
            return count;
        }
        let about = message["params"]["sessionId"] == id;
        count += usize::from(message["method"] == method && about);
    }
}

/// Reads frames of a kind until their payloads have a text.
#[track_caller]
fn until_text(wire: &mut Wire, wanted: u8, text: &str) {
    let mut output = Vec::new();
    while !String::from_utf8_lossy(&output).contains(text) {
        let frame = wire.frame().expect("the daemon does not hang up");
        if frame.kind == wanted {
            output.extend_from_slice(&frame.payload);
        }
    }
}

fn ids(wire: &mut Wire) -> Vec<String> {
    let list = call(wire, "session.list", json!({}));
    list.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_others_do_in_tmux_is_seen_and_told_once() {
    let home = home();
    let _daemon = home.start();
    let (mut asks, mut hears) = (home.wire(), home.wire());
    assert!(ids(&mut asks).is_empty());
    tmux(&home, &["new-session", "-d", "-s", "outside", "cat"]);
    // Nobody lists: the daemon looks by itself while such a client is connected.
    eventually("the new session is told of", || {
        told(&mut hears, "session.created", "tmux-outside") == 1
    });
    eventually("it is listed", || ids(&mut asks) == ["tmux-outside"]);
    assert_eq!(told(&mut hears, "session.created", "tmux-outside"), 0, "once is enough");
    make(&mut asks, "inside", "exec cat");
    assert_eq!(told(&mut hears, "session.created", "tmux-inside"), 1);
    tmux(&home, &["rename-session", "-t", "outside", "renamed"]);
    eventually("it is listed by its new name", || {
        ids(&mut asks) == ["tmux-inside", "tmux-renamed"]
    });
    assert_eq!(told(&mut hears, "session.renamed", "tmux-renamed"), 1);
    tmux(&home, &["kill-server"]);
    eventually("both are gone", || ids(&mut asks).is_empty());
    assert_eq!(told(&mut hears, "session.ended", "tmux-inside"), 1);
}

#[test]
fn a_session_of_tmux_is_attached_to_on_the_daemons_socket() {
    let home = home();
    let daemon = home.start();
    let mut wire = home.wire();
    make(&mut wire, "one", "stty -echo; echo up; exec cat");
    let answer = call(&mut wire, "session.attach", json!({"sessionId": "tmux-one"}));
    assert_eq!(answer["sessionId"], "tmux-one");
    assert!(answer.get("remote").is_none());
    until_text(&mut wire, frame::TERMINAL_DATA, "up");
    wire.send(frame::RESIZE, "tmux-one", br#"{"cols":70,"rows":20}"#).unwrap();
    wire.send(frame::TERMINAL_DATA, "tmux-one", b"typed\r").unwrap();
    until_text(&mut wire, frame::TERMINAL_DATA, "typed");
    let list = call(&mut wire, "session.list", json!({}));
    assert_eq!(list[0]["clients"][0]["pid"], std::process::id(), "{list}");
    let text = eventually_scrollback(&mut wire, "typed");
    assert!(text.contains("up"), "{text}");
    // It leaves, and nothing is left of it; then it comes back and the session ends.
    wire.send(frame::STREAM_CLOSE, "tmux-one", b"").unwrap();
    eventually("nobody is attached", || {
        let list = call(&mut wire, "session.list", json!({}));
        list[0]["attachedClients"] == 0 && process::children(daemon.pid()).len() <= 1
    });
    call(&mut wire, "session.attach", json!({"sessionId": "tmux-one"}));
    call(&mut wire, "session.kill", json!({"sessionId": "tmux-one"}));
    while wire.frame().expect("the stream is closed").kind != frame::STREAM_CLOSE {}
    let error = wire.call("session.attach", &json!({"sessionId": "tmux-one"})).unwrap();
    assert_eq!(error.unwrap_err()["message"], "session not found: tmux-one");
    assert!(process::zombies(daemon.pid()).is_empty());
}

fn eventually_scrollback(wire: &mut Wire, text: &str) -> String {
    greenroom_testkit::eventually_some("the text is in the scrollback", || {
        let printed = call(wire, "session.scrollback", json!({"sessionId": "tmux-one"}));
        printed.as_str().filter(|it| it.contains(text)).map(str::to_owned)
    })
}

#[test]
fn a_session_of_tmux_has_a_socket_of_its_own() {
    let home = home();
    let daemon = home.start();
    let mut wire = home.wire();
    make(&mut wire, "one", "stty -echo; echo up; exec cat");
    let path = attach(&mut wire, "tmux-one");
    let (mut one, mut two) = (Attached::connect(&path), Attached::connect(&path));
    assert!(one.greeting.pid > 0 && one.greeting.screen.is_empty());
    one.until_text("up");
    // What the answer began to show on the daemon's socket is shown at these instead.
    eventually("each socket has one client of tmux, and nobody else has any", || {
        let list = call(&mut wire, "session.list", json!({}));
        list[0]["clients"].as_array().unwrap().len() == 2 && clients_of_tmux(&home) == 2
    });
    one.resize(70, 20);
    one.send(kind::DATA, b"typed\r");
    two.until_text("typed");
    one.send(kind::STATUS, b"");
    let (status, _) = one.until(kind::STATUS_IS);
    assert_eq!(status[8..12], [0, 70, 0, 20]);
    drop(one);
    call(&mut wire, "session.kill", json!({"sessionId": "tmux-one"}));
    assert_eq!(two.until_exit().0, 0);
    drop(wire);
    eventually("no client of tmux is left", || process::children(daemon.pid()).is_empty());
    assert!(process::zombies(daemon.pid()).is_empty());
}

#[test]
fn our_own_clients_see_a_session_of_tmux_with_offsets() {
    let home = home();
    let _daemon = home.start();
    let mut wire = home.wire();
    call(&mut wire, "greenroom.hello", json!({"protocol": 1}));
    make(&mut wire, "one", "stty -echo; echo up; exec cat");
    let params = json!({"sessionId": "tmux-one", "stream": true, "cols": 80, "rows": 24});
    let answer = call(&mut wire, "session.attach", params);
    assert!(answer.get("holderSocket").is_none());
    let stream = answer["streamId"].as_str().unwrap().to_owned();
    while wire.frame().expect("a redraw comes first").kind != frame::REDRAW {}
    until_text(&mut wire, frame::OUTPUT, "up");
    wire.send(frame::INPUT, &stream, b"typed\r").unwrap();
    until_text(&mut wire, frame::OUTPUT, "typed");
    wire.send(frame::INPUT, &stream, b"\x04").unwrap();
    until_text(&mut wire, frame::ENDED, "code");
}

#[test]
fn who_is_attached_to_tmux_goes_on_over_a_daemon() {
    let home = home();
    let mut daemon = home.start();
    let mut wire = home.wire();
    make(&mut wire, "one", "stty -echo; echo up; exec cat");
    let mut one = Attached::connect(&attach(&mut wire, "tmux-one"));
    one.until_text("up");
    daemon.restart(&home);
    one.send(kind::DATA, b"typed\r");
    one.until_text("typed");
    let mut wire = home.wire();
    eventually("it is the only client", || {
        let list = call(&mut wire, "session.list", json!({}));
        list[0]["clients"].as_array().unwrap().len() == 1 && clients_of_tmux(&home) == 1
    });
    call(&mut wire, "session.kill", json!({"sessionId": "tmux-one"}));
    assert_eq!(one.until_exit().0, 0);
}
