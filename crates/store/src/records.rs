//! What the store keeps, in the words of the callers.

use greenroom_model::{ExitStatus, Offset, SessionId, Size};

/// A session as the store knows it, living or ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its number, never used again.
    pub id: SessionId,
    /// Its name over machines and time.
    pub uuid: [u8; 16],
    /// What people call it.
    pub name: String,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: u64,
    /// When somebody attached last; zero for never.
    pub attached_ms: u64,
    /// The folder it was last known to be in.
    pub cwd: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// How large its terminal was.
    pub size: Size,
    /// What the program called its window.
    pub title: String,
    /// How many bytes the child had written.
    pub offset: Offset,
    /// How often its size changed.
    pub resizes: u64,
    /// What its maker wanted to be remembered with it, by name.
    pub notes: Vec<(String, String)>,
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The child ended, and the holder told how.
    Exited(ExitStatus),
    /// The holder is gone without a word; this is what is known of the reason.
    Lost(String),
}

/// A session that has ended. Its screen is read with [`Store::checkpoint_of`](crate::Store).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// What it was at its end.
    pub session: Session,
    /// When it ended, in milliseconds since 1970.
    pub ended_ms: u64,
    /// How.
    pub end: End,
}

/// How much of the past is kept. Each bound holds on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// How long after its end a session is kept.
    pub max_age_ms: u64,
    /// How many ended sessions are kept.
    pub max_count: u64,
    /// How many bytes their checkpoints may take together.
    pub max_bytes: u64,
}

/// One line of the audit trail: who asked for what, and whether it was allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// Who asked.
    pub who: String,
    /// What was asked for.
    pub what: String,
    /// Which session it was about, if about one.
    pub session: Option<SessionId>,
    /// Whether it was allowed.
    pub allowed: bool,
    /// What else is worth knowing.
    pub detail: String,
}
