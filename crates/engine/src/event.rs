//! What happens: in a session, and in the house.

use bytes::Bytes;
use greenroom_model::{ExitStatus, Offset, SessionId, Size};
use greenroom_screen::{Mark, Progress};

use crate::{ClientId, Info};

/// How a session came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The child ended.
    Exited(ExitStatus),
    /// The holder vanished; what the child did is not known.
    Lost,
}

/// Why everything is drawn anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The subscription begins.
    Attached,
    /// The client was too slow: bytes before this were left out.
    Lagged,
    /// The session or the client's terminal has another size.
    Resized,
    /// The client's terminal is not of the session's size: this is a picture of a part, and what
    /// changes is drawn as pictures, too.
    Fitted,
}

/// What a subscriber of one session gets, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// What was printed. For a terminal what must not reach it is taken out.
    Output {
        /// The offset after it.
        end: Offset,
        /// The bytes.
        bytes: Bytes,
    },
    /// Bytes that bring a terminal in any state to the screen at an offset.
    Redraw {
        /// Where output goes on.
        at: Offset,
        /// What made it necessary.
        why: Why,
        /// The bytes.
        bytes: Bytes,
    },
    /// The title changed.
    Title(String),
    /// The working folder changed.
    Cwd(String),
    /// A bell rang, once or more in this turn.
    Bell,
    /// A shell marked a place.
    Mark(Mark),
    /// The program wants attention.
    Notification {
        /// A heading, which may be empty.
        title: String,
        /// The text.
        body: String,
    },
    /// How far a task is.
    Progress(Progress),
    /// The session has another size.
    Resized(Size),
    /// How much of what a [`Counted`](crate::Counted) client typed the terminal took, in all; nothing if that
    /// is not known, and will not be.
    Taken(Option<u64>),
    /// It ended; nothing follows.
    Ended(End),
}

/// What everybody in the house may want to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HouseEvent {
    /// A session was made.
    Created(SessionId),
    /// It has another name.
    Renamed {
        /// Which.
        id: SessionId,
        /// What it was called.
        old: String,
        /// What it is called.
        new: String,
    },
    /// A client attached.
    Attached(SessionId, ClientId),
    /// A client left.
    Detached(SessionId, ClientId),
    /// It has another size.
    Resized(SessionId, Size),
    /// It has another title.
    Title(SessionId, String),
    /// A bell rang.
    Bell(SessionId),
    /// It ended.
    Ended(SessionId, End),
    /// It was forgotten; nothing else can be said of it any more.
    Forgotten(Box<Info>),
}
