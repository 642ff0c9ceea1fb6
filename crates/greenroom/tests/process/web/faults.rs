//! What is no message, what is asked for where nothing runs, and what changes while it is served.

use std::io::Write as _;

use greenroom_testkit::{Signal, create, eventually, process};
use serde_json::json;
use tungstenite::Message;
use tungstenite::protocol::frame::coding::{Data, OpCode};
use tungstenite::protocol::frame::{Frame, FrameHeader};

use super::{Site, Socket};
use crate::support::{call, pid, wait_for_end};

/// Every WebSocket there is. None of them runs a program by being opened.
fn sockets(site: &Site) -> Vec<(&'static str, Socket)> {
    ["/ws/pty?provider=broken", "/ws/native", "/?session=raw", "/ws/claude-stream"]
        .map(|path| (path, site.socket(path)))
        .into()
}

fn site() -> Site {
    let site = Site::with(
        "[websocket]\nclaude_command = ['/bin/sh', '-c', 'exec sleep 1000', 'agent']\n[websocket.providers.broken]\ncommand = ['/nonexistent/program']\n",
    );
    create(&mut site.home.connect(), "raw", "exec cat");
    site
}

fn frame(code: OpCode, bytes: &[u8]) -> Message {
    let header = FrameHeader { opcode: code, mask: Some([1, 2, 3, 4]), ..FrameHeader::default() };
    Message::Frame(Frame::from_payload(header, bytes.to_vec().into()))
}

#[test]
fn what_is_no_frame_is_closed_with_1002() {
    let site = site();
    for (path, mut socket) in sockets(&site) {
        // An opcode that nobody has given a meaning, masked as it must be.
        socket.0.get_mut().write_all(&[0x83, 0x80, 0, 0, 0, 0]).unwrap();
        assert_eq!(socket.closed().0, 1002, "{path}");
    }
    for (path, mut socket) in sockets(&site) {
        // A client's frame that is not masked.
        socket.0.get_mut().write_all(&[0x81, 0x01, b'x']).unwrap();
        assert_eq!(socket.closed().0, 1002, "{path}");
    }
}

#[test]
fn text_that_is_none_is_closed_with_1007_and_too_much_with_1009() {
    let site = site();
    for (path, mut socket) in sockets(&site) {
        socket.0.send(frame(OpCode::Data(Data::Text), b"\xff\xfe")).unwrap();
        assert_eq!(socket.closed().0, 1007, "{path}");
    }
    for (path, mut socket) in sockets(&site) {
        // A header that promises a hundred megabytes.
        let mut head = vec![0x82, 0xff];
        head.extend_from_slice(&(100_u64 << 20).to_be_bytes());
        head.extend_from_slice(&[0; 4]);
        socket.0.get_mut().write_all(&head).unwrap();
        assert_eq!(socket.closed().0, 1009, "{path}");
    }
}

#[test]
fn a_ping_is_answered_where_nothing_runs() {
    let site = site();
    let ping = json!({"type": "ping", "request_id": "here"});
    let mut failed = site.socket("/ws/pty?provider=broken");
    assert_eq!(failed.json("why not")["error"]["type"], "spawn_failed");
    failed.say(&ping);
    assert_eq!(failed.json("an answer"), json!({"type": "pong", "request_id": "here"}));
    // What is typed there goes nowhere, and is no reason to go.
    failed.type_in("x");
    failed.say(&json!({"type": "ping"}));
    assert_eq!(failed.json("another"), json!({"type": "pong"}));

    let (mut first, id) = site.pty("");
    first.type_in("exit 3\n");
    first.of_type("exit");
    first.say(&ping);
    assert_eq!(first.of_type("pong")["request_id"], "here");
    first.leave();
    let mut again = site.socket(&format!("/ws/pty?session_id={id}&resume=1"));
    again.of_type("exit");
    again.say(&ping);
    assert_eq!(again.of_type("pong")["request_id"], "here");
}

