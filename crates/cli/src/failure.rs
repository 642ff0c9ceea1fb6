//! Why a verb failed: the text, the hint, and the code to exit with.

use std::fmt;
use std::io;

use greenroom_client::{Error, ErrorKind};
use serde_json::{Value, json};

use crate::plain::plain;

/// What verbs give.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// A code to exit with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exit(pub(crate) u8);

impl Exit {
    /// All went well.
    pub(crate) const OK: Exit = Exit(0);
    /// Something did not.
    pub(crate) const FAILED: Exit = Exit(1);
}

/// Why a verb failed.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    kind: FailureKind,
    message: String,
    hint: Option<String>,
    /// What more there is for programs, such as the screen of a wait that timed out.
    data: Value,
    /// The daemon was gone before it answered.
    lost: bool,
}

/// What kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The daemon's, or the way there.
    Daemon(ErrorKind),
    /// The arguments make no sense together.
    Usage,
    /// The system said no: a file, the terminal.
    System,
    /// Whoever read the output has seen enough: nothing failed, and nothing is said.
    Quiet,
}

impl FailureKind {
    /// The code to exit with (DESIGN §6). No `_` arm: a new kind is decided here.
    pub(crate) fn exit(self) -> Exit {
        Exit(match self {
            FailureKind::Quiet => 0,
            FailureKind::System => 1,
            FailureKind::Usage => 2,
            FailureKind::Daemon(kind) => match kind {
                ErrorKind::NotFound | ErrorKind::Ambiguous => 3,
                ErrorKind::Timeout => 4,
                ErrorKind::Unreachable => 5,
                ErrorKind::Denied => 6,
                ErrorKind::Invalid => 2,
                ErrorKind::Ended
                | ErrorKind::Busy
                | ErrorKind::Limit
                | ErrorKind::Lost
                | ErrorKind::Spawn
                | ErrorKind::Storage
                | ErrorKind::Internal
                | ErrorKind::Protocol => 1,
            },
        })
    }

    /// Its name in `--json`.
    fn name(self) -> &'static str {
        match self {
            FailureKind::Daemon(kind) => kind.name(),
            FailureKind::Usage => "usage",
            FailureKind::System => "system",
            FailureKind::Quiet => "quiet",
        }
    }
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Failure {
        Failure { kind, message: message.into(), hint: None, data: Value::Null, lost: false }
    }

    /// The arguments make no sense.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Usage, message)
    }

    /// The system said no while that was done.
    pub(crate) fn system(doing: &str, error: &dyn fmt::Display) -> Failure {
        Failure::new(FailureKind::System, format!("{doing}: {error}"))
    }

    /// Says what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// With its text as something that hides secrets leaves it.
    pub(crate) fn redacted(mut self, redact: impl Fn(&str) -> String) -> Failure {
        self.message = redact(&self.message);
        self
    }

    pub(crate) fn kind(&self) -> FailureKind {
        self.kind
    }

    /// Whether the daemon was gone before it answered: the next one may.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    pub(crate) fn exit(&self) -> Exit {
        self.kind.exit()
    }

    /// What went wrong, fit to be shown.
    pub(crate) fn message(&self) -> String {
        plain(&self.message)
    }

    /// What a person is told.
    pub(crate) fn for_people(&self) -> String {
        // The text may quote names that programs chose.
        let mut text = format!("error: {}\n", self.message());
        if let Some(hint) = &self.hint {
            text.push_str(&format!("hint: {}\n", plain(hint)));
        }
        text
    }

    /// What a program is told.
    pub(crate) fn for_programs(&self) -> Value {
        let mut error = json!({"kind": self.kind.name(), "message": self.message});
        if let Some(hint) = &self.hint {
            error["hint"] = hint.as_str().into();
        }
        if !self.data.is_null() {
            error["data"] = self.data.clone();
        }
        json!({"error": error})
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let data = match &error {
            Error::Refused(refusal) => refusal.data.clone(),
            _ => Value::Null,
        };
        let hint = error.hint().or_else(|| usual_hint(error.kind()).map(str::to_owned));
        let (kind, lost) = (FailureKind::Daemon(error.kind()), matches!(error, Error::Lost(_)));
        Failure { kind, message: error.to_string(), hint, data, lost }
    }
}

/// What to do about a daemon's no that came without a hint.
fn usual_hint(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::NotFound => Some("`greenroom ls --all` lists what there is"),
        ErrorKind::Ambiguous => Some("use the number that `greenroom ls --all` shows"),
        ErrorKind::Ended => Some("its last screen can be read with `greenroom read`"),
        ErrorKind::Storage => Some("`greenroom doctor` looks at the disk"),
        ErrorKind::Internal => Some("`greenroom logs` may say why"),
        ErrorKind::Protocol => Some("`greenroom daemon restart` runs this version"),
        _ => None,
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::new(FailureKind::System, format!("{error:#}"))
    }
}

/// An error of writing output: the only I/O that verbs do without saying what for.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::new(FailureKind::Quiet, "nobody reads"),
            _ => Failure::system("writing the output", &error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_what_to_do_next() {
        let failure = Failure::usage("no\x1b[31m such thing").hint("try `ls`");
        assert_eq!(failure.for_people(), "error: no[31m such thing\nhint: try `ls`\n");
        let json = failure.for_programs();
        assert_eq!(json["error"]["kind"], "usage");
        assert_eq!(json["error"]["hint"], "try `ls`");
    }

    #[test]
    fn codes_are_those_of_the_contract() {
        let code = |kind| FailureKind::Daemon(kind).exit().0;
        assert_eq!(code(ErrorKind::NotFound), 3);
        assert_eq!(code(ErrorKind::Ambiguous), 3);
        assert_eq!(code(ErrorKind::Timeout), 4);
        assert_eq!(code(ErrorKind::Unreachable), 5);
        assert_eq!(code(ErrorKind::Denied), 6);
        assert_eq!(code(ErrorKind::Spawn), 1);
        assert_eq!(FailureKind::Usage.exit(), Exit(2));
    }

    #[test]
    fn a_reader_that_has_seen_enough_is_no_failure() {
        let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!(failure.exit(), Exit::OK);
    }
}
