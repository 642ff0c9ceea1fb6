//! The user's own tmux, whose sessions carryOn shows beside its own.
//!
//! Here is what is known of them: a list that is a second old at most, and who of our clients is
//! attached. Each new list is compared with the last, and what changed is told once, whoever did
//! it. `tmux/verbs.rs` does what is asked; `tmux/stream.rs` shows one on a client's connection.
//!
//! Native sessions are the engine's and know nothing of this.

mod stream;
mod verbs;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use greenroom_engine::ClientId;
use greenroom_tmux::{Session, Tmux};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::Instant;

pub(crate) use stream::{Attach, Streams, attach, detach, takes};
pub(crate) use verbs::{Wanted, create, is_available, kill, rename, resize, scrollback, sessions};

use crate::wire::client_of;
use crate::{Door, holders};

/// What the ids of its sessions begin with.
pub(crate) const PREFIX: &str = "tmux-";

/// How old a list may be: carryOn's own second, so that a client that asks twice starts one tmux.
const FRESH: Duration = Duration::from_secs(1);

/// How often to look while a client of carryOn's is connected: nobody tells us what others do.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// How tmux is found; asked again until it is there.
pub type FindTmux = Box<dyn Fn() -> Option<Tmux> + Send + Sync>;

/// What is known of the user's tmux.
pub(crate) struct Backend {
    find: FindTmux,
    found: OnceLock<Tmux>,
    /// Held while tmux is asked: what changed is told once.
    seen: tokio::sync::Mutex<Seen>,
    /// Which of our clients look at which session.
    viewers: Mutex<Vec<Viewer>>,
}

/// One of our clients that looks at a session.
struct Viewer {
    /// What the session is called by now.
    name: String,
    client: ClientId,
    /// Told when the same process has come to the session's own socket.
    moved: Arc<Notify>,
}

/// The last list.
#[derive(Default)]
struct Seen {
    /// When tmux was asked last, whether it answered or not.
    at: Option<Instant>,
    /// None until it has answered.
    sessions: Option<Vec<Session>>,
}

impl Backend {
    pub(crate) fn new(find: FindTmux) -> Backend {
        Backend {
            find,
            found: OnceLock::new(),
            seen: tokio::sync::Mutex::default(),
            viewers: Mutex::default(),
        }
    }

    /// The program, if it is there.
    fn tmux(&self) -> Option<Tmux> {
        if self.found.get().is_none()
            && let Some(found) = (self.find)()
        {
            // Somebody else may have found it, too.
            self.found.set(found).ok();
        }
        self.found.get().filter(|tmux| tmux.is_available()).cloned()
    }

