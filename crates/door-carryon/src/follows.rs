//! Connections that follow the daemon's log.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use greenroom_frame::binary::{self, kind};
use greenroom_frame::rpc;
use serde_json::{Value, json};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::AbortHandle;

use crate::LogEntry;
use crate::connection::Connection;
use crate::methods::now_ms;

/// How many logs one connection may follow: one would do, a person may have a few views.
const MAX_FOLLOWS: usize = 16;

/// What a connection follows, by id. All of it ends with the connection.
#[derive(Debug, Default)]
pub(crate) struct Follows(Mutex<BTreeMap<String, Follow>>);

/// Ends when it is dropped.
#[derive(Debug)]
struct Follow(AbortHandle);

impl Drop for Follow {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Follows {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Follow>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether one more may be followed; else how many at most.
    pub(crate) fn has_room(&self) -> Result<(), usize> {
        if self.all().len() < MAX_FOLLOWS { Ok(()) } else { Err(MAX_FOLLOWS) }
    }

    /// Follows no longer.
    pub(crate) fn cancel(&self, id: &str) {
        self.all().remove(id);
    }

    pub(crate) fn clear(&self) {
        self.all().clear();
    }
}

/// A name for a subscription that nobody guesses by accident.
pub(crate) fn new_id() -> String {
    format!("logs-{}-{:08x}", now_ms(), crate::methods::random::<4>().map_or(0, u32::from_be_bytes))
}

/// Begins to tell a connection what the daemon says, of one level or of all.
pub(crate) fn start(
    connection: &Arc<Connection>,
    id: String,
    entries: Receiver<LogEntry>,
    level: Option<String>,
) {
    let telling = tell(Arc::downgrade(connection), id.clone(), entries, level);
    let mut all = connection.follows.all();
    all.insert(id, Follow(tokio::spawn(telling).abort_handle()));
}

async fn tell(
    connection: Weak<Connection>,
    id: String,
    mut entries: Receiver<LogEntry>,
    level: Option<String>,
) {
    loop {
        let entry = match entries.recv().await {
            Ok(entry) => entry,
            Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        if level.as_ref().is_some_and(|level| *level != entry.level) {
            continue;
        }
        let Some(connection) = connection.upgrade() else { return };
        let note = json!({"subscriptionId": id, "entry": to_wire(&entry)});
        let message = rpc::notification("daemon.logs.entry", &note);
        if let Ok(frame) = binary::encode(kind::JSON_RPC, "", &message) {
            // Who does not read misses lines; nobody waits, and nothing grows.
            let _told = connection.out.push_note(frame.into());
        }
    }
}

/// A line of the log.
pub(crate) fn to_wire(entry: &LogEntry) -> Value {
    json!({"timestamp": entry.timestamp_ms, "level": entry.level, "component": entry.component,
        "message": entry.message})
}
