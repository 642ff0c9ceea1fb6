//! Who sized a session last: somebody else who types is asked for their size.
//!
//! Only carryOn's clients are asked. To size by who typed last is the engine's doing; a client of
//! carryOn's may have been resized without a word, and says its size when it is asked.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use greenroom_engine::{ClientId, SubscriptionId};
use greenroom_model::SessionId;

/// The client that sized each session last.
#[derive(Debug, Default)]
pub(crate) struct Sizers {
    last: Mutex<BTreeMap<SessionId, ClientId>>,
    /// Streams of clients that never said a size. One whose program says it at the session's own
    /// socket is the same terminal.
    silent: Mutex<BTreeMap<(SessionId, ClientId), SubscriptionId>>,
}

impl Sizers {
    fn all(&self) -> MutexGuard<'_, BTreeMap<SessionId, ClientId>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all_silent(&self) -> MutexGuard<'_, BTreeMap<(SessionId, ClientId), SubscriptionId>> {
        self.silent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A client said its size.
    pub(crate) fn sized(&self, session: SessionId, client: ClientId) {
        self.all().insert(session, client);
        self.all_silent().remove(&(session, client));
    }

    /// A client attached and said no size.
    pub(crate) fn attached(&self, session: SessionId, client: ClientId, stream: SubscriptionId) {
        self.all_silent().insert((session, client), stream);
    }

    /// The stream of a client that never said a size.
    pub(crate) fn silent(&self, session: SessionId, client: ClientId) -> Option<SubscriptionId> {
        self.all_silent().get(&(session, client)).copied()
    }

    /// A client typed: true if it is to be asked for its size, once.
    pub(crate) fn typed(&self, session: SessionId, client: ClientId) -> bool {
        match self.all().get_mut(&session) {
            Some(owner) if *owner != client => {
                *owner = client;
                true
            }
            _ => false,
        }
    }

    /// A client is gone: nobody is asked because of it.
    pub(crate) fn left(&self, client: ClientId) {
        self.all().retain(|_, owner| *owner != client);
        self.all_silent().retain(|(_, silent), _| *silent != client);
    }

    /// A session has ended.
    pub(crate) fn ended(&self, session: SessionId) {
        self.all().remove(&session);
        self.all_silent().retain(|(of, _), _| *of != session);
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
}
