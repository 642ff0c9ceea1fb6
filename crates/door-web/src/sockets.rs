//! How many WebSockets are open, in all and by each link.
//!
//! Each takes a few descriptors of the daemon's. Somebody with a link to one session must not be able
//! to take them all.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::auth::{Grant, Who};

/// How many there may be.
const MAX_SOCKETS: usize = 1024;

/// How many there may be by one link: a talk's audience, and nobody's descriptors are used up.
const MAX_BY_LINK: usize = 128;

/// How many are open, by the link they came by; the owner's under no name.
#[derive(Debug, Default)]
pub(crate) struct Sockets(Mutex<BTreeMap<String, usize>>);

/// One that is open, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Open<'a> {
    sockets: &'a Sockets,
    link: String,
}

impl Sockets {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more, if there is room for it.
    pub(crate) fn open(&self, who: &Who) -> Option<Open<'_>> {
        let (link, most) = match &who.grant {
            Grant::All => (String::new(), MAX_SOCKETS),
            Grant::One(share) => (share.id.clone(), MAX_BY_LINK),
        };
        let mut all = self.all();
        let open: usize = all.values().sum();
        let by_link = all.entry(link.clone()).or_default();
        if open >= MAX_SOCKETS || *by_link >= most {
            return None;
        }
        *by_link += 1;
        drop(all);
        Some(Open { sockets: self, link })
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let mut all = self.sockets.all();
        if let Some(count) = all.get_mut(&self.link) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.link);
            }
        }
    }
}
