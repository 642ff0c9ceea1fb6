//! A client of JSON-RPC in lines or behind headers, at a socket or on the streams of a process.
//!
//! It sends what it is told, good or bad, and keeps what comes in the order it came.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStdin};
use std::time::Instant;

use greenroom_frame::headers::{self, HeaderDecoder};
use greenroom_frame::lines::LineDecoder;
use serde_json::{Value, json};

use crate::wait::{BOUND, readable};

/// The longest answer a test may get: a snapshot of the largest screen is longer, on purpose.
const MAX_ANSWER: usize = 64 << 20;

/// How messages are framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// One a line.
    Lines,
    /// Behind `Content-Length`.
    Headers,
}

impl Framing {
    /// A message, framed.
    #[must_use]
    pub fn frame(self, message: &[u8]) -> Vec<u8> {
        match self {
            Framing::Lines => [message, b"\n"].concat(),
            Framing::Headers => headers::encode(message),
        }
    }
}

/// A connection.
#[derive(Debug)]
pub struct Rpc {
    reader: File,
    writer: Writer,
    framing: Framing,
    decoder: Decoder,
    /// Messages that came while another was waited for.
    kept: VecDeque<Value>,
    last_id: u64,
}

#[derive(Debug)]
enum Writer {
    Socket(UnixStream),
    Pipe(ChildStdin),
    /// Nothing more is sent.
    Finished,
}

#[derive(Debug)]
enum Decoder {
    Lines(LineDecoder),
    Headers(HeaderDecoder),
}

impl Rpc {
    /// Connects to a socket.
    ///
    /// # Errors
    /// Nobody listens.
    pub fn connect(socket: &Path, framing: Framing) -> io::Result<Rpc> {
        let stream = UnixStream::connect(socket)?;
        stream.set_write_timeout(Some(BOUND))?;
        let reader = OwnedFd::from(stream.try_clone()?);
        Ok(Rpc::new(reader.into(), Writer::Socket(stream), framing))
    }

    /// Speaks on the standard streams of a process.
    ///
    /// # Panics
    /// They are not piped.
    #[must_use]
    pub fn of_child(child: &mut Child, framing: Framing) -> Rpc {
        let reader = OwnedFd::from(child.stdout.take().expect("its output is piped"));
        let writer = Writer::Pipe(child.stdin.take().expect("its input is piped"));
        Rpc::new(reader.into(), writer, framing)
    }

    fn new(reader: File, writer: Writer, framing: Framing) -> Rpc {
        let decoder = match framing {
            Framing::Lines => Decoder::Lines(LineDecoder::new(MAX_ANSWER)),
            Framing::Headers => Decoder::Headers(HeaderDecoder::new(MAX_ANSWER)),
        };
        Rpc { reader, writer, framing, decoder, kept: VecDeque::new(), last_id: 0 }
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// The other side is gone, or takes nothing for a long time.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.writer {
            Writer::Socket(socket) => socket.write_all(bytes),
            Writer::Pipe(pipe) => pipe.write_all(bytes),
            Writer::Finished => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Sends a message, whatever it says.
    ///
    /// # Errors
    /// As for [`send_bytes`](Rpc::send_bytes).
    pub fn send(&mut self, message: &[u8]) -> io::Result<()> {
        self.send_bytes(&self.framing.frame(message))
    }

    /// The bytes of a request, and its id.
    #[must_use]
    pub fn request(&mut self, method: &str, params: &Value) -> (Value, Vec<u8>) {
        self.last_id += 1;
        let id = Value::from(self.last_id);
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        (id, self.framing.frame(request.to_string().as_bytes()))
    }

    /// Sends a request and does not wait; gives its id.
    ///
    /// # Panics
    /// It cannot be sent.
    #[track_caller]
    pub fn begin(&mut self, method: &str, params: &Value) -> Value {
        let (id, bytes) = self.request(method, params);
        self.send_bytes(&bytes).expect("sending a request");
        id
    }

    /// Calls a method; none when the connection is lost before the answer.
    pub fn try_call(&mut self, method: &str, params: &Value) -> Option<Result<Value, Value>> {
        let (id, bytes) = self.request(method, params);
        self.send_bytes(&bytes).ok()?;
        self.answer(&id)
    }

    /// Calls a method that must succeed.
    ///
    /// # Panics
    /// It does not.
    #[track_caller]
    pub fn call(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.try_call(method, params).expect("the connection stays");
        answer.unwrap_or_else(|error| panic!("`{method}` {params}: {error}"))
    }

    /// Calls a method that must fail; gives the error.
    ///
    /// # Panics
    /// It does not fail.
    #[track_caller]
    pub fn refused(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.try_call(method, params).expect("the connection stays");
        match answer {
            Err(error) => error,
            Ok(answer) => panic!("`{method}` {params} succeeded: {answer}"),
        }
    }

    /// The result of the request with this id; other messages are kept. None if there is no more.
    ///
    /// # Panics
    /// Nothing comes in time.
    #[track_caller]
    pub fn answer(&mut self, id: &Value) -> Option<Result<Value, Value>> {
        let before = self.kept.iter().position(|it| it.get("id") == Some(id));
        let message = match before.and_then(|at| self.kept.remove(at)) {
            Some(message) => message,
            None => loop {
                let message = self.read_message("an answer")?;
                if message.get("id") == Some(id) {
                    break message;
                }
                self.kept.push_back(message);
            },
        };
        Some(match message.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(message["result"].clone()),
        })
    }

    /// The next message, the oldest kept one first; none when the other side closed the connection.
    ///
    /// # Panics
    /// Nothing comes in time.
    #[track_caller]
    pub fn message(&mut self) -> Option<Value> {
        self.kept.pop_front().or_else(|| self.read_message("a message"))
    }

    /// The next notification that fits; those before it are gone, answers are kept.
    ///
    /// # Panics
    /// None comes in time, or the connection is lost.
    #[track_caller]
    pub fn note(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let (answers, notes): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.kept).into_iter().partition(|it| it.get("id").is_some());
        self.kept = answers;
        let mut notes = notes.into_iter();
        if let Some(found) = notes.find(&fits) {
            self.kept.extend(notes);
            return found;
        }
        loop {
            match self.read_message(what) {
                Some(message) if message.get("id").is_some() => self.kept.push_back(message),
                Some(note) if fits(&note) => return note,
                Some(_) => {}
                None => panic!("the connection was lost before {what}"),
            }
        }
    }

    #[track_caller]
    fn read_message(&mut self, what: &str) -> Option<Value> {
        let deadline = Instant::now() + BOUND;
        loop {
            let next = match &mut self.decoder {
                Decoder::Lines(lines) => lines.next().expect("the server sends lines"),
                Decoder::Headers(headers) => headers.next().expect("the server sends headers"),
            };
            if let Some(message) = next {
                return Some(serde_json::from_slice(&message).expect("the server sends JSON"));
            }
            let mut buffer = vec![0; 64 << 10];
            assert!(readable(&self.reader, deadline), "not so after {BOUND:?}: {what} came");
            match self.reader.read(&mut buffer) {
                Ok(0) => return None,
                Ok(count) => match &mut self.decoder {
                    Decoder::Lines(lines) => lines.feed(&buffer[..count]),
                    Decoder::Headers(headers) => headers.feed(&buffer[..count]),
                },
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("while waiting for {what}: {error}"),
            }
        }
    }

    /// Says that nothing more will be sent.
    pub fn finish(&mut self) {
        if let Writer::Socket(socket) = &self.writer {
            socket.shutdown(Shutdown::Write).unwrap_or_default();
        }
        self.writer = Writer::Finished;
    }
}
