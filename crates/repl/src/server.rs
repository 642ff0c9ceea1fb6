//! The way to a server: a socket, or a program that is started for this console.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;

use greenroom_frame::headers::{self, HeaderDecoder};
use greenroom_frame::lines::LineDecoder;
use greenroom_frame::rpc::{ErrorObject, Message};
use serde_json::Value;

use crate::notes::Note;
use crate::{Error, Framing, Server};

/// The longest message taken from a server: the snapshot of a very large screen, many times over.
const MAX_MESSAGE: usize = 64 << 20;

/// How much is read at once.
const READ_BYTES: usize = 64 << 10;

/// How many notes may wait to be shown; what comes on top of them is not shown.
const NOTES_MAX: usize = 256;

/// What happens to whoever waits for an answer.
#[derive(Debug)]
pub(crate) enum Event {
    /// The answer to the request of this number.
    Answer(u64, Result<Value, ErrorObject>),
    /// No more comes from the server.
    Lost,
    /// Ctrl+c.
    Interrupt,
}

/// A server, for writing to; what it says arrives as events.
pub(crate) struct Connection {
    writer: Option<Writer>,
    framing: Framing,
    child: Option<Child>,
    pub(crate) events: Receiver<Event>,
    pub(crate) sender: Sender<Event>,
}

/// Where requests are written.
enum Writer {
    Pipe(std::process::ChildStdin),
    Socket(UnixStream),
}

/// Reaches a server; gives the way to it, and what it says of its own accord.
pub(crate) fn open(
    server: &Server,
    framing: Framing,
) -> Result<(Connection, Receiver<Note>), Error> {
    let (sender, events) = mpsc::channel();
    let (notes, noted) = mpsc::sync_channel(NOTES_MAX);
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
    let to = sender.clone();
    thread::Builder::new()
        .name("server".to_owned())
        .spawn(move || receive(reader, framing, &to, &notes))
        .map_err(Error::system("starting a thread"))?;
    Ok((Connection { writer: Some(writer), framing, child, events, sender }, noted))
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

    /// Takes the program of the server, to see it end.
    pub(crate) fn take_child(&mut self) -> Option<Child> {
        self.child.take()
    }
}

/// Hands on what the server says until it says no more.
fn receive(
    mut reader: impl Read,
    framing: Framing,
    events: &Sender<Event>,
    notes: &SyncSender<Note>,
) {
    let mut decoder = Decoder::new(framing);
    let mut buffer = vec![0; READ_BYTES];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                if !decoder.feed(&buffer[..count], |message| hand_on(message, events, notes)) {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    // A console that is gone need not know.
    let _gone = events.send(Event::Lost);
}

fn hand_on(message: &[u8], events: &Sender<Event>, notes: &SyncSender<Note>) {
    match Message::from_wire(message) {
        Ok(Message::Response { id, result }) => {
            if let Some(id) = id.as_u64() {
                let _gone = events.send(Event::Answer(id, result));
            }
        }
        // More than can be shown is more than can be read.
        Ok(Message::Notification { method, params }) => {
            let _full = notes.try_send(Note { method, params });
        }
        Err(_) => {}
    }
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
