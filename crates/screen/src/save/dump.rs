//! A screen as bytes that draw it again.
//!
//! The order matters: rows are printed one after the other, so that lines wrap and scroll into
//! the history as they once did; cursors are saved before margins are set, because the origin
//! moves with the margins; modes that change how printing works come last.

use std::ops::Range;

use super::Depth;
use super::paint::Painter;
use crate::charset::Charsets;
use crate::event::{Mark, MarkKind};
use crate::grid::Grid;
use crate::modes::{self, Effect, Modes};
use crate::palette::Slot;
use crate::row::Row;
use crate::screen::Screen;
use crate::style::Packed;
use crate::terminal::{Place, SavedCursor, Terminal};
use crate::unicode::Class;

impl Screen {
    /// Bytes that, fed to an empty screen or terminal of the same size, bring everything back.
    ///
    /// Everything is both screens with styles and links, history to the given depth, cursors,
    /// margins, tab stops, character sets, modes, keyboard flags, titles, colours and marks. If
    /// the input so far ends within a sequence, the dump ends there too.
    ///
    /// ```
    /// use greenroom_screen::{Depth, Options, Screen};
    ///
    /// let size = "20x4".parse().unwrap();
    /// let mut screen = Screen::new(size, Options::default());
    /// screen.feed(b"\x1b[1mbold\x1b[m and \x1b[31mred\x1b[2;3H");
    /// let mut copy = Screen::new(size, Options::default());
    /// copy.feed(&screen.dump(Depth::Screen));
    /// assert_eq!(copy.text(), "bold and red");
    /// assert_eq!(copy.cursor(), screen.cursor());
    /// ```
    #[must_use]
    pub fn dump(&self, depth: Depth) -> Vec<u8> {
        let mut bytes = self.settled_dump(depth);
        bytes.extend_from_slice(&self.parser.unfinished());
        bytes
    }

    /// The bytes of the sequence or character that is not over yet.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"red: \x1b[3");
    /// assert_eq!(screen.unfinished(), b"\x1b[3");
    /// screen.feed(b"1m");
    /// assert_eq!(screen.unfinished(), b"");
    /// ```
    #[must_use]
    pub fn unfinished(&self) -> Vec<u8> {
        self.parser.unfinished().to_vec()
    }

    /// A dump without the sequence that is not over yet.
    pub(super) fn settled_dump(&self, depth: Depth) -> Vec<u8> {
        let (painter, terminal) = (Painter::new(&self.terminal), &self.terminal);
        let mut marks: Vec<Mark> = terminal.marks.iter().copied().collect();
        marks.sort_by_key(|mark| std::cmp::Reverse((mark.row, mark.col)));
        let mut dump = Dump { painter, terminal, wrapping: None, marks };
        dump.everything(depth);
        dump.painter.out
    }
}

impl Screen {
    /// The rows with these numbers as lines of text with their styles, for a person to read.
    ///
    /// Colours, attributes and links are in it, but no cursor movement; each line ends with its own
    /// reset.
    ///
    /// ```
    /// use greenroom_screen::{Options, Screen};
    ///
    /// let mut screen = Screen::new("20x2".parse().unwrap(), Options::default());
    /// screen.feed(b"\x1b[31mred\x1b[m text");
    /// assert_eq!(screen.styled(0..1), b"\x1b[0;31mred\x1b[0m text\n");
    /// ```
    #[must_use]
    pub fn styled(&self, rows: Range<u64>) -> Vec<u8> {
        let mut painter = Painter::new(&self.terminal);
        let end = rows.end.min(self.top_row() + self.terminal.rows as u64);
        for line in (rows.start.max(self.first_row())..end).filter_map(|row| self.line(row)) {
            painter.cells(&line.row, 0, line.row.used(), line.palette);
            painter.pen(Packed::DEFAULT);
            painter.bytes(b"\n");
        }
        painter.out
    }
}

struct Dump<'a> {
    painter: Painter<'a>,
    terminal: &'a Terminal,
    /// How long the row printed last is, if it goes on in the next.
    wrapping: Option<usize>,
    /// The marks still to be drawn, the next one last.
    marks: Vec<Mark>,
}

