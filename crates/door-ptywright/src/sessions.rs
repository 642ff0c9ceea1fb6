//! What this door knows of sessions beyond the engine: labels in transcripts, pixels, which are its own.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use greenroom_engine::redact::{Excerpt, Redaction};
use greenroom_engine::{Caller, End, Info, Scene, State, Transcript};
use greenroom_model::SessionId;
use tokio::sync::watch;

use crate::action::Dimensions;
use crate::error::RpcError;
use crate::{Door, Pixels, TRANSCRIPT_CHARS};

/// How many labels a session's transcript may have.
const MAX_LABELS: usize = 64;

/// The notes of a session's labels begin so.
const LABEL: &str = "ptywright.label.";

/// How many closed sessions are remembered: those that a client may not have been told of yet.
const MAX_CLOSED: usize = 256;

/// How much is kept of all of them for who listens and was not told: one of the longest transcripts, or some dozens.
const LAST_BYTES: usize = 16 << 20;

/// Notes of a session that it was made here, for the next daemon.
pub(crate) fn made_here() -> (String, String) {
    ("ptywright.session".to_owned(), String::new())
}

/// The longest label.
const MAX_LABEL: usize = 256;

/// What this door knows of sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    inner: Mutex<Inner>,
    /// Told when there is another that was made here.
    changes: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Inner {
    known: BTreeMap<SessionId, Known>,
    /// Those that were made here: they stay listed when they have ended, until they are closed.
    made: BTreeSet<SessionId>,
    /// Those that were closed last, for who is still to be told.
    closed: VecDeque<Closed>,
    /// How many listen to each.
    listeners: BTreeMap<SessionId, usize>,
}

/// A session that was closed.
#[derive(Debug)]
struct Closed {
    id: SessionId,
    end: End,
    last: Option<Arc<Last>>,
}

/// What was to be seen of a session when it was closed.
#[derive(Debug)]
pub(crate) struct Last {
    pub(crate) transcript: Option<Transcript>,
    pub(crate) sequence: u64,
    pub(crate) cols: u16,
}

impl Last {
    pub(crate) fn of(scene: Scene<'_>) -> Last {
        let (sequence, cols) = (scene.sequence, scene.screen.size().cols());
        Last { transcript: scene.transcript.cloned(), sequence, cols }
    }

    fn bytes(&self) -> usize {
        self.transcript.as_ref().map_or(0, |it| it.text().len())
    }
}

/// That a connection listens to a session; what is kept of it for the listeners goes with the last of them.
pub(crate) struct Listener {
    door: Arc<Door>,
    id: SessionId,
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut inner = self.door.sessions.inner();
        let Some(count) = inner.listeners.get_mut(&self.id) else { return };
        *count -= 1;
        if *count == 0 {
            inner.listeners.remove(&self.id);
            let closed = inner.closed.iter_mut().filter(|it| it.id == self.id);
            closed.for_each(|it| it.last = None);
        }
    }
}

#[derive(Debug, Default, Clone)]
struct Known {
    pixels: Pixels,
    labels: BTreeMap<String, u64>,
}

impl Sessions {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn made(&self, id: SessionId, pixels: Pixels) {
        {
            let mut inner = self.inner();
            inner.made.insert(id);
            inner.known.entry(id).or_default().pixels = pixels;
        }
        // It may have ended by now, and only now it is known to be ours.
        self.changes.send_replace(());
    }

    /// Told whenever another session was made here.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// How a session ended that was closed, if that is not long ago.
    pub(crate) fn end_of_closed(&self, id: SessionId) -> Option<End> {
        self.inner().closed.iter().find(|it| it.id == id).map(|it| it.end)
    }

    /// What was to be seen of a session that was closed, for who listened to it then.
    pub(crate) fn last_of_closed(&self, id: SessionId) -> Option<Arc<Last>> {
        self.inner().closed.iter().find(|it| it.id == id)?.last.clone()
    }

