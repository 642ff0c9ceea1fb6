//! How old things are, whatever somebody does to the clock.
//!
//! What is kept for days is dated by the calendar, which people and networks set as
//! they like. Beside it runs a clock that only goes forward, from what the calendar
//! said when the daemon came. Where the two differ, what is dated is young rather than old: a clock
//! that was set must not make everything go that ended a minute ago.
//!
//! A machine that sleeps is one whose clock is set forward when it wakes: the other clock stood still
//! meanwhile. So nothing grows old in its sleep, and waits and time-outs, which go by that other clock
//! as well, have as much time left as they had before.
//!
//! A new daemon takes the calendar as it finds it: it cannot know for how long there was none.

use std::time::Instant;

use crate::archive::now_ms;

/// The smallest step that counts: less comes of looking at two clocks one after the other.
const STEP_MS: u64 = 1_000;

/// The calendar as it was when the daemon came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Calendar {
    begin_ms: u64,
    begin: Instant,
}

impl Calendar {
    /// Begins with what the calendar says now.
    pub(crate) fn new() -> Calendar {
        Calendar { begin_ms: now_ms(), begin: Instant::now() }
    }

    /// The time that ages are counted to: a calendar that was set forward is not believed.
    pub(crate) fn today(&self) -> u64 {
        now_ms().min(self.steady())
    }

    /// A date of the calendar's that was just asked for, or a little ago: later by what it was set
    /// back, so that nothing is old when it is set right.
    pub(crate) fn date(&self, ms: u64) -> u64 {
        let behind = self.steady().saturating_sub(now_ms());
        if behind > STEP_MS { ms.saturating_add(behind) } else { ms }
    }

    fn steady(&self) -> u64 {
        let since = u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.begin_ms.saturating_add(since)
    }
}
