//! Where a session stood when something was typed, and what its echo looks like.
//!
//! A wait after a mark looks only at what was printed since, and not at the echo: the text typed,
//! as the terminal or the shell's line editor shows it again.

use greenroom_model::Offset;
use greenroom_screen::{Pos, Position, Screen, Wrap};

/// How many marks a session remembers; a wait asks for one of the last few.
const MAX_MARKS: usize = 64;

/// How much of what was typed is remembered. A longer echo is recognised by its beginning.
const MAX_TYPED: usize = 4096;

/// A moment at which something was typed.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    /// How much was printed before.
    pub(crate) offset: Offset,
    pos: Pos,
    position: Position,
    /// The lines typed, without controls.
    typed: Vec<String>,
}

/// The marks of a session, the newest last.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    marks: Vec<Mark>,
}

impl Mark {
    /// Everything there is counts as printed after it.
    pub(crate) fn beginning() -> Mark {
        let pos = Pos { row: 0, col: 0 };
        Mark { offset: Offset::START, pos, position: Position::default(), typed: Vec::new() }
    }

    /// Now, before `bytes` are typed.
    pub(crate) fn now(screen: &Screen, bytes: &[u8]) -> Mark {
        Mark {
            offset: screen.offset(),
            pos: screen.cursor_pos(),
            position: screen.position(),
            typed: typed_lines(bytes),
        }
    }

    /// What was printed since, without the echo.
    pub(crate) fn output(&self, screen: &Screen) -> String {
        let mut text = self.changed_above(screen);
        let end = Pos { row: screen.top_row() + u64::from(screen.size().rows()), col: 0 };
        let start = Pos { row: self.pos.row.max(screen.first_row()), ..self.pos };
        let printed = screen.text_between(start, end, Wrap::Joined);
        text.push_str(&without_echo(&printed, &self.typed));
        text
    }

    /// The rows got other numbers: all that is certain is what the screen shows.
    pub(crate) fn renumber(&mut self, screen: &Screen) {
        self.pos = Pos { row: screen.top_row(), col: 0 };
    }

    /// Goes on to what the screen shows: the rows above it were looked at and do not change.
    pub(crate) fn advance(&mut self, screen: &Screen) {
        if self.pos.row < screen.top_row() {
            self.pos = Pos { row: screen.top_row(), col: 0 };
        }
    }

    /// Rows above the mark that changed since: programs that draw the whole screen print there.
    fn changed_above(&self, screen: &Screen) -> String {
        let mut text = String::new();
        if self.pos.row <= screen.top_row() {
            return text;
        }
        for row in screen.diff(self.position).rows().filter(|row| row.number() < self.pos.row) {
            text.push_str(&row.text());
            text.push('\n');
        }
        text
    }
}

impl Marks {
    pub(crate) fn add(&mut self, mark: Mark) {
        // Keys typed one after the other before anything was printed are one line to the echo.
        if let Some(last) = self.marks.last_mut()
            && last.offset == mark.offset
        {
            extend_typed(&mut last.typed, mark.typed);
            return;
        }
        if self.marks.len() == MAX_MARKS {
            self.marks.remove(0);
        }
        self.marks.push(mark);
    }

    /// The mark a wait begins at: the last one, or the last not after an offset.
    pub(crate) fn find(&self, after: Option<Offset>) -> Mark {
        let found = match after {
            None => self.marks.last(),
            Some(offset) => self.marks.iter().rev().find(|mark| mark.offset <= offset),
        };
        found.cloned().unwrap_or_else(Mark::beginning)
    }

    /// The rows got other numbers: all that is certain is what the screen shows.
    pub(crate) fn renumber(&mut self, screen: &Screen) {
        for mark in &mut self.marks {
            mark.renumber(screen);
        }
    }
}

fn typed_lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_TYPED)]);
    let lines = text
        .split(['\r', '\n'])
        .map(|line| line.chars().filter(|c| !c.is_control()).collect::<String>());
    lines.collect()
}

/// Appends typed lines to typed lines: the first goes on where the last ended.
fn extend_typed(typed: &mut Vec<String>, more: Vec<String>) {
    let mut more = more.into_iter();
    if let (Some(last), Some(first)) = (typed.last_mut(), more.next())
        && last.len() < MAX_TYPED
    {
        last.push_str(&first);
    }
    typed.extend(more.take(MAX_TYPED));
}

/// Takes the echo of each typed line out: its first occurrence, and a second one behind a prompt if
/// the first stood at the beginning of a line, as when something is typed before the shell is
/// ready and its line editor shows it again.
fn without_echo(printed: &str, typed: &[String]) -> String {
    let mut out = String::with_capacity(printed.len());
    let mut rest = printed;
    for line in typed.iter().filter(|line| !line.trim().is_empty()) {
        let Some(at) = rest.find(line.as_str()) else { continue };
        let first_of_line = at > 0 && rest[..at].ends_with('\n');
        out.push_str(&rest[..at]);
        rest = &rest[at + line.len()..];
        if !(first_of_line || at == 0) {
            continue;
        }
        let again = rest.find(line.as_str()).filter(|&at| {
            let behind_prompt = !rest[..at].ends_with('\n') && at > 0;
            let ends_line =
                rest[at + line.len()..].starts_with('\n') || rest.len() == at + line.len();
            behind_prompt && ends_line && rest[..at].contains('\n')
        });
        if let Some(at) = again {
            out.push_str(&rest[..at]);
            rest = &rest[at + line.len()..];
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use greenroom_screen::Options;

    use super::*;

    /// Prints `before`, types, prints `after`, and wants this to be the output since.
    #[track_caller]
    fn check(before: &str, typed: &str, after: &str, expected: &str) {
        let mut screen = Screen::new("40x10".parse().unwrap(), Options::default());
        screen.feed(before.as_bytes());
        let mark = Mark::now(&screen, typed.as_bytes());
        screen.feed(after.as_bytes());
        assert_eq!(mark.output(&screen).trim_end(), expected);
    }

    #[test]
    fn the_echo_is_not_output() {
        check("$ ", "echo READY\r", "echo READY\r\nREADY\r\n$ ", "\nREADY\n$");
    }

    #[test]
    fn an_answer_equal_to_what_was_typed_is_output() {
        check("", "READY\r", "READY\r\nREADY\r\n", "\nREADY");
    }

    #[test]
    fn what_was_typed_too_early_is_echoed_twice() {
        check("", "echo hi\r", "echo hi\r\n$ echo hi\r\nhi\r\n", "\n$ \nhi");
    }

    #[test]
    fn an_echo_that_wraps_is_recognised() {
        let long = format!("echo {}", "x".repeat(60));
        check("$ ", &format!("{long}\r"), &format!("{long}\r\ndone"), "\ndone");
    }

    #[test]
    fn what_was_there_before_is_not_output() {
        check("READY\r\n$ ", "ls\r", "ls\r\nfile\r\n", "\nfile");
    }

    #[test]
    fn a_row_drawn_above_the_mark_is_output() {
        check("one\r\ntwo\r\n> ", "x", "\x1b[1;1HDONE\x1b[3;3H", "DONE");
    }

    #[test]
    fn keys_typed_one_by_one_are_one_line() {
        let mut screen = Screen::new("40x10".parse().unwrap(), Options::default());
        let mut marks = Marks::default();
        for key in ["l", "s", "\r"] {
            marks.add(Mark::now(&screen, key.as_bytes()));
        }
        screen.feed(b"ls\r\nls is here\r\n");
        assert_eq!(marks.find(None).output(&screen).trim_end(), "\nls is here");
    }
}
