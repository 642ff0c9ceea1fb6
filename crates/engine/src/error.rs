//! Why the engine could not do what was asked.

use std::io;
use std::sync::Arc;

use greenroom_model::SessionId;
use greenroom_proto::Stage;
use greenroom_pty::GroupError;
use rustix::io::Errno;

use crate::archive::ArchiveError;
use crate::matcher::PatternError;
use crate::redact::Excerpt;

/// Why the engine could not do what was asked.
///
/// Branch on [`Error::kind`], show the text: the text may change, the kinds are a contract.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing by that name is running or remembered.
    #[error("no session `{0}`")]
    NoSession(String),
    /// Several sessions answer to that name.
    #[error("`{selector}` could be any of {}", list(.ids))]
    Ambiguous {
        /// What was asked for.
        selector: String,
        /// Whom it fits.
        ids: Vec<SessionId>,
    },
    /// The child has ended; its last screen can still be read.
    #[error("session `{0}` has ended")]
    Ended(SessionId),
    /// The session runs, and what was asked is for those that have ended.
    #[error("session `{0}` is running")]
    Running(SessionId),
    /// The name was to be one session's alone, and another that runs has it.
    #[error("session `{id}`, which is running, is called `{name}` already")]
    NameTaken {
        /// The name.
        name: String,
        /// Who has it.
        id: SessionId,
    },
    /// The holder is gone, and the session with it.
    #[error("session `{0}` was lost: its holder is gone")]
    Lost(SessionId),
    /// The time is over.
    #[error("timed out")]
    Timeout {
        /// What the screen showed then, one line a row.
        screen: Arc<str>,
        /// The same as the program wrote it.
        contents: Excerpt,
    },
    /// The caller may not do that.
    #[error("not allowed: this connection may not {0}")]
    Denied(&'static str),
    /// The program has not read what was typed before, and the queue is full.
    #[error(
        "the program in session `{0}` has not read what was typed before, and no more can wait"
    )]
    InputFull(SessionId),
    /// The terminal takes nothing any more.
    #[error("what was typed did not reach the program: {}", reason(.0))]
    Typing(#[source] io::Error),
    /// A bound would be passed.
    #[error("too many {what}: at most {most}")]
    Limit {
        /// Of what.
        what: &'static str,
        /// The bound.
        most: usize,
    },
    /// A value makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// A pattern does not parse.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The child could not be started.
    #[error("cannot {}: {}", doing(.stage, .what), reason(.error))]
    Spawn {
        /// What was being done.
        stage: Stage,
        /// The program or folder.
        what: String,
        /// What the system said.
        error: io::Error,
    },
    /// What the session may use cannot be limited.
    #[error("cannot limit what the session may use: {0}")]
    Limits(#[from] GroupError),
    /// No holder could be started.
    #[error("cannot start the holder `{program}`: {error}")]
    Holder {
        /// Its program.
        program: String,
        /// What the system said.
        error: io::Error,
    },
    /// The archive could not be read or written.
    #[error("the archive of sessions: {0}")]
    Archive(#[from] ArchiveError),
    /// The daemon is ending.
    #[error("the daemon is stopping")]
    Stopping,
}

/// What kind of failure it was: the contract doors map to their codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// No such session.
    NotFound,
    /// More than one.
    Ambiguous,
    /// It has ended.
    Ended,
    /// Its holder is gone.
    Lost,
    /// Too late.
    Timeout,
    /// Not allowed.
    Denied,
    /// Something is in use that is needed: try again later, or with something else.
    Busy,
    /// A bound was met.
    Limit,
    /// The request makes no sense.
    Invalid,
    /// The program could not be started.
    Spawn,
    /// The disk.
    Storage,
    /// The daemon.
    Internal,
}

impl Error {
    /// What kind of failure it was.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::NoSession(_) => ErrorKind::NotFound,
            Error::Ambiguous { .. } => ErrorKind::Ambiguous,
            // A terminal does that when its program is gone.
            Error::Ended(_) | Error::Typing(_) => ErrorKind::Ended,
            Error::Lost(_) => ErrorKind::Lost,
            Error::Timeout { .. } => ErrorKind::Timeout,
            Error::Denied(_) => ErrorKind::Denied,
            // Nothing is wrong with the request: it is what runs that is in the way.
            Error::InputFull(_) | Error::NameTaken { .. } | Error::Running(_) => ErrorKind::Busy,
            Error::Limit { .. } => ErrorKind::Limit,
            Error::Invalid(_) | Error::Pattern(_) => ErrorKind::Invalid,
            Error::Spawn { .. } | Error::Limits(_) => ErrorKind::Spawn,
            Error::Archive(_) => ErrorKind::Storage,
            Error::Holder { .. } | Error::Stopping => ErrorKind::Internal,
        }
    }

    /// What to do next, if there is something.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::NoSession(_) => Some("`greenroom ls -a` shows every session"),
            Error::Ambiguous { .. } => Some("name one by its number"),
            Error::Ended(_) => Some("its screen can still be read with `greenroom read`"),
            Error::Running(_) => Some("end it with `greenroom kill` first"),
            Error::NameTaken { .. } => {
                Some("attach to that one with `greenroom attach`, or choose another name")
            }
            Error::InputFull(_) => Some("wait until it reads, or press ctrl+c in it"),
            Error::Typing(_) => Some("its program may be ending"),
            Error::Spawn { stage: Stage::Program, error, .. } | Error::Holder { error, .. }
                if is_out_of_something(error) =>
            {
                Some("the system is out of processes, memory or files: end something first")
            }
            Error::Spawn { stage: Stage::Terminal, .. } => {
                Some("the system may be out of terminals")
            }
            Error::Spawn { stage: Stage::Program, error, .. } => Some(program_hint(error)),
            Error::Spawn { stage: Stage::Cwd, error, .. } => Some(folder_hint(error)),
            Error::Limits(error) => Some(error.hint()),
            Error::Holder { .. } => Some("`greenroom doctor` says what is missing"),
            Error::Archive(_) => Some("make room on the disk of the state folder"),
            Error::Lost(_)
            | Error::Timeout { .. }
            | Error::Denied(_)
            | Error::Limit { .. }
            | Error::Invalid(_)
            | Error::Pattern(_)
            | Error::Spawn { .. }
            | Error::Stopping => None,
        }
    }
}

