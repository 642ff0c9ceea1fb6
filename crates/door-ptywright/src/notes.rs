//! Notifications: what happens in sessions, pushed to the connections that asked for it.
//!
//! Each session that a connection listens to has a task that waits for the session to change and then
//! tells what came since the last time. A client that is slow is told less often, never less: what
//! lies between is one note. Only what no longer is in the transcript is left out, and said so.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use greenroom_engine::redact::{Redaction, Stream};
use greenroom_engine::{End, HouseEvent, Info, Scene, State, Transcript};
use greenroom_model::{ExitStatus, SessionId};
use serde::Serialize;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

use crate::connection::Connection;
use crate::recording::Flaw;
use crate::sessions::{Last, name};
use crate::{Door, TRANSCRIPT_CHARS};

/// What clients can be told of.
pub(crate) const EVENTS: [&str; 4] =
    ["session.changed", "session.output", "session.exited", "session.raw_transcript_error"];

/// How long text that may be the beginning of a secret is held back.
const HELD: Duration = Duration::from_millis(50);

/// How long what happens behind the last answer is still waited for: the end of a program that was killed follows
/// in a few milliseconds, and what may be the beginning of a secret comes when it was held back.
const AFTERMATH: Duration = Duration::from_millis(2 * HELD.as_millis() as u64);

/// How long to go on with that at most: a program may print for ever.
const LAST_NOTES: Duration = Duration::from_secs(1);

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
    /// Where in each transcript that begins which it was not told; at its beginning, if that is not here.
    places: Mutex<BTreeMap<SessionId, u64>>,
    /// What it was told of raw transcripts that are not whole.
    flaws: Mutex<BTreeMap<SessionId, Flaw>>,
    /// Told whenever something was.
    tells: Notify,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Wanted {
    Nothing,
    /// Of these sessions.
    These(Filter),
    /// The connection ends.
    Over,
}

impl Default for Notes {
    fn default() -> Notes {
        Notes {
            wanted: watch::Sender::new(Wanted::Nothing),
            told: Mutex::default(),
            places: Mutex::default(),
            flaws: Mutex::default(),
            tells: Notify::new(),
        }
    }
}

impl Notes {
    /// Sets what the client wants to be told; nothing if none. If that was nothing before, what is printed from
    /// here on is told, and of sessions that are made later all of it. Another filter moves no place: what was
    /// not told yet of a session is told once the filter takes it.
    pub(crate) async fn set(&self, door: &Door, filter: Option<Filter>) {
        if filter.is_some() && !self.are_wanted() {
            let mut places = BTreeMap::new();
            for info in door.registered() {
                places.extend(place(door, info.id).await.map(|place| (info.id, place)));
            }
            *lock(&self.places) = places;
        }
        let wanted = filter.map_or(Wanted::Nothing, Wanted::These);
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
        self.tells.notify_waiters();
        let before = lock(&self.told).insert(id, (sequence, ended));
        before != Some((sequence, ended))
    }

    /// Whether less was told of a session than what happened in it by then.
    fn are_behind_of(&self, id: SessionId, sequence: u64) -> bool {
        lock(&self.told).get(&id).is_none_or(|told| told.0 < sequence)
    }

    /// Whether the end of a session was told.
    fn has_ended(&self, id: SessionId) -> bool {
        lock(&self.told).get(&id).is_some_and(|told| told.1)
    }

    /// A session is no more.
    fn forget(&self, id: SessionId) {
        lock(&self.told).remove(&id);
        lock(&self.places).remove(&id);
        lock(&self.flaws).remove(&id);
    }

    /// Whether something has happened that the client wants to be told, and was not.
    fn are_behind(&self, door: &Door) -> bool {
        let Wanted::These(filter) = &*self.wanted.borrow() else { return false };
        let told = lock(&self.told).clone();
        let is_behind = |info: &Info| {
            let (sequence, ended) = told.get(&info.id).copied().unwrap_or_default();
            let now = door.engine.changes(info.id).map_or(0, |changes| *changes.borrow());
            !ended && (info.state != State::Running || sequence < now)
        };
        let mut all = door.registered().into_iter();
        all.any(|info| filter.takes(door, info.id) && is_behind(&info))
    }

