//! The connection to one holder: messages both ways, and the terminal to type into.
//!
//! Nothing here blocks and nothing waits but [`Link::ready`]: the session decides what it wants to
//! wait for.

use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;

use greenroom_proto::{Decoder, FromHolder, Hello, ProtoError, Stage, ToHolder};
use rustix::net::RecvFlags;
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

/// The connection to one holder.
#[derive(Debug)]
pub(crate) struct Link {
    stream: UnixStream,
    decoder: Decoder,
    /// Bytes of messages that the socket did not take yet.
    out: Vec<u8>,
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
    /// It said something out of order.
    #[error("the holder said something out of order")]
    Order,
}

impl Link {
    pub(crate) fn new(stream: UnixStream) -> Link {
        Link { stream, decoder: Decoder::default(), out: Vec::new() }
    }

    /// Reads the holder's introduction and the terminal's descriptor.
    pub(crate) async fn introduction(&mut self) -> Result<(Hello, OwnedFd), LinkError> {
        let mut terminal = None;
        loop {
            if let Some(message) = self.next()? {
                return match message {
                    FromHolder::Hello(hello) if hello.version > greenroom_proto::VERSION => {
                        Err(LinkError::Version(hello.version))
                    }
                    FromHolder::Hello(hello) => Ok((hello, terminal.ok_or(LinkError::Order)?)),
                    FromHolder::Failed { stage, errno } => Err(LinkError::Failed(stage, errno)),
                    FromHolder::Description(_)
                    | FromHolder::Checkpoint { .. }
                    | FromHolder::Output { .. }
                    | FromHolder::Ended(_) => Err(LinkError::Order),
                };
            }
            self.ready(true).await?;
            self.flush()?;
            let mut buffer = [0; FIRST_READ];
            let read = self.stream.try_io(Interest::READABLE, || {
                greenroom_pty::recv_with_fd(&self.stream, &mut buffer)
            });
            match read {
                Ok((0, _)) => return Err(LinkError::Gone),
                Ok((length, descriptor)) => {
                    terminal = terminal.or(descriptor);
                    self.decoder.feed(&buffer[..length]);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
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
        READ.with_borrow_mut(|buffer| {
            let mut short = None;
            let read = stream.try_io(Interest::READABLE, || {
                let length = rustix::net::recv(stream, &mut **buffer, RecvFlags::empty())?.0;
                if (1..buffer.len()).contains(&length) {
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

    /// The next message, if it is whole.
    pub(crate) fn next(&mut self) -> Result<Option<FromHolder>, LinkError> {
        Ok(self.decoder.from_holder()?)
    }

    /// Says something, at once if the socket takes it. A holder that is gone is noticed by reading.
    pub(crate) fn say(&mut self, message: &ToHolder) {
        message.encode(&mut self.out);
        if let Err(error) = self.flush() {
            tracing::debug!(%error, "a message to a holder was not sent");
        }
    }

    /// Whether everything said was taken by the socket.
    pub(crate) fn is_flushed(&self) -> bool {
        self.out.is_empty()
    }

    /// Writes what waits, as far as the socket takes it.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        while !self.out.is_empty() {
            match self.stream.try_write(&self.out) {
                Ok(written) => drop(self.out.drain(..written)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => {
                    self.out.clear();
                    return Err(error);
                }
            }
        }
        // A checkpoint may have made it large.
        self.out.shrink_to(4096);
        Ok(())
    }
}
