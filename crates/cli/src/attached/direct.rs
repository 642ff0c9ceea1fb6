//! Typing into the session's own terminal, and drawing the echo before the daemon tells of it.
//!
//! The first key goes through the daemon, which then lends the terminal. From there on a key and its
//! echo need nobody but the program; the daemon is told afterwards. What the terminal does not take at
//! once goes through the daemon again, and so does all that follows until it lends the terminal anew:
//! what is typed stays in order.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use bytes::Bytes;
use greenroom_client::{Borrowed, RedrawReason, Tap};
use greenroom_model::Offset;

use crate::failure::Result;
use crate::link::Link;

/// How long an echo is looked for, unless the daemon tells of output first.
const ECHO: Duration = Duration::from_secs(1);

/// How long the daemon is not told what was typed, so as not to be in the way of its echo.
const HUSH: Duration = Duration::from_millis(20);

/// How long the pause is before the terminal is asked for again, at first.
const AGAIN: Duration = Duration::from_millis(20);

/// How long it is at most.
const SELDOM: Duration = Duration::from_secs(60);

/// How much is typed before the daemon is told although no echo came: a line or two.
const UNTOLD: usize = 4 << 10;

/// The terminal that was lent, and what is under way by it.
#[derive(Debug)]
pub(super) struct Direct {
    tap: Option<Box<Tap>>,
    /// When to ask for the terminal, if that makes sense.
    ask: Option<Instant>,
    /// How long to wait until then, next time.
    pause: Duration,
    /// Nobody will ever lend one, or nobody types here.
    never: bool,
    /// This terminal shows the output as it is, not a picture of a part.
    fits: bool,
    /// Until when an echo is looked for.
    looks: Option<Instant>,
    /// Whether it is looked for where it comes first, not only where all comes.
    ahead: bool,
    /// How long after the key it is looked for though nothing happens, next time.
    looked: Duration,
    /// It was drawn, and the daemon has not told of it yet.
    drawn: bool,
    /// When the daemon is told in any case.
    tells: Option<Instant>,
    /// What was typed and the daemon was not told, and where the output was seen up to then.
    untold: Vec<u8>,
    at: Offset,
}

impl Direct {
    pub(super) fn new(read_only: bool) -> Direct {
        Direct {
            tap: None,
            ask: None,
            pause: AGAIN,
            never: read_only,
            fits: true,
            looks: None,
            ahead: false,
            looked: HUSH,
            drawn: false,
            tells: None,
            untold: Vec::new(),
            at: Offset::START,
        }
    }

    /// Types into the terminal; says how much of it was typed.
    pub(super) fn type_in(&mut self, bytes: &[u8], seen: Offset, now: Instant) -> usize {
        let Some(tap) = self.tap.as_ref().filter(|_| self.fits) else { return 0 };
        let typed = tap.type_in(bytes).unwrap_or(0);
        if typed < bytes.len() {
            self.tap = None;
        }
        if typed == 0 {
            return 0;
        }
        if self.untold.is_empty() {
            self.at = seen;
        }
        self.untold.extend_from_slice(&bytes[..typed]);
        (self.looks, self.ahead, self.drawn) = (Some(now + ECHO), true, false);
        self.looked = HUSH;
        self.tells.get_or_insert(now + HUSH);
        typed
    }

    /// Something was typed through the daemon: next time it need not be.
    pub(super) fn went_by_daemon(&mut self, now: Instant) {
        // What is typed next must not come before it.
        self.tap = None;
        if !self.never {
            self.ask.get_or_insert(now);
        }
    }

    /// Gives the terminal back: while somebody has it, its program is not told when its holder is gone.
    pub(super) fn give_back(&mut self) {
        self.tap = None;
    }

    /// The screen was drawn anew.
    pub(super) fn redrawn(&mut self, reason: RedrawReason) {
        self.fits = reason != RedrawReason::Fitted;
    }

    /// Asks for the terminal if it is time to. To be called when something came from the daemon: it is
    /// there and has taken what was typed.
    pub(super) fn borrow(&mut self, link: &Link<'_>, now: Instant) {
        if self.tap.is_some() || !self.fits || self.ask.is_none_or(|it| now < it) {
            return;
        }
        self.ask = None;
        match link.borrow_terminal() {
            Borrowed::Tap(tap) => (self.tap, self.pause) = (Some(tap), AGAIN),
            // From when it was answered: a daemon that does not is asked ever less.
            Borrowed::NotNow => {
                self.ask = Some(Instant::now() + self.pause);
                self.pause = (self.pause * 2).min(SELDOM);
            }
            Borrowed::Never => self.never = true,
        }
    }

    /// What to poll for reading, while an echo is looked for.
    pub(super) fn polled(&self) -> Option<BorrowedFd<'_>> {
        self.tap
            .as_ref()
            .filter(|_| self.looks.is_some() && self.ahead && self.fits)
            .map(|tap| tap.as_fd())
    }

    /// Whether the echo ought to have come: the holder may have been faster, and show it.
    pub(super) fn is_late(&mut self, now: Instant) -> bool {
        let late = self.late().is_some_and(|it| now >= it);
        if late {
            self.looked *= 2;
        }
        late
    }

    /// When to look though nothing happens: ever less often.
    fn late(&self) -> Option<Instant> {
        let looks = self.looks.filter(|_| !self.drawn)?;
        looks.checked_sub(ECHO).map(|typed| typed + self.looked)
    }

    /// When there is something to do though nothing happens.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.looks.into_iter().chain(self.tells).chain(self.late()).min()
    }

    /// What was printed, if it can be drawn at once.
    pub(super) fn look(&mut self, link: &mut Link<'_>) -> Option<Bytes> {
        let looked = link.look(self.tap.as_deref_mut()?);
        match looked {
            Ok(None) => {
                self.ahead = false;
                None
            }
            Ok(Some(bytes)) => {
                self.drawn = true;
                Some(bytes)
            }
            Err(_) => {
                (self.tap, self.looks, self.never) = (None, None, true);
                None
            }
        }
    }

    /// Output came through the daemon: what was looked for, drawn before or not.
    pub(super) fn heard(&mut self, now: Instant) {
        self.looks = None;
        self.tells = self.tells.map(|_| now);
    }

    /// Tells the daemon what was typed, once it told of the echo or it is time. True if there was no echo.
    pub(super) fn tell(&mut self, link: &mut Link<'_>, now: Instant) -> Result<bool> {
        self.looks = self.looks.filter(|&it| now < it);
        if self.untold.len() <= UNTOLD && self.tells.is_none_or(|it| now < it) {
            return Ok(false);
        }
        self.tells = None;
        link.tell_typed(self.at, &self.untold, now)?;
        self.untold.clear();
        Ok(self.looks.is_some() && !self.drawn)
    }
}
