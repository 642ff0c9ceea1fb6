//! Staying awake for an echo.
//!
//! What comes back after a keystroke comes within a few dozen microseconds mostly, and to be woken
//! takes about as long. So for a moment the loop looks again and again, letting others run in
//! between; and it stops doing so for programs that do not echo.

use std::time::{Duration, Instant};

/// How long to stay awake: an echo takes the way through two more processes and back.
const MOMENT: Duration = Duration::from_micros(200);

/// How often it may be in vain before it is not done any more.
const TRUST: u8 = 4;

/// How many keystrokes are let by before it is tried again.
const PROBE: u8 = 32;

/// Whether the loop stays awake.
#[derive(Debug)]
pub(super) struct Eager {
    until: Option<Instant>,
    trust: u8,
    passed: u8,
}

impl Default for Eager {
    fn default() -> Eager {
        Eager { until: None, trust: TRUST, passed: 0 }
    }
}

impl Eager {
    /// Something was typed.
    pub(super) fn typed(&mut self) {
        if self.trust == 0 {
            self.passed += 1;
            if self.passed < PROBE {
                return;
            }
            (self.passed, self.trust) = (0, 1);
        }
        self.until = Some(Instant::now() + MOMENT);
    }

    /// Something came from the daemon: it was worth it.
    pub(super) fn heard(&mut self) {
        if self.until.take().is_some() {
            self.trust = TRUST;
        }
    }

    /// Lets others run, and says whether to look again instead of falling asleep.
    pub(super) fn stays_awake(&mut self) -> bool {
        let Some(until) = self.until else { return false };
        if Instant::now() >= until {
            self.until = None;
            self.trust = self.trust.saturating_sub(1);
            return false;
        }
        std::thread::yield_now();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_echo_is_not_waited_for() {
        let mut eager = Eager::default();
        for _ in 0..TRUST {
            eager.typed();
            while eager.stays_awake() {}
        }
        eager.typed();
        assert!(!eager.stays_awake());
        (0..PROBE).for_each(|_| eager.typed());
        assert!(eager.until.is_some(), "it is tried again");
        eager.heard();
        eager.typed();
        assert!(eager.until.is_some(), "it is trusted again");
    }
}
