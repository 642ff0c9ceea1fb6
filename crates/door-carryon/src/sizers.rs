//! Who sized a session last: somebody else who types is asked for their size.
//!
//! Only carryOn's clients are asked. To size by who typed last is the engine's doing; a client of
//! carryOn's may have been resized without a word, and says its size when it is asked.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use greenroom_engine::ClientId;
use greenroom_model::SessionId;

use crate::methods::now_ms;

/// The client that sized each session last, and when.
#[derive(Debug, Default)]
pub(crate) struct Sizers(Mutex<BTreeMap<SessionId, (ClientId, u64)>>);

impl Sizers {
    fn all(&self) -> MutexGuard<'_, BTreeMap<SessionId, (ClientId, u64)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A client said its size.
    pub(crate) fn sized(&self, session: SessionId, client: ClientId) {
        self.all().insert(session, (client, now_ms()));
    }

    /// A client is back that sized when there was another daemon: whoever did so last did.
    pub(crate) fn sized_before(&self, session: SessionId, client: ClientId, at_ms: u64) {
        let mut all = self.all();
        if all.get(&session).is_none_or(|owner| owner.1 <= at_ms) {
            all.insert(session, (client, at_ms));
        }
    }

    /// A client typed: true if it is to be asked for its size, once.
    pub(crate) fn typed(&self, session: SessionId, client: ClientId) -> bool {
        match self.all().get_mut(&session) {
            Some(owner) if owner.0 != client => {
                *owner = (client, now_ms());
                true
            }
            _ => false,
        }
    }

    /// A client is gone: nobody is asked because of it.
    pub(crate) fn left(&self, client: ClientId) {
        self.all().retain(|_, owner| owner.0 != client);
    }

    /// A session has ended.
    pub(crate) fn ended(&self, session: SessionId) {
        self.all().remove(&session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_types_after_somebody_else_sized_is_asked_once() {
        let (sizers, session) = (Sizers::default(), SessionId(1));
        let (one, two) = (ClientId(1), ClientId(2));
        assert!(!sizers.typed(session, one), "nobody has sized yet");
        sizers.sized(session, one);
        assert!(!sizers.typed(session, one));
        assert!(sizers.typed(session, two));
        assert!(!sizers.typed(session, two));
        assert!(sizers.typed(session, one));
        sizers.left(one);
        assert!(!sizers.typed(session, two), "who sized last has left");
    }

    #[test]
    fn those_who_come_back_in_any_order_have_sized_in_theirs() {
        let (session, one, two) = (SessionId(1), ClientId(1), ClientId(2));
        for order in [[(one, 10), (two, 20)], [(two, 20), (one, 10)]] {
            let sizers = Sizers::default();
            order.iter().for_each(|(client, at)| sizers.sized_before(session, *client, *at));
            assert!(!sizers.typed(session, two));
            assert!(sizers.typed(session, one));
        }
    }
}
