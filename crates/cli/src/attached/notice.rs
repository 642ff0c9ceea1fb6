//! When the person is told that the daemon does not answer.
//!
//! A program need not answer a key, but a daemon answers a question: some time after a key without
//! a sign of life, it is asked one. What comes right after a key may have been sent before it, by a
//! daemon that is stopped now, and is none. Without keys nothing is asked and nobody wakes up.

use std::time::{Duration, Instant};

/// How long after a key without an answer the daemon is asked whether it is there.
const ASK_AFTER: Duration = Duration::from_secs(1);

/// How long after a key something may come that was sent before it.
const ON_ITS_WAY: Duration = Duration::from_millis(200);

/// How long a person may wonder before being told.
const TELL_AFTER: Duration = Duration::from_secs(2);

/// What is to be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Ask the daemon whether it is there.
    Ask,
    /// Tell the person that it is gone or silent.
    Tell,
    /// Tell the person no more.
    Untell,
}

/// Whether the daemon answers.
#[derive(Debug, Default)]
pub(super) struct Notice {
    /// Since when a key waits for a sign of life.
    waiting: Option<Instant>,
    asked: bool,
    told: bool,
}

impl Notice {
    /// Something was typed.
    pub(super) fn typed(&mut self, now: Instant) {
        self.waiting.get_or_insert(now);
    }

    /// Something came from the daemon.
    pub(super) fn heard(&mut self, now: Instant) {
        if self.asked || self.waiting.is_none_or(|waiting| now >= waiting + ON_ITS_WAY) {
            (self.waiting, self.asked) = (None, false);
        }
    }

    /// When [`Notice::act`] has something to do; `down` is since when there is no connection.
    pub(super) fn deadline(&self, down: Option<Instant>) -> Option<Instant> {
        match (down, self.waiting) {
            _ if self.told => None,
            (Some(down), _) => Some(down + TELL_AFTER),
            (None, Some(waiting)) if self.asked => Some(waiting + TELL_AFTER),
            (None, Some(waiting)) => Some(waiting + ASK_AFTER),
            (None, None) => None,
        }
    }

    /// What is to be done now, if anything.
    pub(super) fn act(&mut self, down: Option<Instant>, now: Instant) -> Option<Act> {
        if self.told {
            let answers = down.is_none() && self.waiting.is_none();
            self.told = !answers;
            return answers.then_some(Act::Untell);
        }
        if self.deadline(down).is_none_or(|it| now < it) {
            return None;
        }
        if down.is_some() || self.asked {
            self.told = true;
            return Some(Act::Tell);
        }
        self.asked = true;
        Some(Act::Ask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_daemon_that_answers_is_never_asked() {
        let start = Instant::now();
        let mut notice = Notice::default();
        assert_eq!(notice.deadline(None), None);
        notice.typed(start);
        notice.heard(start + 300 * MS);
        assert_eq!((notice.deadline(None), notice.act(None, start + 5000 * MS)), (None, None));
    }

    #[test]
    fn what_was_on_its_way_is_no_sign_of_life() {
        let start = Instant::now();
        let mut notice = Notice::default();
        notice.typed(start);
        notice.heard(start + MS);
        assert_eq!(notice.act(None, start + 1000 * MS), Some(Act::Ask));
        assert_eq!(notice.act(None, start + 2000 * MS), Some(Act::Tell));
    }

    #[test]
    fn a_silent_daemon_is_asked_then_told_of_and_untold_when_it_answers() {
        let start = Instant::now();
        let mut notice = Notice::default();
        notice.typed(start);
        notice.typed(start + 500 * MS);
        assert_eq!(notice.act(None, start + 999 * MS), None);
        assert_eq!(notice.act(None, start + 1000 * MS), Some(Act::Ask));
        assert_eq!(notice.act(None, start + 1999 * MS), None);
        assert_eq!(notice.act(None, start + 2000 * MS), Some(Act::Tell));
        assert_eq!((notice.deadline(None), notice.act(None, start + 9000 * MS)), (None, None));
        notice.heard(start + 9000 * MS);
        assert_eq!(notice.act(None, start + 9000 * MS), Some(Act::Untell));
        assert_eq!(notice.act(None, start + 9000 * MS), None);
    }

    #[test]
    fn a_lost_daemon_is_told_of_after_a_while() {
        let start = Instant::now();
        let mut notice = Notice::default();
        assert_eq!(notice.deadline(Some(start)), Some(start + 2000 * MS));
        assert_eq!(notice.act(Some(start), start + 100 * MS), None);
        assert_eq!(notice.act(Some(start), start + 2000 * MS), Some(Act::Tell));
        assert_eq!(notice.act(None, start + 3000 * MS), Some(Act::Untell));
    }
}
