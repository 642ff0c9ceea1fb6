//! The way to a server: a socket, or a program that is started for this console.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;

use greenroom_frame::headers::{self, HeaderDecoder};
use greenroom_frame::lines::LineDecoder;
use greenroom_frame::rpc::{ErrorObject, Message};
use serde_json::Value;

use crate::interrupt::Presses;
use crate::notes::Note;
use crate::plain::plain;
use crate::{Error, Framing, Server};

/// The longest message taken from a server: the snapshot of a very large screen, many times over.
const MAX_MESSAGE: usize = 64 << 20;

/// How much is read at once.
const READ_BYTES: usize = 64 << 10;

/// How many notes may wait to be shown; what comes on top of them is not shown.
const NOTES_MAX: usize = 256;

/// How much of something strange is kept for the message about it.
const STRANGE_CHARS: usize = 60;

/// What happens to whoever waits for an answer.
#[derive(Debug)]
pub(crate) enum Event {
    /// The answer to the request of this number.
    Answer(u64, Result<Value, ErrorObject>),
    /// The first that came is no answer; once a connection, and only before there is one.
    Strange(Strange),
    /// No more comes from the server.
    Lost {
        /// Whether a person hears of it as a note.
        is_noted: bool,
    },
    /// Ctrl+c.
    Interrupt,
}

/// What is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Strange {
    /// It is framed as the other framing has it.
    OtherFraming,
    /// It begins so.
    Text(String),
}

/// Who hears what comes from a server.
#[derive(Clone)]
pub(crate) struct Ears {
    pub(crate) events: Sender<Event>,
    pub(crate) notes: SyncSender<Note>,
    pub(crate) presses: Arc<Presses>,
}

/// A server, for writing to; what it says arrives as events.
pub(crate) struct Connection {
    writer: Option<Writer>,
    framing: Framing,
    child: Option<Child>,
}

/// Where requests are written.
enum Writer {
    Pipe(std::process::ChildStdin),
    Socket(UnixStream),
}

/// Ears, and where what they hear arrives.
pub(crate) fn ears(presses: &Arc<Presses>) -> (Ears, Receiver<Event>, Receiver<Note>) {
    let (events, happened) = mpsc::channel();
    let (notes, noted) = mpsc::sync_channel(NOTES_MAX);
    (Ears { events, notes, presses: Arc::clone(presses) }, happened, noted)
}

/// Reaches a server; the ears hear what it says.
pub(crate) fn open(server: &Server, framing: Framing, ears: Ears) -> Result<Connection, Error> {
    let (reader, writer, child): (Box<dyn Read + Send>, _, _) = match server {
        Server::Socket(path) => {
            let failed = |source| Error::Connect { path: path.clone(), source };
            let stream = UnixStream::connect(path).map_err(failed)?;
            let reader = stream.try_clone().map_err(failed)?;
            (Box::new(reader), Writer::Socket(stream), None)
        }
        Server::Program { file, name, arguments } => {
            let failed = |source| Error::Start { program: file.clone(), source };
            let mut command = Command::new(file);
            if let Some(name) = name {
                command.arg0(name);
            }
            // A group of its own: ctrl+c is for the console, which tells the server what to cancel.
            command.args(arguments).process_group(0);
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().map_err(failed)?;
            let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
                return Err(failed(io::ErrorKind::BrokenPipe.into()));
            };
            (Box::new(stdout), Writer::Pipe(stdin), Some(child))
        }
    };
    let is_socket = child.is_none();
    thread::Builder::new()
        .name("server".to_owned())
        .spawn(move || Receiving::new(ears, framing, is_socket).run(reader))
        .map_err(Error::system("starting a thread"))?;
    Ok(Connection { writer: Some(writer), framing, child })
}

