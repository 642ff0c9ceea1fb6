//! The WebSocket contract of the browser's door.
//!
//! `> connect PATH` opens a WebSocket in the place of the one before; every message that comes is an
//! answer, and one that closes is `{"close": code, "reason": text}`. Output that was read on the way
//! to a text is not an answer any more.

use std::net::TcpStream;

use greenroom_testkit::{BOUND, Home, Party, play, transcripts};
use serde_json::{Map, Value, json};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

use crate::{folder, home};

/// The program writes the ends of its lines itself: where the terminal does it, the rest of a line may
/// be another message.
const CONFIG: &str = "[doors.web]\nenabled = true\nport = 0\n[websocket.providers.lines]\n\
command = ['sh', '-c', 'stty -echo -opost; printf \"ready\\r\\n\"; while read x; do \
[ \"$x\" = end ] && { printf \"bye\\r\\n\"; exit 7; }; printf \"got %s\\r\\n\" \"$x\"; done']\n\
[websocket.providers.missing]\ncommand = '/nonexistent/program'\n";

struct Browser {
    port: u64,
    token: String,
    socket: Option<WebSocket<TcpStream>>,
    output: String,
}

impl Browser {
    fn new(home: &Home) -> Browser {
        let status = home.connect().call("web.status", &json!({})).unwrap();
        let token = std::fs::read_to_string(home.path().join("state/web-token")).unwrap();
        let port = status["port"].as_u64().unwrap();
        Browser { port, token: token.trim().to_owned(), socket: None, output: String::new() }
    }

    fn open(&mut self, path: &str) {
        let url = format!("ws://127.0.0.1:{}{path}", self.port);
        let mut request = url.into_client_request().unwrap();
        let bearer = format!("Bearer {}", self.token).parse().unwrap();
        request.headers_mut().insert("authorization", bearer);
        let stream = TcpStream::connect(("127.0.0.1", self.port as u16)).unwrap();
        stream.set_read_timeout(Some(BOUND)).unwrap();
        self.socket = Some(tungstenite::client(request, stream).unwrap().0);
        self.output.clear();
    }

    fn receive(&mut self) -> Value {
        loop {
            let mut value = match self.socket.as_mut().unwrap().read().unwrap() {
                Message::Text(text) => serde_json::from_str(&text).unwrap(),
                Message::Close(Some(frame)) => {
                    json!({"close": u16::from(frame.code), "reason": frame.reason.as_str()})
                }
                _ => continue,
            };
            value["id"] = true.into();
            if let ("output" | "history", Some(data)) =
                (value["type"].as_str().unwrap_or_default(), value["data"].as_str())
            {
                self.output += data;
            }
            return value;
        }
    }
}

impl Party for Browser {
    fn send(&mut self, message: &str) {
        match message.strip_prefix("connect ") {
            Some(path) => self.open(path),
            None => self.socket.as_mut().unwrap().send(Message::text(message)).unwrap(),
        }
    }

    fn message(&mut self) -> Value {
        self.receive()
    }

    fn complete(&mut self, _: &mut Map<String, Value>) {}

    fn wait_for_output(&mut self, text: &str) {
        while !self.output.contains(text) {
            self.receive();
        }
    }
}

#[test]
fn transcripts_hold() {
    let all = transcripts(&folder("door-web"));
    assert!(all.len() >= 3, "only {} transcripts were found", all.len());
    for (name, text) in &all {
        let home = home();
        home.configure(CONFIG);
        let _daemon = home.start();
        play(name, text, home.path(), &mut Browser::new(&home));
    }
}