    fn viewers(&self) -> MutexGuard<'_, Vec<Viewer>> {
        self.viewers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of the session an id is about, if it is one of tmux's.
pub(crate) fn name_of(id: &str) -> Option<&str> {
    id.strip_prefix(PREFIX).filter(|name| !name.is_empty())
}

fn id_of(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// The sessions there are, asked for anew if the last answer is too old.
async fn list(door: &Arc<Door>, fresh: bool) -> Vec<Session> {
    let Some(tmux) = door.tmux.tmux() else { return Vec::new() };
    let mut seen = door.tmux.seen.lock().await;
    if !fresh && seen.at.is_some_and(|at| at.elapsed() < FRESH) {
        return seen.sessions.clone().unwrap_or_default();
    }
    match tmux.list().await {
        Ok(sessions) => {
            // The first list is what there is, and not what happened.
            if let Some(old) = &seen.sessions {
                tell(door, old, &sessions);
            }
            seen.sessions = Some(sessions);
        }
        Err(error) => tracing::debug!(%error, "tmux was not listed"),
    }
    seen.at = Some(Instant::now());
    seen.sessions.clone().unwrap_or_default()
}

/// Tells everybody what happened between two lists.
fn tell(door: &Arc<Door>, old: &[Session], new: &[Session]) {
    // A server that was started anew counts from the beginning.
    let same = |one: &Session, two: &Session| one.id == two.id && one.created_ms == two.created_ms;
    for gone in old.iter().filter(|old| !new.iter().any(|new| same(old, new))) {
        let id = id_of(&gone.name);
        door.announce("session.ended", &json!({"sessionId": id}));
        door.announce("session.closed", &json!({"sessionId": id}));
        holders::end(door, &id);
    }
    for session in new {
        let id = id_of(&session.name);
        match old.iter().find(|old| same(old, session)) {
            None => {
                let note = json!({"sessionId": id, "name": session.name, "backend": "tmux"});
                door.announce("session.created", &note);
            }
            Some(old) if old.name != session.name => {
                // By the id it has now: nothing answers to the old one any more.
                let note = json!({"sessionId": id, "oldSessionId": id_of(&old.name),
                    "name": session.name, "oldName": old.name, "newName": session.name});
                door.announce("session.renamed", &note);
                for viewer in door.tmux.viewers().iter_mut().filter(|it| it.name == old.name) {
                    viewer.name.clone_from(&session.name);
                }
                holders::end(door, &id_of(&old.name));
            }
            Some(_) => {}
        }
    }
}

/// Looks every few seconds while a client of carryOn's is connected, and not otherwise.
pub(crate) async fn tend(door: &Arc<Door>) {
    let mut foreign = door.clients.foreign();
    loop {
        if foreign.wait_for(|&count| count > 0).await.is_err() {
            return;
        }
        let nobody = async {
            // The door has the sender: it is not closed.
            drop(foreign.wait_for(|&count| count == 0).await);
        };
        if tokio::time::timeout(LOOK_EVERY, nobody).await.is_err() {
            list(door, false).await;
        }
    }
}

/// A session object, with the keys that native ones have where they mean something.
fn to_wire(door: &Door, session: &Session) -> Value {
    let viewers = door.tmux.viewers();
    let clients = viewers.iter().filter(|it| it.name == session.name);
    let clients: Vec<Value> = clients.map(|it| client_of(door, it.client)).collect();
    json!({
        "id": id_of(&session.name),
        "sessionId": id_of(&session.name),
        "name": session.name,
        "backend": "tmux",
        "pid": session.pid.unwrap_or(0),
        "created": session.created_ms,
        "lastAttached": session.last_attached_ms.unwrap_or(0),
        "cwd": session.cwd.to_string_lossy(),
        "command": session.command,
        "attachedClients": session.attached.max(clients.len()),
        "clients": clients,
        "cols": session.size.cols(),
        "rows": session.size.rows(),
        "state": "running",
    })
}

/// Somebody came to the socket of a session. What the same process is shown on its connection goes: it
/// would be a second client of tmux for one terminal.
pub(crate) fn come(door: &Door, name: &str, client: ClientId) {
    let Some(asked) = door.clients.get(client).and_then(|it| it.stands_for) else { return };
    let viewers = door.tmux.viewers();
    let shown = viewers.iter().filter(|it| it.name == name && it.client == asked);
    shown.for_each(|it| it.moved.notify_one());
}

/// Somebody of ours looks at a session; dropped, they have left.
pub(crate) struct Presence {
    door: Arc<Door>,
    name: String,
    client: ClientId,
    moved: Arc<Notify>,
}

impl Presence {
    pub(crate) fn new(door: &Arc<Door>, name: &str, client: ClientId) -> Presence {
        let (name, moved) = (name.to_owned(), Arc::new(Notify::new()));
        let viewer = Viewer { name: name.clone(), client, moved: Arc::clone(&moved) };
        let presence = Presence { door: Arc::clone(door), name, client, moved };
        presence.announce("attached");
        door.tmux.viewers().push(viewer);
        presence
    }

    /// The same process has come to the session's own socket.
    async fn moved(&self) {
        self.moved.notified().await;
    }

    fn announce(&self, what: &str) {
        let id = id_of(&self.name);
        let (ours, theirs) = crate::notes::attached(&self.door, &id, self.client);
        self.door.announce(&format!("session.{what}"), &ours);
        self.door.announce(&format!("client.{what}"), &theirs);
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let left = {
            let mut viewers = self.door.tmux.viewers();
            let at = viewers.iter().position(|it| Arc::ptr_eq(&it.moved, &self.moved));
            at.map(|at| viewers.swap_remove(at).name)
        };
        // It may have another name by now.
        if let Some(name) = left {
            self.name = name;
        }
        self.announce("detached");
    }
}
