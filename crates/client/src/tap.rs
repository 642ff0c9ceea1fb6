//! A session's terminal, lent to an attached client: a key needs no daemon on its way.
//!
//! What is typed goes into the terminal itself; its echo is seen where it lies before the session's
//! holder takes it (`greenroom_pty`'s tap). Only what the daemon would pass byte for byte is shown that
//! way. The rest comes as ever, and the [`Stream`] knows by its offset what was seen already.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use bytes::Bytes;
use greenroom_screen::{Filter, Policy};
use rustix::event::PollFlags;
use serde_json::json;

use crate::endpoint::Endpoint;
use crate::reach::Reach;
use crate::stream::Stream;
use crate::wait;

/// How long a daemon may take to lend a terminal. A person is typing meanwhile.
const PATIENCE: Duration = Duration::from_millis(100);

/// How long after a key its echo is left to us. Most come within this; for others it does not matter.
const LOOK_OUT: Duration = Duration::from_millis(2);

/// What may be drawn without asking: nothing that any setting would take out.
const STRICTEST: Policy = Policy { queries: true, clipboard: true, actions: true, graphics: true };

/// A terminal that was lent.
#[derive(Debug)]
pub struct Tap {
    tap: greenroom_pty::Tap,
    seen: Vec<u8>,
}

/// What came of asking for a terminal.
#[derive(Debug)]
pub enum Borrowed {
    /// Here it is.
    Tap(Box<Tap>),
    /// Not now: something typed before is under way, or the terminal does not show the output as it is.
    NotNow,
    /// Never: it is the terminal of another machine.
    Never,
}

impl Tap {
    /// Asks the daemon for the terminal of a stream.
    #[must_use]
    pub fn borrow(reach: &Reach, stream: &Stream) -> Borrowed {
        let Reach::Here(endpoint) = reach else { return Borrowed::Never };
        match ask(&endpoint.taps(), stream) {
            Ok(Some(tap)) => Borrowed::Tap(Box::new(Tap { tap, seen: Vec::new() })),
            // A daemon that is just being restarted lends one later.
            Ok(None) | Err(_) => Borrowed::NotNow,
        }
    }

    /// Types as much as the terminal takes at once.
    ///
    /// # Errors
    /// It takes nothing now, or is gone.
    pub fn type_in(&self, bytes: &[u8]) -> io::Result<usize> {
        self.tap.look_out(LOOK_OUT);
        self.tap.type_in(bytes)
    }

    /// What was printed and can be drawn before the daemon tells of it; the stream then has seen it.
    /// Nothing if the daemon has to decide, or is told already.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn look(&mut self, stream: &mut Stream) -> io::Result<Option<Bytes>> {
        self.seen.clear();
        let Some(at) = self.tap.peek(stream.offset(), &mut self.seen)? else { return Ok(None) };
        let new = usize::try_from(stream.offset() - at).ok().filter(|_| at <= stream.offset());
        let Some(new) = new.and_then(|seen| self.seen.get(seen..)) else { return Ok(None) };
        let mut filter = Filter::new(STRICTEST);
        if new.is_empty() || filter.feed(new) != new || filter.undecided() > 0 {
            return Ok(None);
        }
        let new = Bytes::copy_from_slice(new);
        stream.saw(at + self.seen.len() as u64);
        Ok(Some(new))
    }
}

/// For `poll`.
impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tap.as_fd()
    }
}

fn ask(endpoint: &Endpoint, stream: &Stream) -> io::Result<Option<greenroom_pty::Tap>> {
    let deadline = Instant::now() + PATIENCE;
    let socket = endpoint.stream().map_err(io::Error::other)?;
    let (session, typed) = (stream.target(), stream.typed());
    let line = json!({"sessionId": session, "streamId": stream.id(), "typed": typed});
    let line = format!("{line}\n");
    // A socket on which nothing was sent takes a line whole.
    if rustix::io::write(&socket, line.as_bytes())? != line.len() {
        return Err(io::ErrorKind::WriteZero.into());
    }
    if !wait::until(socket.as_fd(), PollFlags::IN, deadline)? {
        return Ok(None);
    }
    let descriptors = received(&socket)?;
    match <[OwnedFd; 5]>::try_from(descriptors) {
        Ok([terminal, pipe @ ..]) => greenroom_pty::Tap::new(terminal, pipe).map(Some),
        Err(_) => Ok(None),
    }
}

fn received(socket: &UnixStream) -> io::Result<Vec<OwnedFd>> {
    let mut descriptors = Vec::new();
    match greenroom_pty::recv_with_fds(socket, &mut [0; 1], &mut descriptors)? {
        (0, _) => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(descriptors),
    }
}
