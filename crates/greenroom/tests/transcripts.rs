//! Golden transcripts of the native door: what a client sends and what it gets.
//!
//! The files are `crates/door-carryon/tests/transcripts/*.txt`, one a method. `>` is sent, `<` is
//! the next answer, `~` a notification that has come by now, `=` a line that a stream's output has
//! by then, `#` a comment. What is expected is a part of what comes: fields it does not name may be
//! there, and `"*"` stands for anything.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use greenroom_frame::binary::{FrameDecoder, encode, kind};
use greenroom_testkit::Home;
use serde_json::{Value, json};

/// How long an answer may take; nothing here takes a tenth of it.
const PATIENCE: Duration = Duration::from_secs(30);

fn home() -> Home {
    Home::with_programs(env!("CARGO_BIN_EXE_greenroom"))
}

fn client(home: &Home) -> Client {
    let socket = UnixStream::connect(home.path().join("run/greenroom.sock")).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let decoder = FrameDecoder::default();
    Client { socket, decoder, next: 0, notes: Vec::new(), output: Vec::new() }
}

struct Client {
    socket: UnixStream,
    decoder: FrameDecoder,
    next: u64,
    notes: Vec<Value>,
    output: Vec<u8>,
}

impl Client {
    fn send(&mut self, text: &str) {
        let frame = encode(kind::JSON_RPC, "", text.as_bytes()).unwrap();
        self.socket.write_all(&frame).unwrap();
    }

    /// Sends a request, with an id if it has none.
    fn request(&mut self, line: &str) {
        match serde_json::from_str::<Value>(line) {
            Ok(Value::Object(mut request)) => {
                self.next += 1;
                request.entry("id").or_insert_with(|| self.next.into());
                self.send(&Value::from(request).to_string());
            }
            _ => self.send(line),
        }
    }

    fn answer(&mut self) -> Value {
        loop {
            let message = self.message();
            if message.get("id").is_some() {
                return message;
            }
            self.notes.push(message);
        }
    }

    /// The next JSON message; output of streams is kept.
    fn message(&mut self) -> Value {
        loop {
            if let Some(frame) = self.decoder.next().unwrap() {
                match frame.kind {
                    kind::JSON_RPC => return serde_json::from_slice(&frame.payload).unwrap(),
                    kind::OUTPUT => self.output.extend_from_slice(&frame.payload[8..]),
                    _ => {}
                }
                continue;
            }
            let mut buffer = [0; 4096];
            let length = self.socket.read(&mut buffer).expect("an answer in time");
            assert!(length > 0, "the daemon hung up");
            self.decoder.feed(&buffer[..length]);
        }
    }

    /// Makes sure that everything caused so far has come: the answer to one more request has.
    fn settle(&mut self) {
        self.send(r#"{"id":"settle","method":"daemon.status"}"#);
        self.answer();
    }
}

/// Whether what came is what was expected; else where it differs.
fn differs(expected: &Value, came: &Value, at: &str) -> Option<String> {
    match (expected, came) {
        (Value::String(any), _) if any == "*" => None,
        (Value::Object(expected), Value::Object(came)) => {
            expected.iter().find_map(|(name, value)| {
                differs(value, came.get(name).unwrap_or(&Value::Null), &format!("{at}.{name}"))
            })
        }
        (Value::Array(expected), Value::Array(came)) if expected.len() == came.len() => {
            let mut pairs = expected.iter().zip(came).enumerate();
            pairs.find_map(|(index, (one, two))| differs(one, two, &format!("{at}[{index}]")))
        }
        (expected, came) if expected == came => None,
        (expected, came) => Some(format!("{at}: expected {expected}, came {came}")),
    }
}

fn play(path: &Path) {
    let home = home();
    let _daemon = home.start();
    let mut client = client(&home);
    for (number, line) in std::fs::read_to_string(path).unwrap().lines().enumerate() {
        let place = format!("{}:{}", path.file_name().unwrap().display(), number + 1);
        match line.split_at_checked(2) {
            Some(("> ", request)) => client.request(request),
            Some(("< ", expected)) => {
                let expected: Value = serde_json::from_str(expected).expect(&place);
                let came = client.answer();
                if let Some(difference) = differs(&expected, &came, "") {
                    panic!("{place}: {difference}\n  in {came}");
                }
            }
            Some(("~ ", expected)) => {
                let expected: Value = serde_json::from_str(expected).expect(&place);
                let fits = |note: &Value| differs(&expected, note, "").is_none();
                while !client.notes.iter().any(fits) {
                    let message = client.message();
                    let early = message.get("id").is_some();
                    assert!(!early, "{place}: the answer came before {expected}: {message}");
                    client.notes.push(message);
                }
            }
            Some(("= ", expected)) => {
                while !String::from_utf8_lossy(&client.output).contains(expected) {
                    client.settle();
                }
            }
            _ => assert!(line.starts_with('#') || line.is_empty(), "{place}: `{line}`"),
        }
    }
}

fn transcripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../door-carryon/tests/transcripts");
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

#[test]
fn transcripts_hold() {
    let all = transcripts();
    assert!(all.len() > 20, "only {} transcripts were found", all.len());
    for path in all.iter().filter(|path| !path.ends_with("daemon.stop.txt")) {
        play(path);
    }
}

#[test]
fn the_daemon_answers_before_it_stops() {
    let home = home();
    let mut daemon = home.start();
    let mut client = client(&home);
    client.request(r#"{"method":"daemon.stop"}"#);
    assert_eq!(client.answer()["result"], json!({"ok": true}));
    assert!(daemon.wait_for_end().success());
}
