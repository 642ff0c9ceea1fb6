//! Where a session stood when something was typed, and what its echo looks like.
//!
//! A wait after a mark looks only at what was printed since, and not at the echo: the text typed,
//! as the terminal or the shell's line editor shows it again.

mod echo;

use std::sync::Arc;

use greenroom_model::Offset;
use greenroom_screen::{Pos, Position, Screen, Wrap};

pub(crate) use self::echo::Echo;
use self::echo::Typed;

/// How many marks a session remembers; a wait asks for one of the last few.
const MAX_MARKS: usize = 64;

/// How much of what was typed is remembered. A longer echo is recognised by its beginning.
const MAX_TYPED: usize = 4096;

/// How many prompts a session remembers: a shell's, and those of a few programs in it.
const MAX_PROMPTS: usize = 8;

/// The longest text that is taken for a prompt.
const MAX_PROMPT: usize = 256;

/// What goes before and behind text that is pasted, where a program asked for that: no echo shows it.
const PASTE: [&str; 2] = ["\x1b[200~", "\x1b[201~"];

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
    /// What was typed of the first of them before.
    begun: String,
    echo: Echo,
    /// What stood before what was typed, at other times.
    prompts: Arc<[String]>,
    /// What was typed is not known, only that the rest of the line it was typed on is its echo.
    is_remembered: bool,
}

/// The marks of a session, the newest last.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    marks: Vec<Mark>,
    prompts: Arc<[String]>,
}

impl Standing {
    pub(crate) fn now(screen: &Screen) -> Standing {
        Standing { offset: screen.offset(), pos: screen.cursor_pos(), position: screen.position() }
    }
}

impl Mark {
    /// Everything there is counts as printed after it.
    pub(crate) fn beginning() -> Mark {
        let mut mark = Mark::new(Offset::START, Pos { row: 0, col: 0 });
        mark.position = Some(Position::default());
        mark
    }

    /// Nothing was typed there, as far as is known.
    fn new(offset: Offset, pos: Pos) -> Mark {
        Mark {
            offset,
            pos,
            position: None,
            typed: Vec::new(),
            begun: String::new(),
            echo: Echo::Nobody,
            prompts: Arc::default(),
            is_remembered: false,
        }
    }

    /// Now, before `bytes` are typed.
    pub(crate) fn now(screen: &Screen, bytes: &[u8], echo: Echo) -> Mark {
        Mark::at(Standing::now(screen), bytes, echo)
    }

    /// Then, before `bytes` were typed.
    pub(crate) fn at(standing: Standing, bytes: &[u8], echo: Echo) -> Mark {
        let Standing { offset, pos, position } = standing;
        let typed = if echo == Echo::Nobody { Vec::new() } else { typed_lines(bytes) };
        Mark { position: Some(position), typed, echo, ..Mark::new(offset, pos) }
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
        Some(Mark { is_remembered: echoes != 0, ..Mark::new(Offset(offset), pos) })
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
        let (begun, prompts) = (self.begun.as_str(), &*self.prompts);
        let typed = Typed { begun, lines: &self.typed, echo: self.echo, prompts };
        text.push_str(&typed.without_echo(&printed));
        text
    }

