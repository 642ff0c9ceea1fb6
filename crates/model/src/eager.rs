//! Staying awake for an answer that is due any moment.

use std::time::{Duration, Instant};

/// How often it may be in vain before it is not done any more.
const TRUST: u8 = 4;

/// How many questions are let by before it is tried again.
const PROBE: u8 = 32;

/// Whether to stay awake for an answer.
///
/// What comes back after a keystroke comes within a few dozen microseconds mostly, and to fall
/// asleep and be woken takes the system about as long. So for a moment one looks again and again;
/// and stops doing so for programs that do not answer. The clock is the caller's.
///
/// ```
/// use std::time::{Duration, Instant};
/// use greenroom_model::Eager;
///
/// let mut eager = Eager::new(Duration::from_micros(200));
/// let now = Instant::now();
/// eager.asked(now);
/// assert!(eager.stays_awake(now));
/// eager.answered();
/// assert!(!eager.stays_awake(now));
/// ```
#[derive(Debug)]
pub struct Eager {
    moment: Duration,
    until: Option<Instant>,
    trust: u8,
    passed: u8,
}

impl Eager {
    /// Stays awake for so long at most.
    #[must_use]
    pub fn new(moment: Duration) -> Eager {
        Eager { moment, until: None, trust: TRUST, passed: 0 }
    }

    /// Something was typed that may be answered.
    pub fn asked(&mut self, now: Instant) {
        if self.trust == 0 {
            self.passed += 1;
            if self.passed < PROBE {
                return;
            }
            (self.passed, self.trust) = (0, 1);
        }
        self.until = Some(now + self.moment);
    }

    /// Something came: it was worth it.
    pub fn answered(&mut self) {
        if self.until.take().is_some() {
            self.trust = TRUST;
        }
    }

    /// Whether an answer is waited for.
    #[must_use]
    pub fn is_awake(&self) -> bool {
        self.until.is_some()
    }

    /// Whether to look again instead of falling asleep; if the moment is over, it was in vain.
    pub fn stays_awake(&mut self, now: Instant) -> bool {
        let Some(until) = self.until else { return false };
        if now < until {
            return true;
        }
        self.until = None;
        self.trust = self.trust.saturating_sub(1);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_answer_is_not_waited_for() {
        let moment = Duration::from_millis(1);
        let mut eager = Eager::new(moment);
        let now = Instant::now();
        for _ in 0..TRUST {
            eager.asked(now);
            assert!(!eager.stays_awake(now + moment));
        }
        eager.asked(now);
        assert!(!eager.is_awake());
        (0..PROBE).for_each(|_| eager.asked(now));
        assert!(eager.is_awake(), "it is tried again");
        eager.answered();
        eager.asked(now);
        assert!(eager.is_awake(), "it is trusted again");
    }
}
