//! Clients that were cut off and will want to go on where they were.
//!
//! While one is expected, what it may have missed is kept; and if the program had to wait for it, or
//! it is to miss nothing, the program goes on waiting. Who was attached is in the session's description, so that the next
//! daemon expects them, too; and a session whose maker is about to attach begins with that note.

use std::time::Duration;

use greenroom_model::Offset;
use tokio::time::Instant;

use super::Session;
use crate::Lag;

/// How long a client that was cut off is waited for. It comes back at once, or after a person saw
/// to their network.
const PATIENCE: Duration = Duration::from_secs(10);

/// The note in the description that says how many are attached.
const ATTACHED: &str = "attached";

/// The note that says how many of them are to miss nothing: the program waits for those.
const BLOCKING: &str = "blocking";

/// The notes of a session whose maker attaches next and wants every byte.
pub(crate) fn expecting() -> Vec<(String, String)> {
    [ATTACHED, BLOCKING].map(|name| (name.to_owned(), "1".to_owned())).to_vec()
}

/// Clients that are expected.
#[derive(Debug, Clone, Copy)]
pub(super) struct Absent {
    /// How many.
    count: usize,
    until: Instant,
    /// For how many of them the program waits.
    blocking: usize,
    /// For how long it does: who comes and goes meanwhile does not prolong that.
    blocking_until: Instant,
}

impl Session {
    /// Expects those who were attached when the last daemon went.
    pub(super) fn expect_clients(&mut self) {
        let count = |name: &str| {
            let note = self.description.notes.iter().find(|note| note.0 == name);
            note.and_then(|note| note.1.parse().ok()).unwrap_or(0_usize)
        };
        let (expected, blocking) = (count(ATTACHED), count(BLOCKING));
        if expected > 0 {
            let until = Instant::now() + PATIENCE;
            self.absent = Some(Absent { count: expected, until, blocking, blocking_until: until });
        }
    }

    /// Somebody was cut off.
    pub(super) fn expect_back(&mut self, lag: Lag) {
        let until = Instant::now() + PATIENCE;
        let nobody = Absent { count: 0, until, blocking: 0, blocking_until: until };
        let before = self.absent.unwrap_or(nobody);
        let waited_for = waited_for(lag);
        self.absent = Some(Absent {
            count: before.count + 1,
            until,
            blocking: before.blocking + waited_for,
            blocking_until: if waited_for > 0 { until } else { before.blocking_until },
        });
    }

    /// Somebody came: one less is expected.
    pub(super) fn arrived(&mut self, lag: Lag) {
        if let Some(absent) = &mut self.absent {
            absent.count -= 1;
            absent.blocking = absent.blocking.saturating_sub(waited_for(lag));
            self.absent = self.absent.filter(|absent| absent.count > 0);
        }
    }

    /// Whether what an absent client may have missed must be kept.
    pub(super) fn keeps_for_absent(&self) -> bool {
        self.absent.is_some()
    }

    /// Whether the program waits for an absent client.
    pub(super) fn waits_for_absent(&self) -> bool {
        let behind = self.screen.offset() - self.journal.start();
        let waits = self.absent.is_some_and(|it| it.blocking > 0) && self.is_caught_up();
        waits && behind > self.absent_bound()
    }

    /// How much is kept for an absent client: what it may have been behind, and some more.
    fn absent_bound(&self) -> u64 {
        2 * self.options.lag_bytes as u64
    }

    /// How far back an absent client may want to go.
    pub(super) fn absent_keep(&self, at: Offset) -> Offset {
        match self.absent {
            Some(absent) if absent.blocking > 0 => self.journal.start(),
            // No more than for one that is there: the program would wait for who may never come.
            _ => Offset(at.0.saturating_sub(self.absent_bound().min(self.skipping_bound()))),
        }
    }

    pub(super) fn absent_due(&self) -> Option<Instant> {
        self.absent
            .map(|it| if it.blocking > 0 { it.until.min(it.blocking_until) } else { it.until })
    }

    /// Gives up on clients that did not come back.
    pub(super) fn forget_absent(&mut self, now: Instant) {
        if self.absent.is_some_and(|absent| now >= absent.until) {
            self.absent = None;
            self.note_viewers();
            self.saves.rest_at(now);
        }
        if let Some(absent) = &mut self.absent
            && absent.blocking > 0
            && now >= absent.blocking_until
        {
            absent.blocking = 0;
            self.note_viewers();
            self.saves.rest_at(now);
        }
    }

    /// Puts into the description who is attached, or was cut off: if the daemon dies right after the
    /// network of a client, the next one expects that client all the same.
    pub(super) fn note_viewers(&mut self) {
        let all = &self.viewers.all;
        let blocking: usize = all.iter().map(|viewer| waited_for(viewer.lag)).sum();
        let (absent, awaited) = self.absent.map_or((0, 0), |it| (it.count, it.blocking));
        let counts = [(ATTACHED, all.len() + absent), (BLOCKING, blocking + awaited)];
        self.description.notes.retain(|note| ![ATTACHED, BLOCKING].contains(&note.0.as_str()));
        for (name, count) in counts.into_iter().filter(|it| it.1 > 0) {
            self.description.notes.push((name.to_owned(), count.to_string()));
        }
        self.describe();
    }
}

/// One, if the program waits for such a client when it is cut off.
fn waited_for(lag: Lag) -> usize {
    match lag {
        Lag::Skip => 0,
        Lag::Block | Lag::Keep => 1,
    }
}
