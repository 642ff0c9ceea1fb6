//! `/ws/native`: what the command line can do, a page can; who came by a link can do little of it.

use greenroom_frame::binary::{FrameDecoder, encode, kind};
use greenroom_testkit::{create, process};
use serde_json::{Value, json};
use tungstenite::Message;

use super::{Site, Socket};

struct Page {
    socket: Socket,
    frames: FrameDecoder,
    next: u64,
    output: Vec<u8>,
}

impl Page {
    fn new(socket: Socket) -> Page {
        Page { socket, frames: FrameDecoder::default(), next: 0, output: Vec::new() }
    }

    fn frame(&mut self, kind: u8, id: &str, payload: &[u8]) {
        // Cut anywhere.
        for piece in encode(kind, id, payload).unwrap().chunks(7) {
            self.socket.0.send(Message::binary(piece.to_vec())).unwrap();
        }
    }

    fn receive(&mut self) -> Option<Value> {
        loop {
            if let Some(frame) = self.frames.next().unwrap() {
                match frame.kind {
                    kind::JSON_RPC => return Some(serde_json::from_slice(&frame.payload).unwrap()),
                    kind::OUTPUT => self.output.extend_from_slice(&frame.payload[8..]),
                    kind::REDRAW => self.output.extend_from_slice(&frame.payload[9..]),
                    _ => {}
                }
                return None;
            }
            match self.socket.next("a frame") {
                Message::Binary(bytes) => self.frames.feed(&bytes),
                other => panic!("{other:?}"),
            }
        }
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.next += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.frame(kind::JSON_RPC, "", request.to_string().as_bytes());
        loop {
            if let Some(mut message) = self.receive()
                && message["id"] == self.next
            {
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].take()),
                };
            }
        }
    }

    fn until(&mut self, text: &str) {
        while !String::from_utf8_lossy(&self.output).contains(text) {
            self.receive();
        }
    }
}

#[test]
fn a_page_can_do_what_the_command_line_can() {
    let site = Site::new();
    let mut page = Page::new(site.socket("/ws/native"));
    let hello = page.call("greenroom.hello", json!({"protocol": 1})).unwrap();
    assert_eq!(hello["protocol"], 1);
    page.call("client.identify", json!({"type": "web", "name": "Browser"})).unwrap();
    let made = page.call("session.create", json!({"name": "p", "argv": ["cat"]})).unwrap();
    let attach = json!({"sessionId": made["id"], "stream": true, "cols": 80, "rows": 24});
    let attached = page.call("session.attach", attach).unwrap();
    let stream = attached["streamId"].as_str().unwrap().to_owned();
    page.frame(kind::INPUT, &stream, b"typed\n");
    page.until("typed\r\ntyped");
    let info = page.call("session.info", json!({"sessionId": "p"})).unwrap();
    assert_eq!(info["clients"][0]["type"], "web");
    page.call("session.rename", json!({"sessionId": "p", "name": "q"})).unwrap();
    page.call("session.kill", json!({"sessionId": "q"})).unwrap();
}

fn visitor(site: &Site, more: &[&str]) -> Page {
    let mut words = vec!["share", "shown", "--json"];
    words.extend(more);
    let out = site.home.command(words).output().unwrap();
    let link: Value = serde_json::from_slice(&out.stdout).unwrap();
    let secret = link["open"].as_str().unwrap().split_once("#share=").unwrap().1;
    let bearer = format!("Bearer {secret}");
    Page::new(site.try_socket("/ws/native", &[("Authorization", &bearer)]).unwrap())
}

