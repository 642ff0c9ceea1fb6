//! Who is connected, as they said and as lists show them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use greenroom_engine::ClientId;

/// The longest name or type of a client that is kept.
const MAX_TEXT: usize = 256;

/// A connected client.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) pid: u64,
    pub(crate) connected_ms: u64,
}

/// All connected clients.
#[derive(Debug, Default)]
pub(crate) struct Clients(Mutex<BTreeMap<ClientId, Client>>);

impl Clients {
    fn all(&self) -> MutexGuard<'_, BTreeMap<ClientId, Client>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, id: ClientId, client: Client) {
        self.all().insert(id, client);
    }

    pub(crate) fn remove(&self, id: ClientId) {
        self.all().remove(&id);
    }

    pub(crate) fn get(&self, id: ClientId) -> Option<Client> {
        self.all().get(&id).cloned()
    }

    pub(crate) fn count(&self) -> usize {
        self.all().len()
    }

    /// Keeps what a client says of itself; what it does not say stays.
    pub(crate) fn identify(
        &self,
        id: ClientId,
        kind: Option<&str>,
        name: Option<&str>,
        pid: Option<u64>,
    ) {
        if let Some(client) = self.all().get_mut(&id) {
            let keep = |text: &str| text.chars().take(MAX_TEXT).collect::<String>();
            client.kind = kind.map_or_else(|| std::mem::take(&mut client.kind), keep);
            client.name = name.map_or_else(|| std::mem::take(&mut client.name), keep);
            client.pid = pid.unwrap_or(client.pid);
        }
    }
}
