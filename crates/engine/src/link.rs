//! The connection to one holder: messages both ways, and the terminal to type into.
//!
//! Nothing here blocks and nothing waits but [`Link::ready`]: the session decides what it wants to
//! wait for.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;

use greenroom_proto::{Decoder, FromHolder, Hello, ProtoError, Stage, ToHolder};
use tokio::io::{Interest, Ready};
use tokio::net::UnixStream;

/// How much is read at once: a few of the holder's messages.
const READ_BYTES: usize = 128 << 10;

thread_local! {
    /// Where all links read to: one session's output is taken before the next is read.
    static READ: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BYTES].into());
}

/// How much of the stream the first read takes, which must not reach past the descriptor's byte.
const FIRST_READ: usize = 4096;

/// How many connections one message may cost: a holder hangs up on one it does not understand.
const MAX_CUT_OFF: u32 = 3;

/// The connection to one holder.
#[derive(Debug)]
pub(crate) struct Link {
    stream: UnixStream,
    decoder: Decoder,
    /// Messages that the socket did not take whole yet.
    out: VecDeque<Vec<u8>>,
    /// How much of the first of them it took.
    sent: usize,
    /// How many connections were lost in the middle of it.
    cut_off: u32,
    /// Why nothing more can be sent, until it was told.
    broken: Option<io::Error>,
    /// Whether there may be a whole message in what was read already.
    unheard: bool,
    /// What came beside the stream and nobody took yet.
    descriptors: Vec<OwnedFd>,
}

