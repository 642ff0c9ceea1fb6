//! What is wrong with a file, so that a person can mend it.

use std::fmt;
use std::io;

/// How much of a text from the file a problem repeats: enough to find it.
const SHOWN_MAX: usize = 60;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The line it is on, counted from one; none if it is the file as a whole.
    pub(crate) line: Option<usize>,
    /// The key it is about, if it is about one.
    pub(crate) key: Option<String>,
    /// What is wrong.
    pub(crate) message: String,
    /// What to do about it, if that is known.
    pub(crate) hint: Option<String>,
}

impl Problem {
    /// The file could not be read.
    pub(super) fn of_file(error: &io::Error) -> Problem {
        let message = format!("cannot read the configuration: {error}");
        Problem { line: None, key: None, message, hint: None }
    }

    /// Something on a line is no TOML.
    pub(super) fn of_syntax(line: usize, message: &str) -> Problem {
        // The parser's messages have several lines at times; the first says what is wrong.
        let message = message.lines().next().unwrap_or("this is not TOML").to_owned();
        Problem { line: Some(line), key: None, message, hint: None }
    }

    /// A key has a wrong value, or is wrong itself.
    pub(super) fn of_key(line: usize, key: &str, message: String) -> Problem {
        Problem { line: Some(line), key: Some(shown(key)), message, hint: None }
    }

    pub(super) fn with_hint(mut self, hint: String) -> Problem {
        self.hint = Some(hint);
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

/// The beginning of a text from the file, fit for a terminal.
pub(super) fn shown(text: &str) -> String {
    let start: String = text.chars().take(SHOWN_MAX).collect();
    let more = if start.len() < text.len() { "…" } else { "" };
    format!("{}{more}", start.escape_debug())
}
