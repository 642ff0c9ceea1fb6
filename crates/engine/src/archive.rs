//! What must outlive the daemon, as the engine asks for it. The program supplies it.

use greenroom_model::{Offset, SessionId, Size};

use crate::{End, Info};

/// Takes the answer of the archive, on whatever thread it comes.
pub type Done<T> = Box<dyn FnOnce(Result<T, ArchiveError>) + Send>;

/// Why the archive could not do it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// No space is left.
    #[error("the disk is full")]
    Full,
    /// Something else.
    #[error("{0}")]
    Other(String),
}

/// A session that runs, as the archive remembers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LivingRecord {
    /// Its number.
    pub id: SessionId,
    /// Its name over machines and time.
    pub uuid: [u8; 16],
    /// What people call it.
    pub name: String,
    /// When it was made.
    pub created_ms: u64,
    /// The folder it was started in.
    pub cwd: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Its size.
    pub size: Size,
    /// How often that changed.
    pub resizes: u64,
    /// What its maker wanted to be remembered with it, by name.
    pub notes: Vec<(String, String)>,
}

/// A session that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedRecord {
    /// Who it was.
    pub living: LivingRecord,
    /// When somebody attached last.
    pub attached_ms: u64,
    /// Its last title.
    pub title: String,
    /// When it ended.
    pub ended_ms: u64,
    /// How.
    pub end: End,
    /// How much it printed.
    pub offset: Offset,
    /// Its screen and history; none if they were lost.
    pub checkpoint: Option<Vec<u8>>,
}

/// Something somebody did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Who.
    pub who: String,
    /// What.
    pub what: &'static str,
    /// To which session.
    pub session: Option<SessionId>,
    /// Whether it was allowed.
    pub allowed: bool,
}

/// What must outlive the daemon. No call waits: answers come through [`Done`].
pub trait Archive: Send + Sync {
    /// Remembers that a session runs.
    fn created(&self, record: LivingRecord);
    /// Remembers another name.
    fn renamed(&self, id: SessionId, name: String);
    /// Keeps an ended session. Until it is kept, its holder stays.
    fn ended(&self, record: EndedRecord, done: Done<()>);
    /// The screen of an ended session.
    fn checkpoint(&self, id: SessionId, done: Done<Option<Vec<u8>>>);
    /// Forgets an ended session.
    fn forget(&self, id: SessionId, done: Done<()>);
    /// Remembers who did what.
    fn audit(&self, entry: AuditEntry);
}

impl LivingRecord {
    pub(crate) fn of(info: &Info) -> LivingRecord {
        LivingRecord {
            id: info.id,
            uuid: info.uuid,
            name: info.name.clone(),
            created_ms: info.created_ms,
            cwd: info.cwd.clone(),
            command: info.command.clone(),
            size: info.size,
            resizes: info.resizes,
            notes: info.notes.clone(),
        }
    }
}

impl EndedRecord {
    /// As the list shows it.
    #[must_use]
    pub fn info(&self) -> Info {
        let living = &self.living;
        Info {
            id: living.id,
            uuid: living.uuid,
            name: living.name.clone(),
            created_ms: living.created_ms,
            attached_ms: self.attached_ms,
            cwd: living.cwd.clone(),
            command: living.command.clone(),
            size: living.size,
            title: self.title.clone(),
            state: crate::State::Ended(self.end, self.ended_ms),
            offset: self.offset,
            resizes: living.resizes,
            alternate: false,
            pid: 0,
            holder_pid: 0,
            viewers: Vec::new(),
            notes: living.notes.clone(),
        }
    }
}
