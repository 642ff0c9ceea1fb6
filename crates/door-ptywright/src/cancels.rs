//! The names by which waits can be cancelled.
//!
//! A name is taken when its request is read, so that a cancel right behind it finds it, and is free again when the
//! wait is over. A cancel takes the name away: whoever was told of it hears nothing else.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::error::RpcError;

/// The longest name of a wait.
const MAX_WAIT_ID: usize = 256;

/// How many named waits there may be.
const MAX_WAITS: usize = 4096;

/// Waits that can be cancelled by the name their client gave them. Cheap to clone.
#[derive(Debug, Default, Clone)]
pub(crate) struct Cancels(Arc<Mutex<BTreeMap<String, Cancel>>>);

#[derive(Debug, Clone)]
struct Cancel {
    on: Target,
    cancelled: Arc<Notify>,
}

/// That a wait is cancelled: it is told so when this is dropped, behind whoever cancels it.
#[derive(Debug)]
pub(crate) struct Cancelled {
    /// What it waits on.
    pub(crate) on: Target,
    wait: Arc<Notify>,
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        self.wait.notify_one();
    }
}

/// What is waited on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Session(String),
    Adapter(String),
}

/// A wait under way; its name, if it has one, is free again when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Named {
    name: Name,
}

/// The name of a wait, if it has one. Cheap to clone.
#[derive(Debug, Default, Clone)]
pub(crate) struct Name {
    cancels: Cancels,
    id: Option<Arc<str>>,
    cancelled: Arc<Notify>,
}

impl Cancels {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Cancel>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a name for a wait, if it has one.
    pub(crate) fn name(&self, id: Option<String>, on: Target) -> Result<Named, RpcError> {
        let cancelled = Arc::new(Notify::new());
        if let Some(id) = &id {
            let mut all = self.all();
            if id.len() > MAX_WAIT_ID || all.len() >= MAX_WAITS {
                return Err(RpcError::params("wait_id is too long, or too many waits have one"));
            }
            if all.contains_key(id) {
                return Err(RpcError::params(format!("wait_id `{id}` is already in flight")));
            }
            let cancel = Cancel { on, cancelled: Arc::clone(&cancelled) };
            all.insert(id.clone(), cancel);
        }
        let name = Name { cancels: self.clone(), id: id.map(Arc::from), cancelled };
        Ok(Named { name })
    }

    /// Cancels a wait, from now on.
    pub(crate) fn cancel(&self, id: &str) -> Option<Cancelled> {
        let Cancel { on, cancelled } = self.all().remove(id)?;
        Some(Cancelled { on, wait: cancelled })
    }
}

impl Named {
    /// The name, if it has one.
    pub(crate) fn id(&self) -> Option<&str> {
        self.name.id()
    }

    /// The name, for who ends the wait.
    pub(crate) fn name(&self) -> Name {
        self.name.clone()
    }

    /// Ends when the wait is cancelled.
    pub(crate) async fn cancelled(&self) {
        self.name.cancelled.notified().await;
    }

    /// What becomes of a wait that may be cancelled, also before it begins. Who was told that it is gets no other
    /// answer.
    pub(crate) async fn unless_cancelled<T>(
        &self,
        waiting: impl Future<Output = Result<T, RpcError>>,
    ) -> Result<T, RpcError> {
        tokio::select! {
            biased;
            () = self.cancelled() => Err(RpcError::cancelled()),
            result = waiting => if self.name.free() { result } else { Err(RpcError::cancelled()) },
        }
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        self.name.free();
    }
}

impl Name {
    /// What it is, if there is one.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The wait came to its end: another may have its name. False if it had the name no more: it was cancelled.
    pub(crate) fn free(&self) -> bool {
        let Some(id) = self.id() else { return true };
        let mut all = self.cancels.all();
        // Somebody may have the name by now, if this was cancelled.
        let is_ours = |cancel: &Cancel| Arc::ptr_eq(&cancel.cancelled, &self.cancelled);
        let frees = all.get(id).is_some_and(is_ours);
        if frees {
            all.remove(id);
        }
        frees
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_once_and_free_again() {
        let cancels = Cancels::default();
        let name = |on: &str| cancels.name(Some("w".into()), Target::Adapter(on.into()));
        let cancel = || cancels.cancel("w").map(|it| it.on.clone());
        let on = |adapter: &str| Some(Target::Adapter(adapter.into()));
        let named = name("e1").unwrap();
        assert_eq!(name("e2").unwrap_err().code, -32602);
        assert_eq!(cancel(), on("e1"));
        assert_eq!(cancel(), None);
        let again = name("e2").unwrap();
        drop(named);
        assert_eq!(cancel(), on("e2"), "the first did not free the second's");
        drop(again);
        drop(name("e3").unwrap());
        assert_eq!(cancel(), None);
    }
}
