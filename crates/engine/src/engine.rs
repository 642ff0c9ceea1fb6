//! The house: which sessions there are, living and ended, and who is told what happens.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use greenroom_model::SessionId;
use tokio::sync::{Notify, broadcast, watch};

use crate::Texts;
use crate::archive::{Archive, AuditEntry, EndedRecord, LivingRecord};
use crate::create::New;
use crate::encore::Encore;
use crate::event::HouseEvent;
use crate::options::Options;
use crate::recover::Refused;
use crate::session::{Handle, Kept};
use crate::{Caller, ClientId, Error, Info, Scene, State, SubscriptionId};

/// How many events a slow listener may be behind before it misses some.
const EVENTS: usize = 4096;

/// How often a session that fails by a mistake of ours is taken up again. What made it fail may be in what its holder
/// keeps, and would do so for ever.
const MAX_FALLS: u32 = 3;

/// All sessions, and everything that can be done with them. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    pub(crate) house: Arc<House>,
}

/// What all sessions share.
pub(crate) struct House {
    options: Mutex<Arc<Options>>,
    sessions: Mutex<BTreeMap<SessionId, Entry>>,
    events: broadcast::Sender<HouseEvent>,
    pub(crate) archive: Arc<dyn Archive>,
    next_session: AtomicU64,
    next_subscription: AtomicU64,
    next_client: AtomicU64,
    /// Sessions that are being made.
    creating: Mutex<BTreeSet<SessionId>>,
    /// Names that sessions are about to have, which no list shows yet.
    claimed: Mutex<Vec<(SessionId, String)>>,
    /// Sessions that have ended and whose holder has not gone yet. Who forgets one must not meet it again.
    leaving: Mutex<BTreeSet<SessionId>>,
    /// How often sessions failed by a mistake of ours.
    falls: Mutex<BTreeMap<SessionId, u32>>,
    /// Holders that were left alone; new with every look.
    pub(crate) refused: watch::Sender<Vec<Refused>>,
    /// Somebody wants them knocked at.
    pub(crate) knock: Notify,
}

/// A session as the house knows it.
#[derive(Clone)]
pub(crate) enum Entry {
    /// It runs.
    Living(Handle),
    /// It ended. The record has its screen until the archive has it.
    Ended(Arc<Past>),
}

/// A session that ended.
pub(crate) struct Past {
    pub(crate) info: Info,
    pub(crate) checkpoint: Option<Vec<u8>>,
    /// The last bytes, while somebody is expected who missed them.
    pub(crate) encore: Option<Arc<Encore>>,
}

impl Engine {
    /// An engine without sessions. `next` is the number of the first that is made.
    #[must_use]
    pub fn new(options: Options, archive: Arc<dyn Archive>, next: SessionId) -> Engine {
        let house = House {
            options: Mutex::new(Arc::new(options)),
            sessions: Mutex::default(),
            events: broadcast::Sender::new(EVENTS),
            archive,
            next_session: AtomicU64::new(next.0.max(1)),
            next_subscription: AtomicU64::new(1),
            next_client: AtomicU64::new(1),
            creating: Mutex::default(),
            claimed: Mutex::default(),
            leaving: Mutex::default(),
            falls: Mutex::default(),
            refused: watch::Sender::default(),
            knock: Notify::new(),
        };
        Engine { house: Arc::new(house) }
    }

    /// Adds sessions that ended before this daemon came.
    pub fn remember(&self, records: impl IntoIterator<Item = EndedRecord>) {
        let mut sessions = self.house.sessions();
        for record in records {
            let past = Past { info: record.info(), checkpoint: None, encore: None };
            sessions.entry(past.info.id).or_insert(Entry::Ended(Arc::new(past)));
        }
    }

    /// Has the archive remember a living session as it is now: an earlier daemon may have been killed
    /// before it did.
    pub fn record(&self, id: SessionId) {
        let sessions = self.house.sessions();
        let Some(Entry::Living(handle)) = sessions.get(&id) else { return };
        self.house.archive.created(LivingRecord::of(&handle.face.get()));
    }

    /// All sessions, by number.
    #[must_use]
    pub fn list(&self) -> Vec<Info> {
        self.house.sessions().values().map(Entry::info).collect()
    }

    /// Whether somebody who was attached to a session that has ended can still get what they missed.
    #[must_use]
    pub fn has_encore(&self, id: SessionId) -> bool {
        let sessions = self.house.sessions();
        matches!(sessions.get(&id), Some(Entry::Ended(past)) if past.encore.is_some())
    }

    /// What happens in the house from now on.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<HouseEvent> {
        self.house.events.subscribe()
    }

    /// A number for a new connection.
    #[must_use]
    pub fn next_client(&self) -> ClientId {
        ClientId(self.house.next_client.fetch_add(1, Ordering::Relaxed))
    }

    /// The largest number a session was ever given, also by earlier daemons.
    #[must_use]
    pub fn last_number(&self) -> SessionId {
        SessionId(self.house.next_session.load(Ordering::Relaxed).saturating_sub(1))
    }

    /// The options in force.
    #[must_use]
    pub fn options(&self) -> Arc<Options> {
        self.house.options()
    }

    /// Puts other options in force, for sessions made from now on.
    pub fn set_options(&self, options: Options) {
        let mut slot = self.house.options.lock().unwrap_or_else(PoisonError::into_inner);
        *slot = Arc::new(options);
    }

    pub(crate) fn audit(&self, caller: &Caller, what: &'static str, session: Option<SessionId>) {
        let who = caller.name.to_string();
        self.house.archive.audit(AuditEntry { who, what, session, allowed: true });
    }
}

