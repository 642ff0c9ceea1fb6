//! The last bytes of a session that ended while a client was cut off: it comes back and still gets
//! them, and the end after them.

use std::sync::Arc;

use bytes::Bytes;
use greenroom_model::{Offset, SessionId};
use greenroom_screen::{Depth, Filter, Policy};
use tokio::sync::Notify;

use crate::engine::{Engine, Past};
use crate::event::Why;
use crate::journal::Journal;
use crate::subscription::Outlet;
use crate::{Attach, End, Error, Event, State, Subscription};

/// What a session leaves for a client that was cut off.
#[derive(Debug)]
pub(crate) struct Encore {
    journal: Journal,
    /// Somebody took it.
    pub(crate) taken: Notify,
}

impl Encore {
    pub(crate) fn new(journal: Journal) -> Encore {
        Encore { journal, taken: Notify::new() }
    }
}

impl Engine {
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
            let missed = missed(&encore.journal, from, past.info.offset, policy);
            encore.taken.notify_one();
            missed
        });
        let (start, events) = match missed {
            Some(events) => (from, events),
            None => {
                let screen = self.past_screen(id, past).await?;
                let (at, bytes) = (past.info.offset, Bytes::from(screen.redraw(Depth::Screen)));
                (at, vec![Event::Redraw { at, why: Why::Lagged, bytes }])
            }
        };
        Ok(self.last_words(past, start, events, end))
    }

    fn last_words(&self, past: &Past, start: Offset, events: Vec<Event>, end: End) -> Subscription {
        let subscription = self.house.next_subscription();
        let (outlet, subscription) =
            Outlet::new(subscription, past.info.clone(), start, Arc::new(Notify::new()));
        events.into_iter().for_each(|event| outlet.send(event));
        outlet.send(Event::Ended(end));
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
