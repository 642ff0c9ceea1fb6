//! The browser's door, with real sockets and a WebSocket client that is not our code.

mod abuse;
mod carryon;
mod chat;
mod faults;
mod flood;
mod guard;
mod lag;
mod logins;
mod native;
mod porch;
mod pty;
mod restart;
mod tls;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use greenroom_testkit::{BOUND, Daemon, Home};
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::http::{HeaderName, HeaderValue};
use tungstenite::{Error, Message, WebSocket};

use crate::support::{call, home};

/// A daemon that serves browsers.
pub(crate) struct Site {
    pub(crate) home: Home,
    pub(crate) daemon: Daemon,
    pub(crate) port: u16,
    pub(crate) token: String,
}

/// The answer to a plain request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// A header, by its name in small letters.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Site {
    pub(crate) fn new() -> Site {
        Site::with("")
    }

    /// One with some more configuration: lines of `[doors.web]`, then other sections.
    pub(crate) fn with(more: &str) -> Site {
        let home = home();
        home.configure(&format!("[doors.web]\nenabled = true\nport = 0\n{more}"));
        let daemon = home.start();
        Site::of(home, daemon)
    }

    /// That of a daemon that is there already.
    pub(crate) fn of(home: Home, daemon: Daemon) -> Site {
        let (port, token) = find(&home);
        Site { home, daemon, port, token }
    }

    /// Kills the daemon as nobody should, and starts another.
    pub(crate) fn restart(&mut self) {
        self.daemon.restart(&self.home);
        let (port, token) = find(&self.home);
        assert_eq!(token, self.token, "the token outlives the daemon");
        self.port = port;
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connecting");
        stream.set_read_timeout(Some(BOUND)).expect("a time");
        stream.set_write_timeout(Some(BOUND)).expect("a time");
        stream
    }

    /// Sends bytes as a request and reads the answer to its end.
    pub(crate) fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        // Who is turned away early may not take all of it.
        stream.write_all(request).unwrap_or_default();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).map(drop).unwrap_or_default();
        answer(&bytes)
    }

    /// A request with these headers besides `Host`.
    pub(crate) fn ask(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut text = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|it| it.0.eq_ignore_ascii_case("host")) {
            text += &format!("Host: 127.0.0.1:{}\r\n", self.port);
        }
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            text += "Content-Type: application/x-www-form-urlencoded\r\n";
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        self.raw(format!("{text}\r\n{body}").as_bytes())
    }

    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    /// A request of the owner's.
    pub(crate) fn owner(&self, line: &str) -> Answer {
        self.ask(line, &[("Authorization", &self.bearer())], "")
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Opens a WebSocket with these headers.
    pub(crate) fn try_socket(&self, path: &str, headers: &[(&str, &str)]) -> Result<Socket, u16> {
        let url = format!("ws://127.0.0.1:{}{path}", self.port);
        let mut request = url.into_client_request().expect("a request");
        for (name, value) in headers {
            let name: HeaderName = name.parse().expect("a header");
            request.headers_mut().insert(name, HeaderValue::from_str(value).expect("a value"));
        }
        match tungstenite::client(request, self.connect()) {
            Ok((socket, _)) => Ok(Socket(socket)),
            Err(tungstenite::HandshakeError::Failure(Error::Http(answer))) => {
                Err(answer.status().as_u16())
            }
            Err(error) => panic!("`{path}`: {error}"),
        }
    }

    /// Opens a WebSocket of the owner's.
    pub(crate) fn socket(&self, path: &str) -> Socket {
        let opened = self.try_socket(path, &[("Authorization", &self.bearer())]);
        opened.unwrap_or_else(|status| panic!("`{path}`: {status}"))
    }

    /// Opens a terminal, and gives the id it was told.
    pub(crate) fn pty(&self, query: &str) -> (Socket, String) {
        let mut socket = self.socket(&format!("/ws/pty?{query}"));
        let first = socket.json("which session it is");
        assert_eq!(first["type"], "session", "{first}");
        let id = first["session_id"].as_str().expect("an id").to_owned();
        (socket, id)
    }
}

/// The port and the token of a daemon that serves browsers.
fn find(home: &Home) -> (u16, String) {
    let status = call(&mut home.connect(), "web.status", json!({}));
    let port = status["port"].as_u64().unwrap_or_else(|| panic!("{status}"));
    let token = std::fs::read_to_string(home.path().join("state/web-token")).expect("the token");
    (u16::try_from(port).expect("a port"), token.trim().to_owned())
}

fn answer(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

/// An open WebSocket.
pub(crate) struct Socket(pub(crate) WebSocket<TcpStream>);

impl Socket {
    pub(crate) fn say(&mut self, message: &Value) {
        self.text(&message.to_string());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.0.send(Message::text(text)).expect("sending");
    }

    pub(crate) fn type_in(&mut self, text: &str) {
        self.say(&json!({"type": "input", "data": text}));
    }

    /// The next message that is no ping.
    #[track_caller]
    pub(crate) fn next(&mut self, what: &str) -> Message {
        loop {
            match self.0.read() {
                Ok(Message::Ping(_) | Message::Pong(_)) => {}
                Ok(message) => return message,
                Err(error) => panic!("while waiting for {what}: {error}"),
            }
        }
    }

    #[track_caller]
    pub(crate) fn json(&mut self, what: &str) -> Value {
        match self.next(what) {
            Message::Text(text) => serde_json::from_str(&text).expect("JSON"),
            other => panic!("while waiting for {what}: {other:?}"),
        }
    }

    /// The next message of a type, whatever comes before.
    #[track_caller]
    pub(crate) fn of_type(&mut self, kind: &str) -> Value {
        loop {
            let message = self.json(kind);
            if message["type"] == kind {
                return message;
            }
        }
    }

    /// Reads output until it has a text; gives all of it, and the last `seq`.
    #[track_caller]
    pub(crate) fn until(&mut self, text: &str) -> (String, u64) {
        let mut all = String::new();
        loop {
            let message = self.json(text);
            if message["type"] == "output" || message["type"] == "history" {
                all += message["data"].as_str().expect("text");
                if all.contains(text) {
                    return (all, message["seq"].as_u64().expect("a number"));
                }
            }
        }
    }

    /// The code and reason it is closed with.
    #[track_caller]
    pub(crate) fn closed(&mut self) -> (u16, String) {
        loop {
            match self.next("the end") {
                Message::Close(Some(frame)) => {
                    return (frame.code.into(), frame.reason.as_str().to_owned());
                }
                Message::Close(None) => return (1005, String::new()),
                _ => {}
            }
        }
    }

    /// Leaves with a word.
    pub(crate) fn leave(mut self) {
        self.0.close(None).unwrap_or_default();
        while self.0.read().is_ok() {}
    }
}

/// A short time, for what must be quick.
pub(crate) const SOON: Duration = Duration::from_secs(10);
