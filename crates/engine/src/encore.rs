//! The last bytes of a session that ended while a client was cut off: it comes back and still gets
//! them, and the end after them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use greenroom_model::{Offset, SessionId};
use greenroom_screen::{Depth, Filter, Policy};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::engine::{Engine, Entry, Past};
use crate::event::Why;
use crate::journal::Journal;
use crate::subscription::Outlet;
use crate::{Attach, End, Error, Event, State, Subscription};

/// How long whoever came for it has to take it all.
const TO_TAKE: Duration = Duration::from_secs(10);

/// What a session leaves for a client that was cut off.
#[derive(Debug)]
pub(crate) struct Encore {
    journal: Journal,
    /// Who came for it.
    taking: Mutex<Vec<Outlet>>,
    /// Somebody came, or has taken it.
    woken: Arc<Notify>,
    /// Nobody wants it any more.
    dismissed: AtomicBool,
}

impl Encore {
    pub(crate) fn new(journal: Journal) -> Encore {
        let (taking, woken) = (Mutex::default(), Arc::new(Notify::new()));
        Encore { journal, taking, woken, dismissed: AtomicBool::new(false) }
    }

    /// Nobody wants it any more.
    fn dismiss(&self) {
        self.dismissed.store(true, Ordering::Release);
        self.woken.notify_one();
    }

    /// Waits until whoever is expected has come and taken everything, or time is up.
    pub(crate) async fn given(&self, until: Instant) {
        // Who comes at the last moment still has time.
        let came = tokio::time::timeout_at(until, self.until(|taking| !taking.is_empty())).await;
        if came.is_ok() {
            let taken = self.until(|taking| taking.iter().all(Outlet::is_closed));
            let _late = tokio::time::timeout(TO_TAKE, taken).await;
        }
    }

    async fn until(&self, holds: impl Fn(&[Outlet]) -> bool) {
        while !self.dismissed.load(Ordering::Acquire) && !holds(&self.taking()) {
            self.woken.notified().await;
        }
    }

    fn taking(&self) -> MutexGuard<'_, Vec<Outlet>> {
        self.taking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Somebody wanted a session gone: its holder waits for nobody who was cut off. Who comes back
    /// all the same gets the last screen and the end.
    pub(crate) fn no_encore(&self, id: SessionId) {
        if let Ok(Entry::Ended(past)) = self.entry(id)
            && let Some(encore) = &past.encore
        {
            encore.dismiss();
        }
    }

    /// Shows an ended session to a client that was attached to it: what it missed, or else the
    /// last screen, and the end.
    pub(crate) async fn attach_ended(
        &self,
        id: SessionId,
        past: &Past,
        attach: Attach,
    ) -> Result<Subscription, Error> {
        let State::Ended(end, _) = past.info.state else { return Err(Error::Ended(id)) };
        let from = attach.from.ok_or(Error::Ended(id))?;
        let missed = past.encore.as_ref().and_then(|encore| {
            let policy = attach.terminal.map(|_| self.house.options().policy());
            missed(&encore.journal, from, past.info.offset, policy)
        });
        let (start, events) = match missed {
            Some(events) => (from, events),
            None => {
                let screen = self.past_kept(id, past).await?.screen;
                let (at, bytes) = (past.info.offset, Bytes::from(screen.redraw(Depth::Screen)));
                (at, vec![Event::Redraw { at, why: Why::Lagged, bytes }])
            }
        };
        Ok(self.last_words(past, start, events, end))
    }

    fn last_words(&self, past: &Past, start: Offset, events: Vec<Event>, end: End) -> Subscription {
        let subscription = self.house.next_subscription();
        let woken = past.encore.as_ref().map(|encore| Arc::clone(&encore.woken));
        let (outlet, subscription) =
            Outlet::new(subscription, past.info.clone(), start, woken.unwrap_or_default());
        events.into_iter().for_each(|event| outlet.send(event));
        outlet.send(Event::Ended(end));
        if let Some(encore) = &past.encore {
            encore.taking().push(outlet);
            encore.woken.notify_one();
        }
        subscription
    }
}

/// The bytes between two offsets as events, as terminals get them by a policy, or as they are; none
/// if they are not all known.
pub(crate) fn missed(
    journal: &Journal,
    from: Offset,
    end: Offset,
    policy: Option<Policy>,
) -> Option<Vec<Event>> {
    let mut filter = policy.map(Filter::new);
    let mut at = from;
    let missed = journal.range(from, end)?.into_iter().map(|chunk| {
        at += chunk.len() as u64;
        match &mut filter {
            None => Event::Output { end: at, bytes: chunk },
            Some(filter) => {
                let bytes = Bytes::from(filter.feed(&chunk));
                Event::Output { end: Offset(at.0 - filter.undecided()), bytes }
            }
        }
    });
    Some(missed.collect())
}
