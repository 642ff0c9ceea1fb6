//! A client of carryOn's own kind: frames without a word of greeting, the socket of a session, and
//! the base folder where such clients look.

mod base;
mod frames;
mod holder;
mod relay;
mod tmux;

use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use greenroom_testkit::{BOUND, Home, Wire};
use serde_json::{Value, json};

/// Calls a method that must succeed.
#[track_caller]
fn call(wire: &mut Wire, method: &str, params: Value) -> Value {
    match wire.call(method, &params) {
        Some(Ok(answer)) => answer,
        other => panic!("`{method}` {params}: {other:?}"),
    }
}

/// Makes a session that runs a line of shell, as carryOn's clients do; gives its id.
#[track_caller]
fn create(wire: &mut Wire, name: &str, line: &str) -> String {
    let made = call(wire, "session.create", json!({"name": name, "command": line}));
    made["id"].as_str().unwrap().to_owned()
}

/// Attaches as carryOn's command line does; gives the path of the session's own socket.
#[track_caller]
fn attach(wire: &mut Wire, id: &str) -> PathBuf {
    let answer = call(wire, "session.attach", json!({"sessionId": id}));
    assert!(answer.get("remote").is_none(), "{answer}");
    PathBuf::from(answer["holderSocket"].as_str().expect("a socket of its own"))
}

/// What a session's socket begins with.
#[derive(Debug)]
struct Greeting {
    pid: u32,
    holder_pid: u32,
    cols: u16,
    rows: u16,
    cwd: String,
    command: String,
    screen: Vec<u8>,
}

/// A connection to a session's own socket.
struct Attached {
    stream: UnixStream,
    greeting: Greeting,
}

mod kind {
    pub(super) const DATA: u8 = 0;
    pub(super) const RESIZE: u8 = 1;
    pub(super) const EXIT: u8 = 2;
    pub(super) const STATUS: u8 = 3;
    pub(super) const STATUS_IS: u8 = 4;
    pub(super) const RESIZE_REQUEST: u8 = 5;
}

fn connect(path: &Path) -> UnixStream {
    let stream = UnixStream::connect(path).expect("connecting to a session's socket");
    stream.set_read_timeout(Some(BOUND)).unwrap();
    stream.set_write_timeout(Some(BOUND)).unwrap();
    stream
}

impl Attached {
    #[track_caller]
    fn connect(path: &Path) -> Attached {
        let mut stream = connect(path);
        let mut head = [0; 16];
        stream.read_exact(&mut head).expect("a greeting");
        let number = |at: usize| u32::from_be_bytes(head[at..at + 4].try_into().unwrap());
        let short = |at: usize| u16::from_be_bytes(head[at..at + 2].try_into().unwrap());
        let (pid, holder_pid, cols, rows) = (number(0), number(4), short(8), short(10));
        let length = number(12) as usize;
        let mut text = || {
            let mut length = [0; 2];
            stream.read_exact(&mut length).unwrap();
            let mut text = vec![0; usize::from(u16::from_be_bytes(length))];
            stream.read_exact(&mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        let (cwd, command) = (text(), text());
        let mut screen = vec![0; length];
        stream.read_exact(&mut screen).expect("the screen");
        let greeting = Greeting { pid, holder_pid, cols, rows, cwd, command, screen };
        Attached { stream, greeting }
    }

    fn send(&mut self, kind: u8, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let frame = [&[kind][..], &length, payload].concat();
        self.stream.write_all(&frame).expect("sending a frame");
    }

    fn resize(&mut self, cols: u16, rows: u16) {
        self.send(kind::RESIZE, &[cols.to_be_bytes(), rows.to_be_bytes()].concat());
    }

    /// The next frame; none at the end.
    #[track_caller]
    fn frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0; 5];
        match self.stream.read_exact(&mut head) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("nothing came in time"),
            Err(_) => return None,
        }
        let length = u32::from_be_bytes(head[1..].try_into().unwrap());
        let mut payload = vec![0; length as usize];
        self.stream.read_exact(&mut payload).expect("a whole frame");
        Some((head[0], payload))
    }

    /// Reads until a frame of this kind; gives it, and the output before it.
    #[track_caller]
    fn until(&mut self, wanted: u8) -> (Vec<u8>, Vec<u8>) {
        let mut output = Vec::new();
        loop {
            match self.frame().expect("the socket stays open") {
                (kind, payload) if kind == wanted => return (payload, output),
                (kind::DATA, bytes) => output.extend_from_slice(&bytes),
                _ => {}
            }
        }
    }

    /// Reads until the output has this text.
    #[track_caller]
    fn until_text(&mut self, text: &str) {
        let mut output = self.greeting.screen.clone();
        while !String::from_utf8_lossy(&output).contains(text) {
            match self.frame().expect("the socket stays open") {
                (kind::DATA, bytes) => output.extend_from_slice(&bytes),
                (kind::EXIT, _) => panic!("it ended before `{text}`"),
                _ => {}
            }
        }
    }

    /// Reads to the end; gives the exit code, and the output before it.
    #[track_caller]
    fn until_exit(&mut self) -> (i32, Vec<u8>) {
        let (code, output) = self.until(kind::EXIT);
        assert!(self.frame().is_none(), "nothing follows the exit");
        (i32::from_be_bytes(code.try_into().unwrap()), output)
    }
}

/// The base folder of a home, where carryOn's clients look.
fn base(home: &Home) -> PathBuf {
    home.path().join(".carryon")
}

/// A home whose daemon serves the base folder.
fn compat_home() -> Home {
    let home = crate::support::home();
    home.configure("[compat]\ncarryon = true\n");
    home
}

/// A client at the base folder's socket.
fn client(home: &Home) -> Wire {
    Wire::connect(&base(home).join("daemon.sock")).expect("connecting to the base folder")
}