impl House {
    pub(crate) fn options(&self) -> Arc<Options> {
        Arc::clone(&self.options.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The lock is held for a look-up or an insertion, never across an await.
    pub(crate) fn sessions(&self) -> MutexGuard<'_, BTreeMap<SessionId, Entry>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tell(&self, event: HouseEvent) {
        note(&event);
        // Nobody may be listening.
        let _nobody = self.events.send(event);
    }

    fn next_session(&self) -> SessionId {
        SessionId(self.next_session.fetch_add(1, Ordering::Relaxed))
    }

    /// No number up to this one is given out any more.
    pub(crate) fn pass_session(&self, id: SessionId) {
        self.next_session.fetch_max(id.0 + 1, Ordering::Relaxed);
    }

    pub(crate) fn next_subscription(&self) -> SubscriptionId {
        SubscriptionId(self.next_subscription.fetch_add(1, Ordering::Relaxed))
    }

    /// Takes a number, a place and a name for a session that is to be made; all are free again when what
    /// is returned is dropped, by when the session counts itself.
    pub(crate) fn place(self: &Arc<House>, most: usize, wanted: &New) -> Result<Place, Error> {
        let sessions = self.sessions();
        let living = sessions.values().filter(|it| matches!(it, Entry::Living(_))).count();
        let mut creating = self.creating();
        if living + creating.len() >= most {
            return Err(Error::Limit { what: "sessions", most });
        }
        let name = wanted.name.as_deref();
        if let Some(name) = name.filter(|_| wanted.unique) {
            // Before it has a number: one that is not made should not leave a gap.
            self.refuse_taken(&sessions, name, None)?;
        }
        let id = self.next_session();
        creating.insert(id);
        let claim = name.map(|name| self.claimed_for(id, name));
        Ok(Place { id, house: Arc::clone(self), _claim: claim })
    }

    /// Claims a name for a session that is to be called that, until what is returned is dropped; with
    /// `unique` only if no other that runs is, or is about to be.
    pub(crate) fn claim(
        self: &Arc<House>,
        id: SessionId,
        name: &str,
        unique: bool,
    ) -> Result<Claim, Error> {
        let sessions = self.sessions();
        if unique {
            self.refuse_taken(&sessions, name, Some(id))?;
        }
        Ok(self.claimed_for(id, name))
    }

    /// Refuses a name that a running session has or is about to have, other than the one that asks.
    fn refuse_taken(
        &self,
        sessions: &BTreeMap<SessionId, Entry>,
        name: &str,
        asks: Option<SessionId>,
    ) -> Result<(), Error> {
        let has_it =
            |it: &Entry| matches!(it, Entry::Living(handle) if handle.face.get().name == name);
        let running = sessions.iter().filter(|it| has_it(it.1)).map(|it| *it.0);
        let claimed = self.claimed();
        let claimed = claimed.iter().filter(|it| it.1 == name).map(|it| it.0);
        match running.chain(claimed).find(|id| Some(*id) != asks) {
            Some(id) => Err(Error::NameTaken { name: name.to_owned(), id }),
            None => Ok(()),
        }
    }

    fn claimed_for(self: &Arc<House>, id: SessionId, name: &str) -> Claim {
        self.claimed().push((id, name.to_owned()));
        Claim { id, name: name.to_owned(), house: Arc::clone(self) }
    }

    fn claimed(&self) -> MutexGuard<'_, Vec<(SessionId, String)>> {
        self.claimed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn creating(&self) -> MutexGuard<'_, BTreeSet<SessionId>> {
        self.creating.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a session is here, or being made.
    pub(crate) fn has(&self, id: SessionId) -> bool {
        self.sessions().contains_key(&id) || self.creating().contains(&id)
    }

    /// Whether a session is here, or its holder still is: of one that was forgotten it may be.
    pub(crate) fn knows(&self, id: SessionId) -> bool {
        self.has(id) || self.leaving().contains(&id)
    }

    /// Takes a session out of the list that has ended.
    pub(crate) fn forget(&self, id: SessionId) -> Option<Entry> {
        // There is nothing of it to come back.
        self.falls().remove(&id);
        self.sessions().remove(&id)
    }

    /// A session failed by a mistake of ours. Its holder has all of it, and is to be met anew.
    pub(crate) fn fell(&self, id: SessionId) {
        tracing::error!(session = %id, "a session failed by a mistake of ours; it is taken up again");
        let mut sessions = self.sessions();
        if matches!(sessions.get(&id), Some(Entry::Living(_))) {
            sessions.remove(&id);
            *self.falls().entry(id).or_default() += 1;
            self.knock.notify_one();
        }
    }

    /// Whether a session failed at all.
    pub(crate) fn has_fallen(&self, id: SessionId) -> bool {
        self.falls().contains_key(&id)
    }

    /// Whether a session failed so often that it would fail again.
    pub(crate) fn falls_always(&self, id: SessionId) -> bool {
        self.falls().get(&id).is_some_and(|&count| count >= MAX_FALLS)
    }

    fn falls(&self) -> MutexGuard<'_, BTreeMap<SessionId, u32>> {
        self.falls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a session runs, or is being made, or its holder is still there.
    pub(crate) fn lives(&self, id: SessionId) -> bool {
        matches!(self.sessions().get(&id), Some(Entry::Living(_)))
            || self.creating().contains(&id)
            || self.leaving().contains(&id)
    }

    fn leaving(&self) -> MutexGuard<'_, BTreeSet<SessionId>> {
        self.leaving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session has ended; its holder is still known until what is returned is dropped.
    pub(crate) fn leave(self: &Arc<House>, id: SessionId) -> Leaving {
        self.leaving().insert(id);
        Leaving { id, house: Arc::clone(self) }
    }

    /// A session ended: from now on it is answered for from its record.
    pub(crate) fn ended(&self, record: EndedRecord, face: &Info, encore: Option<Arc<Encore>>) {
        let info = Info { notes: face.notes.clone(), resizes: face.resizes, ..record.info() };
        let past = Past { info, checkpoint: record.checkpoint, encore };
        self.sessions().insert(past.info.id, Entry::Ended(Arc::new(past)));
    }

    /// The archive has the record: its screen need not be here as well.
    pub(crate) fn archived(&self, id: SessionId) {
        if let Some(Entry::Ended(past)) = self.sessions().get_mut(&id) {
            let (info, encore) = (past.info.clone(), past.encore.clone());
            *past = Arc::new(Past { info, checkpoint: None, encore });
        } else {
            // It was forgotten before it was kept.
            self.archive.forget(id, Box::new(|_| {}));
        }
    }

    /// Nobody is expected any more who missed its last bytes.
    pub(crate) fn no_encore(&self, id: SessionId) {
        if let Some(Entry::Ended(past)) = self.sessions().get_mut(&id) {
            let (info, checkpoint) = (past.info.clone(), past.checkpoint.clone());
            *past = Arc::new(Past { info, checkpoint, encore: None });
        }
    }
}

/// A place for a session that is being made.
pub(crate) struct Place {
    /// Its number.
    pub(crate) id: SessionId,
    house: Arc<House>,
    /// The name somebody chose for it.
    _claim: Option<Claim>,
}

/// A name that a session is about to have.
pub(crate) struct Claim {
    id: SessionId,
    name: String,
    house: Arc<House>,
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut claimed = self.house.claimed();
        // One of them: the same may be claimed twice at once.
        if let Some(at) = claimed.iter().position(|it| it.0 == self.id && it.1 == self.name) {
            claimed.swap_remove(at);
        }
    }
}

