//! Notifications: what happens in sessions, pushed to the connections that asked for it.
//!
//! Each session that a connection listens to has a task that waits for the session to change and then
//! tells what came since the last time. A client that is slow is told less often, never less: what
//! lies between is one note. Only what no longer is in the transcript is left out, and said so.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use greenroom_engine::redact::{Redaction, Stream};
use greenroom_engine::{End, HouseEvent, Scene, State, Transcript};
use greenroom_model::{ExitStatus, SessionId};
use serde::Serialize;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

use crate::connection::Connection;
use crate::sessions::name;
use crate::{Door, TRANSCRIPT_CHARS};

/// What clients can be told of.
pub(crate) const EVENTS: [&str; 3] = ["session.changed", "session.output", "session.exited"];

/// How long text that may be the beginning of a secret is held back.
const HELD: Duration = Duration::from_millis(50);

/// Which sessions a client wants to be told of; none named means all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) adapters: Vec<String>,
    pub(crate) sessions: Vec<String>,
}

/// What a connection wants to be told.
#[derive(Debug)]
pub(crate) struct Notes {
    wanted: watch::Sender<Wanted>,
    /// What it was told of each session: the sequence, and whether it has ended.
    told: Mutex<BTreeMap<SessionId, (u64, bool)>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Wanted {
    Nothing,
    /// Of these sessions, and where in the transcripts of those that were there it begins.
    These(Filter, BTreeMap<SessionId, u64>),
    /// The connection ends.
    Over,
}

impl Default for Notes {
    fn default() -> Notes {
        Notes { wanted: watch::Sender::new(Wanted::Nothing), told: Mutex::default() }
    }
}

impl Notes {
    /// Sets what the client wants to be told; nothing if none. What is printed from here on is told, of
    /// sessions that are made later all of it.
    pub(crate) async fn set(&self, door: &Door, filter: Option<Filter>) {
        let wanted = match filter {
            None => Wanted::Nothing,
            Some(filter) => {
                let mut places = BTreeMap::new();
                for info in door.registered() {
                    places.extend(place(door, info.id).await.map(|place| (info.id, place)));
                }
                Wanted::These(filter, places)
            }
        };
        self.wanted.send_if_modified(|now| {
            let changes = *now != Wanted::Over;
            if changes {
                *now = wanted;
            }
            changes
        });
    }

    /// Whether the client wants to be told anything.
    pub(crate) fn are_wanted(&self) -> bool {
        matches!(*self.wanted.borrow(), Wanted::These(..))
    }

    /// Remembers that a sequence is told; says whether it had not been.
    fn tells(&self, id: SessionId, sequence: u64, ended: bool) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let before = told.insert(id, (sequence, ended));
        before != Some((sequence, ended))
    }

    /// Whether the end of a session was told.
    fn has_ended(&self, id: SessionId) -> bool {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.get(&id).is_some_and(|told| told.1)
    }

    /// A session is no more.
    fn forget(&self, id: SessionId) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }

    /// Tells nothing more.
    pub(crate) fn stop(&self) {
        self.wanted.send_replace(Wanted::Over);
    }
}

impl Filter {
    fn takes(&self, door: &Door, id: SessionId) -> bool {
        if self.adapters.is_empty() && self.sessions.is_empty() {
            return true;
        }
        let named = |on: &String| door.engine.find(on).is_ok_and(|named| named == id);
        let owner = door.adapters.owner(id);
        self.sessions.iter().any(named) || owner.is_some_and(|it| self.adapters.contains(&it))
    }
}

/// Where the transcript of a session ends now.
async fn place(door: &Door, id: SessionId) -> Option<u64> {
    door.engine.transcribe(id, TRANSCRIPT_CHARS).await.ok()?;
    let end = |scene: Scene<'_>| scene.transcript.map_or(0, Transcript::end);
    door.engine.scene(id, end).await.ok()
}

/// Tells a connection what it wants to know, until it ends.
pub(crate) async fn tell(connection: &Arc<Connection>) {
    let mut wanted = connection.notes.wanted.subscribe();
    let mut house = connection.door.engine.events();
    let mut adapters = connection.door.adapters.changes();
    let mut made = connection.door.sessions.changes();
    let mut listening: BTreeMap<SessionId, AbortHandle> = BTreeMap::new();
    let mut tasks = JoinSet::new();
    loop {
        let now = wanted.borrow_and_update().clone();
        match &now {
            Wanted::Over => return std::future::pending().await,
            Wanted::Nothing => {
                tasks.abort_all();
                listening.clear();
            }
            Wanted::These(filter, places) => {
                for info in connection.door.registered() {
                    if !filter.takes(&connection.door, info.id)
                        || connection.notes.has_ended(info.id)
                    {
                        stop(&mut listening, info.id);
                        continue;
                    }
                    listening.entry(info.id).or_insert_with(|| {
                        let place = places.get(&info.id).copied().unwrap_or(0);
                        tasks.spawn(listen(Arc::clone(connection), info.id, place))
                    });
                }
            }
        }
        // Titles and bells come by the thousand, and change nothing here.
        loop {
            tokio::select! {
                _ = wanted.changed() => break,
                _ = adapters.changed() => break,
                _ = made.changed() => break,
                event = house.recv() => match event {
                    Ok(HouseEvent::Created(_)) | Err(RecvError::Lagged(_)) => break,
                    Ok(HouseEvent::Forgotten(info)) => {
                        // Who listens to it tells its end first, and comes to its own.
                        let listens = listening.remove(&info.id);
                        if listens.is_none_or(|task| task.is_finished()) {
                            connection.notes.forget(info.id);
                        }
                    }
                    Ok(_) => {}
                    Err(RecvError::Closed) => return std::future::pending().await,
                },
                Some(_) = tasks.join_next() => {}
            }
        }
    }
}

