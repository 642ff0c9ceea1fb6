//! Many whole lines at once.
//!
//! When a program prints more lines than the screen has rows, most of them are only passing
//! through. If nothing else is in the way, they go straight to the history, and the rows get the
//! last ones: the same state, reached without drawing what nobody could have seen.

use super::Terminal;
use crate::modes::Modes;
use crate::parser::printable;

/// How many rows are looked for at once; bounds the list of where they end, but for the rows of
/// the line that reaches the bound.
const MAX_ROWS: usize = 1024;

/// The longest input looked at at once, which bounds that line.
const MAX_BYTES: usize = 64 * 1024;

/// The shortest rest of a feed in which to look for lines, per row of the screen. Below it a
/// screenful cannot be in there unless the lines are nearly empty.
const MIN_BYTES_PER_ROW: usize = 3;

/// Where a row of the input ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowEnd {
    at: u32,
    /// The line goes on in the next row; otherwise CR and LF follow.
    wrapped: bool,
}

impl RowEnd {
    /// Where the next row begins.
    fn next(self) -> usize {
        self.at as usize + if self.wrapped { 0 } else { 2 }
    }
}

impl Terminal {
    /// Prepares for a feed.
    #[inline]
    pub(crate) fn expect_lines(&mut self) {
        self.many_lines = MIN_BYTES_PER_ROW * self.rows;
        self.look_again_at = usize::MAX;
    }

    /// Takes as many whole lines as there are at the start of `bytes`, if at least a screenful is
    /// and the screen is in a state where they only pass through. Says how many bytes it took.
    pub(super) fn print_lines(&mut self, bytes: &[u8]) -> usize {
        if !self.lines_pass_through() {
            return 0;
        }
        let left = bytes.len();
        let bytes = &bytes[..left.min(MAX_BYTES)];
        let mut ends = std::mem::take(&mut self.line_ends);
        ends.clear();
        let scanned = find_rows(bytes, self.cols, &mut ends);
        let shown = self.rows - 1;
        if ends.len() < shown.max(1) {
            // Do not look at the same bytes again: wait until what stopped the search has passed.
            self.look_again_at = left - scanned;
            self.line_ends = ends;
            return 0;
        }
        self.pass_lines(bytes, &ends, shown);
        let taken = ends.last().map_or(0, |end| end.next());
        self.line_ends = ends;
        taken
    }

    /// Whether the cursor is at the start of an empty last row, everything scrolls into the
    /// history, and printing is nothing but printing.
    fn lines_pass_through(&self) -> bool {
        self.cursor.y + 1 == self.rows
            && self.cursor.x == 0
            && self.top == 0
            && self.bottom + 1 == self.rows
            && self.pen_id == Some(0)
            && self.charsets.is_ascii()
            && self.modes.contains(Modes::AUTOWRAP)
            && !self.modes.intersects(Modes::INSERT | Modes::ALTERNATE)
            && self.grid.row(self.cursor.y).len() == 0
    }

    fn pass_lines(&mut self, bytes: &[u8], ends: &[RowEnd], shown: usize) {
        let mut trimmed = false;
        for y in 0..shown {
            trimmed |= self.history.push(self.grid.row(y), self.styles.all());
        }
        let passing = ends.len() - shown;
        let mut start = 0;
        for end in &ends[..passing] {
            let text = &bytes[start..end.at as usize];
            trimmed |= self.history.push_ascii(text, end.wrapped);
            start = end.next();
        }
        for (y, end) in ends[passing..].iter().enumerate() {
            let row = self.touch(y);
            row.clear();
            row.put_ascii(0, &bytes[start..end.at as usize], 0);
            row.wrapped = end.wrapped;
            start = end.next();
        }
        let last = self.rows - 1;
        self.blank_row(last, 0);
        self.happened.scrolled += ends.len() as u64;
        if trimmed {
            self.forget_trimmed();
        }
    }
}

/// Finds where the rows of whole lines of printable ASCII end, and how far it looked.
fn find_rows(bytes: &[u8], cols: usize, ends: &mut Vec<RowEnd>) -> usize {
    let mut at = 0;
    while ends.len() < MAX_ROWS {
        let end = at + printable(&bytes[at..]);
        if !bytes[end..].starts_with(b"\r\n") {
            return end;
        }
        while end - at > cols {
            at += cols;
            ends.push(RowEnd { at: at as u32, wrapped: true });
        }
        ends.push(RowEnd { at: end as u32, wrapped: false });
        at = end + 2;
    }
    at
}