    fn are_listened_to(&self, id: SessionId) -> bool {
        self.inner().listeners.contains_key(&id)
    }

    fn close(&self, id: SessionId, state: Option<State>, last: Option<Last>) {
        let Some(State::Ended(end, _)) = state else { return };
        let mut inner = self.inner();
        let last = last.filter(|_| inner.listeners.contains_key(&id)).map(Arc::new);
        inner.closed.push_front(Closed { id, end, last });
        inner.closed.truncate(MAX_CLOSED);
        // The oldest are told that something is missing.
        let mut room = LAST_BYTES;
        for closed in &mut inner.closed {
            let bytes = closed.last.as_ref().map_or(0, |last| last.bytes());
            match room.checked_sub(bytes) {
                Some(left) => room = left,
                None => closed.last = None,
            }
        }
    }

    fn forget(&self, id: SessionId) {
        self.retain(|known| known != id);
    }

    /// Keeps what is known of such sessions.
    pub(crate) fn retain(&self, keeps: impl Fn(SessionId) -> bool) {
        let mut inner = self.inner();
        inner.made.retain(|id| keeps(*id));
        inner.known.retain(|id, _| keeps(*id));
    }

    pub(crate) fn pixels(&self, id: SessionId) -> Pixels {
        self.inner().known.get(&id).map(|known| known.pixels).unwrap_or_default()
    }

    pub(crate) fn labels(&self, id: SessionId) -> BTreeMap<String, u64> {
        self.inner().known.get(&id).map(|known| known.labels.clone()).unwrap_or_default()
    }
}

/// A session as clients of this door call it.
pub(crate) fn name(id: SessionId) -> String {
    format!("s{id}")
}

/// Whether a text can be a label.
pub(crate) fn check_label(label: &str) -> Result<(), RpcError> {
    if label.is_empty() || label.len() > MAX_LABEL {
        return Err(RpcError::params(format!("a label has 1 to {MAX_LABEL} bytes")));
    }
    Ok(())
}

fn too_many_labels() -> RpcError {
    RpcError::params(format!("at most {MAX_LABELS} labels in a transcript"))
}

impl Door {
    /// Somebody listens to a session, until what is returned is dropped.
    pub(crate) fn listener(self: &Arc<Door>, id: SessionId) -> Listener {
        *self.sessions.inner().listeners.entry(id).or_default() += 1;
        Listener { door: Arc::clone(self), id }
    }

    /// The session a client means. One that belongs to an adapter is the adapter's alone.
    pub(crate) fn session(&self, selector: &str) -> Result<SessionId, RpcError> {
        let unknown = || RpcError::unknown_session(selector);
        let id = self.engine.find(selector).map_err(|_| unknown())?;
        if self.adapters.owner(id).is_some() { Err(unknown()) } else { Ok(id) }
    }

    /// The sessions a client is told of: all that live, and those made here that have ended.
    pub(crate) fn registered(&self) -> Vec<Info> {
        let made = self.sessions.inner().made.clone();
        let mut infos = self.engine.list();
        let is_ours = |info: &Info| made.contains(&info.id) || info.notes.contains(&made_here());
        infos.retain(|info| info.state == State::Running || is_ours(info));
        infos
    }

    /// The session that requests on this are about: a session, or an adapter's.
    pub(crate) fn session_of(&self, on: &str) -> Option<SessionId> {
        let adapter = self.adapters.find(on).ok().map(|adapter| adapter.session);
        adapter.or_else(|| self.engine.find(on).ok())
    }

    /// The transcript of a session, as far as it is kept and as somebody with this policy may see it.
    pub(crate) async fn transcript(
        &self,
        id: SessionId,
        policy: Option<Redaction>,
    ) -> Result<String, RpcError> {
        self.engine.transcribe(id, TRANSCRIPT_CHARS).await?;
        let read = self.engine.scene(id, |scene| match scene.transcript {
            Some(transcript) => scene.printed(transcript.max_chars()),
            // It ended before anybody asked for one.
            None => Excerpt::new(scene.contents().replace('\n', "\r\n"), 0),
        });
        let read = read.await?;
        let bytes = read.text().len();
        let shown = move |policy: Option<&Redaction>| read.shown(policy).into_owned();
        self.aside.hide(policy.as_ref(), bytes, shown).await
    }

