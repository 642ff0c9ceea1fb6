//! Looking at a session for all who wait for what a plugin says of it.
//!
//! A look copies the screen and the end of the transcript. A program may print thousands of times a
//! second and many may wait, so a session is looked at now and then, once for all of them.
//!
//! **Invariant:** nobody gets a look that was taken before they asked for one, and nobody misses a change:
//! what a look does not show makes them look again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use greenroom_model::SessionId;
use tokio::sync::{Mutex as AsyncMutex, watch};
use tokio::time::{Instant, sleep_until};

use crate::Door;
use crate::error::RpcError;
use crate::waits::Seen;

/// How long after a look the next one is, at least: a screen is not drawn more often by whoever draws for
/// people, and looking takes a hundredth of it.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The sessions that are looked at, for as long as somebody does.
#[derive(Debug, Default)]
pub(crate) struct Looks(Mutex<BTreeMap<SessionId, Weak<Look>>>);

/// What all who look at a session share.
#[derive(Debug, Default)]
pub(crate) struct Look(AsyncMutex<Option<Taken>>);

/// The last look.
#[derive(Debug)]
struct Taken {
    /// When it was begun.
    at: Instant,
    /// Has changed if something did that is not to be seen in it.
    changes: watch::Receiver<u64>,
    seen: Arc<Seen>,
}

impl Looks {
    /// Joins those who look at a session.
    pub(crate) fn at(&self, id: SessionId) -> Arc<Look> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(look) = all.get(&id).and_then(Weak::upgrade) {
            return look;
        }
        all.retain(|_, look| look.strong_count() > 0);
        let look = Arc::new(Look::default());
        all.insert(id, Arc::downgrade(&look));
        look
    }
}

impl Door {
    /// What a plugin sees of a session, not earlier than now. `changes` tell from then on what it does not
    /// show.
    pub(crate) async fn look(
        &self,
        id: SessionId,
        look: &Look,
        changes: &mut watch::Receiver<u64>,
    ) -> Result<Arc<Seen>, RpcError> {
        let asked = Instant::now();
        let mut last = look.0.lock().await;
        if let Some(taken) = &*last {
            if taken.at >= asked {
                match taken.changes.has_changed() {
                    Ok(true) => changes.mark_changed(),
                    Ok(false) | Err(_) => changes.mark_unchanged(),
                }
                return Ok(Arc::clone(&taken.seen));
            }
            sleep_until(taken.at + LOOK_EVERY).await;
        }
        let at = Instant::now();
        changes.borrow_and_update();
        let unseen = changes.clone();
        let seen = Arc::new(self.see(id).await?);
        *last = Some(Taken { at, changes: unseen, seen: Arc::clone(&seen) });
        Ok(seen)
    }
}