impl Connection {
    /// Sends a message.
    pub(crate) fn send(&mut self, mut message: Vec<u8>) -> io::Result<()> {
        let message = match self.framing {
            Framing::Headers => headers::encode(&message),
            Framing::Lines => {
                message.push(b'\n');
                message
            }
        };
        match &mut self.writer {
            Some(Writer::Pipe(pipe)) => pipe.write_all(&message).and_then(|()| pipe.flush()),
            Some(Writer::Socket(socket)) => socket.write_all(&message),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Says that there is no more to come.
    pub(crate) fn finish(&mut self) {
        if let Some(Writer::Socket(socket)) = &self.writer {
            // One that is gone already need not be told.
            socket.shutdown(Shutdown::Both).unwrap_or_default();
        }
        self.writer = None;
    }

    /// Whether another can be had in its place.
    pub(crate) fn is_socket(&self) -> bool {
        self.child.is_none()
    }

    /// Takes the program of the server, to see it end.
    pub(crate) fn take_child(&mut self) -> Option<Child> {
        self.child.take()
    }
}

/// What comes from a server, on its way to the ears.
struct Receiving {
    ears: Ears,
    framing: Framing,
    is_socket: bool,
    /// Whether there was an answer: it is a server of this protocol.
    is_known: bool,
    /// Whether something was strange.
    is_strange: bool,
}

impl Receiving {
    fn new(ears: Ears, framing: Framing, is_socket: bool) -> Receiving {
        Receiving { ears, framing, is_socket, is_known: false, is_strange: false }
    }

    /// Hands on what the server says until it says no more.
    fn run(mut self, mut reader: impl Read) {
        let mut decoder = Decoder::new(self.framing);
        let mut buffer = vec![0; READ_BYTES];
        let mut is_first = true;
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    let bytes = &buffer[..count];
                    let is_first = std::mem::take(&mut is_first);
                    // The decoder would wait for the end of a header that never comes.
                    if is_first && self.framing == Framing::Headers && is_line(bytes) {
                        self.find_strange(bytes);
                        break;
                    }
                    if !decoder.feed(bytes, |message| self.hand_on(message)) {
                        self.find_strange(bytes);
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        // What runs will hear of it by its next call.
        let is_noted = self.is_known && !self.ears.presses.is_running();
        // A console that is gone need not know.
        let _gone = self.ears.events.send(Event::Lost { is_noted });
        if is_noted {
            let _gone = self.ears.notes.send(Note::Lost { is_socket: self.is_socket });
        }
    }

    fn hand_on(&mut self, message: &[u8]) {
        match Message::from_wire(message) {
            Ok(Message::Response { id, result }) => {
                if let Some(id) = id.as_u64() {
                    self.is_known = true;
                    let _gone = self.ears.events.send(Event::Answer(id, result));
                } else {
                    self.find_strange(message);
                }
            }
            // More than can be shown is more than can be read.
            Ok(Message::Notification { method, params }) if self.is_known => {
                let _full = self.ears.notes.try_send(Note::Happened { method, params });
            }
            // Nobody asked for notifications yet; it may be our own words.
            Ok(Message::Notification { .. }) | Err(_) => self.find_strange(message),
        }
    }

    fn find_strange(&mut self, bytes: &[u8]) {
        if self.is_known || self.is_strange {
            return;
        }
        self.is_strange = true;
        let is_other = match self.framing {
            Framing::Lines => is_header(bytes),
            Framing::Headers => is_line(bytes),
        };
        let strange = match is_other {
            true => Strange::OtherFraming,
            false => Strange::Text(beginning(bytes)),
        };
        let _gone = self.ears.events.send(Event::Strange(strange));
    }
}

/// Whether this is a message on a line, or its beginning.
fn is_line(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().first() == Some(&b'{')
}

/// Whether this is how a message behind headers begins.
fn is_header(bytes: &[u8]) -> bool {
    const NAME: &[u8] = b"content-length:";
    bytes.get(..NAME.len()).is_some_and(|it| it.eq_ignore_ascii_case(NAME))
}

/// The beginning of something, for people.
fn beginning(bytes: &[u8]) -> String {
    let bytes = &bytes[..bytes.len().min(4 * STRANGE_CHARS)];
    let text = plain(&String::from_utf8_lossy(bytes));
    text.lines().next().unwrap_or_default().chars().take(STRANGE_CHARS).collect()
}

enum Decoder {
    Lines(LineDecoder),
    Headers(HeaderDecoder),
}

impl Decoder {
    fn new(framing: Framing) -> Decoder {
        match framing {
            Framing::Lines => Decoder::Lines(LineDecoder::new(MAX_MESSAGE)),
            Framing::Headers => Decoder::Headers(HeaderDecoder::new(MAX_MESSAGE)),
        }
    }

    /// Takes bytes and gives each message in them away; false if nothing that follows makes sense.
    fn feed(&mut self, bytes: &[u8], mut give: impl FnMut(&[u8])) -> bool {
        match self {
            Decoder::Lines(lines) => {
                lines.feed(bytes);
                loop {
                    match lines.next() {
                        Ok(Some(line)) => give(&line),
                        Ok(None) => return true,
                        // A line that is too long is skipped.
                        Err(_) => {}
                    }
                }
            }
            Decoder::Headers(headers) => {
                headers.feed(bytes);
                loop {
                    match headers.next() {
                        Ok(Some(body)) => give(&body),
                        Ok(None) => return true,
                        Err(_) => return false,
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of a server that says this and ends.
    fn heard(framing: Framing, said: &str) -> Vec<Event> {
        let (ears, events, _notes) = ears(&Arc::default());
        Receiving::new(ears, framing, false).run(said.as_bytes());
        events.iter().collect()
    }

    #[track_caller]
    fn check(framing: Framing, said: &str, expected: &Strange) {
        match heard(framing, said).as_slice() {
            [Event::Strange(strange), Event::Lost { is_noted: false }] => {
                assert_eq!(strange, expected, "{said}");
            }
            other => panic!("{said}: {other:?}"),
        }
    }

    #[test]
    fn what_is_no_answer_is_told_once() {
        let text = |text: &str| Strange::Text(text.to_owned());
        let header = "Content-Length: 38\r\n\r\n";
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":true}"#;
        check(Framing::Lines, &format!("{header}{answer}"), &Strange::OtherFraming);
        check(Framing::Headers, &format!("{answer}\n"), &Strange::OtherFraming);
        check(Framing::Headers, r#"{"jsonrpc":"2.0","id":null,"err"#, &Strange::OtherFraming);
        check(Framing::Lines, &"y\n".repeat(9), &text("y"));
        check(Framing::Headers, "\x1b[1my\ny\n", &text("y"));
        // Our own words.
        let echo = r#"{"jsonrpc":"2.0","id":1,"method":"server.capabilities"}"#;
        check(Framing::Lines, &format!("{echo}\n"), &text(echo));
    }

    #[test]
    fn a_body_may_come_after_its_header() {
        let (ears, events, _notes) = ears(&Arc::default());
        let header: &[u8] = b"Content-Length: 38\r\n\r\n";
        let body: &[u8] = br#"{"jsonrpc":"2.0","id":1,"result":true}"#;
        Receiving::new(ears, Framing::Headers, false).run(header.chain(body));
        assert!(matches!(events.recv(), Ok(Event::Answer(1, Ok(_)))));
    }

    #[test]
    fn what_a_shell_says_before_the_server_does_no_harm() {
        let said = "Welcome\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":true}\nlog\n";
        let heard = heard(Framing::Lines, said);
        let [Event::Strange(_), Event::Answer(1, Ok(_)), Event::Lost { is_noted: true }] =
            heard.as_slice()
        else {
            panic!("{heard:?}")
        };
    }
}
