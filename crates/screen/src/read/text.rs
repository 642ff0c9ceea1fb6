//! Text of the screen, of the history, and of what a command printed.

use std::borrow::Cow;
use std::ops::Range;

use super::line::Line;
use crate::event::{Mark, MarkKind};
use crate::row::Row;
use crate::screen::Screen;
use crate::terminal::Terminal;

/// What happens to lines that were wrapped because they were longer than the screen is wide.
///
/// ```
/// use greenroom_screen::{Options, Screen, Wrap};
///
/// let mut screen = Screen::new("4x2".parse().unwrap(), Options::default());
/// screen.feed(b"longer\r\n");
/// assert_eq!(screen.text_of(0..2, Wrap::Joined), "longer\n");
/// assert_eq!(screen.text_of(0..2, Wrap::Rows), "long\ner\n");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wrap {
    /// They become one line again, as the program wrote them.
    #[default]
    Joined,
    /// Each row is a line.
    Rows,
}

/// A cell by the number of its row and its column.
///
/// Positions order as a person reads: by row, then by column.
///
/// ```
/// use greenroom_screen::Pos;
///
/// assert!(Pos { row: 1, col: 9 } < Pos { row: 2, col: 0 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pos {
    /// The row, counted from the beginning of the session.
    pub row: u64,
    /// The column.
    pub col: u16,
}

impl From<&Mark> for Pos {
    fn from(mark: &Mark) -> Pos {
        Pos { row: mark.row, col: mark.col }
    }
}

/// A command that shell integration marked; the parts that are known.
///
/// ```
/// use greenroom_screen::{Options, Screen};
///
/// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// screen.feed(b"\x1b]133;A\x07$ \x1b]133;B\x07sleep 9\r\n\x1b]133;C\x07");
/// let command = screen.commands()[0];
/// assert_eq!(command.prompt.unwrap().row, 0);
/// assert!(command.output.is_some() && command.end.is_none(), "it runs");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Command {
    /// Where its prompt begins.
    pub prompt: Option<Mark>,
    /// Where what was typed begins.
    pub typed: Option<Mark>,
    /// Where its output begins.
    pub output: Option<Mark>,
    /// Where it ended, with its exit code.
    pub end: Option<Mark>,
    /// Where the next prompt begins, if that came without word of this one's end.
    pub next: Option<Mark>,
}

impl Command {
    /// The exit code, if the command has ended and the shell told it.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"\x1b]133;C\x07");
    /// assert_eq!(screen.commands()[0].exit_code(), None);
    /// screen.feed(b"\x1b]133;D;127\x07");
    /// assert_eq!(screen.commands()[0].exit_code(), Some(127));
    /// ```
    #[must_use]
    pub fn exit_code(&self) -> Option<i32> {
        match self.end?.kind {
            MarkKind::CommandEnd(code) => code,
            MarkKind::PromptStart | MarkKind::CommandStart | MarkKind::OutputStart => None,
        }
    }
}

/// The text of rows, one line each, without blanks at line ends and empty lines at the end.
pub(super) fn join_rows<'a>(rows: impl ExactSizeIterator<Item = &'a Row>) -> String {
    let mut out = Vec::with_capacity(rows.len() * 64);
    let mut used = 0;
    for row in rows {
        let before = out.len();
        row.push_text(0, row.len(), &mut out);
        trim_blanks(&mut out, before);
        if out.len() > before {
            used = out.len();
        }
        out.push(b'\n');
    }
    out.truncate(used);
    into_string(out)
}

fn trim_blanks(out: &mut Vec<u8>, from: usize) {
    while out.len() > from && out.last() == Some(&b' ') {
        out.pop();
    }
}

/// Rows hold only what was decoded as UTF-8, so nothing is ever lost here.
pub(super) fn into_string(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|broken| String::from_utf8_lossy(broken.as_bytes()).into_owned())
}

/// Whether a line belongs to what is below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Belongs {
    /// Nor do those above it.
    No,
    /// If one above it does.
    IfAbove,
    /// And those between.
    Yes,
}

