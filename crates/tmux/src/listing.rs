//! What tmux tells of its sessions, asked for and read.
//!
//! A path can have any character in it, and tmux prints control characters in ways that differ
//! between versions. So fields are kept apart by a printable mark that is new for every question
//! and cannot be guessed.

use std::ffi::OsString;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use greenroom_model::Size;

/// What is asked for, in the order of [`record`].
const FIELDS: [&str; FIELD_COUNT] = [
    "#{session_id}",
    "#{session_name}",
    "#{session_created}",
    "#{session_last_attached}",
    "#{session_attached}",
    // A pane may be kept when its program is gone; the number may be anybody's then.
    "#{?pane_dead,,#{pane_pid}}",
    "#{window_width}",
    "#{window_height}",
    "#{pane_current_path}",
    "#{pane_current_command}",
    "#{pane_start_command}",
];
const FIELD_COUNT: usize = 11;

/// A session of tmux. What is said of a window and a pane is of the active ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// tmux's own number for it (`$3`), never given again while the server runs.
    pub id: String,
    /// Its name, which no other session of the server has.
    pub name: String,
    /// When it was made, in milliseconds since 1970; tmux counts in seconds.
    pub created_ms: u64,
    /// When a client was last attached, likewise; none if never.
    pub last_attached_ms: Option<u64>,
    /// How many clients are attached.
    pub attached: usize,
    /// The folder the program in its pane is in; empty if tmux does not know.
    pub cwd: PathBuf,
    /// The program in the foreground of its pane, such as `vim`.
    pub command: String,
    /// What its pane was started with, as tmux writes it; empty if with the user's shell.
    pub start_command: String,
    /// The process its pane was started with; none if that has ended.
    pub pid: Option<u32>,
    /// The size of its window.
    pub size: Size,
}

/// A question about sessions, and how to read its answer.
pub(crate) struct Question {
    between: String,
    end: String,
}

impl Question {
    pub(crate) fn new() -> Question {
        let mark = || RandomState::new().build_hasher().finish();
        let number = u128::from(mark()) << 64 | u128::from(mark());
        Question { between: format!(":{number:032x}:"), end: format!(".{number:032x}.") }
    }

    /// The format that makes tmux answer it.
    pub(crate) fn format(&self) -> String {
        FIELDS.join(&self.between) + &self.end
    }

    /// The sessions in an answer; none if it is no answer.
    pub(crate) fn read(&self, answer: &[u8]) -> Option<Vec<Session>> {
        let mut sessions = Vec::new();
        let mut rest = answer;
        while !rest.is_empty() {
            let (told, after) = split_at(rest, self.end.as_bytes())?;
            sessions.push(self.record(told)?);
            rest = after.strip_prefix(b"\n")?;
        }
        Some(sessions)
    }

    fn record(&self, told: &[u8]) -> Option<Session> {
        let mut fields = Vec::with_capacity(FIELD_COUNT);
        let mut rest = told;
        while let Some((field, after)) = split_at(rest, self.between.as_bytes()) {
            fields.push(field);
            rest = after;
        }
        fields.push(rest);
        record(&fields.try_into().ok()?)
    }
}

fn record(fields: &[&[u8]; FIELD_COUNT]) -> Option<Session> {
    let [id, name, created, last_attached, attached, pid, cols, rows, cwd, command, start] = fields;
    let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
    let id = text(id);
    if !id.strip_prefix('$')?.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(Session {
        id,
        name: text(name),
        created_ms: number(created)?.checked_mul(1000)?,
        last_attached_ms: number(last_attached).and_then(|seconds| seconds.checked_mul(1000)),
        attached: usize::try_from(number(attached)?).ok()?,
        cwd: PathBuf::from(OsString::from_vec(cwd.to_vec())),
        command: text(command),
        start_command: text(start),
        pid: number(pid).and_then(|pid| u32::try_from(pid).ok()),
        // tmux's bound is 10,000 either way, more than ours.
        size: Size::clamped(side(cols)?, side(rows)?),
    })
}

fn number(field: &[u8]) -> Option<u64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

fn side(field: &[u8]) -> Option<u16> {
    number(field)?.try_into().ok()
}

fn split_at<'a>(bytes: &'a [u8], mark: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = bytes.windows(mark.len()).position(|it| it == mark)?;
    Some((&bytes[..at], &bytes[at + mark.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(question: &Question, fields: [&str; FIELD_COUNT]) -> Vec<u8> {
        format!("{}{}\n", fields.join(&question.between), question.end).into_bytes()
    }

    const PLAIN: [&str; FIELD_COUNT] =
        ["$1", "a", "10", "", "0", "", "80", "24", "/x\n$2:y", "sh", ""];

    #[test]
    fn an_answer_is_read_whatever_is_in_a_path() {
        let question = Question::new();
        let mut both = answer(&question, PLAIN);
        let other = ["$2", "b", "11", "12", "3", "77", "5", "6", "/", "vim", "vim x"];
        both.extend(answer(&question, other));
        let [first, second] = question.read(&both).unwrap().try_into().unwrap();
        assert_eq!(first.cwd, PathBuf::from("/x\n$2:y"));
        assert_eq!((first.created_ms, first.last_attached_ms, first.pid), (10_000, None, None));
        assert_eq!((second.last_attached_ms, second.pid), (Some(12_000), Some(77)));
        assert_eq!((second.attached, second.size), (3, Size::clamped(5, 6)));
        assert_eq!(question.read(b"").unwrap(), []);
    }

    #[test]
    fn what_is_no_answer_is_not_taken_for_one() {
        let question = Question::new();
        let good = answer(&question, PLAIN);
        for cut in 1..good.len() {
            assert_eq!(question.read(&good[..cut]), None, "{cut}");
        }
        assert_eq!(question.read(b"hello\n"), None);
        for (field, text) in [(0, "1"), (0, "$x"), (2, ""), (4, "-1"), (6, "0x"), (7, "70000")] {
            let mut bad = PLAIN;
            bad[field] = text;
            assert_eq!(question.read(&answer(&question, bad)), None, "{field} {text}");
        }
        assert_eq!(Question::new().read(&good), None);
    }
}