    /// The error of something that was done to a session: whatever it is, one that is forgotten was closed.
    pub(crate) fn closed_if_gone(&self, id: SessionId, error: RpcError) -> RpcError {
        if self.engine.changes(id).is_err() { RpcError::closed() } else { error }
    }

    /// Ends a session's program; its raw transcript is whole then, too.
    pub(crate) async fn kill(&self, caller: &Caller, id: SessionId) -> Result<(), RpcError> {
        self.engine.kill(caller, id, None).await?;
        self.recordings.whole(&self.engine, id).await;
        Ok(())
    }

    /// Ends a session and forgets it.
    pub(crate) async fn close(&self, caller: &Caller, id: SessionId) -> Result<(), RpcError> {
        if let Err(error) = self.engine.kill(caller, id, None).await {
            tracing::info!(session = %id, %error, "a session that is closed was not killed");
        }
        self.recordings.whole(&self.engine, id).await;
        let last = match self.sessions.are_listened_to(id) {
            true => self.engine.scene(id, Last::of).await.ok(),
            false => None,
        };
        let infos = self.engine.list();
        let state = infos.iter().find(|info| info.id == id).map(|info| info.state);
        self.sessions.close(id, state, last);
        self.engine.forget(caller, id).await?;
        self.sessions.forget(id);
        Ok(())
    }

    /// Whether a transcript has room for these labels.
    pub(crate) fn has_room_for<'a>(
        &self,
        id: SessionId,
        labels: impl Iterator<Item = &'a str>,
    ) -> Result<(), RpcError> {
        let there = self.sessions.labels(id);
        let new: BTreeSet<&str> = labels.filter(|label| !there.contains_key(*label)).collect();
        if new.is_empty() || there.len() + new.len() <= MAX_LABELS {
            return Ok(());
        }
        Err(too_many_labels())
    }

    /// Remembers where a transcript ends, by a label.
    pub(crate) async fn mark(&self, id: SessionId, label: String) -> Result<(), RpcError> {
        check_label(&label)?;
        self.engine.transcribe(id, TRANSCRIPT_CHARS).await?;
        let place =
            self.engine.scene(id, |scene| scene.transcript.map_or(0, |it| it.end())).await?;
        {
            let mut inner = self.sessions.inner();
            let labels = &mut inner.known.entry(id).or_default().labels;
            if labels.len() >= MAX_LABELS && !labels.contains_key(&label) {
                return Err(too_many_labels());
            }
            labels.insert(label.clone(), place);
        }
        self.engine.note(id, format!("{LABEL}{label}"), place.to_string()).await;
        Ok(())
    }

    /// Takes up the labels of a session that an earlier daemon's door made.
    pub(crate) fn take_up_labels(&self, info: &Info) {
        let labels = info.notes.iter().filter_map(|(name, place)| {
            Some((name.strip_prefix(LABEL)?.to_owned(), place.parse().ok()?))
        });
        let labels: BTreeMap<String, u64> = labels.collect();
        if !labels.is_empty() {
            self.sessions.inner().known.entry(info.id).or_default().labels = labels;
        }
    }

    /// Gives a session a size.
    pub(crate) async fn resize(
        &self,
        caller: &Caller,
        id: SessionId,
        dimensions: Dimensions,
    ) -> Result<(), RpcError> {
        self.engine.resize(caller, id, dimensions.size()?).await?;
        let Dimensions { pixel_width: width, pixel_height: height, .. } = dimensions;
        self.sessions.inner().known.entry(id).or_default().pixels = Pixels { width, height };
        Ok(())
    }
}
