//! More output than anybody can see.
//!
//! A terminal that is fed a hundred megabytes a second keeps processors busy that the program could
//! use, and nobody sees more of it than a picture now and then. So a client that agrees gets pictures while a
//! flood lasts, and when it is over the lines that it missed, as many as it wants to scroll back to:
//! its scrollback is then what it would have been.

use std::time::Duration;

use greenroom_screen::{Depth, Screen};
use tokio::time::Instant;

/// How much in how short a time is a flood: twenty megabytes a second.
const MUCH: usize = 2 << 20;
const SHORT: Duration = Duration::from_millis(100);

/// How long less than this must come for it to be over.
const CALM: Duration = Duration::from_millis(100);
const LITTLE: usize = 64 << 10;

/// How fast output comes.
#[derive(Debug)]
pub(super) struct Rate {
    since: Instant,
    bytes: usize,
}

impl Rate {
    pub(super) fn new(now: Instant) -> Rate {
        Rate { since: now, bytes: 0 }
    }

    /// More came; true if it is a flood by now.
    pub(super) fn is_flood(&mut self, bytes: usize, now: Instant) -> bool {
        if now.duration_since(self.since) > SHORT {
            *self = Rate::new(now);
        }
        self.bytes += bytes;
        self.bytes > MUCH
    }
}

/// A flood that somebody sees pictures of.
#[derive(Debug)]
pub(super) struct Flood {
    /// The first row that its scrollback has not.
    row: u64,
    /// When much came last.
    rushed: Instant,
    bytes: usize,
}

impl Flood {
    /// It begins, when the screen's first row was this.
    pub(super) fn new(row: u64, now: Instant) -> Flood {
        Flood { row, rushed: now, bytes: 0 }
    }

    /// More came.
    pub(super) fn more(&mut self, bytes: usize, now: Instant) {
        self.bytes += bytes;
        if self.bytes >= LITTLE {
            (self.rushed, self.bytes) = (now, 0);
        }
    }

    /// When it is over, if nothing more comes.
    pub(super) fn over(&self) -> Instant {
        self.rushed + CALM
    }

    /// The rows got other numbers: what was missed cannot be told any more.
    pub(super) fn renumber(&mut self, screen: &Screen) {
        self.row = screen.top_row();
    }

    /// What is drawn when it is over: the screen, and the lines that were missed, so many at most.
    pub(super) fn missed(&self, screen: &Screen, most: usize) -> Depth {
        let rows = screen.top_row().saturating_sub(self.row);
        let lines = usize::try_from(rows).map_or(most, |rows| rows.min(most));
        if screen.is_alternate() || lines == 0 { Depth::Screen } else { Depth::Lines(lines) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn much_in_a_short_time_is_a_flood_and_much_in_a_long_time_is_not() {
        let start = Instant::now();
        let mut rate = Rate::new(start);
        let piece = MUCH / 4;
        assert!(!(0..100).any(|it| rate.is_flood(piece, start + it * SHORT)));
        let soon = start + 200 * SHORT;
        assert!((0..100).any(|_| rate.is_flood(piece, soon)));
    }

    #[test]
    fn a_flood_is_over_when_little_comes() {
        let start = Instant::now();
        let mut flood = Flood::new(0, start);
        flood.more(LITTLE, start + CALM / 2);
        assert_eq!(flood.over(), start + CALM / 2 + CALM);
        flood.more(LITTLE / 2, start + CALM);
        assert_eq!(flood.over(), start + CALM / 2 + CALM, "a line now and then is no flood");
    }
}
