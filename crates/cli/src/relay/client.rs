//! The client's end of a relay: a connection that came as standard input.

use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;

use bytes::Bytes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::socket_peercred;
use rustix::stdio::stdin;

use super::frames::{Decoder, TooLong};
use crate::terminal::Writer;

/// How much is read at once: more than a person types, and a good part of a paste.
const READ: usize = 16 << 10;

/// A client of carryOn's.
pub(super) struct Client {
    socket: UnixStream,
    decoder: Decoder,
    scratch: Box<[u8]>,
    writer: Writer,
}

impl Client {
    /// The client at the other end of standard input.
    pub(super) fn at_stdin() -> io::Result<Client> {
        let socket = UnixStream::from(stdin().try_clone_to_owned()?);
        socket.set_nonblocking(true)?;
        let writer = Writer::to(socket.try_clone()?.into());
        let scratch = vec![0; READ].into_boxed_slice();
        Ok(Client { socket, decoder: Decoder::default(), scratch, writer })
    }

    /// Its process.
    pub(super) fn pid(&self) -> io::Result<u32> {
        let peer = socket_peercred(&self.socket)?;
        Ok(u32::try_from(peer.pid.as_raw_nonzero().get()).unwrap_or(0))
    }

    /// What to poll for; nothing if there is nothing to do. A client that is gone is noticed where it
    /// is read or written.
    pub(super) fn polled(&self, reads: bool) -> Option<(BorrowedFd<'_>, PollFlags)> {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, reads);
        flags.set(PollFlags::OUT, self.writer.has_waiting());
        (!flags.is_empty()).then(|| (self.socket.as_fd(), flags))
    }

    /// Whether it is gone, although what it sent may not all be read.
    pub(super) fn is_gone(&self) -> bool {
        let mut polled = [PollFd::new(&self.socket, PollFlags::RDHUP)];
        let gone = poll(&mut polled, Some(&Timespec::default()));
        gone.is_err() || !polled[0].revents().is_empty()
    }

    /// Reads what there is; false if no more will come.
    pub(super) fn read(&mut self) -> bool {
        match self.socket.read(&mut self.scratch) {
            Ok(0) => false,
            Ok(count) => {
                self.decoder.buffer.extend_from_slice(&self.scratch[..count]);
                true
            }
            Err(error) => {
                matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
            }
        }
    }

    /// The next whole frame of what was read.
    pub(super) fn next(&mut self) -> Result<Option<(u8, Bytes)>, TooLong> {
        self.decoder.next()
    }

    /// Sends bytes, with the next [`Client::flush`].
    pub(super) fn say(&mut self, pieces: impl IntoIterator<Item = Bytes>) {
        pieces.into_iter().for_each(|piece| self.writer.push(piece));
    }

    /// Whether something waits for room.
    pub(super) fn has_waiting(&self) -> bool {
        self.writer.has_waiting()
    }

    /// Writes what there is room for; an error if nobody reads it any more.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    /// Writes all there is, for as long as the client is there: it costs nobody else anything.
    pub(super) fn finish(mut self) {
        while self.flush().is_ok() && self.has_waiting() {
            let mut polled = [PollFd::new(&self.socket, PollFlags::OUT)];
            if poll(&mut polled, None).is_err_and(|error| error != rustix::io::Errno::INTR) {
                return;
            }
        }
    }
}