/// What to do about a program that does not start.
fn program_hint(error: &io::Error) -> &'static str {
    match Errno::from_io_error(error) {
        Some(Errno::ACCESS) => "it is there and may not be run: is it a program, and executable?",
        Some(Errno::NOEXEC) => "it is no program of this system; a script begins with `#!`",
        _ => "is it installed, and in PATH?",
    }
}

/// What to do about a folder that cannot be entered.
fn folder_hint(error: &io::Error) -> &'static str {
    match Errno::from_io_error(error) {
        Some(Errno::ACCESS) => "it is not yours to enter: name another folder",
        _ => "name a folder that exists",
    }
}

/// Whether it may well work another time.
fn is_out_of_something(error: &io::Error) -> bool {
    let out = [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE, Errno::NOBUFS];
    Errno::from_io_error(error).is_some_and(|error| out.contains(&error))
}

fn list(ids: &[SessionId]) -> String {
    let ids: Vec<String> = ids.iter().map(SessionId::to_string).collect();
    ids.join(", ")
}

fn doing(stage: &Stage, what: &str) -> String {
    match stage {
        Stage::Terminal => "open a terminal".to_owned(),
        Stage::Cwd => format!("enter the folder `{what}`"),
        Stage::Program => format!("start `{what}`"),
        Stage::Socket => "listen for the daemon".to_owned(),
        Stage::Group => "enter the control group".to_owned(),
    }
}

/// The system's words without the number behind them.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_lowercase(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hint for a session that could not be made because of this.
    fn hint(stage: Stage, errno: Errno) -> &'static str {
        let error = io::Error::from_raw_os_error(errno.raw_os_error());
        Error::Spawn { stage, what: "x".to_owned(), error }.hint().unwrap()
    }

    #[test]
    fn hints_are_about_what_is_wrong() {
        assert!(hint(Stage::Program, Errno::NOENT).contains("installed"));
        assert!(hint(Stage::Program, Errno::ACCESS).contains("executable"));
        assert!(hint(Stage::Program, Errno::NOEXEC).contains("#!"));
        assert!(hint(Stage::Program, Errno::AGAIN).contains("out of"));
        assert!(hint(Stage::Cwd, Errno::NOENT).contains("exists"));
        assert!(hint(Stage::Cwd, Errno::ACCESS).contains("not yours"));
    }
}
