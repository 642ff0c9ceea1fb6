//! A screen on a terminal that is in any state: after a reset, or as a picture that is cut to fit.
//!
//! Nothing in here asks the terminal anything, whatever the program had asked for.

use greenroom_model::Size;

use super::Depth;
use super::paint::Painter;
use crate::filter::{Filter, Policy};
use crate::modes::{self, Effect};
use crate::screen::Screen;
use crate::style::Packed;

/// Bytes that bring a terminal in any state to an empty screen, without touching its scrollback.
///
/// Not by RIS: that clears the scrollback of some terminals and flickers on others.
pub const RESET: &[u8] = b"\x18\x1b[?2026l\x1b[?1049l\x1b[!p\x1b[?69l\x1b[r\x1b[?6l\x1b[4l\x1b[20l\
\x1b[?1;5;9;45;66;67;1000;1002;1003;1004;1005;1006;1015;1016;2004;2031;2048l\x1b[?12l\x1b[?7;8;25;1007;2027h\
\x1b[<99u\x1b[=0u\x1b[>4;0m\x1b[0 q\x1b[2*x\x1b[*x\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\\
\x1b]8;;\x1b\\\x1b(B\x1b)B\x1b*B\x1b+B\x0f\x1b[0\"q\x1b[m\x1b[?5W\x1b[H\x1b[2J\x1b7";

impl Screen {
    /// Bytes that bring a terminal of this size, in any state, to show this screen and behave like
    /// it.
    ///
    /// Unlike a [`dump`](Screen::dump) they begin with a [`RESET`], have nothing in them that a
    /// terminal would answer, and end between sequences: an unfinished one is for the
    /// [`Filter`](crate::Filter) to bring once it is whole.
    ///
    /// ```
    /// use greenroom_screen::{Depth, Options, Screen};
    ///
    /// let size = "20x4".parse().unwrap();
    /// let mut screen = Screen::new(size, Options::default());
    /// screen.feed(b"\x1b[31mred\x1b[?2004h");
    /// let mut other = Screen::new(size, Options::default());
    /// other.feed(b"\x1b[?1049h\x1b[44mall different\x1b[5;9r\x1b[?1003h");
    /// other.feed(&screen.redraw(Depth::Screen));
    /// assert_eq!(other.text(), "red");
    /// assert_eq!(other.modes(), screen.modes());
    /// ```
    #[must_use]
    pub fn redraw(&self, depth: Depth) -> Vec<u8> {
        let mut out = RESET.to_vec();
        out.extend_from_slice(&Filter::new(Policy::default()).feed(&self.settled_dump(depth)));
        out
    }

    /// Bytes that paint what fits of this screen on a terminal of another size.
    ///
    /// The part around the cursor is shown. Colours and the modes that concern typing are as here;
    /// margins, the alternate screen and history are not: the terminal only shows a picture, and
    /// the next one is painted over it. The first should follow a [`RESET`].
    ///
    /// ```
    /// use greenroom_screen::{Options, Screen};
    ///
    /// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"one\r\ntwo\r\nthree\r\nfour");
    /// let small = "3x2".parse().unwrap();
    /// let mut viewer = Screen::new(small, Options::default());
    /// viewer.feed(&screen.picture(small));
    /// assert_eq!(viewer.text(), "ree\nur");
    /// ```
    #[must_use]
    pub fn picture(&self, viewer: Size) -> Vec<u8> {
        let (cols, rows) = (viewer.cols() as usize, viewer.rows() as usize);
        let cursor = self.cursor();
        let (x, y) = (cursor.col as usize, cursor.row as usize);
        let left = (x + 1).saturating_sub(cols);
        let top = (y + 1).saturating_sub(rows);
        let grid = &self.terminal.grid;
        let mut painter = Painter::new(&self.terminal);
        painter.bytes(b"\x1b[?2026h\x1b[?25l\x1b[?7l\x1b[m");
        for (at, row) in (top..grid.len()).take(rows).enumerate() {
            painter.format(format_args!("\x1b[{};1H", at + 1));
            let cells = grid.row(row);
            // A wide glyph is not cut in two: its half stays empty.
            let from = left + usize::from(cells.is_tail(left));
            let to = (left + cols).min(cells.len());
            let to = to - usize::from(to > from && cells.is_tail(to));
            painter.format(format_args!("\x1b[{}G", from - left + 1));
            painter.cells(cells, from, to, self.terminal.styles.all());
            painter.pen(Packed::DEFAULT);
            painter.bytes(if to - from.min(to) < cols { b"\x1b[K" } else { b"" });
        }
        if grid.len() - top < rows {
            painter.format(format_args!("\x1b[{};1H\x1b[J", grid.len() - top + 1));
        }
        self.typing_modes(&mut painter);
        painter.format(format_args!("\x1b[{};{}H\x1b[?7h", y - top + 1, x - left + 1));
        painter.bytes(if cursor.visible { b"\x1b[?25h\x1b[?2026l" } else { b"\x1b[?2026l" });
        painter.out
    }

    /// Sets and resets the modes that change what keys, mouse and pastes send.
    fn typing_modes(&self, painter: &mut Painter<'_>) {
        let concerns = |entry: &&modes::Entry| {
            matches!(entry.effect, Effect::MouseTracking | Effect::MouseEncoding)
                || matches!(entry.mode.number, 1 | 66 | 1004 | 1007 | 2004)
        };
        let (set, reset): (Vec<_>, Vec<_>) = modes::TABLE
            .iter()
            .filter(|entry| entry.mode.private)
            .filter(concerns)
            .partition(|entry| self.terminal.modes.contains(entry.bit));
        for (entries, last) in [(reset, 'l'), (set, 'h')] {
            for entry in entries {
                painter.format(format_args!("\x1b[?{}{last}", entry.mode.number));
            }
        }
        let flags = self.terminal.grid.keyboard.levels().last().copied().unwrap_or_default();
        painter.format(format_args!("\x1b[={flags}u\x1b[>4;{}m", self.terminal.other_keys));
    }
}
