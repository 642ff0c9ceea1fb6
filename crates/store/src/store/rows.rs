//! How records become rows and rows records again.
//!
//! SQLite counts in 64 bits with a sign: times and offsets past 2^63 - 1 are kept as that.

use greenroom_model::{ExitStatus, Offset, SessionId, Size};
use rusqlite::types::Type;
use rusqlite::{Error, Row, ToSql};

use crate::{End, Ended, Session};

/// The columns in the order in which [`session`] and [`ended`] read them.
pub(super) const COLUMNS: &str = "id, uuid, name, created_ms, attached_ms, cwd, command, cols, \
     rows, title, offset, ended_ms, end_kind, end_number, end_reason, resizes, notes";

/// The session in a row of [`COLUMNS`].
pub(super) fn session(row: &Row<'_>) -> rusqlite::Result<Session> {
    Ok(Session {
        id: SessionId(count(row, 0)?),
        uuid: row.get(1)?,
        name: row.get(2)?,
        created_ms: count(row, 3)?,
        attached_ms: count(row, 4)?,
        cwd: row.get(5)?,
        command: words(&row.get::<_, Vec<u8>>(6)?),
        size: Size::clamped(row.get(7)?, row.get(8)?),
        title: row.get(9)?,
        offset: Offset(count(row, 10)?),
        resizes: count(row, 15)?,
        notes: notes(&row.get::<_, Vec<u8>>(16)?),
    })
}

/// The ended session in a row of [`COLUMNS`].
pub(super) fn ended(row: &Row<'_>) -> rusqlite::Result<Ended> {
    let kind: String = row.get(12)?;
    let end = match kind.as_str() {
        "code" => End::Exited(ExitStatus::Code(row.get(13)?)),
        "signal" => End::Exited(ExitStatus::Signal(row.get(13)?)),
        "lost" => End::Lost(row.get(14)?),
        _ => return Err(Error::InvalidColumnType(12, "end_kind".to_owned(), Type::Text)),
    };
    Ok(Ended { session: session(row)?, ended_ms: count(row, 11)?, end })
}

/// What is bound to the columns of an end.
pub(super) struct EndColumns<'a> {
    pub(super) kind: &'static str,
    pub(super) number: Option<i32>,
    pub(super) reason: Option<&'a str>,
}

/// An end as its three columns.
pub(super) fn end_columns(end: &End) -> EndColumns<'_> {
    match end {
        End::Exited(ExitStatus::Code(code)) => {
            EndColumns { kind: "code", number: Some(*code), reason: None }
        }
        End::Exited(ExitStatus::Signal(signal)) => {
            EndColumns { kind: "signal", number: Some(*signal), reason: None }
        }
        End::Lost(reason) => EndColumns { kind: "lost", number: None, reason: Some(reason) },
    }
}

/// A command as one blob, a NUL after each word. A word with a NUL inside could not have been
/// started, so one that has it shows a replacement instead of becoming two.
pub(super) fn blob<'a>(words: impl IntoIterator<Item = &'a String>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in words {
        bytes.extend_from_slice(word.replace('\0', "\u{fffd}").as_bytes());
        bytes.push(0);
    }
    bytes
}

/// The words in a blob.
pub(super) fn words(blob: &[u8]) -> Vec<String> {
    let word = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    blob.split_inclusive(|byte| *byte == 0)
        .map(|it| word(it.strip_suffix(&[0]).unwrap_or(it)))
        .collect()
}

/// Notes as one blob: names and values in turn.
pub(super) fn note_blob(notes: &[(String, String)]) -> Vec<u8> {
    blob(notes.iter().flat_map(|(name, value)| [name, value]))
}

/// The notes in a blob.
fn notes(blob: &[u8]) -> Vec<(String, String)> {
    let words = words(blob);
    words.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

/// A time or an offset as SQLite stores it.
pub(super) fn amount(value: u64) -> impl ToSql {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A time, an offset or a number as we count it.
pub(super) fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|_| Error::IntegralValueOutOfRange(column, value))
}
