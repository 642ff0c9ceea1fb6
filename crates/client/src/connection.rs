//! One connection to a daemon: handshake, calls, events.
//!
//! The transport never blocks; what has no room yet waits in `unsent`, what came while a call was
//! waited for waits in `events`. Whoever has a poll loop uses [`Connection::receive`],
//! [`Connection::next_event`] and [`Connection::flush`]; whoever asks one thing uses
//! [`Connection::call`]. Not here: where the daemon is (`endpoint`), attaching (`stream`).

#[cfg(test)]
mod tests;

use std::collections::{HashSet, VecDeque};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use greenroom_frame::binary::{Frame, FrameDecoder, encode_into, kind};
use greenroom_frame::rpc::{self, Message};
use rustix::event::PollFlags;
use serde_json::{Value, json};

use crate::error::{Error, Refusal};
use crate::event::Event;
use crate::transport::Transport;
use crate::wait;

/// The protocol this client speaks.
pub const PROTOCOL: u64 = 1;

/// How long an answer is waited for unless said otherwise: what a daemon does takes milliseconds,
/// and a killed session has its grace time.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a daemon may take to say who it is: it has nothing to look up for that.
const HELLO_TIMEOUT: Duration = Duration::from_secs(5);

/// How much is read at once: as much as a local socket holds by default.
const READ: usize = 208 << 10;

/// How often a connection that broke is read: more than a socket's buffer holds.
const LAST_READS: usize = 64;

/// What a daemon says that somebody told to end.
pub const STOPPING: &str = "daemon.stopping";

/// A connection that has shaken hands.
pub struct Connection {
    transport: Box<dyn Transport>,
    decoder: FrameDecoder,
    /// Where a read goes before it is decoded.
    scratch: Box<[u8]>,
    /// What the transport had no room for yet.
    unsent: Vec<u8>,
    events: VecDeque<Event>,
    /// Requests whose answers nobody wants to hear.
    unasked: HashSet<u64>,
    last_id: u64,
    /// The greeting whose answer was not looked at yet.
    greeting: Option<u64>,
    hello: Hello,
}

/// Who the daemon is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hello {
    /// Its version.
    pub version: String,
    /// Its process.
    pub pid: Option<u32>,
    /// What it can do beyond the protocol.
    pub capabilities: Vec<String>,
    /// The folder that is its home.
    pub home: String,
}

/// Who we say we are.
#[derive(Debug, Clone)]
pub struct Identity {
    /// Program and version, such as `greenroom 0.1.0`.
    pub client: String,
    /// What kind of client, such as `cli`.
    pub kind: String,
    /// What a person calls it, such as `Terminal`.
    pub name: String,
}

/// What a read gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// Bytes: ask for events.
    Bytes,
    /// Nothing now.
    Nothing,
}

impl Connection {
    /// Shakes hands over a transport.
    ///
    /// # Errors
    /// No answer in time, an answer that is not a greenroom daemon's, another protocol.
    pub fn open(
        transport: impl Transport + 'static,
        identity: &Identity,
    ) -> Result<Connection, Error> {
        let mut connection = Connection::hail(transport, identity)?;
        connection.flush()?;
        connection.shake_hands()?;
        Ok(connection)
    }

    /// Says who we are together with the first call, which then takes no round trip more; whose
    /// daemon it is shows before that call is answered. Only for who changes nothing by it: it may
    /// be heard by a daemon of another protocol.
    ///
    /// # Errors
    /// None of who we are fits into a frame.
    pub fn hail(
        transport: impl Transport + 'static,
        identity: &Identity,
    ) -> Result<Connection, Error> {
        let mut connection = Connection {
            transport: Box::new(transport),
            decoder: FrameDecoder::default(),
            scratch: vec![0; READ].into_boxed_slice(),
            unsent: Vec::new(),
            events: VecDeque::new(),
            unasked: HashSet::new(),
            last_id: 0,
            greeting: None,
            hello: Hello::default(),
        };
        let hello = json!({"protocol": PROTOCOL, "client": identity.client});
        connection.greeting = Some(connection.queue("greenroom.hello", &hello)?);
        // Sent along: its answer says nothing, and waiting for it would cost a round trip.
        let who = json!({"type": identity.kind, "name": identity.name, "pid": std::process::id()});
        let identify = connection.queue("client.identify", &who)?;
        connection.unasked.insert(identify);
        Ok(connection)
    }

