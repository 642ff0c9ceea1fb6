//! The connection to a daemon: messages in, and out of the log what the socket takes.
//!
//! Nothing is queued but the beginning: what the socket does not take stays in the log, and the
//! link knows how far it came.
//!
//! Invariant: a message that was begun is ended before another begins.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use greenroom_model::{ExitStatus, Offset};
use greenroom_proto::{Decoder, FromHolder, HEADER, MAX_OUTPUT, MAX_PAYLOAD, ProtoError, ToHolder};
use greenroom_pty::Intake;
use rustix::io::Errno;
use rustix::net::Shutdown;

use crate::log::Log;

/// How much is read at once when no long message is under way: most are a few bytes, and a page
/// that is touched once is an idle holder's for ever.
const READ: usize = 512;

/// How much of a long message is read at once: few calls, and soon the turn of others.
const READ_LONG: usize = 64 << 10;

/// How many messages are sent in one turn: enough to fill the socket's buffer, and a fast daemon
/// that replays a long log does not keep the terminal waiting.
const TURN_MESSAGES: usize = 8;

/// How many pieces of the log one message can lie in: two whole segments and their neighbours.
const PIECES: usize = 8;

/// How often in a row reading may fail: a system out of memory has some a moment later, and one
/// that never has must not keep the holder busy.
const MAX_MISSES: u32 = 100;

/// One daemon's connection.
#[derive(Debug)]
pub(crate) struct Link {
    socket: OwnedFd,
    decoder: Decoder,
    /// Whole messages to send before any output.
    queue: Vec<u8>,
    queue_sent: usize,
    /// What is still to go with the queue's first byte.
    beside: Beside,
    /// What the daemon is still to get, a tap and a tally.
    tap_due: bool,
    tally_due: bool,
    /// The first byte that is in no message sent whole.
    next: Offset,
    output: Option<Output>,
    ended_queued: bool,
    /// Whether sending failed: the daemon has gone, and what it said before is still to be read.
    deaf: bool,
    /// How often in a row reading failed.
    misses: u32,
}

/// Descriptors that go with the queue's first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    Terminal,
    Tap,
    Tally,
}

/// What there is to send from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) log: &'a Log,
    pub(crate) terminal: BorrowedFd<'a>,
    pub(crate) intake: Option<&'a Intake>,
    pub(crate) tally: Option<&'a [OwnedFd; 3]>,
    pub(crate) ended: Option<ExitStatus>,
}

/// An output message that was begun.
#[derive(Debug)]
struct Output {
    length: usize,
    /// Of header and bytes together.
    sent: usize,
}

impl Link {
    /// A connection on which nothing was said yet.
    pub(crate) fn new(socket: OwnedFd) -> Link {
        Link {
            socket,
            decoder: Decoder::default(),
            queue: Vec::new(),
            queue_sent: 0,
            beside: Beside::Nothing,
            tap_due: false,
            tally_due: false,
            next: Offset::START,
            output: None,
            ended_queued: false,
            deaf: false,
            misses: 0,
        }
    }

    /// Begins to speak: these messages with the terminal's descriptor, then output from `next` on.
    pub(crate) fn introduce(&mut self, messages: &[FromHolder], next: Offset) {
        for message in messages {
            message.encode(&mut self.queue);
        }
        self.queue_sent = 0;
        self.beside = Beside::Terminal;
        self.next = next;
    }

    /// The first byte of the log it still needs.
    pub(crate) fn needs(&self) -> Offset {
        self.next
    }

    /// Whether there is something to send.
    pub(crate) fn is_behind(&self, source: Source<'_>) -> bool {
        let ended = source.ended.is_some() && !self.ended_queued;
        let output = self.next < source.log.end();
        let due = self.tap_due || self.tally_due;
        !self.deaf && (!self.queue.is_empty() || output || ended || due)
    }

    /// The daemon has seen output up to here by itself, of what there is.
    pub(crate) fn skip_to(&mut self, seen: Offset) {
        // What was begun is sent whole.
        if self.output.is_none() && !self.ended_queued {
            self.next = self.next.max(seen);
        }
    }

    /// Sends the tap when its turn comes.
    pub(crate) fn owe_tap(&mut self) {
        self.tap_due = true;
    }

    /// Sends the tally when its turn comes.
    pub(crate) fn owe_tally(&mut self) {
        self.tally_due = true;
    }