#[test]
fn a_foreign_page_reads_nothing_and_a_person_may_follow_a_link() {
    let site = Site::new();
    let bearer = site.bearer();
    let evil = ("Origin", "http://evil.example");
    for path in ["/", "/health", "/login", "/login.css", "/api/me", "/metrics", "/nothing"] {
        for method in ["GET", "HEAD", "OPTIONS"] {
            let headers = [evil, ("Authorization", bearer.as_str())];
            assert_eq!(site.ask(&format!("{method} {path}"), &headers, "").status, 403, "{path}");
        }
    }
    let goes = [evil, ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")];
    assert_eq!(site.ask("GET /", &goes, "").status, 200);
    assert_eq!(site.ask("GET /api/me", &goes, "").status, 403);
    assert_eq!(site.ask("POST /login", &goes, "token=x").status, 403);
    let framed = [evil, ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")];
    assert_eq!(site.ask("GET /", &framed, "").status, 403);
}

#[test]
fn what_is_asked_for_changes_at_once() {
    let site = Site::with("auth = 'none'\n");
    let own = site.origin();
    let headers = [("Origin", own.as_str())];
    let mut anybody = site.try_socket("/ws/native", &headers).unwrap();
    let mut known = site.socket("/ws/native");
    let configure = |auth: &str| {
        site.home.configure(&format!("[doors.web]\nenabled = true\nport = 0\nauth = '{auth}'\n"));
    };
    configure("token");
    site.daemon.signal(Signal::HUP);
    eventually("the token is asked for", || site.ask("GET /api/me", &[], "").status == 401);
    assert_eq!(site.try_socket("/ws/native", &headers).err(), Some(401));
    assert_eq!(site.owner("GET /api/me").status, 200);
    assert_eq!(anybody.closed().0, 1008, "who proved nothing goes");
    known.0.send(Message::Ping(vec![7].into())).unwrap();
    assert!(matches!(known.0.read(), Ok(Message::Pong(_))), "who did stays");
    let status = call(&mut site.home.connect(), "web.status", json!({}));
    assert_eq!((&status["auth"], &status["port"]), (&json!("token"), &json!(site.port)));
    // What cannot be is told who asked, and nothing has changed.
    configure("password");
    let refused = site.home.command(["config", "reload"]).output().unwrap();
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("doors.web.password"), "{said}");
    assert_eq!(site.owner("GET /api/me").status, 200);
}

/// Makes a link to a session; gives its secret.
fn share(site: &Site, session: &str) -> String {
    let out = site.home.command(["share", session, "--json"]).output().unwrap();
    let link: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    link["open"].as_str().unwrap().split_once("#share=").unwrap().1.to_owned()
}

/// How many links are written down.
fn kept_links(site: &Site) -> usize {
    let text = std::fs::read_to_string(site.home.path().join("state/web-shares.json"));
    text.map_or(0, |it| it.matches("untilMs").count())
}

#[test]
fn a_link_is_forgotten_with_its_session() {
    let site = Site::new();
    let mut native = site.home.connect();
    let share = |session: &str| share(&site, session);
    let made = create(&mut native, "short", "read line");
    create(&mut native, "other", "read line");
    let uuid = made["uuid"].as_str().unwrap_or("short").to_owned();
    let (secrets, other) = ([share("short"), share(&uuid)], share("other"));
    let status = |secret: &str| {
        site.ask("GET /api/me", &[("Authorization", &format!("Bearer {secret}"))], "").status
    };
    let bearer = format!("Bearer {}", secrets[1]);
    let mut socket = site.try_socket("/ws/native", &[("Authorization", &bearer)]).unwrap();
    assert!(secrets.iter().all(|it| status(it) == 200));
    call(&mut native, "session.kill", json!({"sessionId": "short"}));
    wait_for_end(&mut native, "short");
    // One that has ended can still be looked at.
    assert!(secrets.iter().all(|it| status(it) == 200));
    call(&mut native, "session.forget", json!({"sessionId": "short"}));
    assert_eq!(socket.closed().0, 1008);
    assert!(secrets.iter().all(|it| status(it) == 401));
    assert_eq!(status(&other), 200);
    eventually("only the other is written down", || kept_links(&site) == 1);
}

#[test]
fn a_link_is_forgotten_when_the_door_opens_after_its_session_was() {
    let mut site = Site::new();
    let mut native = site.home.connect();
    create(&mut native, "short", "read line");
    create(&mut native, "other", "read line");
    let (_gone, other) = (share(&site, "short"), share(&site, "other"));
    eventually("both are written down", || kept_links(&site) == 2);
    site.home.configure("[doors.web]\nenabled = false\nport = 0\n");
    site.daemon.restart(&site.home);
    let mut native = site.home.connect();
    call(&mut native, "session.kill", json!({"sessionId": "short"}));
    wait_for_end(&mut native, "short");
    call(&mut native, "session.forget", json!({"sessionId": "short"}));
    assert_eq!(kept_links(&site), 2, "there is no door");
    let opened = site.home.command(["web", "--json"]).output().unwrap();
    let told: serde_json::Value = serde_json::from_slice(&opened.stdout).unwrap();
    site.port = u16::try_from(told["port"].as_u64().unwrap()).unwrap();
    eventually("only the other is written down", || kept_links(&site) == 1);
    let bearer = format!("Bearer {other}");
    assert_eq!(site.ask("GET /api/me", &[("Authorization", &bearer)], "").status, 200);
}

#[test]
fn a_link_outlives_a_holder_that_does_not_answer() {
    let mut site = Site::new();
    let made = create(&mut site.home.connect(), "stopped", "read line");
    let secret = share(&site, "stopped");
    eventually("it is written down", || kept_links(&site) == 1);
    let holder = pid(&made, "holderPid");
    assert!(process::kill(holder, Signal::STOP));
    site.restart();
    let bearer = format!("Bearer {secret}");
    let status = || site.ask("GET /api/me", &[("Authorization", &bearer)], "").status;
    assert_eq!(status(), 200);
    assert!(process::kill(holder, Signal::CONT));
    let mut native = site.home.connect();
    eventually("the session is back", || {
        let list = call(&mut native, "session.list", json!({}));
        list.as_array().is_some_and(|it| it.len() == 1)
    });
    assert_eq!((status(), kept_links(&site)), (200, 1));
}
