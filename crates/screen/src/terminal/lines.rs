//! Many whole lines at once.
//!
//! When a program prints more lines than the screen has rows, most of them are only passing
//! through. If nothing else is in the way, they go straight to the history, and the rows get the
//! last ones: the same state, reached without drawing what nobody could have seen.

use super::Terminal;
use crate::modes::Modes;
use crate::parser::printable;

/// How many lines are looked for at once; bounds the list of where they begin.
const MAX_LINES: usize = 1024;

/// The shortest rest of a feed in which to look for lines, per row of the screen. Below it a
/// screenful cannot be in there unless the lines are nearly empty.
const MIN_BYTES_PER_ROW: usize = 3;

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
        let mut ends = std::mem::take(&mut self.line_ends);
        ends.clear();
        let scanned = find_lines(bytes, self.cols, &mut ends);
        let shown = self.rows - 1;
        if ends.len() < shown.max(1) {
            // Do not look at the same bytes again: wait until what stopped the search has passed.
            self.look_again_at = bytes.len() - scanned;
            self.line_ends = ends;
            return 0;
        }
        self.pass_lines(bytes, &ends, shown);
        let taken = ends.last().map_or(0, |&end| end as usize + 2);
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
            && !self.modes.intersects(Modes::INSERT | Modes::ALTERNATE)
            && self.grid.row(self.cursor.y).len() == 0
    }

    fn pass_lines(&mut self, bytes: &[u8], ends: &[u32], shown: usize) {
        let mut trimmed = false;
        for y in 0..shown {
            trimmed |= self.history.push(self.grid.row(y), self.styles.all());
        }
        let passing = ends.len() - shown;
        let mut start = 0;
        for &end in &ends[..passing] {
            trimmed |= self.history.push_ascii(&bytes[start..end as usize]);
            start = end as usize + 2;
        }
        for (y, &end) in ends[passing..].iter().enumerate() {
            let row = self.touch(y);
            row.clear();
            row.put_ascii(0, &bytes[start..end as usize], 0);
            start = end as usize + 2;
        }
        let last = self.rows - 1;
        self.blank_row(last, 0);
        self.happened.scrolled += ends.len() as u64;
        if trimmed {
            self.graphics.trim(self.history.first());
            self.marks.trim(self.history.first());
        }
    }
}

/// Finds where lines of printable ASCII that fit the screen end, and how far it looked.
fn find_lines(bytes: &[u8], cols: usize, ends: &mut Vec<u32>) -> usize {
    let mut at = 0;
    while ends.len() < MAX_LINES {
        let end = at + printable(&bytes[at..]);
        if end - at > cols || !bytes[end..].starts_with(b"\r\n") {
            return end;
        }
        ends.push(end as u32);
        at = end + 2;
    }
    at
}