impl Dump<'_> {
    fn everything(&mut self, depth: Depth) {
        let terminal = self.terminal;
        self.names();
        self.colors();
        let primary = match &terminal.other {
            Some(primary) if terminal.is_alternate() => primary,
            _ => &terminal.grid,
        };
        self.history(depth);
        self.rows(primary, terminal.history.end(), false);
        self.keyboard(primary);
        if terminal.is_alternate() {
            self.enter_alternate(primary);
            self.rows(&terminal.grid, terminal.history.end(), true);
            self.keyboard(&terminal.grid);
        }
        self.pictures();
        self.tabs();
        self.saved_modes();
        if let Some(saved) = terminal.grid.saved {
            self.cursor(&terminal.grid, &saved, 0);
            self.painter.bytes(b"\x1b7\x1b[?6l");
        }
        if (terminal.top, terminal.bottom) != (0, terminal.rows - 1) {
            let (top, bottom) = (terminal.top + 1, terminal.bottom + 1);
            self.painter.format(format_args!("\x1b[{top};{bottom}r"));
        }
        self.settings();
        let now = SavedCursor {
            place: terminal.cursor,
            pen: terminal.pen,
            charsets: terminal.charsets,
            origin: terminal.modes.contains(Modes::ORIGIN),
        };
        self.cursor(&terminal.grid, &now, terminal.top);
        self.modes();
    }

    /// Titles and the folder.
    fn names(&mut self) {
        for title in &self.terminal.titles.stack {
            self.painter.format(format_args!("\x1b]2;{title}\x1b\\\x1b[22;0t"));
        }
        let title = &self.terminal.titles.current;
        if !title.is_empty() || !self.terminal.titles.stack.is_empty() {
            self.painter.format(format_args!("\x1b]2;{title}\x1b\\"));
        }
        if let Some((host, path)) = &self.terminal.cwd {
            self.painter.format(format_args!("\x1b]7;file://{host}"));
            for byte in path.bytes() {
                if byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte) {
                    self.painter.bytes(&[byte]);
                } else {
                    self.painter.format(format_args!("%{byte:02X}"));
                }
            }
            self.painter.bytes(b"\x1b\\");
        }
    }

    fn colors(&mut self) {
        for &(slot, (r, g, b)) in self.terminal.palette.changes() {
            let number = slot.osc();
            match slot {
                Slot::Indexed(index) => {
                    self.painter.format(format_args!("\x1b]4;{index};rgb:{r:02x}/{g:02x}/{b:02x}"));
                }
                Slot::Foreground | Slot::Background | Slot::Cursor => {
                    self.painter.format(format_args!("\x1b]{number};rgb:{r:02x}/{g:02x}/{b:02x}"));
                }
            }
            self.painter.bytes(b"\x1b\\");
        }
    }

    fn history(&mut self, depth: Depth) {
        let history = &self.terminal.history;
        let count = match depth {
            Depth::Screen => 0,
            Depth::Lines(lines) => lines.min(history.len()),
            Depth::All => history.len(),
        };
        let from = history.end() - count as u64;
        let mut row = Row::default();
        for line in history.lines(from, history.end()) {
            line.decode(&mut row);
            self.row(&row, line.styles, line.number, false);
            self.end_row(&row);
        }
    }

    fn rows(&mut self, grid: &Grid, top: u64, alternate: bool) {
        let palette = self.terminal.styles.all();
        let last = grid.len() - 1;
        for (y, row) in grid.rows().enumerate() {
            self.row(row, palette, top + y as u64, alternate);
            if y < last {
                self.end_row(row);
            }
        }
    }

    /// Prints a row, with its marks where they are.
    fn row(&mut self, row: &Row, palette: &[Packed], number: u64, alternate: bool) {
        let marks = if alternate { Vec::new() } else { self.marks_in(number) };
        let early = usize::from(row.is_tail(1));
        let first = palette.get(row.style(0) as usize).copied().unwrap_or_default();
        // A background would fill the row that scrolls in when the line wraps.
        let apart = first.erased() != Packed::DEFAULT
            || marks.iter().any(|mark| mark.col as usize <= early);
        self.wrap_into(row, apart);
        let mut from = 0;
        for mark in &marks {
            let at = mark.col as usize;
            let start = at - usize::from(row.is_tail(at));
            self.painter.cells(row, from, start, palette);
            from = from.max(start.min(row.len()));
            if at != from && at < self.terminal.cols {
                // Where nothing was printed, or in the middle of a wide glyph.
                self.painter.format(format_args!("\x1b[{}G", at + 1));
                self.mark(mark);
                self.painter.format(format_args!("\x1b[{}G", from + 1));
            } else {
                self.mark(mark);
            }
        }
        self.painter.cells(row, from, row.len(), palette);
    }

    /// The marks in a row, from the left. Rows are asked for from the top.
    fn marks_in(&mut self, number: u64) -> Vec<Mark> {
        while self.marks.last().is_some_and(|mark| mark.row < number) {
            self.marks.pop();
        }
        let mut marks = Vec::new();
        while let Some(mark) = self.marks.pop_if(|mark| mark.row == number) {
            marks.push(mark);
        }
        marks
    }

    /// After a row that goes on in this one: the next character printed wraps by itself, unless
    /// the row begins with none, with one that still fits the row before, or with something that
    /// must come `apart` from the wrap.
    fn wrap_into(&mut self, row: &Row, apart: bool) {
        let Some(before) = self.wrapping.take() else { return };
        let gap = before < self.terminal.cols;
        // Some terminals grow a glyph in place where we move it to the next row.
        let wide = |c: char| Class::of(c).width() == 2;
        if row.len() == 0 || apart || gap && !row.glyph_text(0).starts_with(wide) {
            self.painter.pen(Packed::DEFAULT);
            self.painter.bytes(if gap { "\u{3000}\r\x1b[2X".as_bytes() } else { b" \r\x1b[X" });
        }
    }

    fn mark(&mut self, mark: &Mark) {
        match mark.kind {
            MarkKind::PromptStart => self.painter.bytes(b"\x1b]133;A\x1b\\"),
            MarkKind::CommandStart => self.painter.bytes(b"\x1b]133;B\x1b\\"),
            MarkKind::OutputStart => self.painter.bytes(b"\x1b]133;C\x1b\\"),
            MarkKind::CommandEnd(None) => self.painter.bytes(b"\x1b]133;D\x1b\\"),
            MarkKind::CommandEnd(Some(code)) => {
                self.painter.format(format_args!("\x1b]133;D;{code}\x1b\\"));
            }
        }
    }

    /// Goes to the next row: by a line end, or by the wrap that the next character makes.
    fn end_row(&mut self, row: &Row) {
        self.wrapping = row.wrapped.then(|| row.len());
        if !row.wrapped {
            // A background would fill the row that scrolls in.
            self.painter.pen(Packed::DEFAULT);
            self.painter.bytes(b"\r\n");
        }
    }

    fn enter_alternate(&mut self, primary: &Grid) {
        if let Some(saved) = primary.saved {
            self.cursor(primary, &saved, 0);
            self.painter.bytes(b"\x1b7\x1b[?6l");
        }
        // Not by mode 1049: it would save the cursor as it is now, and clear with the pen's colour.
        self.painter.pen(Packed::DEFAULT);
        self.charsets(&Charsets::default());
        self.painter.bytes(b"\x1b[?47h\x1b[H");
    }

    fn keyboard(&mut self, grid: &Grid) {
        for (index, flags) in grid.keyboard.levels().iter().enumerate() {
            let how = if index == 0 { '=' } else { '>' };
            self.painter.format(format_args!("\x1b[{how}{flags}u"));
        }
    }

    /// Pictures that are whole on the screen; drawing another would scroll what is printed.
    fn pictures(&mut self) {
        let terminal = self.terminal;
        let (top, alternate) = (terminal.history.end(), terminal.is_alternate());
        for it in terminal.graphics.iter() {
            let fits = it.row >= top && it.row - top + u64::from(it.rows) < terminal.rows as u64;
            if it.alternate == alternate && fits {
                let (row, col) = (it.row - top + 1, it.col + 1);
                self.painter.format(format_args!("\x1b[{row};{col}H"));
                self.painter.bytes(&it.bytes);
            }
        }
    }

    fn tabs(&mut self) {
        let tabs = &self.terminal.tabs;
        if !tabs.are_default() {
            self.painter.bytes(b"\x1b[3g");
            for col in tabs.stops() {
                self.painter.format(format_args!("\x1b[{}G\x1bH", col + 1));
            }
        }
    }

    fn charsets(&mut self, charsets: &Charsets) {
        for (set, designator) in charsets.sets.iter().zip([b'(', b')', b'*', b'+']) {
            self.painter.bytes(&[0x1b, designator, set.to_final()]);
        }
        self.painter.bytes(match charsets.left {
            1 => b"\x0e",
            2 => b"\x1bn",
            3 => b"\x1bo",
            _ => b"\x0f",
        });
        match charsets.single {
            Some(2) => self.painter.bytes(b"\x1bN"),
            Some(_) => self.painter.bytes(b"\x1bO"),
            None => {}
        }
    }

    /// Puts the cursor, pen, character sets and origin as saved; `top` is the margin's, which
    /// addresses count from once the origin is set.
    fn cursor(&mut self, shown: &Grid, saved: &SavedCursor, top: usize) {
        let Place { x, y, pending } = saved.place;
        let cols = self.terminal.cols;
        self.charsets(&Charsets::default());
        self.painter.bytes(if saved.origin { b"\x1b[?6h" } else { b"\x1b[?6l" });
        let row = if saved.origin { y - top.min(y) } else { y } + 1;
        if pending && y < shown.len() {
            // Printing the last column's glyph again is the only way to be behind it.
            let cells = shown.row(y);
            let start = x - usize::from(x > 0 && cells.is_tail(x));
            self.painter.format(format_args!("\x1b[{row};{}H", start + 1));
            let mut whole = cells.clone();
            whole.extend_to(cols);
            self.painter.cells(&whole, start, cols, self.terminal.styles.all());
        } else {
            self.painter.format(format_args!("\x1b[{row};{}H", x + 1));
        }
        self.painter.pen(saved.pen);
        let default = Charsets::default();
        if saved.charsets != default {
            self.charsets(&saved.charsets);
        }
    }

    /// What has a sequence of its own and is no mode.
    fn settings(&mut self) {
        let terminal = self.terminal;
        if terminal.cursor_style != 0 {
            self.painter.format(format_args!("\x1b[{} q", terminal.cursor_style));
        }
        if terminal.other_keys != 0 {
            self.painter.format(format_args!("\x1b[>4;{}m", terminal.other_keys));
        }
        if terminal.rectangle {
            self.painter.bytes(b"\x1b[2*x");
        }
    }

    fn saved_modes(&mut self) {
        let Some(saved) = self.terminal.saved_modes else { return };
        let mut modes = Modes::INITIAL;
        self.change_modes(&mut modes, saved);
        self.painter.bytes(b"\x1b[?");
        for entry in modes::TABLE.iter().filter(|it| it.mode.private && is_plain(it)) {
            self.painter.format(format_args!("{};", entry.mode.number));
        }
        // Mode 0 does not exist; it ends the list.
        self.painter.bytes(b"0s");
        self.change_modes(&mut modes, Modes::INITIAL);
    }

    fn modes(&mut self) {
        let mut modes = Modes::INITIAL;
        modes.set(Modes::ORIGIN, self.terminal.modes.contains(Modes::ORIGIN));
        self.change_modes(&mut modes, self.terminal.modes);
    }

    /// Sets and resets what differs.
    fn change_modes(&mut self, from: &mut Modes, to: Modes) {
        let differing =
            |it: &&modes::Entry| is_plain(it) && from.contains(it.bit) != to.contains(it.bit);
        let (on, off): (Vec<_>, Vec<_>) =
            modes::TABLE.iter().filter(differing).partition(|it| to.contains(it.bit));
        // Resetting one of the mouse modes resets its whole group: so resets come first.
        for (entries, last) in [(off, 'l'), (on, 'h')] {
            for entry in entries {
                let mark = if entry.mode.private { "?" } else { "" };
                self.painter.format(format_args!("\x1b[{mark}{}{last}", entry.mode.number));
            }
        }
        *from = to;
    }
}

/// Whether a mode is a bit and nothing else happens that a dump must mind.
fn is_plain(entry: &modes::Entry) -> bool {
    matches!(
        entry.effect,
        Effect::Bit
            | Effect::MouseTracking
            | Effect::MouseEncoding
            | Effect::Home
            | Effect::SizeReport
    )
}