    /// Reads what arrived; says whether something did. An error is the end of the connection.
    pub(crate) fn receive(&mut self) -> io::Result<bool> {
        let buffer = self.decoder.buffer();
        let begin = buffer.len();
        let missing = missing(buffer);
        if missing > READ {
            buffer.reserve(missing);
        }
        buffer.resize(begin + missing.clamp(READ, READ_LONG), 0);
        let read = rustix::io::read(&self.socket, &mut buffer[begin..]);
        buffer.truncate(begin + read.unwrap_or(0));
        match read {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => {
                self.misses = 0;
                Ok(true)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(false),
            // What the daemon said is still there, and would be lost with the connection.
            Err(error) if error != Errno::CONNRESET && self.misses < MAX_MISSES => {
                self.misses += 1;
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The next message that is whole.
    pub(crate) fn message(&mut self) -> Result<Option<ToHolder>, ProtoError> {
        let message = self.decoder.to_holder();
        if matches!(message, Ok(None)) && self.decoder.is_empty() {
            // Gives the buffer back: an idle holder has none.
            self.decoder = Decoder::default();
        }
        message
    }

    /// Sends as much as the socket takes.
    pub(crate) fn send(&mut self, source: Source<'_>) {
        for _ in 0..TURN_MESSAGES {
            if !self.is_behind(source) {
                return;
            }
            let sent = if !self.queue.is_empty() {
                self.send_queue(source)
            } else if self.tap_due && self.output.is_none() {
                FromHolder::Tap.encode(&mut self.queue);
                (self.beside, self.tap_due) = (Beside::Tap, false);
                Ok(())
            } else if self.tally_due && self.output.is_none() {
                FromHolder::Tally { given: source.tally.is_some() }.encode(&mut self.queue);
                (self.beside, self.tally_due) = (Beside::Tally, false);
                Ok(())
            } else if self.next < source.log.end() {
                self.send_output(source.log)
            } else if let Some(status) = source.ended {
                FromHolder::Ended(status).encode(&mut self.queue);
                self.ended_queued = true;
                Ok(())
            } else {
                return;
            };
            match sent.map_err(|error| error.kind()) {
                Ok(()) | Err(io::ErrorKind::Interrupted) => {}
                Err(io::ErrorKind::WouldBlock) => return,
                // The system is out of something: the daemon does without.
                Err(_) if matches!(self.beside, Beside::Tap | Beside::Tally) => {
                    (self.queue, self.beside) = (Vec::new(), Beside::Nothing);
                }
                Err(_) => return self.give_up(),
            }
        }
    }

    /// Stops sending, and shows it: a daemon that is still there comes again.
    fn give_up(&mut self) {
        self.deaf = true;
        let _gone = rustix::net::shutdown(&self.socket, Shutdown::Write);
    }

    fn send_queue(&mut self, source: Source<'_>) -> io::Result<()> {
        let rest = &self.queue[self.queue_sent..];
        let send =
            |beside: &[BorrowedFd<'_>]| greenroom_pty::send_with_fds(&self.socket, rest, beside);
        self.queue_sent += match (self.beside, source.intake, source.tally) {
            (Beside::Terminal, ..) => send(&[source.terminal])?,
            (Beside::Tap, Some(intake), _) => send(&intake.descriptors())?,
            (Beside::Tally, _, Some(tally)) => send(&tally.each_ref().map(|it| it.as_fd()))?,
            (Beside::Nothing, ..) | (Beside::Tap, None, _) | (Beside::Tally, _, None) => {
                rustix::io::write(&self.socket, rest)?
            }
        };
        self.beside = Beside::Nothing;
        if self.queue_sent == self.queue.len() {
            self.queue = Vec::new();
            self.queue_sent = 0;
        }
        Ok(())
    }

    fn send_output(&mut self, log: &Log) -> io::Result<()> {
        let output = self.output.get_or_insert_with(|| Output {
            length: usize::try_from(log.end() - self.next)
                .map_or(MAX_OUTPUT, |it| it.min(MAX_OUTPUT)),
            sent: 0,
        });
        let header = FromHolder::output_header(self.next, output.length);
        let header_left = header.get(output.sent..).unwrap_or_default();
        let past = output.sent.saturating_sub(header.len());
        let mut pieces = [IoSlice::new(&[]); PIECES];
        pieces[0] = IoSlice::new(header_left);
        let mut count = 1;
        let bytes = log.slices(self.next + past as u64, output.length - past);
        for (piece, bytes) in pieces[1..].iter_mut().zip(bytes) {
            *piece = IoSlice::new(bytes);
            count += 1;
        }
        output.sent += rustix::io::writev(&self.socket, &pieces[..count])?;
        if output.sent == header.len() + output.length {
            self.next += output.length as u64;
            self.output = None;
        }
        Ok(())
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// How many bytes of the message at the front are still to come, as far as can be told.
fn missing(buffer: &[u8]) -> usize {
    let Some(&[_, a, b, c, d]) = buffer.first_chunk::<HEADER>() else { return 0 };
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    // One that is too long is refused as soon as it is looked at; nothing is reserved for it.
    if length > MAX_PAYLOAD { 0 } else { (HEADER + length).saturating_sub(buffer.len()) }
}
