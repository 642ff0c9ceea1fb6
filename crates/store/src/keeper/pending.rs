//! The notes that wait for the disk: bounded, in memory, the latest of each session only.

use std::collections::{BTreeMap, VecDeque};

use greenroom_model::SessionId;

use crate::{AuditEntry, Session, Store, StoreError};

/// How many sessions may have a note waiting: twice what a machine is allowed to run by default.
const SESSIONS_MAX: usize = 4096;

/// How many audit entries may wait, at most 3 KiB each: an hour of a busy agent, in 12 MiB.
const AUDIT_WAITING_MAX: usize = 4096;

/// Something to be written that nobody waits for.
#[derive(Debug)]
pub(super) enum Note {
    /// A session lives and is now this.
    Alive(Session),
    /// A session has this name now.
    Renamed(SessionId, String),
    /// Somebody asked for something.
    Audit(AuditEntry),
    /// Numbers go on from here.
    RaiseNext(SessionId),
}

/// The notes that wait.
#[derive(Debug, Default)]
pub(super) struct Pending {
    next: Option<SessionId>,
    alive: BTreeMap<SessionId, Session>,
    names: BTreeMap<SessionId, String>,
    audit: VecDeque<AuditEntry>,
    /// How many notes were given up.
    pub(super) dropped: u64,
}

impl Pending {
    pub(super) fn len(&self) -> usize {
        usize::from(self.next.is_some()) + self.alive.len() + self.names.len() + self.audit.len()
    }

    /// Adds a note. Past a bound the oldest audit entry goes, or the note of a further session.
    pub(super) fn push(&mut self, note: Note) {
        match note {
            Note::RaiseNext(id) => self.next = self.next.max(Some(id)),
            Note::Alive(session) => {
                self.names.remove(&session.id);
                self.dropped += insert(&mut self.alive, session.id, session);
            }
            Note::Renamed(id, name) => self.dropped += insert(&mut self.names, id, name),
            Note::Audit(entry) => {
                if self.audit.len() >= AUDIT_WAITING_MAX {
                    self.audit.pop_front();
                    self.dropped += 1;
                }
                self.audit.push_back(entry);
            }
        }
    }

    /// Writes notes until none is left or one has to wait on.
    ///
    /// # Errors
    /// The first error that may pass, or the last that will not; its note is given up.
    pub(super) fn write_to(&mut self, store: &mut Store) -> Result<(), StoreError> {
        let mut refused = Ok(());
        while let Some(outcome) = self.write_one(store) {
            match outcome {
                Ok(()) => self.written(),
                Err(error) if error.kind().passes() => return Err(error),
                Err(error) => {
                    self.written();
                    self.dropped += 1;
                    refused = Err(error);
                }
            }
        }
        refused
    }

    /// Numbers first: sessions and entries can be made again, a number given out twice cannot.
    fn write_one(&self, store: &mut Store) -> Option<Result<(), StoreError>> {
        if let Some(next) = self.next {
            return Some(store.raise_next(next));
        }
        if let Some((_, session)) = self.alive.first_key_value() {
            return Some(store.alive(session));
        }
        if let Some((id, name)) = self.names.first_key_value() {
            return Some(store.rename(*id, name).map(drop));
        }
        self.audit.front().map(|entry| store.audit(entry))
    }

    /// Removes the note that [`Pending::write_one`] wrote.
    fn written(&mut self) {
        if self.next.take().is_none()
            && self.alive.pop_first().is_none()
            && self.names.pop_first().is_none()
        {
            self.audit.pop_front();
        }
    }
}

/// Keeps the latest note of a session, and says how many were given up for that: none, or this.
fn insert<T>(notes: &mut BTreeMap<SessionId, T>, id: SessionId, note: T) -> u64 {
    let room = notes.len() < SESSIONS_MAX || notes.contains_key(&id);
    if room {
        notes.insert(id, note);
    }
    u64::from(!room)
}
