//! Which conversations there were, over the end of the daemon.
//!
//! Claude Code keeps the conversations; here is kept which of them a client's number stands for, and
//! whether anything was said in it: before that Claude Code does not know it, and after that it must
//! not be begun again under its number.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::files;

/// How many conversations are remembered; the one used longest ago is forgotten first. Then it is
/// still found by trying, as long as it was not begun anew.
const KNOWN_MAX: usize = 1000;

/// The largest file that is read, in bytes: as many conversations with room to spare.
const FILE_MAX: u64 = 1 << 20;

/// The conversation that a client's number stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Known {
    /// What clients call it.
    pub(crate) session: Uuid,
    /// What Claude Code calls it. Another than the client's once it was begun anew.
    pub(crate) conversation: Uuid,
    /// Whether anything was said in it.
    pub(crate) begun: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct State {
    conversations: Vec<Known>,
}

/// What is remembered, and the file it is remembered in.
#[derive(Debug, Clone)]
pub(crate) struct Memory(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: Option<PathBuf>,
    state: Mutex<State>,
    saving: Mutex<()>,
}

impl Memory {
    /// Remembers what is in the file. One that cannot be read is as good as none: what matters can be
    /// found by trying.
    pub(crate) fn open(path: Option<PathBuf>) -> Memory {
        let mut state = State::default();
        if let Some(path) = &path {
            match files::read(path, FILE_MAX) {
                Ok(Some(bytes)) => match serde_json::from_slice(&bytes) {
                    Ok(read) => state = read,
                    Err(error) => tracing::warn!(%error, "the list of conversations is damaged"),
                },
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "cannot read the list of conversations"),
            }
        }
        state.conversations.truncate(KNOWN_MAX);
        Memory(Arc::new(Inner { path, state: Mutex::new(state), saving: Mutex::default() }))
    }

    /// What is known by a client's number, or by Claude Code's own for it.
    pub(crate) fn find(&self, id: Uuid) -> Option<Known> {
        let state = self.0.state();
        let own = state.conversations.iter().find(|it| it.session == id);
        own.or_else(|| state.conversations.iter().find(|it| it.conversation == id)).copied()
    }

    /// Remembers it as the one used last, and saves that in the background.
    pub(crate) fn remember(&self, known: Known) {
        {
            let mut state = self.0.state();
            if state.conversations.last() == Some(&known) {
                return;
            }
            state.conversations.retain(|it| it.session != known.session);
            state.conversations.push(known);
            let excess = state.conversations.len().saturating_sub(KNOWN_MAX);
            state.conversations.drain(..excess);
        }
        if self.0.path.is_some() {
            let inner = Arc::clone(&self.0);
            tokio::task::spawn_blocking(move || inner.save());
        }
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn save(&self) {
        let Some(path) = &self.path else { return };
        let _turn = self.saving.lock().unwrap_or_else(PoisonError::into_inner);
        // Written out only now: whoever saves last, saves the newest.
        let text = serde_json::to_vec(&*self.state()).unwrap_or_default();
        if let Err(error) = files::replace(path, &text, 0o600) {
            tracing::warn!(%error, "cannot write the list of conversations");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn known(begun: bool) -> Known {
        Known { session: Uuid::new_v4(), conversation: Uuid::new_v4(), begun }
    }

    #[test]
    fn what_was_remembered_is_known_to_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("conversations.json");
        let (first, second) = (known(true), known(false));
        // The runtime ends only when everything has been saved.
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let memory = Memory::open(Some(path.clone()));
            memory.remember(first);
            memory.remember(second);
            memory.remember(Known { begun: true, ..second });
        });
        drop(runtime);
        let memory = Memory::open(Some(path.clone()));
        assert_eq!(memory.find(first.session), Some(first));
        assert_eq!(memory.find(second.conversation), Some(Known { begun: true, ..second }));
        assert_eq!(memory.find(Uuid::new_v4()), None);
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_damaged_file_is_as_good_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("conversations.json");
        std::fs::write(&path, "{\"conversations\":7").unwrap();
        assert_eq!(Memory::open(Some(path)).find(Uuid::nil()), None);
    }
}