/// Does not listen to a session any more.
fn stop(listening: &mut BTreeMap<SessionId, AbortHandle>, id: SessionId) {
    if let Some(task) = listening.remove(&id) {
        task.abort();
    }
}

/// What came since the last time.
struct Came {
    sequence: u64,
    place: u64,
    text: String,
    dropped: bool,
}

/// Tells a connection what happens in one session.
async fn listen(connection: Arc<Connection>, id: SessionId, mut place: u64) {
    let door = &connection.door;
    if door.engine.transcribe(id, TRANSCRIPT_CHARS).await.is_err() {
        return;
    }
    let Ok(mut changes) = door.engine.changes(id) else { return };
    let session = name(id);
    let mut stream = Stream::new(Redaction::standard().clone());
    loop {
        let ended = changes.has_changed().is_err();
        changes.borrow_and_update();
        connection.busy.answered(id).await;
        if ended {
            door.recordings.whole(&door.engine, id).await;
        }
        let turn = connection.turn_to_tell().await;
        let since = place;
        let came = door.engine.scene(id, move |scene| {
            let end = scene.transcript.map_or(since, Transcript::end);
            let (text, dropped) = scene.transcript.map_or(("", false), |it| it.since(since));
            Came { sequence: scene.sequence, place: end, text: text.to_owned(), dropped }
        });
        let came = match came.await {
            Ok(came) => came,
            // It was closed, and nothing of it can be looked at any more.
            Err(_) => return closed(&connection, id, *changes.borrow(), stream.flush()),
        };
        place = came.place;
        if connection.notes.tells(id, came.sequence, false) {
            connection.note(EVENTS[0], &json!({"session": session, "sequence": came.sequence}));
        }
        let mut text = stream.push(&came.text);
        if ended {
            text.push_str(&stream.flush());
        }
        output(&connection, &session, came.sequence, text, came.dropped);
        if ended {
            connection.notes.tells(id, came.sequence, true);
            exited(&connection, id, &session, came.sequence);
            if door.engine.changes(id).is_err() {
                connection.notes.forget(id);
            }
            return;
        }
        drop(turn);
        let changed = changes.changed();
        if !stream.is_holding() {
            // Closed at the end: then the last is told.
            let _closed = changed.await;
        } else if tokio::time::timeout(HELD, changed).await.is_err() {
            output(&connection, &session, came.sequence, stream.flush(), false);
            let _closed = changes.changed().await;
        }
    }
}

/// Tells the end of a session that was closed before it was looked at for the last time.
fn closed(connection: &Connection, id: SessionId, sequence: u64, held: String) {
    let session = name(id);
    output(connection, &session, sequence, held, false);
    exited(connection, id, &session, sequence);
    connection.notes.forget(id);
}

fn output(connection: &Connection, session: &str, sequence: u64, text: String, dropped: bool) {
    if text.is_empty() && !dropped {
        return;
    }
    let mut params = json!({"session": session, "sequence": sequence, "output": text});
    if dropped {
        params["dropped"] = true.into();
    }
    connection.note(EVENTS[1], &params);
}

/// What is told of a session that ended.
#[derive(Serialize)]
struct Exited<'a> {
    session: &'a str,
    sequence: u64,
    #[serde(flatten)]
    end: Option<Ended>,
}

/// How a session ended, as one member of an object.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ended {
    ExitCode(i32),
    Signal(i32),
    Lost(bool),
}

impl From<End> for Ended {
    fn from(end: End) -> Ended {
        match end {
            End::Exited(ExitStatus::Code(code)) => Ended::ExitCode(code),
            End::Exited(ExitStatus::Signal(signal)) => Ended::Signal(signal),
            End::Lost => Ended::Lost(true),
        }
    }
}

fn exited(connection: &Connection, id: SessionId, session: &str, sequence: u64) {
    let infos = connection.door.engine.list();
    let end = match infos.iter().find(|info| info.id == id).map(|it| it.state) {
        Some(State::Ended(end, _)) => Some(end.into()),
        _ => connection.door.sessions.end_of_closed(id).map(Ended::from),
    };
    connection.note(EVENTS[2], &json!(Exited { session, sequence, end }));
}
