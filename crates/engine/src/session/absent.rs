//! Clients that were cut off and will want to go on where they were.
//!
//! While one is expected, what it may have missed is kept; and if the program had to wait for it,
//! the program goes on waiting. Who was attached is in the session's description, so that the next
//! daemon expects them, too.

use std::time::Duration;

use greenroom_model::Offset;
use tokio::time::Instant;

use super::Session;
use crate::Lag;

/// How long a client that was cut off is waited for. It comes back at once, or after a person saw
/// to their network.
const PATIENCE: Duration = Duration::from_secs(10);

/// The note in the description that says how many are attached, and how many the program waits for.
const ATTACHED: &str = "attached";
const BLOCKING: &str = "blocking";

/// A client that is expected back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Absent {
    until: Instant,
    blocking: bool,
}

impl Session {
    /// Expects those who were attached when the last daemon went.
    pub(super) fn expect_clients(&mut self) {
        let count = |name: &str| {
            let note = self.description.notes.iter().find(|note| note.0 == name);
            note.and_then(|note| note.1.parse().ok()).unwrap_or(0_usize)
        };
        if count(ATTACHED) > 0 {
            let until = Instant::now() + PATIENCE;
            self.absent = Some(Absent { until, blocking: count(BLOCKING) > 0 });
        }
    }

    /// Somebody was cut off.
    pub(super) fn expect_back(&mut self, lag: Lag) {
        let blocking = lag == Lag::Block || self.absent.is_some_and(|it| it.blocking);
        self.absent = Some(Absent { until: Instant::now() + PATIENCE, blocking });
    }

    /// Somebody came; if they come back, they are not absent any more.
    pub(super) fn arrived(&mut self, came_back: bool) {
        if came_back {
            self.absent = None;
        }
    }

    /// Whether what an absent client may have missed must be kept.
    pub(super) fn keeps_for_absent(&self) -> bool {
        self.absent.is_some()
    }

    /// Whether the program waits for an absent client.
    pub(super) fn waits_for_absent(&self) -> bool {
        let behind = self.screen.offset() - self.journal.start();
        let waits = self.absent.is_some_and(|it| it.blocking) && self.is_caught_up();
        waits && behind > self.absent_bound()
    }

    /// How much is kept for an absent client: what it may have been behind, and some more.
    fn absent_bound(&self) -> u64 {
        2 * self.options.lag_bytes as u64
    }

    /// How far back an absent client may want to go.
    pub(super) fn absent_keep(&self, at: Offset) -> Offset {
        match self.absent {
            Some(absent) if absent.blocking => self.journal.start(),
            _ => Offset(at.0.saturating_sub(self.absent_bound())),
        }
    }

    pub(super) fn absent_due(&self) -> Option<Instant> {
        self.absent.map(|absent| absent.until)
    }

    /// Gives up on clients that did not come back.
    pub(super) fn forget_absent(&mut self, now: Instant) {
        if self.absent.is_some_and(|absent| now >= absent.until) {
            self.absent = None;
            self.saves.rest_at(now);
        }
    }

    /// Puts into the description who is attached.
    pub(super) fn note_viewers(&mut self) {
        let all = &self.viewers.all;
        let blocking = all.iter().filter(|viewer| viewer.lag == Lag::Block).count();
        let counts = [(ATTACHED, all.len()), (BLOCKING, blocking)];
        self.description.notes.retain(|note| ![ATTACHED, BLOCKING].contains(&note.0.as_str()));
        for (name, count) in counts.into_iter().filter(|it| it.1 > 0) {
            self.description.notes.push((name.to_owned(), count.to_string()));
        }
        self.describe();
    }
}