/// Collects rows into lines.
struct Lines {
    out: Vec<u8>,
    wrap: Wrap,
    /// Where the line being collected begins.
    start: usize,
    /// Whether lines end with their last letter.
    trims: bool,
}

impl Lines {
    fn new(wrap: Wrap, capacity: usize) -> Lines {
        Lines { out: Vec::with_capacity(capacity), wrap, start: 0, trims: true }
    }

    #[inline]
    fn end_row(&mut self, wrapped: bool) {
        if !wrapped || self.wrap == Wrap::Rows {
            if self.trims {
                trim_blanks(&mut self.out, self.start);
            }
            self.out.push(b'\n');
            self.start = self.out.len();
        }
    }

    fn finish(mut self) -> String {
        trim_blanks(&mut self.out, self.start);
        into_string(self.out)
    }
}

impl Terminal {
    /// The row on the shown screen with this number.
    fn screen_row(&self, number: u64) -> Option<&Row> {
        let y = number.checked_sub(self.history.end())?;
        (y < self.rows as u64).then(|| self.grid.row(y as usize))
    }
}

impl Screen {
    /// What the screen shows, one line a row.
    ///
    /// Without blanks at line ends and without the empty rows at the end.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"one   \r\n\r\nthree");
    /// assert_eq!(screen.text(), "one\n\nthree");
    /// ```
    #[must_use]
    pub fn text(&self) -> String {
        join_rows(self.terminal.grid.rows())
    }

    /// What the screen shows, as the program wrote it: wrapped rows are one line, and blanks stay that
    /// were written.
    ///
    /// Without the empty lines at the end. A prompt keeps the blank behind it.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// let mut screen = Screen::new("4x5".parse().unwrap(), Options::default());
    /// screen.feed(b"longer\r\n\r\n$ ");
    /// assert_eq!(screen.contents(), "longer\n\n$ ");
    /// ```
    #[must_use]
    pub fn contents(&self) -> String {
        let mut out = Vec::with_capacity(self.terminal.rows * 64);
        self.push_contents(&mut out);
        into_string(out)
    }

    fn push_contents(&self, out: &mut Vec<u8>) {
        let begin = out.len();
        for row in self.terminal.grid.rows() {
            row.push_text(0, row.len(), out);
            if !row.wrapped {
                out.push(b'\n');
            }
        }
        while out.len() > begin && out.last() == Some(&b'\n') {
            out.pop();
        }
    }

    /// The same, behind the beginning of the line that its first row goes on with, if that has scrolled
    /// away, and the rows above that belong to it, asked for from below; and where in that text the screen
    /// begins. Of more than `most` bytes only about so many are there.
    ///
    /// ```
    /// # use greenroom_screen::{Belongs, Options, Screen};
    /// let mut screen = Screen::new("4x2".parse().unwrap(), Options::default());
    /// screen.feed(b"gone\r\nlong line\r\n$ ");
    /// let context = screen.contents_in_context(999, |_| Belongs::No);
    /// assert_eq!(context, ("long line\n$ ".to_owned(), 8));
    /// assert_eq!(screen.contents(), "e\n$ ");
    /// let context = screen.contents_in_context(999, |line| match line {
    ///     "gone" => Belongs::Yes,
    ///     _ => Belongs::IfAbove,
    /// });
    /// assert_eq!(context, ("gone\nlong line\n$ ".to_owned(), 13));
    /// ```
    #[must_use]
    pub fn contents_in_context(
        &self,
        most: usize,
        belongs: impl FnMut(&str) -> Belongs,
    ) -> (String, usize) {
        let end = self.terminal.history.end();
        let first = if self.is_alternate() { end } else { self.first_of(end, most, belongs) };
        let mut out = self.joined(first..end);
        let from = out.len();
        out.reserve(self.terminal.rows * 64);
        self.push_contents(&mut out);
        (into_string(out), from)
    }