    /// Waits until the daemon has said who it is, if it has not yet.
    fn shake_hands(&mut self) -> Result<(), Error> {
        let Some(id) = self.greeting.take() else { return Ok(()) };
        match self.answer(id, "greenroom.hello", HELLO_TIMEOUT) {
            Ok(answer) => self.hello = Hello::from_wire(&answer)?,
            Err(Error::Refused(refusal)) => return Err(Error::Stranger(refusal.message)),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Who the daemon is; nobody yet if it was only hailed.
    #[must_use]
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Calls a method and waits for its answer.
    ///
    /// # Errors
    /// The daemon's no, no answer within [`CALL_TIMEOUT`], a lost connection.
    pub fn call(&mut self, method: &str, params: &Value) -> Result<Value, Error> {
        self.call_within(method, params, CALL_TIMEOUT)
    }

    /// Calls a method and waits for its answer as long as that.
    ///
    /// # Errors
    /// The daemon's no, no answer in time, a lost connection.
    pub fn call_within(
        &mut self,
        method: &str,
        params: &Value,
        timeout: Duration,
    ) -> Result<Value, Error> {
        let id = self.queue(method, params)?;
        self.flush()?;
        self.shake_hands()?;
        self.answer(id, method, timeout)
    }

    /// Sends a request and does not wait: the answer will be an [`Event::Answer`].
    ///
    /// # Errors
    /// A lost connection.
    pub fn start(&mut self, method: &str, params: &Value) -> Result<u64, Error> {
        let id = self.queue(method, params)?;
        self.flush()?;
        Ok(id)
    }

    /// Sends a request whose answer nobody wants to hear.
    ///
    /// # Errors
    /// A lost connection.
    pub fn tell(&mut self, method: &str, params: &Value) -> Result<(), Error> {
        let id = self.start(method, params)?;
        self.unasked.insert(id);
        Ok(())
    }

    /// Sends a frame; what there is no room for goes with the next [`Connection::flush`].
    ///
    /// # Errors
    /// A lost connection.
    pub fn send(&mut self, kind: u8, id: &str, payload: &[u8]) -> Result<(), Error> {
        encode_into(&mut self.unsent, kind, id, payload)?;
        self.flush()
    }

    /// Whether something waits for room: then poll for writing and [`Connection::flush`].
    #[must_use]
    pub fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Writes what there is room for.
    ///
    /// # Errors
    /// A lost connection.
    pub fn flush(&mut self) -> Result<(), Error> {
        let mut sent = 0;
        while sent < self.unsent.len() {
            match self.transport.write(&self.unsent[sent..]) {
                Ok(0) => return Err(Error::Lost("it takes nothing more".into())),
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::Lost(error.to_string())),
            }
        }
        self.unsent.drain(..sent);
        Ok(())
    }

    /// Reads once, without waiting.
    ///
    /// # Errors
    /// A lost connection. What came before is still there for [`Connection::next_event`].
    pub fn receive(&mut self) -> Result<Received, Error> {
        match self.transport.read(&mut self.scratch) {
            Ok(0) => Err(Error::Lost("it was closed".into())),
            Ok(count) => {
                self.decoder.feed(&self.scratch[..count]);
                Ok(Received::Bytes)
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(Received::Nothing),
                _ => Err(Error::Lost(error.to_string())),
            },
        }
    }

    /// Whether the daemon said, before the connection broke, that somebody told it to end. To be asked when
    /// nothing else is wanted of what came.
    #[must_use]
    pub fn was_stopped(&mut self) -> bool {
        self.last_words().is_some()
    }

    /// Whether it said so, and that it has done nothing of what it did not answer: it may be asked of the next one.
    #[must_use]
    pub fn left_nothing_begun(&mut self) -> bool {
        self.last_words() == Some(0)
    }

    /// How many requests it had begun and not answered when it said that it ends.
    fn last_words(&mut self) -> Option<u64> {
        // Who could not be written to may have said something before.
        let reads = (0..LAST_READS).take_while(|_| matches!(self.receive(), Ok(Received::Bytes)));
        let _read = reads.count();
        let mut begun = None;
        while let Ok(Some(event)) = self.next_event() {
            if let Event::Notification { method, params } = event
                && method == STOPPING
            {
                // A daemon of before does not say.
                begun = Some(params["begun"].as_u64().unwrap_or(u64::MAX));
            }
        }
        begun
    }

    /// Takes the next event of what was read.
    ///
    /// # Errors
    /// A frame or a message that is none: the connection is of no more use.
    pub fn next_event(&mut self) -> Result<Option<Event>, Error> {
        if let Some(event) = self.events.pop_front() {
            return Ok(Some(event));
        }
        while let Some(frame) = self.decoder.next()? {
            if let Some(event) = self.event(frame)? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// Ends the connection; the daemon detaches what was attached over it.
    pub fn close(mut self) {
        // It may be gone already, which is what was wanted.
        self.transport.shutdown().unwrap_or_default();
    }

    /// Adds a request to what is to be sent.
    fn queue(&mut self, method: &str, params: &Value) -> Result<u64, Error> {
        self.last_id += 1;
        let request = rpc::request(self.last_id, method, params);
        encode_into(&mut self.unsent, kind::JSON_RPC, "", &request)?;
        Ok(self.last_id)
    }

    /// Waits for the answer to a request; everything else that comes is kept.
    fn answer(&mut self, id: u64, method: &str, timeout: Duration) -> Result<Value, Error> {
        let deadline = Instant::now() + timeout;
        // It may have come before that of a greeting.
        if let Some(result) = self.answered(id) {
            return Ok(result?);
        }
        loop {
            while let Some(frame) = self.decoder.next()? {
                match self.event(frame)? {
                    Some(Event::Answer { id: it, result }) if it == id => return Ok(result?),
                    Some(event) => self.events.push_back(event),
                    None => {}
                }
            }
            if !self.wait(deadline)? {
                // Whatever it says later, nobody is there to hear it.
                self.unasked.insert(id);
                return Err(Error::Silent { method: method.to_owned(), after: timeout });
            }
            self.flush()?;
            self.receive()?;
        }
    }

    /// An answer that was kept.
    fn answered(&mut self, id: u64) -> Option<Result<Value, Refusal>> {
        let is_it = |it: &Event| matches!(it, Event::Answer { id: it, .. } if *it == id);
        match self.events.remove(self.events.iter().position(is_it)?) {
            Some(Event::Answer { result, .. }) => Some(result),
            _ => None,
        }
    }

    /// Waits until there is something to read, or room for what waits.
    fn wait(&self, deadline: Instant) -> Result<bool, Error> {
        let mut flags = PollFlags::IN;
        if self.has_unsent() {
            flags |= PollFlags::OUT;
        }
        let ready = wait::until(self.transport.as_fd(), flags, deadline);
        ready.map_err(|error| Error::Lost(error.to_string()))
    }

    /// The event of a frame, if it is one that somebody wants to hear.
    fn event(&mut self, frame: Frame) -> Result<Option<Event>, Error> {
        if frame.kind != kind::JSON_RPC {
            return Event::from_frame(frame);
        }
        match Message::from_wire(&frame.payload)? {
            Message::Notification { method, params } => {
                Ok(Some(Event::Notification { method, params }))
            }
            Message::Response { id, result } => {
                let Some(id) = id.as_u64() else { return Ok(None) };
                if self.unasked.remove(&id) {
                    return Ok(None);
                }
                let result = result.map_err(Refusal::from_wire);
                Ok(Some(Event::Answer { id, result }))
            }
        }
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.transport.as_fd()
    }
}

impl Hello {
    fn from_wire(answer: &Value) -> Result<Hello, Error> {
        let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
        let theirs = answer["protocol"].as_u64();
        let theirs = theirs.ok_or_else(|| Error::Stranger("it names no protocol".into()))?;
        if theirs != PROTOCOL {
            return Err(Error::Version { theirs, version: text("version") });
        }
        let capabilities = answer["capabilities"].as_array().into_iter().flatten();
        Ok(Hello {
            version: text("version"),
            pid: answer["pid"].as_u64().and_then(|it| u32::try_from(it).ok()),
            capabilities: capabilities.filter_map(|it| it.as_str().map(str::to_owned)).collect(),
            home: text("home"),
        })
    }
}
