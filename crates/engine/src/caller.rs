//! Who asks, and what they may do.

use std::sync::Arc;

use crate::Error;

/// A connection's number, never used again while the daemon lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

/// What a connection may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights {
    /// Type into sessions, resize and signal them.
    pub write: bool,
    /// Make, end, rename and forget sessions.
    pub manage: bool,
}

impl Rights {
    /// Everything: the owner on their own socket.
    pub const ALL: Rights = Rights { write: true, manage: true };
    /// Looking only.
    pub const NONE: Rights = Rights { write: false, manage: false };
}

/// Who asks: a connection, as every verb gets it.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The connection.
    pub id: ClientId,
    /// What it may do.
    pub rights: Rights,
    /// How the audit trail names it.
    pub name: Arc<str>,
}

impl Caller {
    pub(crate) fn may_write(&self) -> Result<(), Error> {
        if self.rights.write { Ok(()) } else { Err(Error::Denied("type into sessions")) }
    }

    pub(crate) fn may_manage(&self) -> Result<(), Error> {
        if self.rights.manage { Ok(()) } else { Err(Error::Denied("manage sessions")) }
    }
}