/// A session that has ended and whose holder has not gone yet.
pub(crate) struct Leaving {
    id: SessionId,
    house: Arc<House>,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.house.leaving().remove(&self.id);
    }
}

impl Past {
    /// What can still be seen of it.
    pub(crate) fn scene<'a>(&self, kept: &'a Kept, texts: &'a Texts) -> Scene<'a> {
        let end = match self.info.state {
            State::Ended(end, _) => Some(end),
            State::Running => None,
        };
        let sequence = kept.screen.offset().0 + self.info.resizes;
        let transcript = kept.transcript.as_ref();
        Scene { screen: &kept.screen, transcript, sequence, quiet: Duration::MAX, end, texts }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.house.creating().remove(&self.id);
    }
}

impl Entry {
    pub(crate) fn info(&self) -> Info {
        match self {
            Entry::Living(handle) => handle.face.get(),
            Entry::Ended(past) => past.info.clone(),
        }
    }
}

/// The time of the calendar, for people to read; nothing is ever waited for by it.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Notes what happened in the log. Never what a session prints, nor what it calls itself.
fn note(event: &HouseEvent) {
    const SESSION: &str = "greenroom::session";
    match event {
        HouseEvent::Created(id) => tracing::info!(target: SESSION, session = %id, "created"),
        HouseEvent::Renamed { id, .. } => tracing::info!(target: SESSION, session = %id, "renamed"),
        HouseEvent::Ended(id, end) => {
            tracing::info!(target: SESSION, session = %id, ?end, "ended");
        }
        HouseEvent::Forgotten(info) => {
            tracing::info!(target: SESSION, session = %info.id, "forgotten");
        }
        HouseEvent::Attached(id, client) => {
            tracing::debug!(target: SESSION, session = %id, client = client.0, "attached");
        }
        HouseEvent::Detached(id, client) => {
            tracing::debug!(target: SESSION, session = %id, client = client.0, "detached");
        }
        HouseEvent::Resized(..) | HouseEvent::Title(..) | HouseEvent::Bell(_) => {}
    }
}
