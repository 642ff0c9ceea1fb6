//! Erasing, inserting and deleting cells of a row.

use super::{BLANK, CLUSTER, Row};
use crate::style::StyleId;

impl Row {
    /// Blanks `from..to`. Blanks of the default style at the end take no memory.
    pub(crate) fn erase(&mut self, from: usize, to: usize, style: StyleId) {
        if from >= to {
            return;
        }
        self.part(from);
        self.part(to);
        if style == 0 && to >= self.len() {
            self.truncate(from);
            return;
        }
        self.extend_to(to);
        if self.is_wide {
            self.wide[from..to].fill(BLANK);
        } else {
            self.ascii[from..to].fill(b' ');
        }
        if style != 0 || !self.styles.is_empty() {
            self.put_style(from, to - from, style);
        }
    }

    /// Drops every cell from `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.ascii.truncate(len);
        self.wide.truncate(len);
        self.styles.truncate(len);
    }

    /// Makes the row at least this long.
    pub(crate) fn extend_to(&mut self, len: usize) {
        if self.len() < len {
            if self.is_wide {
                self.wide.resize(len, BLANK);
            } else {
                self.ascii.resize(len, b' ');
            }
            if !self.styles.is_empty() {
                self.styles.resize(len, 0);
            }
        }
    }

    /// Moves the cells from `x` on `count` to the right; what leaves the screen is lost. The new
    /// cells are blanks of `style`.
    pub(crate) fn insert(&mut self, x: usize, count: usize, cols: usize, style: StyleId) {
        let count = count.min(cols - x);
        self.part(x);
        if x < self.len() {
            let kept = self.len().min(cols - count);
            self.part(kept);
            self.truncate(kept.max(x));
            let zero = std::iter::repeat_n(0, count);
            if self.is_wide {
                self.wide.splice(x..x, std::iter::repeat_n(BLANK, count));
            } else {
                self.ascii.splice(x..x, std::iter::repeat_n(b' ', count));
            }
            if !self.styles.is_empty() {
                self.styles.splice(x..x, zero);
            }
        }
        self.erase(x, x + count, style);
    }

    /// Removes `count` cells at `x`; the rest moves left and blanks of `style` follow.
    pub(crate) fn delete(&mut self, x: usize, count: usize, cols: usize, style: StyleId) {
        let count = count.min(cols - x);
        let end = x + count;
        self.part(x);
        self.part(end);
        let cut = x.min(self.len())..end.min(self.len());
        if self.is_wide {
            self.wide.drain(cut.clone());
        } else {
            self.ascii.drain(cut.clone());
        }
        if !self.styles.is_empty() {
            self.styles.drain(cut);
        }
        if style != 0 {
            self.extend_to(cols - count);
            self.erase(cols - count, cols, style);
        }
    }

    /// Appends the cells `from..to` of another row, whose style numbers mean the same here.
    pub(crate) fn append(&mut self, other: &Row, from: usize, to: usize) {
        let to = to.min(other.len());
        if from >= to {
            return;
        }
        let at = self.len();
        if let (false, Some(bytes)) = (self.is_wide, other.as_ascii()) {
            self.ascii.extend_from_slice(&bytes[from..to]);
        } else {
            if !self.is_wide {
                self.widen();
            }
            for x in from..to {
                let mut raw = other.raw(x);
                if raw & CLUSTER != 0 {
                    raw = CLUSTER | self.clusters.push(other.clusters.get(raw & !CLUSTER));
                }
                self.wide.push(raw);
            }
        }
        if !other.styles.is_empty() || !self.styles.is_empty() {
            self.styles.resize(at, 0);
            if other.styles.is_empty() {
                self.styles.resize(self.len(), 0);
            } else {
                self.styles.extend_from_slice(&other.styles[from..to]);
            }
        }
    }

    /// Writes the cells `from..to` of `other` over those from `x` on; blanks past its end.
    pub(crate) fn copy_cells(&mut self, x: usize, other: &Row, from: usize, to: usize) {
        let mut text = String::new();
        self.part(x);
        self.part(x + (to - from));
        for source in from..to {
            let at = x + (source - from);
            let style = other.style(source);
            // Half of a wide cell at either edge of the rectangle becomes a blank.
            let half = (source == from && other.is_tail(source))
                || (source + 1 == to && other.is_tail(to));
            if half {
                self.erase(at, at + 1, style);
            } else if !other.is_tail(source) {
                text.clear();
                other.push_glyph(source, &mut text);
                self.put_text(at, &text, other.width(source), style);
            }
        }
    }

    /// Writes one glyph, whichever kind it is.
    pub(crate) fn put_text(&mut self, x: usize, text: &str, width: usize, style: StyleId) {
        if let &[byte] = text.as_bytes() {
            self.put_ascii(x, &[byte], style);
        } else {
            self.put_cluster(x, text, width, style);
        }
    }

    /// Changes the style of a cell and leaves its text.
    pub(crate) fn restyle(&mut self, x: usize, style: StyleId) {
        if style != self.style(x) {
            self.extend_to(x + 1);
            self.put_style(x, 1, style);
        }
    }
}