    /// Waits until the client was told what happened, for a moment: nobody will ask it anything any more.
    pub(crate) async fn settle(&self, door: &Door) {
        let until = Instant::now() + LAST_NOTES;
        while self.are_wanted() {
            let tells = self.tells.notified();
            let patience = if self.are_behind(door) { until } else { Instant::now() + AFTERMATH };
            if tokio::time::timeout_at(patience.min(until), tells).await.is_err() {
                return;
            }
        }
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
    let mut flaws = connection.door.recordings.flaws();
    let mut listening: BTreeMap<SessionId, AbortHandle> = BTreeMap::new();
    // What was begun to be told of raw transcripts: a client that does not read is not told twice at once.
    let mut complained: BTreeMap<SessionId, Flaw> = BTreeMap::new();
    let mut tasks = JoinSet::new();
    loop {
        let now = wanted.borrow_and_update().clone();
        match &now {
            Wanted::Over => return std::future::pending().await,
            Wanted::Nothing => {
                tasks.abort_all();
                listening.clear();
                complained.clear();
            }
            Wanted::These(filter) => {
                let registered = connection.door.registered();
                for info in &registered {
                    if !filter.takes(&connection.door, info.id)
                        || connection.notes.has_ended(info.id)
                    {
                        stop(&mut listening, info.id);
                        continue;
                    }
                    listening
                        .entry(info.id)
                        .or_insert_with(|| tasks.spawn(listen(Arc::clone(connection), info.id)));
                }
                let known = flaws.borrow_and_update().clone();
                // One that was closed is unknown to who did not hear of it before.
                let is_known =
                    |id| listening.contains_key(&id) || registered.iter().any(|info| info.id == id);
                for (id, flaw) in known.into_iter().filter(|it| is_known(it.0)) {
                    let is_new = complained.get(&id) != Some(&flaw);
                    if is_new && filter.takes(&connection.door, id) {
                        complained.insert(id, flaw.clone());
                        tasks.spawn(complain(Arc::clone(connection), id, flaw));
                    }
                }
            }
        }
        // Titles and bells come by the thousand, and change nothing here.
        loop {
            tokio::select! {
                _ = wanted.changed() => break,
                _ = adapters.changed() => break,
                _ = made.changed() => break,
                _ = flaws.changed() => break,
                event = house.recv() => match event {
                    Ok(HouseEvent::Created(_)) | Err(RecvError::Lagged(_)) => break,
                    Ok(HouseEvent::Forgotten(info)) => {
                        complained.remove(&info.id);
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

/// Tells a connection that a raw transcript is not whole.
async fn complain(connection: Arc<Connection>, id: SessionId, flaw: Flaw) {
    connection.busy.answered(id).await;
    let _turn = connection.turn_to_tell().await;
    let is_wanted = connection.notes.are_wanted();
    if !is_wanted || lock(&connection.notes.flaws).insert(id, flaw.clone()) == Some(flaw.clone()) {
        return;
    }
    let mut params = json!(flaw);
    params["session"] = name(id).into();
    connection.note(EVENTS[3], &params);
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
    /// Where in the text begins what is to be told: before it is what came right before that, if nobody saw it.
    from: usize,
    dropped: bool,
    /// How many columns there are.
    cols: u16,
}

impl Came {
    /// What came since a place, for who has seen what was before, or has not.
    fn since(place: u64, has_seen: bool, scene: Scene<'_>) -> Came {
        let (sequence, cols) = (scene.sequence, scene.screen.size().cols());
        Came::of(scene.transcript, (sequence, cols), (place, has_seen))
    }

    /// The same of a session that was closed.
    fn last(place: u64, has_seen: bool, last: &Last) -> Came {
        Came::of(last.transcript.as_ref(), (last.sequence, last.cols), (place, has_seen))
    }

    fn of(
        transcript: Option<&Transcript>,
        (sequence, cols): (u64, u16),
        (since, has_seen): (u64, bool),
    ) -> Came {
        let Some(transcript) = transcript else {
            let text = String::new();
            return Came { sequence, place: since, text, from: 0, dropped: false, cols };
        };
        let (text, dropped) = transcript.since(since);
        let (text, from) = match has_seen && !dropped {
            true => (text, 0),
            false => transcript.since_in_context(since),
        };
        Came { sequence, place: transcript.end(), text: text.to_owned(), from, dropped, cols }
    }
}

/// Tells a connection what happens in one session.
async fn listen(connection: Arc<Connection>, id: SessionId) {
    let door = &connection.door;
    if door.engine.transcribe(id, TRANSCRIPT_CHARS).await.is_err() {
        return;
    }
    let Ok(mut changes) = door.engine.changes(id) else { return };
    let _listener = door.listener(id);
    let session = name(id);
    let (mut stream, mut has_seen) = (Stream::new(Redaction::standard().clone()), false);
    loop {
        let mut ended = changes.has_changed().is_err();
        changes.borrow_and_update();
        connection.busy.answered(id).await;
        if ended {
            door.recordings.whole(&door.engine, id).await;
        }
        let mut turn = connection.turn_to_tell().await;
        let place = || lock(&connection.notes.places).get(&id).copied().unwrap_or(0);
        let since = place();
        let came = door.engine.scene(id, move |scene| Came::since(since, has_seen, scene));
        let came = came.await;
        if connection.busy.is_on(id) {
            // While there was no room a request may have come that caused some of it, and is to be answered first.
            drop(turn);
            connection.busy.answered(id).await;
            turn = connection.turn_to_tell().await;
            if place() != since {
                // Told anew from another place on.
                continue;
            }
        }
        let came = match came {
            Ok(came) => came,
            // It was closed.
            Err(_) => match door.sessions.last_of_closed(id) {
                Some(last) => {
                    ended = true;
                    Came::last(since, has_seen, &last)
                }
                // Nothing of it can be looked at any more.
                None => return closed(&connection, id, *changes.borrow(), stream.flush()),
            },
        };
        lock(&connection.notes.places).insert(id, came.place);
        if connection.notes.tells(id, came.sequence, false) {
            connection.note(EVENTS[0], &json!({"session": session, "sequence": came.sequence}));
        }
        if came.dropped {
            // What comes now does not go on where that ended.
            output(&connection, &session, came.sequence, stream.flush(), false);
        }
        let (before, text) = came.text.split_at(came.from);
        if came.dropped || !has_seen {
            stream = Stream::new(Redaction::standard().clone());
            // Nobody is told of it; also not of what may be the beginning of a secret.
            let _before = (stream.on(came.cols).push(before), stream.flush());
        }
        has_seen = true;
        let mut text = stream.on(came.cols).push(text);
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
            connection.notes.tells.notify_waiters();
            let _closed = changes.changed().await;
        }
    }
}

/// Tells the end of a session that was closed before it was looked at for the last time.
fn closed(connection: &Connection, id: SessionId, sequence: u64, held: String) {
    let session = name(id);
    let is_behind = connection.notes.are_behind_of(id, sequence);
    output(connection, &session, sequence, held, is_behind);
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
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_transcript_error: Option<String>,
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
    let raw_transcript_error = connection.door.recordings.flaw(id).map(|flaw| flaw.error);
    connection.note(EVENTS[2], &json!(Exited { session, sequence, end, raw_transcript_error }));
}
