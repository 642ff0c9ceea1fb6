//! Who sized a session last: somebody else who types is asked for their size.
//!
//! Only carryOn's clients are asked. To size by who typed last is the engine's doing; a client of
//! carryOn's may have been resized without a word, and says its size when it is asked.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use greenroom_engine::ClientId;
use greenroom_model::SessionId;

/// The client that sized each session last.
#[derive(Debug, Default)]
pub(crate) struct Sizers(Mutex<BTreeMap<SessionId, ClientId>>);

impl Sizers {
    fn all(&self) -> MutexGuard<'_, BTreeMap<SessionId, ClientId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A client said its size.
    pub(crate) fn sized(&self, session: SessionId, client: ClientId) {
        self.all().insert(session, client);
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
}
