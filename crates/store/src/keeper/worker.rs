//! The thread's side of the keeper: one request after the other, and patience with the disk.

use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use greenroom_model::SessionId;

use super::Health;
use super::pending::{Note, Pending};
use crate::store::above;
use crate::{Kind, Store, StoreError};

/// How long after trouble the disk is tried first: a person freeing space sees it at once.
const RETRY_FIRST: Duration = Duration::from_secs(1);

/// How long at most between two tries. A disk may stay full for days; this costs nothing.
const RETRY_MAX: Duration = Duration::from_secs(30);

/// A request that is answered: with the worker to do it, or the reason why it was not taken.
pub(super) type Ask = Box<dyn FnOnce(Result<&mut Worker, StoreError>) + Send>;

/// Everything the thread can be sent.
pub(super) enum Command {
    /// To be written, now or later.
    Note(Note),
    /// To be done and answered now.
    Ask(Ask),
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Note(note) => note.fmt(f),
            Command::Ask(_) => f.write_str("Ask"),
        }
    }
}

/// The store and what stands between it and a disk that may fail.
pub(super) struct Worker {
    store: Store,
    pending: Pending,
    /// The next number, known without the disk.
    next: SessionId,
    retry_at: Option<Instant>,
    retry_after: Duration,
    /// How many notes of `pending.dropped` are in the shared count.
    dropped_told: u64,
    health: Arc<Mutex<Health>>,
    told: Box<dyn Fn(&Health) + Send>,
}

impl Worker {
    pub(super) fn new(
        store: Store,
        health: Arc<Mutex<Health>>,
        told: Box<dyn Fn(&Health) + Send>,
    ) -> Result<Worker, StoreError> {
        let next = store.next_id()?;
        Ok(Worker {
            store,
            pending: Pending::default(),
            next,
            retry_at: None,
            retry_after: RETRY_FIRST,
            dropped_told: 0,
            health,
            told,
        })
    }

    /// Works until the other side is gone and all it asked for is done.
    pub(super) fn run(mut self, inbox: &Receiver<Command>) {
        loop {
            let command = match self.retry_at {
                // Blocks for as long as it takes: an idle store wakes nobody.
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => inbox.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            match command {
                Ok(Command::Ask(ask)) => ask(Ok(&mut self)),
                Ok(Command::Note(note)) => self.note(note),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            // Not only after a time-out: a steady stream of requests must not put it off.
            if self.retry_at.is_some_and(|at| at <= Instant::now()) {
                self.retry();
            }
        }
        self.catch_up().ok();
    }

    /// Reads; works also while the disk is full.
    pub(super) fn read<T>(
        &mut self,
        work: impl FnOnce(&Store) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        work(&self.store)
    }

    /// Writes what waits and then `work`, so that nothing overtakes a note.
    pub(super) fn write<T>(
        &mut self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.catch_up()?;
        let outcome = work(&mut self.store);
        match &outcome {
            Ok(_) => self.well(),
            Err(error) => self.ill(error),
        }
        outcome
    }

    /// Gives out a number, from memory if need be: then it is written as soon as that works, and
    /// until then the session's holder has it.
    pub(super) fn reserve_id(&mut self) -> Result<SessionId, StoreError> {
        let id = match self.write(Store::reserve_id) {
            Err(error) if error.kind() != Kind::Refused => self.next,
            other => other?,
        };
        let next = above(id)?;
        if next > self.next {
            self.next = next;
        }
        if self.retry_at.is_some() {
            self.pending.push(Note::RaiseNext(next));
            self.publish();
        }
        Ok(id)
    }

    /// The next number.
    pub(super) fn next_id(&self) -> SessionId {
        self.next
    }

    fn note(&mut self, note: Note) {
        let above_it = match &note {
            Note::RaiseNext(id) => *id,
            Note::Alive(session) => above(session.id).unwrap_or(self.next),
            Note::Renamed(..) | Note::Audit(_) => self.next,
        };
        self.next = self.next.max(above_it);
        self.pending.push(note);
        match self.retry_at {
            None => drop(self.catch_up()),
            // Known to be in trouble: the next try takes this one along.
            Some(_) => self.publish(),
        }
    }

    fn retry(&mut self) {
        self.retry_at = None;
        let waiting = self.pending.len() > 0;
        if self.catch_up().is_ok() && !waiting {
            // Nothing of ours waits, but somebody outside was refused and wants to know.
            match self.store.probe() {
                Ok(()) => self.recovered(),
                Err(error) => self.ill(&error),
            }
        }
    }

    /// Writes what waits. An error that will not pass is the note's own and stays here.
    fn catch_up(&mut self) -> Result<(), StoreError> {
        if self.pending.len() == 0 {
            return Ok(());
        }
        match self.pending.write_to(&mut self.store) {
            Ok(()) => self.well(),
            Err(error) => {
                self.ill(&error);
                if error.kind().passes() {
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Something real was written: the next trouble is a new one.
    fn well(&mut self) {
        self.retry_after = RETRY_FIRST;
        self.recovered();
    }

    /// Writing works again. The delay stays: what was refused may be larger than what was tried.
    fn recovered(&mut self) {
        self.retry_at = None;
        self.report(None);
    }

    fn ill(&mut self, error: &StoreError) {
        if error.kind() == Kind::Refused {
            return self.publish();
        }
        if error.kind().passes() && self.retry_at.is_none() {
            self.retry_at = Some(Instant::now() + self.retry_after);
            self.retry_after = (self.retry_after * 2).min(RETRY_MAX);
        }
        self.report(Some(error.full_text()));
    }

    /// Publishes how it went, and tells if that is a change.
    fn report(&mut self, error: Option<String>) {
        self.publish();
        let changed = {
            let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
            let ok = error.is_none();
            health.error = error;
            (std::mem::replace(&mut health.ok, ok) != ok).then(|| health.clone())
        };
        if let Some(health) = changed {
            (self.told)(&health);
        }
    }

    /// Brings the numbers up to date that others read.
    fn publish(&mut self) {
        let told = std::mem::replace(&mut self.dropped_told, self.pending.dropped);
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        health.pending = self.pending.len();
        health.dropped += self.pending.dropped - told;
    }
}