    /// The text of the rows of the history with these numbers, behind what belongs to it, as
    /// [`contents_in_context`](Screen::contents_in_context) has it, and before as many rows as a screen has; and where
    /// in that text they are.
    ///
    /// ```
    /// # use greenroom_screen::{Belongs, Options, Screen};
    /// let mut screen = Screen::new("4x2".parse().unwrap(), Options::default());
    /// screen.feed(b"gone\r\nlong line\r\n1\r\nlong line");
    /// let context = screen.history_in_context(2..6, 999, |_| Belongs::No);
    /// assert_eq!(context, ("long line\n1\nlong line\n".to_owned(), 4..16));
    /// ```
    #[must_use]
    pub fn history_in_context(
        &self,
        rows: Range<u64>,
        most: usize,
        belongs: impl FnMut(&str) -> Belongs,
    ) -> (String, Range<usize>) {
        let first = self.first_of(rows.start, most, belongs);
        let mut out = self.joined(first..rows.start);
        let from = out.len();
        out.extend_from_slice(&self.joined(rows.clone()));
        let mut to = out.len();
        if !self.is_alternate() {
            out.extend_from_slice(&self.joined(rows.end..rows.end + self.terminal.rows as u64));
        }
        // The blank at which a line was wrapped ends no line.
        while to > from && out[to - 1] == b' ' {
            to -= 1;
        }
        (into_string(out), from..to)
    }

    /// The first of the rows right above one that its line began in, or whose lines belong to it, asked for from below.
    /// A line is asked for whole, however many rows it has; of the one that goes on in that row, what is above it.
    fn first_of(&self, row: u64, most: usize, mut belongs: impl FnMut(&str) -> Belongs) -> u64 {
        let history = &self.terminal.history;
        let above = |row: u64| row.checked_sub(1).and_then(|above| history.line(above));
        let (mut first, mut above_of, mut bytes) = (row, row, 0);
        while bytes < most
            && let Some(last) = above(above_of)
        {
            let goes_on = last.wrapped;
            let mut begin = above_of - 1;
            let mut length = last.text.len();
            while bytes + length < most
                && let Some(part) = above(begin).filter(|part| part.wrapped)
            {
                length += part.text.len();
                begin -= 1;
            }
            // Its line is taken in any case, and asked for all the same: it tells of those above.
            let is_part = match std::str::from_utf8(last.text) {
                Ok(text) if begin + 1 == above_of => belongs(text),
                _ => belongs(into_string(self.joined(begin..above_of)).trim_end_matches('\n')),
            };
            match is_part {
                Belongs::Yes => first = begin,
                _ if goes_on => first = begin,
                Belongs::IfAbove => {}
                Belongs::No => break,
            }
            // An empty one counts, too: there may be any number of them.
            (above_of, bytes) = (begin, bytes + length + 1);
        }
        first
    }

