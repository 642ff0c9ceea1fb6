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

/// Where a session stood.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing {
    /// How much was printed before.
    pub(crate) offset: Offset,
    pos: Pos,
    position: Position,
}

/// A moment at which something was typed.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    /// How much was printed before.
    pub(crate) offset: Offset,
    pos: Pos,
    /// What the screen looked like; not known of a mark that an earlier daemon made.
    position: Option<Position>,
    /// The lines typed, without controls.
    typed: Vec<String>,
    /// What was typed is not known, only that the rest of the line it was typed on is its echo.
    is_remembered: bool,
}

/// The marks of a session, the newest last.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    marks: Vec<Mark>,
}

impl Standing {
    pub(crate) fn now(screen: &Screen) -> Standing {
        Standing { offset: screen.offset(), pos: screen.cursor_pos(), position: screen.position() }
    }
}

impl Mark {
    /// Everything there is counts as printed after it.
    pub(crate) fn beginning() -> Mark {
        let pos = Pos { row: 0, col: 0 };
        let position = Some(Position::default());
        Mark { offset: Offset::START, pos, position, typed: Vec::new(), is_remembered: false }
    }

    /// Now, before `bytes` are typed; `echoes` unless the terminal is known to keep them to itself.
    pub(crate) fn now(screen: &Screen, bytes: &[u8], echoes: bool) -> Mark {
        Mark::at(Standing::now(screen), bytes, echoes)
    }

    /// Then, before `bytes` were typed.
    pub(crate) fn at(standing: Standing, bytes: &[u8], echoes: bool) -> Mark {
        let Standing { offset, pos, position } = standing;
        let typed = if echoes { typed_lines(bytes) } else { Vec::new() };
        Mark { offset, pos, position: Some(position), typed, is_remembered: false }
    }

    /// What the next daemon is to know of it: where it is and whether there is an echo, not what was typed.
    pub(crate) fn to_note(&self) -> String {
        let echoes = self.is_remembered || !self.typed.is_empty();
        format!("{} {} {} {}", self.offset.0, self.pos.row, self.pos.col, u8::from(echoes))
    }

    /// The mark that an earlier daemon noted.
    pub(crate) fn from_note(note: &str) -> Option<Mark> {
        let numbers: Option<Vec<u64>> = note.split(' ').map(|it| it.parse().ok()).collect();
        let &[offset, row, col, echoes] = numbers?.as_slice() else { return None };
        let pos = Pos { row, col: u16::try_from(col).ok()? };
        let (typed, is_remembered) = (Vec::new(), echoes != 0);
        Some(Mark { offset: Offset(offset), pos, position: None, typed, is_remembered })
    }

    /// What was printed since, without the echo.
    pub(crate) fn output(&self, screen: &Screen) -> String {
        let mut text = self.changed_above(screen);
        let end = Pos { row: screen.top_row() + u64::from(screen.size().rows()), col: 0 };
        let start = Pos { row: self.pos.row.max(screen.first_row()), ..self.pos };
        let printed = screen.text_between(start, end, Wrap::Joined);
        if self.is_remembered {
            return printed.split_once('\n').map_or(String::new(), |it| it.1.to_owned());
        }
        if text.is_empty() && self.typed.is_empty() {
            return printed;
        }
        text.push_str(&without_echo(&printed, &self.typed));
        text
    }

    /// The rows got other numbers: all that is certain is what the screen shows.
    pub(crate) fn renumber(&mut self, screen: &Screen) {
        self.pos = Pos { row: screen.top_row(), col: 0 };
        self.is_remembered = false;
    }

    /// Goes on to what the screen shows: the rows above it were looked at and do not change.
    pub(crate) fn advance(&mut self, screen: &Screen) {
        if self.pos.row < screen.top_row() {
            self.pos = Pos { row: screen.top_row(), col: 0 };
            self.is_remembered = false;
        }
    }

    /// Rows above the mark that changed since: programs that draw the whole screen print there.
    fn changed_above(&self, screen: &Screen) -> String {
        let mut text = String::new();
        let Some(position) = self.position.filter(|_| self.pos.row > screen.top_row()) else {
            return text;
        };
        for row in screen.diff(position).rows().filter(|row| row.number() < self.pos.row) {
            text.push_str(&row.text());
            text.push('\n');
        }
        text
    }
}