    /// What was typed of the line that is not ended yet.
    fn unended(&self) -> String {
        let last = self.typed.last().map_or("", String::as_str);
        // Behind an Enter another line begins.
        let begun = if self.typed.len() < 2 { self.begun.as_str() } else { "" };
        let whole = format!("{begun}{last}");
        if whole.len() > MAX_TYPED { String::new() } else { whole }
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
    pub(crate) fn add(&mut self, mut mark: Mark, screen: &Screen) {
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
        let before = place.checked_sub(1).and_then(|it| self.marks.get(it));
        if mark.echo != Echo::Nobody {
            mark.begun = before.map_or(String::new(), Mark::unended);
            self.learn_prompt(&mark, screen);
        }
        self.marks.insert(place, mark);
        if self.marks.len() > MAX_MARKS {
            self.marks.remove(0);
        }
    }

    /// Remembers what stands before the place where a line begins to be typed.
    fn learn_prompt(&mut self, mark: &Mark, screen: &Screen) {
        if !mark.begun.is_empty() {
            return;
        }
        let begin = Pos { col: 0, ..mark.pos };
        let prompt = screen.text_between(begin, mark.pos, Wrap::Rows);
        let prompt = prompt.trim_end();
        let known = self.prompts.last().is_some_and(|it| it == prompt);
        if known || prompt.is_empty() || prompt.len() > MAX_PROMPT {
            return;
        }
        let others = self.prompts.iter().filter(|it| *it != prompt);
        let surplus = others.clone().count().saturating_sub(MAX_PROMPTS - 1);
        self.prompts = others.skip(surplus).cloned().chain([prompt.to_owned()]).collect();
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
        let mut mark = found.cloned().unwrap_or_else(Mark::beginning);
        mark.prompts = Arc::clone(&self.prompts);
        mark
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
    let text = PASTE.iter().fold(text.into_owned(), |text, it| text.replace(it, ""));
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

#[cfg(test)]
mod tests {
    use greenroom_screen::Options;

    use super::*;

    /// Prints `before`, types, prints `after`, and wants this to be the output since.
    #[track_caller]
    fn check(before: &str, typed: &str, after: &str, expected: &str) {
        check_typed(before, &[(typed, after)], Echo::Terminal, expected);
    }

    /// Prints `before`; types and prints by turns; and wants this to be the output since the last was typed.
    #[track_caller]
    fn check_typed(before: &str, turns: &[(&str, &str)], echo: Echo, expected: &str) {
        let mut screen = Screen::new("40x10".parse().unwrap(), Options::default());
        let mut marks = Marks::default();
        screen.feed(before.as_bytes());
        for (typed, after) in turns {
            marks.add(Mark::now(&screen, typed.as_bytes(), echo), &screen);
            screen.feed(after.as_bytes());
        }
        assert_eq!(marks.find(None).output(&screen).trim_end(), expected);
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
    fn what_was_typed_too_early_is_echoed_twice_however_it_was_typed() {
        let again = "\r\n$ echo hi\r\nhi\r\n";
        check_typed(
            "",
            &[("echo ", "echo "), ("hi\r", &format!("hi{again}"))],
            Echo::Terminal,
            "\n$ \nhi",
        );
        check_typed("", &[("echo hi", "echo hi"), ("\r", again)], Echo::Terminal, "\n$ \nhi");
        // Behind a prompt that looks like nothing, once it is known.
        let (one, two) = ("true\r\nfish folder ", "echo hi\r\nfish folder echo hi\r\nhi\r\n");
        let turns = [("true\r", one), ("x\r", "x\r\n"), ("echo hi\r", two)];
        check_typed("fish folder ", &turns, Echo::Terminal, "\nfish folder \nhi");
    }

    #[test]
    fn who_is_answered_with_their_own_words_hears_them() {
        check("Name: ", "Bob\r", "Bob\r\nHello, Bob\r\n", "\nHello, Bob");
        check("", "Bob\r", "Bob\r\nhello Bob\r\n", "\nhello Bob");
        // Without an echo, as in a menu.
        check_typed("[y/n] ", &[("y", "\r\nYou chose: y\r\n")], Echo::Program, "\nYou chose: y");
        // What reads keys itself was ready for them.
        let traced = "echo hi\r\n$ echo hi\r\nhi\r\n";
        check_typed("$ ", &[("echo hi\r", traced)], Echo::Program, "\n$ echo hi\nhi");
    }

    #[test]
    fn several_lines_that_are_pasted_are_an_echo_each() {
        let (typed, after) =
            ("\x1b[200~echo one\recho two\r\x1b[201~", "echo one\r\necho two\r\none\r\ntwo");
        check_typed("$ ", &[(typed, after)], Echo::Program, "\n\none\ntwo");
    }

    #[test]
    fn a_password_is_no_beginning_of_a_line() {
        let mut marks = Marks::default();
        let mut screen = Screen::new("40x10".parse().unwrap(), Options::default());
        marks.add(Mark::now(&screen, b"secret", Echo::Nobody), &screen);
        screen.feed(b"x");
        marks.add(Mark::now(&screen, b"ls\r", Echo::Terminal), &screen);
        assert_eq!(marks.find(None).begun, "");
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
            marks.add(Mark::now(&screen, key.as_bytes(), Echo::Terminal), &screen);
        }
        screen.feed(b"ls\r\nls is here\r\n");
        assert_eq!(marks.find(None).output(&screen).trim_end(), "\nls is here");
    }
}
