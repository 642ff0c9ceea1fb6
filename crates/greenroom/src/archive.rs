//! The store as the engine's archive: the same records in two languages.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use greenroom_door_carryon as native;
use greenroom_engine as engine;
use greenroom_engine::{Archive, ArchiveError, AuditEntry, Done, EndedRecord, LivingRecord};
use greenroom_model::{Offset, SessionId};
use greenroom_store::{self as store, Keeper, Kind, StoreError};

use crate::calendar::Calendar;

/// The store, behind its thread.
pub(crate) struct Stored {
    pub(crate) keeper: Arc<Keeper>,
    pub(crate) calendar: Calendar,
}

impl Archive for Stored {
    fn created(&self, record: LivingRecord) {
        self.keeper.alive(session(record));
    }

    fn renamed(&self, id: SessionId, name: String) {
        self.keeper.renamed(id, name);
    }

    fn ended(&self, record: EndedRecord, done: Done<()>) {
        let EndedRecord { living, attached_ms, title, ended_ms, end, offset, checkpoint } = record;
        let session = store::Session { attached_ms, title, offset, ..session(living) };
        let end = match end {
            engine::End::Exited(status) => store::End::Exited(status),
            engine::End::Lost => store::End::Lost("the holder is gone".to_owned()),
        };
        let ended = store::Ended { session, ended_ms: self.calendar.date(ended_ms), end };
        self.keeper.ended(ended, checkpoint, |result| done(result.map_err(failure)));
    }

    fn checkpoint(&self, id: SessionId, done: Done<Option<Vec<u8>>>) {
        self.keeper.checkpoint_of(id, |result| done(result.map_err(failure)));
    }

    fn forget(&self, id: SessionId, done: Done<()>) {
        self.keeper.forget(id, |result| done(result.map(drop).map_err(failure)));
    }

    fn audit(&self, entry: AuditEntry) {
        self.keeper.audit(store::AuditEntry {
            at_ms: now_ms(),
            who: entry.who,
            what: entry.what.to_owned(),
            session: entry.session,
            allowed: entry.allowed,
            detail: String::new(),
        });
    }
}

fn session(record: LivingRecord) -> store::Session {
    let LivingRecord { id, uuid, name, created_ms, cwd, command, size, resizes, notes } = record;
    store::Session {
        id,
        uuid,
        name,
        created_ms,
        attached_ms: 0,
        cwd,
        command,
        size,
        title: String::new(),
        offset: Offset::START,
        resizes,
        notes,
    }
}

/// A stored session as the engine remembers it.
pub(crate) fn ended(ended: store::Ended) -> EndedRecord {
    let store::Ended { session, ended_ms, end } = ended;
    let end = match end {
        store::End::Exited(status) => engine::End::Exited(status),
        store::End::Lost(_) => engine::End::Lost,
    };
    EndedRecord {
        attached_ms: session.attached_ms,
        title: session.title.clone(),
        offset: session.offset,
        living: living(session),
        ended_ms,
        end,
        checkpoint: None,
    }
}

fn living(session: store::Session) -> LivingRecord {
    let store::Session { id, uuid, name, created_ms, cwd, command, size, resizes, notes, .. } =
        session;
    LivingRecord { id, uuid, name, created_ms, cwd, command, size, resizes, notes }
}

/// An entry of the audit trail as the native door shows it.
pub(crate) fn audited(entry: store::AuditEntry) -> native::AuditEntry {
    native::AuditEntry {
        timestamp_ms: entry.at_ms,
        who: entry.who,
        what: entry.what,
        session: entry.session.map(|id| id.0),
        allowed: entry.allowed,
    }
}

/// A session that ran when the last daemon ended, and whose holder is gone.
pub(crate) fn lost(session: store::Session) -> EndedRecord {
    let end = store::End::Lost("the holder is gone".to_owned());
    ended(store::Ended { session, ended_ms: now_ms(), end })
}

fn failure(error: StoreError) -> ArchiveError {
    match error.kind() {
        Kind::Full => ArchiveError::Full,
        _ => ArchiveError::Other(error.to_string()),
    }
}

pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
