//! One attempt to get back to a session, beside the loop that waits for it.
//!
//! A line to another machine takes seconds to come up, or to turn out not to: meanwhile the person must
//! be able to leave, and so must a relay's client while a daemon that was stopped does not answer. A person
//! finds a daemon of this machine, or starts it, in no time, and needs none of this.

use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use greenroom_client::{Connection, Error, Reach, Stream};
use rustix::event::{PollFd, PollFlags, poll};

use crate::context::identity;
use crate::terminal::timespec;

/// How long an attempt that nobody wants any more has to end its `ssh`: that takes a signal.
const FAREWELL: Duration = Duration::from_millis(300);

/// What an attempt gives.
pub(super) type Tried = Result<(Connection, Stream), Error>;

/// An attempt under way; dropping it ends it.
pub(super) struct Attempt {
    /// Closed at its other end when the attempt is over.
    over: UnixStream,
    tried: Receiver<Tried>,
}

impl Attempt {
    /// Begins to connect, and to go on with the stream where it broke.
    pub(super) fn begin(reach: &Reach, mut stream: Stream, start: bool) -> io::Result<Attempt> {
        let (over, theirs) = UnixStream::pair()?;
        let (sender, tried) = mpsc::channel();
        let theirs = Arc::new(theirs);
        let reach = reach.unasked(Arc::clone(&theirs));
        thread::Builder::new().spawn(move || {
            let connected = match start {
                true => reach.connect_or_start(&identity(), &mut || Ok(())),
                false => reach.connect(&identity()),
            };
            let resumed = connected.and_then(|mut connection| {
                stream.resume(&mut connection)?;
                Ok((connection, stream))
            });
            // Nobody may want it any more.
            sender.send(resumed).unwrap_or_default();
            // Both, the second in the way there: only now is the other end told.
            drop((theirs, reach));
        })?;
        Ok(Attempt { over, tried })
    }

    /// What it gave, once it did.
    pub(super) fn take(&self) -> Option<Tried> {
        match self.tried.try_recv() {
            Ok(tried) => Some(tried),
            Err(mpsc::TryRecvError::Empty) => None,
            Err(mpsc::TryRecvError::Disconnected) => {
                Some(Err(Error::Lost("the attempt to reconnect broke off".to_owned())))
            }
        }
    }
}

/// Readable when the attempt is over.
impl AsFd for Attempt {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.over.as_fd()
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.over.shutdown(Shutdown::Write).unwrap_or_default();
        // Its `ssh` is to be gone before this process is.
        let mut fds = [PollFd::new(&self.over, PollFlags::IN)];
        let _over = poll(&mut fds, Some(&timespec(FAREWELL)));
    }
}
