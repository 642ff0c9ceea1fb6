//! Output taken from the terminal itself, while somebody waits for it.
//!
//! What a program prints goes to its holder and from there to the session. While somebody waits, the
//! session looks by itself (`greenroom_pty`'s tap), so that an answer takes the way of one process less;
//! the holder, told so, sleeps on, and takes what was seen a moment later. Not at once: on a machine with
//! few processors it would be in the way of who was answered, and often the next wait follows. Under a
//! flood it is left to the holder: looking costs more than it saves.
//!
//! Invariant: a byte that is seen here lies in the holder's pipe or in its log.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use bytes::Bytes;
use greenroom_proto::ToHolder;
use greenroom_pty::Tap;
use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::Instant;

use super::Session;
use crate::link::LinkError;

/// How much may be printed in a turn for the next output to be looked for: more is a flood.
const FEW: usize = 1 << 10;

/// How long after a flood to look again.
const CALM: Duration = Duration::from_millis(20);

/// How long the holder may leave what was seen where it is, and who waited may wait again.
const LINGER: Duration = Duration::from_millis(10);

/// How often something may be seen meanwhile: the pipe has sixteen places as a rule, one for each time.
const MAX_PULLS: usize = 8;

/// How many looks in a row may bring nothing new before the holder is left alone with it for a while. One
/// happens when somebody else was faster; a terminal that is gone, with a pipe that takes no more, is
/// always ready and never has anything.
const MAX_VAIN: usize = 4;

/// The terminal, for who waits.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// The terminal while it is looked at, and the holder knows it.
    watched: Option<AsyncFd<Tap>>,
    /// How often it had something that the holder was not told of.
    pulls: usize,
    /// How many looks in a row brought nothing new.
    vain: usize,
    /// When to tell the holder.
    tell: Option<Instant>,
    /// When there was more than a little, or looking was in vain.
    flooded: Option<Instant>,
    /// The terminal is.
    gone: bool,
}

impl Ahead {
    /// Looks at the terminal from now on.
    fn look(&mut self, terminal: &OwnedFd, pipe: &[OwnedFd; 4]) -> io::Result<()> {
        let [out, into, place, looking] = pipe;
        let pipe = [out.try_clone()?, into.try_clone()?, place.try_clone()?, looking.try_clone()?];
        let tap = Tap::new(terminal.try_clone()?, pipe)?;
        #[expect(
            deprecated,
            reason = "the other way is unsafe; an owned descriptor makes this one sound"
        )]
        let watched = AsyncFd::with_interest(tap, Interest::READABLE)?;
        self.watched = Some(watched);
        Ok(())
    }

    /// The terminal is not looked at any more.
    pub(super) fn stop(&mut self) {
        (self.watched, self.pulls, self.vain, self.tell) = (None, 0, 0, None);
    }

    /// When to tell the holder what was seen.
    pub(super) fn due(&self) -> Option<Instant> {
        self.tell
    }

    /// Waits until the terminal has something; for ever if it is not looked at.
    pub(super) async fn readable(&self) {
        match &self.watched {
            Some(watched) => {
                if let Ok(mut ready) = watched.readable().await {
                    ready.clear_ready();
                }
            }
            None => std::future::pending().await,
        }
    }
}

impl Session {
    /// Takes what the terminal has and the holder has not told of.
    pub(super) fn look_ahead(&mut self) -> Result<(), LinkError> {
        let Some(watched) = &mut self.ahead.watched else { return Ok(()) };
        self.ahead.pulls += 1;
        let (mut bytes, before) = (Vec::with_capacity(FEW), self.received);
        match watched.get_mut().peek(before, &mut bytes) {
            Ok(Some(at)) if at <= before => self.output(at, Bytes::from(bytes))?,
            // Something is missing before it, which is on its way.
            Ok(_) => {}
            Err(error) => {
                // If the terminal is gone, how it ended is the holder's to say. Else the system is out of
                // something.
                self.ahead.gone = error.raw_os_error() == Some(Errno::IO.raw_os_error());
                self.ahead.flooded = Some(Instant::now());
            }
        }
        self.ahead.vain = if self.received > before { 0 } else { self.ahead.vain + 1 };
        if self.ahead.vain == MAX_VAIN {
            self.ahead.flooded = Some(Instant::now());
        }
        Ok(())
    }

    /// Decides whether to look ahead for what comes next, and tells the holder when that concerns it. Last
    /// in a turn: nobody waits for this.
    pub(super) fn mind_ahead(&mut self) {
        let (now, looked) = (self.turned, self.ahead.watched.is_some());
        if self.heard > FEW {
            self.ahead.flooded = Some(now);
        }
        if self.waits.is_empty() && !looked {
            return;
        }
        let calm = self.ahead.flooded.is_none_or(|at| now > at + CALM);
        let can = calm && !self.ahead.gone && self.is_caught_up() && !self.is_waited_for();
        let wanted = can && !self.waits.is_empty();
        if !looked {
            if wanted {
                self.begin_to_look();
            }
            return;
        }
        if !wanted || self.ahead.pulls > 0 {
            self.ahead.tell.get_or_insert(now + LINGER);
        }
        let due = self.ahead.tell.is_some_and(|at| now >= at);
        if can && !due && self.ahead.pulls < MAX_PULLS {
            return;
        }
        if !wanted {
            return self.stop_looking();
        }
        (self.ahead.pulls, self.ahead.tell) = (0, None);
        self.link.say(&ToHolder::Ahead { seen: self.received, looks: true });
    }

    /// Leaves the terminal to the holder again.
    pub(super) fn stop_looking(&mut self) {
        if self.ahead.watched.is_some() {
            self.ahead.stop();
            self.link.say(&ToHolder::Ahead { seen: self.received, looks: false });
        }
    }

    fn begin_to_look(&mut self) {
        let Some(pipe) = self.tap_pipe() else { return };
        match self.ahead.look(&self.keyboard.terminal(), &pipe) {
            Ok(()) => self.link.say(&ToHolder::Ahead { seen: self.received, looks: true }),
            Err(error) => {
                tracing::debug!(%error, "a terminal is not looked at");
                // The system is out of something; a moment later it may not be.
                self.ahead.flooded = Some(self.turned);
            }
        }
    }
}
