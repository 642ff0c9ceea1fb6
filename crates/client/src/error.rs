//! Why the daemon could not be asked, or what it answered.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use greenroom_frame::binary::FrameError;
use greenroom_frame::rpc::{self, ErrorObject, ParseError};
use serde_json::Value;

use crate::connection::PROTOCOL;

/// Why the daemon could not do what was asked, or could not be asked.
///
/// Branch on [`Error::kind`], show the text and the [`Error::hint`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing answers at the socket.
    #[error("no daemon at `{}`: {source}", path.display())]
    Unreachable {
        /// The socket.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The socket or its folder may be somebody else's.
    #[error("not safe to connect to `{}`: {why}", path.display())]
    NotOurs {
        /// The socket or its folder.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The daemon did not start; the text is its own.
    #[error("the daemon did not start: {0}")]
    Start(String),
    /// What answers is not a daemon of ours.
    #[error("what answers there is not a greenroom daemon: {0}")]
    Stranger(String),
    /// The daemon speaks another version.
    #[error("the daemon speaks protocol {theirs} (greenroom {version}), this program {PROTOCOL}")]
    Version {
        /// The protocol it speaks.
        theirs: u64,
        /// Its own version.
        version: String,
    },
    /// The connection broke.
    #[error("lost the connection to the daemon: {0}")]
    Lost(String),
    /// The daemon did not answer in time.
    #[error("the daemon did not answer `{method}` within {} s", after.as_secs())]
    Silent {
        /// What was asked.
        method: String,
        /// How long it was waited.
        after: Duration,
    },
    /// The daemon sent something that is no frame.
    #[error("the daemon sent a broken frame: {0}")]
    Frame(#[from] FrameError),
    /// The daemon sent something that is no message.
    #[error("the daemon sent a broken message: {0}")]
    Message(#[from] ParseError),
    /// The daemon answered without something the contract promises.
    #[error("the answer to `{method}` has no `{field}`")]
    Answer {
        /// What was asked.
        method: &'static str,
        /// What is missing.
        field: &'static str,
    },
    /// Another machine cannot be reached, or cannot do what is needed.
    #[error("host `{host}`: {why}")]
    Machine {
        /// What the person calls it.
        host: String,
        /// What kind of error.
        kind: ErrorKind,
        /// What is wrong, in words of ours, of `ssh` or of the far program.
        why: String,
        /// What to do about it, if that is known.
        hint: Option<String>,
    },
    /// The daemon said no.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// A daemon's no, with its reasons.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What kind of no, for branching.
    pub kind: ErrorKind,
    /// The text for people.
    pub message: String,
    /// What to do next, if the daemon knows.
    pub hint: Option<String>,
    /// Everything else the daemon said with it: `screen` of a wait that timed out, for one.
    pub data: Value,
}

/// What kind of error: a contract, unlike the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Nothing by that name.
    NotFound,
    /// Several by that name.
    Ambiguous,
    /// The session has ended.
    Ended,
    /// The time is up.
    Timeout,
    /// Not allowed, or not safe.
    Denied,
    /// Somebody else is at it.
    Busy,
    /// The request makes no sense.
    Invalid,
    /// Past a bound.
    Limit,
    /// The session's holder is gone.
    Lost,
    /// The program could not be started.
    Spawn,
    /// The daemon cannot write its files.
    Storage,
    /// Something that should not happen.
    Internal,
    /// The daemon cannot be reached, or does not answer.
    Unreachable,
    /// Both sides do not speak the same language.
    Protocol,
}

impl ErrorKind {
    /// Its name, as on the wire and in `--json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::NotFound => "not_found",
            ErrorKind::Ambiguous => "ambiguous",
            ErrorKind::Ended => "ended",
            ErrorKind::Timeout => "timeout",
            ErrorKind::Denied => "denied",
            ErrorKind::Busy => "busy",
            ErrorKind::Invalid => "invalid",
            ErrorKind::Limit => "limit",
            ErrorKind::Lost => "lost",
            ErrorKind::Spawn => "spawn",
            ErrorKind::Storage => "storage",
            ErrorKind::Internal => "internal",
            ErrorKind::Unreachable => "unreachable",
            ErrorKind::Protocol => "protocol",
        }
    }

    /// The kind a daemon names, or the program of another machine; a name of a later version is [`ErrorKind::Internal`].
    pub(crate) fn from_wire(name: &str) -> ErrorKind {
        match name {
            "not_found" => ErrorKind::NotFound,
            "ambiguous" => ErrorKind::Ambiguous,
            "ended" => ErrorKind::Ended,
            "timeout" => ErrorKind::Timeout,
            "denied" => ErrorKind::Denied,
            "busy" => ErrorKind::Busy,
            "invalid" => ErrorKind::Invalid,
            "limit" => ErrorKind::Limit,
            "lost" => ErrorKind::Lost,
            "spawn" => ErrorKind::Spawn,
            "storage" => ErrorKind::Storage,
            "unreachable" => ErrorKind::Unreachable,
            "protocol" => ErrorKind::Protocol,
            _ => ErrorKind::Internal,
        }
    }
}

impl Error {
    /// What kind of error this is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Unreachable { .. } | Error::Start(_) | Error::Lost(_) | Error::Silent { .. } => {
                ErrorKind::Unreachable
            }
            Error::NotOurs { .. } => ErrorKind::Denied,
            Error::Stranger(_)
            | Error::Version { .. }
            | Error::Frame(_)
            | Error::Message(_)
            | Error::Answer { .. } => ErrorKind::Protocol,
            Error::Machine { kind, .. } => *kind,
            Error::Refused(refusal) => refusal.kind,
        }
    }

    /// What to do about it, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Error::Unreachable { .. } => "start it with `greenroom daemon start`",
            Error::NotOurs { .. } => "remove it, or set GREENROOM_HOME to a folder of your own",
            Error::Start(_) => "`greenroom doctor` looks for the cause",
            Error::Stranger(_) => "see which program has that socket open",
            Error::Version { .. } | Error::Answer { .. } => {
                "`greenroom daemon restart` runs this version; sessions live on"
            }
            Error::Lost(_) => "`greenroom logs` may say why",
            Error::Silent { .. } => "`greenroom daemon restart` starts a new one; sessions live on",
            Error::Frame(_) | Error::Message(_) => "`greenroom doctor` compares the versions",
            Error::Machine { hint, .. } => return hint.clone(),
            Error::Refused(refusal) => return refusal.hint.clone(),
        };
        Some(hint.to_owned())
    }
}

impl Refusal {
    /// Reads the error of a response.
    pub(crate) fn from_wire(error: ErrorObject) -> Refusal {
        let text = |key: &str| error.data.get(key).and_then(Value::as_str);
        let kind = match text("kind") {
            Some(name) => ErrorKind::from_wire(name),
            None if error.code == rpc::METHOD_NOT_FOUND => ErrorKind::Protocol,
            None => ErrorKind::Internal,
        };
        let hint = text("hint").map(str::to_owned);
        Refusal { kind, hint, message: error.message, data: error.data }
    }
}
