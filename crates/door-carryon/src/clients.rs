//! Who is connected, as they said and as lists show them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use greenroom_engine::ClientId;
use tokio::sync::watch;

/// The longest name or type of a client that is kept.
const MAX_TEXT: usize = 256;

/// What a client at a session's own socket is that nobody knows from elsewhere.
const AT_SESSION: &str = "cli";

/// How many clients are remembered that have left: everybody is told who it was that left, and not
/// everybody is told at once.
const MAX_DEPARTED: usize = 64;

/// A connected client.
#[derive(Debug, Clone, Default)]
pub(crate) struct Client {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) pid: u64,
    pub(crate) connected_ms: u64,
    /// It speaks our own protocol: it said so.
    pub(crate) native: bool,
    /// It is at a session's own socket, in the place of this connection of the same process.
    pub(crate) stands_for: Option<ClientId>,
    /// It is at a session's own socket, carried by a relay.
    pub(crate) at_session: bool,
}

/// All connected clients.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    all: Mutex<BTreeMap<ClientId, Client>>,
    /// How many of carryOn's are connected.
    foreign: watch::Sender<usize>,
    departed: Mutex<VecDeque<(ClientId, Client)>>,
}

impl Clients {
    fn all(&self) -> MutexGuard<'_, BTreeMap<ClientId, Client>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn departed(&self) -> MutexGuard<'_, VecDeque<(ClientId, Client)>> {
        self.departed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, id: ClientId, client: Client) {
        self.all().insert(id, client);
        self.count_foreign();
    }

    /// How many clients of carryOn's are connected, told anew whenever that changes.
    pub(crate) fn foreign(&self) -> watch::Receiver<usize> {
        self.foreign.subscribe()
    }

    fn count_foreign(&self) {
        let count = self.all().values().filter(|it| !it.native && !it.at_session).count();
        self.foreign.send_if_modified(|was| std::mem::replace(was, count) != count);
    }

    pub(crate) fn remove(&self, id: ClientId) {
        let Some(client) = self.all().remove(&id) else { return };
        self.count_foreign();
        let mut departed = self.departed();
        departed.push_back((id, client));
        if departed.len() > MAX_DEPARTED {
            departed.pop_front();
        }
    }

    /// What is known of a client that is here, or has just left.
    pub(crate) fn get(&self, id: ClientId) -> Option<Client> {
        let here = self.all().get(&id).cloned();
        let left = || self.departed().iter().find(|it| it.0 == id).map(|it| it.1.clone());
        here.or_else(left)
    }

    pub(crate) fn count(&self) -> usize {
        self.all().values().filter(|it| !it.at_session).count()
    }

    /// Whether a client speaks our own protocol.
    pub(crate) fn is_native(&self, id: ClientId) -> bool {
        self.all().get(&id).is_some_and(|it| it.native)
    }

    pub(crate) fn set_native(&self, id: ClientId) {
        if let Some(client) = self.all().get_mut(&id) {
            client.native = true;
        }
        self.count_foreign();
    }

    /// The connection of a process that came last; not one that speaks our own protocol, whose client is not
    /// at a session's socket.
    pub(crate) fn of_process(&self, pid: u64) -> Option<(ClientId, Client)> {
        let all = self.all();
        let fits = |it: &Client| it.pid == pid && pid != 0 && !it.at_session && !it.native;
        let found = all.iter().rev().find(|(_, it)| fits(it));
        found.map(|(id, client)| (*id, client.clone()))
    }

    /// Takes a connection for a process at a session's own socket: who that said it is on the daemon's,
    /// or was when an earlier daemon knew it.
    pub(crate) fn stand_in(&self, id: ClientId, pid: u64, said: Option<(String, String)>) {
        let asked = self.of_process(pid);
        let known = asked.as_ref().map(|it| (it.1.kind.clone(), it.1.name.clone()));
        let (kind, name) = known.or(said).unwrap_or_else(|| (AT_SESSION.to_owned(), String::new()));
        if let Some(client) = self.all().get_mut(&id) {
            client.at_session = true;
            client.stands_for = asked.map(|it| it.0);
            // The relay speaks our protocol; whom it carries does not.
            client.native = false;
        }
        self.identify(id, Some(&kind), Some(&name), Some(pid));
        self.count_foreign();
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