#[test]
fn who_came_by_a_link_sees_one_session_and_does_not_type() {
    let site = Site::new();
    let mut native = site.home.connect();
    let shown = create(&mut native, "shown", "echo visible; exec cat");
    let hidden = create(&mut native, "hidden", "echo secret; exec cat");
    let mut page = visitor(&site, &[]);
    page.call("greenroom.hello", json!({"protocol": 1})).unwrap();
    let list = page.call("session.list", json!({"ended": true})).unwrap();
    assert_eq!(list.as_array().unwrap().len(), 1);
    assert_eq!(list[0]["id"], shown["id"]);
    // Whatever session it names, it gets the one.
    let read = page.call("session.read", json!({"sessionId": hidden["id"]})).unwrap();
    assert!(!read.to_string().contains("secret"), "{read}");
    // Nor does it help to name a stream, nor to count sessions.
    for method in ["session.read", "session.info", "session.attach", "session.scrollback"] {
        for id in [hidden["id"].clone(), hidden["number"].clone(), json!("hidden")] {
            let params = json!({"sessionId": id, "streamId": "stream-1", "uuid": hidden["uuid"]});
            let answer = page.call(method, params).unwrap();
            assert!(!answer.to_string().contains("secret"), "{method}: {answer}");
            assert!(answer["id"].is_null() || answer["id"] == shown["id"], "{method}: {answer}");
            assert!(answer["holderSocket"].is_null() && answer["pid"].is_null(), "{answer}");
        }
    }
    for method in [
        "session.create",
        "session.kill",
        "session.send",
        "session.key",
        "session.rename",
        "daemon.stop",
        "daemon.logs",
        "config.get",
        "config.set",
        "web.open",
        "web.share",
        "session.forget",
        "session.resize",
        "session.signal",
        "project.init",
        "local.set-password",
        "nothing.at.all",
    ] {
        let error = page.call(method, json!({"sessionId": "shown"})).unwrap_err();
        assert_eq!(error["data"]["kind"], "denied", "{method}: {error}");
    }
    let attach = json!({"sessionId": "hidden", "stream": true, "cols": 80, "rows": 24});
    let attached = page.call("session.attach", attach).unwrap();
    assert_eq!(attached["sessionId"], shown["id"]);
    page.until("visible");
    let stream = attached["streamId"].as_str().unwrap().to_owned();
    page.frame(kind::INPUT, &stream, b"typed\n");
    page.frame(kind::TERMINAL_DATA, shown["id"].as_str().unwrap(), b"typed\n");
    page.frame(kind::TERMINAL_DATA, hidden["id"].as_str().unwrap(), b"typed\n");
    page.frame(kind::RESIZE, shown["id"].as_str().unwrap(), br#"{"cols":20,"rows":5}"#);
    // What happens to others is not told.
    greenroom_client_rename(&mut native, &hidden);
    let info = page.call("session.info", json!({})).unwrap();
    assert_eq!((&info["cols"], &info["id"]), (&json!(80), &shown["id"]));
    for session in ["shown", "renamed"] {
        let text = crate::support::screen(&mut native, session);
        assert!(!text.contains("typed"), "{session}: {text}");
    }
    assert!(!String::from_utf8_lossy(&page.output).contains("renamed"));
}

fn greenroom_client_rename(native: &mut greenroom_client::Connection, session: &Value) {
    let params = json!({"sessionId": session["id"], "name": "renamed"});
    crate::support::call(native, "session.rename", params);
}

#[test]
fn with_a_link_to_write_one_may_type_and_no_more() {
    let site = Site::new();
    let mut native = site.home.connect();
    create(&mut native, "shown", "exec cat");
    create(&mut native, "hidden", "exec cat");
    let mut page = visitor(&site, &["--write"]);
    let attach = json!({"stream": true, "cols": 80, "rows": 24});
    let stream = page.call("session.attach", attach).unwrap()["streamId"].clone();
    page.frame(kind::INPUT, stream.as_str().unwrap(), b"typed\n");
    page.until("typed\r\ntyped");
    page.call("session.send", json!({"sessionId": "hidden", "text": "sent\n"})).unwrap();
    page.until("sent\r\nsent");
    let past = json!({"sessionId": "hidden", "streamId": "stream-1", "text": "sent\n"});
    page.call("session.send", past).unwrap();
    assert!(page.call("session.kill", json!({})).is_err());
    assert!(page.call("session.create", json!({})).is_err());
    assert!(!crate::support::screen(&mut native, "hidden").contains("sent"));
}

#[test]
fn a_visitor_takes_neither_all_sockets_nor_all_memory() {
    let site = Site::new();
    let mut native = site.home.connect();
    create(&mut native, "shown", "exec cat");
    let out = site.home.command(["share", "shown", "--json"]).output().unwrap();
    let link: Value = serde_json::from_slice(&out.stdout).unwrap();
    let secret = link["open"].as_str().unwrap().split_once("#share=").unwrap().1;
    let bearer = format!("Bearer {secret}");
    let socket = || site.try_socket("/ws/native", &[("Authorization", &bearer)]).unwrap();
    let mut open: Vec<Socket> = (0..128).map(|_| socket()).collect();
    // Each has said something, so that each is counted.
    for it in &mut open {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "greenroom.hello"});
        let frame = encode(kind::JSON_RPC, "", hello.to_string().as_bytes()).unwrap();
        it.0.send(Message::binary(frame)).unwrap();
        it.next("an answer");
    }
    assert_eq!(socket().closed().0, 1013, "there are enough by this link");
    Page::new(site.socket("/ws/native")).call("greenroom.hello", json!({})).unwrap();

    // Answers that are not read do not pile up.
    let daemon = native.hello().pid.unwrap();
    let before = process::memory_kib(daemon);
    let mut deaf = open.pop().unwrap();
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "x".repeat(900_000)});
    let frame = encode(kind::JSON_RPC, "", request.to_string().as_bytes()).unwrap();
    for _ in 0..100 {
        if deaf.0.send(Message::binary(frame.clone())).is_err() {
            break;
        }
    }
    Page::new(site.socket("/ws/native")).call("greenroom.hello", json!({})).unwrap();
    let grown = process::memory_kib(daemon).saturating_sub(before);
    assert!(grown < 32 << 10, "the daemon grew by {grown} KiB");
}