    /// A row of the history or the screen by its number.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// let mut screen = Screen::new("20x2".parse().unwrap(), Options::default());
    /// screen.feed(b"history\r\ntop\r\nbottom");
    /// assert_eq!(screen.line(0).unwrap().text(), "history");
    /// assert_eq!(screen.line(screen.top_row() + 1).unwrap().text(), "bottom");
    /// assert!(screen.line(3).is_none());
    /// ```
    #[must_use]
    pub fn line(&self, number: u64) -> Option<Line<'_>> {
        let (terminal, cols) = (&self.terminal, self.terminal.cols);
        if let Some(line) = terminal.history.line(number) {
            let mut row = Row::default();
            line.decode(&mut row);
            return Some(Line { row: Cow::Owned(row), palette: line.styles, cols, number });
        }
        let row = Cow::Borrowed(terminal.screen_row(number)?);
        Some(Line { row, palette: terminal.styles.all(), cols, number })
    }

    /// The text of the whole history; each line ends with a newline.
    ///
    /// What the screen shows is not in it.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen, Wrap};
    /// let mut screen = Screen::new("20x2".parse().unwrap(), Options::default());
    /// screen.feed(b"1\r\n2\r\n3\r\n4");
    /// assert_eq!(screen.history_text(Wrap::Joined), "1\n2\n");
    /// assert_eq!(screen.text(), "3\n4");
    /// ```
    #[must_use]
    pub fn history_text(&self, wrap: Wrap) -> String {
        self.text_of(self.first_row()..self.top_row(), wrap)
    }

    /// The text of the rows with these numbers, as far as they are kept.
    ///
    /// Each line ends with a newline, the last one only if it ends within the range.
    ///
    /// ```
    /// use greenroom_screen::{Options, Screen, Wrap};
    ///
    /// let mut screen = Screen::new("4x2".parse().unwrap(), Options::default());
    /// screen.feed(b"abcdefgh\r\n1\r\n2\r\n3");
    /// assert_eq!(screen.text_of(0..2, Wrap::Joined), "abcdefgh\n");
    /// assert_eq!(screen.text_of(0..2, Wrap::Rows), "abcd\nefgh\n");
    /// assert_eq!(screen.text_of(0..1, Wrap::Joined), "abcd");
    /// ```
    #[must_use]
    pub fn text_of(&self, rows: Range<u64>, wrap: Wrap) -> String {
        let mut lines = Lines::new(wrap, 0);
        self.collect(rows, &mut lines);
        lines.finish()
    }

    /// The same as lines that are joined, with all blanks that were written.
    fn joined(&self, rows: Range<u64>) -> Vec<u8> {
        let mut lines = Lines { trims: false, ..Lines::new(Wrap::Joined, 0) };
        self.collect(rows, &mut lines);
        lines.out
    }

    fn collect(&self, rows: Range<u64>, lines: &mut Lines) {
        let history = &self.terminal.history;
        let wanted = rows.end.min(history.end()).saturating_sub(rows.start.max(history.first()));
        lines.out.reserve(wanted as usize * 72);
        for line in history.lines(rows.start, rows.end) {
            lines.out.extend_from_slice(line.text);
            lines.end_row(line.wrapped);
        }
        for number in rows.start.max(history.end())..rows.end {
            let Some(row) = self.terminal.screen_row(number) else { break };
            row.push_text(0, row.len(), &mut lines.out);
            lines.end_row(row.wrapped);
        }
    }

    /// The text from one cell to before another.
    ///
    /// ```
    /// use greenroom_screen::{Pos, Wrap};
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"one two\r\nthree four");
    /// let (from, to) = (Pos { row: 0, col: 4 }, Pos { row: 1, col: 5 });
    /// assert_eq!(screen.text_between(from, to, Wrap::Joined), "two\nthree");
    /// ```
    #[must_use]
    pub fn text_between(&self, from: Pos, to: Pos, wrap: Wrap) -> String {
        let history = &self.terminal.history;
        let last = to.row.min(self.top_row() + self.terminal.rows as u64 - 1);
        let begin = from.row.max(self.first_row());
        let wanted = (last + 1).saturating_sub(begin);
        let mut lines = Lines::new(wrap, wanted as usize * 64);
        let cells = |number: u64, row: &Row| {
            let first = if number == from.row { from.col as usize } else { 0 };
            (first, if number == to.row { to.col as usize } else { row.len() })
        };
        for (number, line) in (begin..).zip(history.lines(begin, last + 1)) {
            if (number > from.row || from.col == 0) && number < to.row {
                lines.out.extend_from_slice(line.text);
            } else {
                let mut row = Row::default();
                line.decode(&mut row);
                let (first, end) = cells(number, &row);
                row.push_text(first, end, &mut lines.out);
            }
            if number < to.row {
                lines.end_row(line.wrapped);
            }
        }
        for number in begin.max(history.end())..=last {
            let Some(row) = self.terminal.screen_row(number) else { break };
            let (first, end) = cells(number, row);
            row.push_text(first, end, &mut lines.out);
            if number < to.row {
                lines.end_row(row.wrapped);
            }
        }
        lines.finish()
    }

    /// The commands that shell integration marked and that are still kept, oldest first.
    ///
    /// The last one may still be running, or not yet typed.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"\x1b]133;A\x07$ \x1b]133;B\x07true\r\n\x1b]133;C\x07\x1b]133;D;0\x07");
    /// screen.feed(b"\x1b]133;A\x07$ \x1b]133;B\x07");
    /// let codes: Vec<_> = screen.commands().iter().map(|it| it.exit_code()).collect();
    /// assert_eq!(codes, [Some(0), None]);
    /// ```
    #[must_use]
    pub fn commands(&self) -> Vec<Command> {
        let mut commands = Vec::new();
        let mut current = Command::default();
        for &mark in self.marks() {
            let slot = match mark.kind {
                MarkKind::PromptStart => {
                    if current != Command::default() {
                        current.next = Some(mark);
                        commands.push(std::mem::take(&mut current));
                    }
                    &mut current.prompt
                }
                MarkKind::CommandStart => &mut current.typed,
                MarkKind::OutputStart => &mut current.output,
                MarkKind::CommandEnd(_) => {
                    current.end = Some(mark);
                    // An end without a beginning says nothing: shells send one before the first
                    // prompt.
                    let whole = std::mem::take(&mut current);
                    let begun = whole.output.is_some() || whole.typed.is_some();
                    // Unless its beginning is what the history no longer has.
                    let cut = commands.is_empty() && whole.prompt.is_none() && self.first_row() > 0;
                    if begun || cut {
                        commands.push(whole);
                    }
                    continue;
                }
            };
            *slot = Some(mark);
        }
        if current != Command::default() {
            commands.push(current);
        }
        commands
    }

    /// What a command printed, up to its end or to the cursor if it runs; wrapped lines joined.
    ///
    /// ```
    /// use greenroom_screen::{Options, Screen};
    ///
    /// let mut screen = Screen::new("20x5".parse().unwrap(), Options::default());
    /// screen.feed(b"\x1b]133;A\x07$ \x1b]133;B\x07ls\r\n\x1b]133;C\x07out\r\n\x1b]133;D;2\x07$ ");
    /// let command = screen.commands()[0];
    /// assert_eq!(screen.output_of(&command).as_deref(), Some("out\n"));
    /// assert_eq!(screen.typed_of(&command).as_deref(), Some("ls"));
    /// assert_eq!(command.exit_code(), Some(2));
    /// ```
    #[must_use]
    pub fn output_of(&self, command: &Command) -> Option<String> {
        let cut = command.end.is_some() && command.typed.is_none();
        let from = match command.output {
            Some(output) => Pos::from(&output),
            // Its beginning went with the oldest rows; what is left of it begins with them.
            None if cut && command.prompt.is_none() => Pos { row: self.first_row(), col: 0 },
            None => return None,
        };
        let to = command.end.or(command.next);
        let to = to.map_or_else(|| self.cursor_pos(), |it| Pos::from(&it));
        Some(self.text_between(from, to, Wrap::Joined))
    }

    /// What was typed for a command, as the screen shows it.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"\x1b]133;A\x07$ \x1b]133;B\x07git stauts\x1b[4Datus");
    /// let command = screen.commands()[0];
    /// assert_eq!(screen.typed_of(&command).as_deref(), Some("git status"));
    /// assert_eq!(screen.output_of(&command), None);
    /// ```
    #[must_use]
    pub fn typed_of(&self, command: &Command) -> Option<String> {
        let from = command.typed?;
        let to = command.output.or(command.end).or(command.next);
        let to = to.map_or_else(|| self.cursor_pos(), |it| Pos::from(&it));
        let text = self.text_between(Pos::from(&from), to, Wrap::Joined);
        Some(text.trim_end_matches('\n').to_owned())
    }

    /// The cell the cursor is at, by the number of its row; one past the last column if a wrap is
    /// pending.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x2".parse().unwrap(), Options::default());
    /// screen.feed(b"1\r\n2\r\n3");
    /// assert_eq!((screen.cursor().row, screen.cursor_pos().row), (1, 2));
    /// ```
    #[must_use]
    pub fn cursor_pos(&self) -> Pos {
        let place = self.terminal.cursor;
        Pos {
            row: self.top_row() + place.y as u64,
            col: (place.x + usize::from(place.pending)) as u16,
        }
    }
}
