//! A thread that owns the store, so that the daemon's one thread never waits for a disk.
//!
//! There are two kinds of requests. Who waits for an answer gets it at once, also when it is an
//! error, and decides: an ended session whose record was refused stays with its holder and is
//! offered again when `told` says that the store is well. Who does not wait ([`Keeper::alive`],
//! [`Keeper::renamed`], [`Keeper::audit`], [`Keeper::raise_next`]) is caught up with: what cannot be written stays in
//! memory, bounded, and is tried again.
//!
//! **Invariant:** no method here blocks, but [`Keeper::start`] and [`Keeper::close`].
//! **Invariant:** the thread wakes up only for a request or while the disk is in trouble.

mod pending;
#[cfg(test)]
mod tests;
mod worker;

use std::path::Path;
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use greenroom_model::SessionId;

use crate::{AuditEntry, Ended, Opened, Retention, Session, Store, StoreError};
use pending::Note;
use worker::{Command, Worker};

/// How many requests may wait for the thread. A start with every session of a large machine sends
/// one each; more than this means that the disk does not keep up, and waiting longer is no help.
const QUEUE_MAX: usize = 4096;

/// How the store is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Health {
    /// Whether the last write worked.
    pub ok: bool,
    /// Why not, for people.
    pub error: Option<String>,
    /// How many notes wait in memory for the disk.
    pub pending: usize,
    /// How many notes were given up since the start, because too many waited or one was refused.
    pub dropped: u64,
}

/// The way to the store's thread.
#[derive(Debug)]
pub struct Keeper {
    /// Taken away to tell the thread that nothing more comes.
    sender: Option<SyncSender<Command>>,
    health: Arc<Mutex<Health>>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Opens the store at `path`, setting a damaged one aside, and starts its thread.
    ///
    /// `told` is called there whenever the store falls ill or gets well; it must not block.
    ///
    /// # Errors
    /// The store cannot be opened.
    pub fn start(
        path: &Path,
        told: impl Fn(&Health) + Send + 'static,
    ) -> Result<(Keeper, Opened), StoreError> {
        let (store, opened) = Store::open_or_set_aside(path)?;
        Ok((Keeper::with(store, path, told)?, opened))
    }

    /// Starts the thread of a store that is open.
    fn with(
        store: Store,
        path: &Path,
        told: impl Fn(&Health) + Send + 'static,
    ) -> Result<Keeper, StoreError> {
        let health = Arc::new(Mutex::new(Health { ok: true, ..Health::default() }));
        let worker = Worker::new(store, Arc::clone(&health), Box::new(told))?;
        let (sender, inbox) = mpsc::sync_channel(QUEUE_MAX);
        let thread = thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || worker.run(&inbox))
            .map_err(|error| StoreError::of_file(error, path))?;
        Ok(Keeper { sender: Some(sender), health, thread: Some(thread) })
    }

    /// How the store is now.
    #[must_use]
    pub fn health(&self) -> Health {
        self.health.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives out a number. Goes on from memory while the disk is in trouble.
    pub fn reserve_id(&self, answer: impl Answer<SessionId>) {
        self.ask(Worker::reserve_id, answer);
    }

    /// Reads the number that would be given out next, whether or not the disk knows it yet.
    pub fn next_id(&self, answer: impl Answer<SessionId>) {
        self.ask(|it| Ok(it.next_id()), answer);
    }

    /// Makes every number given out from now on at least `at_least`.
    pub fn raise_next(&self, at_least: SessionId) {
        self.send(Command::Note(Note::RaiseNext(at_least)));
    }

    /// Notes that a session lives, and what it is now. Only the latest note of each is kept.
    pub fn alive(&self, session: Session) {
        self.send(Command::Note(Note::Alive(session)));
    }

    /// Notes that a session has ended. Its holder may go only once the answer is `Ok`.
    pub fn ended(&self, ended: Ended, checkpoint: Option<Vec<u8>>, answer: impl Answer<()>) {
        self.ask(move |it| it.write(|store| store.ended(&ended, checkpoint.as_deref())), answer);
    }

    /// Reads the sessions that have not ended as far as the store knows.
    pub fn living(&self, answer: impl Answer<Vec<Session>>) {
        self.ask(|it| it.read(Store::living), answer);
    }

    /// Reads the sessions that have ended, without their checkpoints.
    pub fn list_ended(&self, answer: impl Answer<Vec<Ended>>) {
        self.ask(|it| it.read(Store::list_ended), answer);
    }

    /// Reads the last checkpoint of a session that has ended.
    pub fn checkpoint_of(&self, id: SessionId, answer: impl Answer<Option<Vec<u8>>>) {
        self.ask(move |it| it.read(|store| store.checkpoint_of(id)), answer);
    }

    /// Gives a session another name; answers whether there is such a session.
    pub fn rename(&self, id: SessionId, name: String, answer: impl Answer<bool>) {
        self.ask(move |it| it.write(|store| store.rename(id, &name)), answer);
    }

    /// Notes that a session has another name, as [`Keeper::rename`] for who does not wait.
    pub fn renamed(&self, id: SessionId, name: String) {
        self.send(Command::Note(Note::Renamed(id, name)));
    }

    /// Removes a session; answers whether there was one.
    pub fn forget(&self, id: SessionId, answer: impl Answer<bool>) {
        self.ask(move |it| it.write(|store| store.forget(id)), answer);
    }

    /// Forgets the ended sessions that are past a bound; answers which.
    pub fn retain(&self, keep: Retention, now_ms: u64, answer: impl Answer<Vec<SessionId>>) {
        self.ask(move |it| it.write(|store| store.retain(keep, now_ms)), answer);
    }

    /// Adds an entry to the audit trail.
    pub fn audit(&self, entry: AuditEntry) {
        self.send(Command::Note(Note::Audit(entry.shortened())));
    }

    /// Reads the latest `last` entries of the audit trail, oldest first.
    pub fn audit_tail(&self, last: u64, answer: impl Answer<Vec<AuditEntry>>) {
        self.ask(move |it| it.read(|store| store.audit_tail(last)), answer);
    }

    /// Does what was asked so far, closes the file and says how it was left.
    #[must_use = "notes may still be pending"]
    pub fn close(mut self) -> Health {
        self.finish();
        self.health()
    }

    fn finish(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }

    fn ask<T: 'static>(
        &self,
        work: impl FnOnce(&mut Worker) -> Result<T, StoreError> + Send + 'static,
        answer: impl Answer<T>,
    ) {
        self.send(Command::Ask(Box::new(move |worker| answer(worker.and_then(work)))));
    }

    fn send(&self, command: Command) {
        let Some(sender) = &self.sender else { return self.refuse(command, StoreError::Closed) };
        match sender.try_send(command) {
            Ok(()) => {}
            Err(TrySendError::Full(command)) => self.refuse(command, StoreError::Overloaded),
            Err(TrySendError::Disconnected(command)) => self.refuse(command, StoreError::Closed),
        }
    }

    /// Answers on the caller's thread, for the other one did not take it.
    fn refuse(&self, command: Command, error: StoreError) {
        match command {
            Command::Ask(ask) => ask(Err(error)),
            Command::Note(_) => {
                self.health.lock().unwrap_or_else(PoisonError::into_inner).dropped += 1;
            }
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.finish();
    }
}

/// What is called, once, with the answer: mostly on the store's thread, so it must not block.
pub trait Answer<T>: FnOnce(Result<T, StoreError>) + Send + 'static {}

impl<T, F: FnOnce(Result<T, StoreError>) + Send + 'static> Answer<T> for F {}
