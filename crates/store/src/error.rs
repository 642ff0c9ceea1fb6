//! Why the store could not do what was asked, and how SQLite's codes become our kinds.

use std::error::Error;
use std::io;
use std::path::Path;

use greenroom_model::SessionId;
use rusqlite::ErrorCode;

/// What lies below an error, for people.
type Cause = Box<dyn Error + Send + Sync>;

/// Below this many free bytes a failed read or write is blamed on the full disk. SQLite reports
/// some of them as plain I/O errors; one page of ours and the file system's own round-up fit.
const NO_ROOM_BYTES: u64 = 64 * 1024;

/// Why the store could not do what was asked.
///
/// Branch on [`StoreError::kind`], show the text: the text may change, the kinds are a contract.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no space left on the disk.
    #[error("no space left for the store")]
    Full(#[source] Cause),
    /// The file is damaged, or is not ours.
    #[error("the store is damaged")]
    Corrupt(#[source] Cause),
    /// A later release wrote the file.
    #[error("the store has version `{found}`, this program knows up to `{known}`")]
    Newer {
        /// The version in the file.
        found: i64,
        /// The last one we can read.
        known: i64,
    },
    /// Another process uses the file.
    #[error("another process uses the store")]
    Busy(#[source] Cause),
    /// The disk or the file system refused.
    #[error("cannot read or write the store")]
    Io(#[source] Cause),
    /// The number belongs to a session with another UUID.
    #[error("number `{0}` belongs to another session")]
    Taken(SessionId),
    /// SQLite counts to 2^63 - 1, so this cannot be a session's number.
    #[error("`{0}` cannot be the number of a session")]
    OutOfRange(u64),
    /// More requests wait than the keeper takes.
    #[error("too many requests to the store are waiting")]
    Overloaded,
    /// The keeper's thread has ended.
    #[error("the store is closed")]
    Closed,
}

/// What a caller can do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Try again when there is room.
    Full,
    /// Set the file aside, or report it: trying again does not help.
    Corrupt,
    /// Use a later release.
    Newer,
    /// Try again soon.
    Busy,
    /// Report it; it may pass.
    Io,
    /// The request was wrong.
    Refused,
}

impl Kind {
    /// Whether the same call may succeed later.
    #[must_use]
    pub fn passes(self) -> bool {
        matches!(self, Kind::Full | Kind::Busy | Kind::Io)
    }
}

impl StoreError {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            StoreError::Full(_) => Kind::Full,
            StoreError::Corrupt(_) => Kind::Corrupt,
            StoreError::Newer { .. } => Kind::Newer,
            StoreError::Busy(_) | StoreError::Overloaded => Kind::Busy,
            StoreError::Io(_) | StoreError::Closed => Kind::Io,
            StoreError::Taken(_) | StoreError::OutOfRange(_) => Kind::Refused,
        }
    }

    /// What to do next, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self.kind() {
            Kind::Full => Some("free some space: what was not written is caught up with"),
            Kind::Corrupt => Some("restart the daemon: it sets the file aside and starts afresh"),
            Kind::Newer => Some("use the later release, or another GREENROOM_HOME"),
            Kind::Busy => Some("another daemon may be closing: try again"),
            Kind::Io | Kind::Refused => None,
        }
    }

    /// The text with that of every cause below it.
    #[must_use]
    pub fn full_text(&self) -> String {
        let mut text = self.to_string();
        let mut below = self.source();
        while let Some(cause) = below {
            text.push_str(": ");
            text.push_str(&cause.to_string());
            below = cause.source();
        }
        text
    }

    /// What SQLite said about the file at `path`, as one of ours.
    pub(crate) fn of_sqlite(error: rusqlite::Error, path: &Path) -> StoreError {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full(error.into()),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                StoreError::Busy(error.into())
            }
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::ReadOnly
                | ErrorCode::PermissionDenied
                | ErrorCode::OutOfMemory,
            ) => StoreError::full_or_io(error.into(), path),
            // What is left means that the file does not have our tables, or not our values in them.
            _ => StoreError::Corrupt(error.into()),
        }
    }

    /// What the file system said about `path`, as one of ours.
    pub(crate) fn of_file(error: io::Error, path: &Path) -> StoreError {
        if error.kind() == io::ErrorKind::StorageFull {
            return StoreError::Full(error.into());
        }
        let text = format!("`{}`: {error}", path.display());
        StoreError::full_or_io(io::Error::new(error.kind(), text).into(), path)
    }

    fn full_or_io(cause: Cause, path: &Path) -> StoreError {
        let folder = path.parent().unwrap_or(path);
        let full = rustix::fs::statvfs(folder)
            .is_ok_and(|it| it.f_bavail.saturating_mul(it.f_frsize) < NO_ROOM_BYTES);
        if full { StoreError::Full(cause) } else { StoreError::Io(cause) }
    }
}