impl Marks {
    pub(crate) fn add(&mut self, mark: Mark) {
        // One that is told late has its place before others.
        let place = self.marks.partition_point(|it| it.offset <= mark.offset);
        // Keys typed one after the other before anything was printed are one line to the echo.
        if let Some(last) = place.checked_sub(1).and_then(|it| self.marks.get_mut(it))
            && last.offset == mark.offset
            && !last.is_remembered
        {
            extend_typed(&mut last.typed, mark.typed);
            return;
        }
        self.marks.insert(place, mark);
        if self.marks.len() > MAX_MARKS {
            self.marks.remove(0);
        }
    }

    /// The last, for the next daemon.
    pub(crate) fn last(&self) -> Option<&Mark> {
        self.marks.last()
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

/// Appends typed lines to typed lines: the first goes on where the last ended. What is too much to
/// be an echo that somebody waits behind is not remembered.
fn extend_typed(typed: &mut Vec<String>, more: Vec<String>) {
    let bytes: usize = typed.iter().map(|line| line.len() + 1).sum();
    if bytes > MAX_TYPED {
        return;
    }
    let mut more = more.into_iter();
    if let (Some(last), Some(first)) = (typed.last_mut(), more.next()) {
        last.push_str(&first);
    }
    typed.extend(more);
}

/// What a prompt ends with, besides blanks.
const PROMPT_ENDS: &[char] = &['$', '#', '%', '>', ':', '?', ')', ']', '❯', '»', '➜', 'λ'];

/// Takes the echo of each typed line out: its first occurrence at the mark, at the beginning of a
/// line or behind a prompt, up to the line's end if Enter was pressed; and a second one behind a
/// prompt if the first stood at the beginning of a line, as when something is typed before the
/// shell is ready and its line editor shows it again.
fn without_echo(printed: &str, typed: &[String]) -> String {
    let mut out = String::with_capacity(printed.len());
    let mut rest = printed;
    let mut at_mark = true;
    for (index, line) in typed.iter().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let entered = index + 1 < typed.len();
        let Some(at) = find_echo(rest, line, entered, at_mark) else { continue };
        let begins_line = rest[..at].is_empty() || rest[..at].ends_with('\n');
        out.push_str(&rest[..at]);
        rest = &rest[at + line.len()..];
        at_mark = false;
        let again = if begins_line { find_echo(rest, line, entered, false) } else { None };
        if let Some(at) = again.filter(|&at| is_prompt(line_before(rest, at))) {
            out.push_str(&rest[..at]);
            rest = &rest[at + line.len()..];
        }
    }
    out.push_str(rest);
    out
}

/// Where the echo of a line is.
fn find_echo(text: &str, line: &str, entered: bool, at_mark: bool) -> Option<usize> {
    let ends_line = |at: usize| {
        let behind = &text[at + line.len()..];
        behind.is_empty() || behind.starts_with('\n')
    };
    let is_echo = |&at: &usize| {
        if at == 0 && at_mark {
            return !entered || ends_line(at);
        }
        let before = line_before(text, at);
        ends_line(at) && (before.is_empty() || is_prompt(before))
    };
    text.match_indices(line).map(|found| found.0).find(is_echo)
}

/// What stands before a place on its line.
fn line_before(text: &str, at: usize) -> &str {
    let begin = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    &text[begin..at]
}

fn is_prompt(text: &str) -> bool {
    text.ends_with(char::is_whitespace) || text.ends_with(PROMPT_ENDS)
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
        let mark = Mark::now(&screen, typed.as_bytes(), true);
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
    fn what_only_ends_like_the_echo_is_output() {
        check("ready\r\n", "a\r", "got-a\r\n", "got-a");
        check("ready\r\n", "y\r", "ready again\r\n", "ready again");
        check("", "a\r", "abc\r\n", "abc");
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
            marks.add(Mark::now(&screen, key.as_bytes(), true));
        }
        screen.feed(b"ls\r\nls is here\r\n");
        assert_eq!(marks.find(None).output(&screen).trim_end(), "\nls is here");
    }
}