/// Why a holder is of no use.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkError {
    /// The socket.
    #[error("the connection to the holder: {0}")]
    Io(#[from] io::Error),
    /// What it said.
    #[error("the holder's words: {0}")]
    Proto(#[from] ProtoError),
    /// It hung up.
    #[error("the holder hung up")]
    Gone,
    /// It is there and says nothing.
    #[error("the holder does not answer")]
    Silent,
    /// It speaks a language of the future.
    #[error("the holder speaks version {0}, this daemon up to {max}", max = greenroom_proto::VERSION)]
    Version(u16),
    /// It could not start the child.
    #[error("starting the child failed")]
    Failed(Stage, i32),
    /// It is of a time before there were limits, and started the child without.
    #[error("the holder's program is older than the daemon's and knows nothing of limits")]
    Ungrouped,
    /// It said something out of order.
    #[error("the holder said something out of order")]
    Order,
    /// Its session failed here again and again, by a mistake of ours.
    #[error("its session made the daemon fail, again and again; its program runs")]
    Fallen,
}

impl Link {
    pub(crate) fn new(stream: UnixStream) -> Link {
        let decoder = Decoder::default();
        Link {
            stream,
            decoder,
            out: VecDeque::new(),
            sent: 0,
            cut_off: 0,
            broken: None,
            unheard: false,
            descriptors: Vec::new(),
        }
    }

    /// Goes on with another connection to the same holder. What was not sent whole is sent there:
    /// a holder takes nothing of a message that was cut off.
    pub(crate) fn go_on_with(&mut self, mut other: Link) {
        other.out.append(&mut self.out);
        if self.sent > 0 {
            other.cut_off = self.cut_off + 1;
        }
        if other.cut_off >= MAX_CUT_OFF {
            tracing::error!("a message that the holder does not take is dropped");
            other.out.pop_front();
            other.cut_off = 0;
        }
        *self = other;
    }

    /// Reads the holder's introduction and the terminal's descriptor.
    pub(crate) async fn introduction(&mut self) -> Result<(Hello, OwnedFd), LinkError> {
        loop {
            if let Some(message) = self.next()? {
                return match message {
                    FromHolder::Hello(hello) if hello.version > greenroom_proto::VERSION => {
                        Err(LinkError::Version(hello.version))
                    }
                    FromHolder::Hello(hello) => {
                        Ok((hello, self.descriptors.pop().ok_or(LinkError::Order)?))
                    }
                    FromHolder::Failed { stage, errno } => Err(LinkError::Failed(stage, errno)),
                    FromHolder::Description(_)
                    | FromHolder::Checkpoint { .. }
                    | FromHolder::Output { .. }
                    | FromHolder::Tap
                    | FromHolder::Tally { .. }
                    | FromHolder::Ended(_) => Err(LinkError::Order),
                };
            }
            self.ready(true).await?;
            match self.flush() {
                // It may have said why it went.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.out.clear(),
                other => other?,
            }
            let mut buffer = [0; FIRST_READ];
            let (stream, descriptors) = (&self.stream, &mut self.descriptors);
            let read = stream.try_io(Interest::READABLE, || {
                greenroom_pty::recv_with_fds(stream, &mut buffer, descriptors)
            });
            match read {
                Ok((0, _)) => return Err(LinkError::Gone),
                Ok((length, _)) => self.decoder.feed(&buffer[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // It ended before it had read everything.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                    return Err(LinkError::Gone);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Waits for the next message, for who has nothing else to do.
    pub(crate) async fn wait(&mut self) -> Result<FromHolder, LinkError> {
        loop {
            if let Some(message) = self.next()? {
                return Ok(message);
            }
            self.ready(true).await?;
            self.flush()?;
            self.fill()?;
        }
    }

    /// Waits until something can be read, if that is wanted, or written, if something waits.
    pub(crate) async fn ready(&self, reading: bool) -> io::Result<Ready> {
        if self.broken.is_some() {
            return Ok(Ready::ALL);
        }
        if reading && self.unheard {
            return Ok(Ready::READABLE);
        }
        match (reading, self.out.is_empty()) {
            (true, true) => self.stream.ready(Interest::READABLE).await,
            (true, false) => self.stream.ready(Interest::READABLE | Interest::WRITABLE).await,
            (false, false) => self.stream.ready(Interest::WRITABLE).await,
            (false, true) => std::future::pending().await,
        }
    }

    /// Reads what is there. Nothing there is fine.
    pub(crate) fn fill(&mut self) -> Result<(), LinkError> {
        let (stream, decoder) = (&self.stream, &mut self.decoder);
        let descriptors = &mut self.descriptors;
        READ.with_borrow_mut(|buffer| {
            let mut short = None;
            let read = stream.try_io(Interest::READABLE, || {
                let (length, beside) = greenroom_pty::recv_with_fds(stream, buffer, descriptors)?;
                // One that descriptors came with ends there, whatever follows.
                if !beside && (1..buffer.len()).contains(&length) {
                    // The socket is empty now. Saying so spares a look that would find that out, and
                    // with it a turn between a key's echo and whoever waits for it.
                    short = Some(length);
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                Ok(length)
            });
            match (short, read) {
                (Some(length), _) | (None, Ok(length @ 1..)) => decoder.feed(&buffer[..length]),
                (None, Ok(_)) => return Err(LinkError::Gone),
                (None, Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
                (None, Err(error)) => return Err(error.into()),
            }
            Ok(())
        })
    }

    /// What came beside a message, so many as come with it; none if it is not these.
    pub(crate) fn take_descriptors(&mut self, count: usize) -> Vec<OwnedFd> {
        if self.descriptors.len() < count {
            return Vec::new();
        }
        self.descriptors.drain(..count).collect()
    }

    /// The next message, if it is whole.
    pub(crate) fn next(&mut self) -> Result<Option<FromHolder>, LinkError> {
        let message = self.decoder.from_holder()?;
        self.unheard = message.is_some();
        Ok(message)
    }

    /// Says something, at once if the socket takes it. That it failed is told by the next
    /// [`Link::flush`]; a holder that is gone is noticed by reading, for it may have said something.
    pub(crate) fn say(&mut self, message: &ToHolder) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        self.out.push_back(bytes);
        match self.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                tracing::debug!(%error, "a message to a holder was not sent");
                self.out.clear();
            }
            other => self.broken = other.err(),
        }
    }

    /// Whether everything said was taken by the socket.
    pub(crate) fn is_flushed(&self) -> bool {
        self.out.is_empty()
    }

    /// Writes what waits, as far as the socket takes it.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if let Some(error) = self.broken.take() {
            return Err(error);
        }
        while let Some(message) = self.out.front() {
            match self.stream.try_write(&message[self.sent..]) {
                Ok(written) if self.sent + written == message.len() => {
                    self.out.pop_front();
                    (self.sent, self.cut_off) = (0, 0);
                }
                Ok(written) => self.sent += written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
