//! Asking a person, line by line. Only on a terminal: whoever calls has looked.

use std::io::{self, BufRead as _, Read as _, Write as _};

use crate::failure::{Failure, FailureKind, Result};

/// The longest answer: a terminal's own line has no more.
const MAX_ANSWER: u64 = 4096;

/// Asks and gives the answer without spaces around it; none at the end of the input.
pub(super) fn line(question: &str) -> Result<Option<String>> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(question.as_bytes())?;
    stdout.flush()?;
    let mut answer = String::new();
    let read = io::stdin().lock().take(MAX_ANSWER).read_line(&mut answer);
    match read.map_err(|error| Failure::system("reading the answer", &error))? {
        0 => Ok(None),
        _ => Ok(Some(answer.trim().to_owned())),
    }
}

/// Asks whether to do it: only a clear yes is one.
pub(super) fn yes(question: &str) -> Result<bool> {
    let answer = line(&format!("{question} [y/N] "))?;
    Ok(answer.is_some_and(|it| ["y", "yes"].iter().any(|yes| it.eq_ignore_ascii_case(yes))))
}

/// Somebody did not want to after all.
pub(super) fn nothing_chosen() -> Failure {
    Failure::new(FailureKind::System, "nothing was chosen")
}
