//! One row of cells, as small as its contents allow.
//!
//! A row starts as bytes, one per cell. The first character past ASCII widens it to one `u32`
//! per cell; the first style gives it a list of style numbers. Cells past the row's length are
//! blank, so clearing a row and erasing to its end cost nothing.
//!
//! A wide cell is followed by [`TAIL`]. A cell of several code points is [`CLUSTER`] and an index
//! into the row's own list, so that a row can move, be cleared and be dropped by itself.
//!
//! Not here: where rows are (`grid`), what happens at margins (`terminal`).
//!
//! Invariant: a `TAIL` follows a wide cell, and nothing else is wide; `styles` is empty or as
//! long as the row.

mod clusters;
mod edit;
mod encode;
#[cfg(test)]
mod tests;

pub(crate) use encode::Exception;

use self::clusters::Clusters;
use crate::style::StyleId;

/// The right half of a wide cell.
pub(crate) const TAIL: u32 = 1 << 29;
/// Marks a cell whose lower bits index the row's clusters.
pub(crate) const CLUSTER: u32 = 1 << 30;
/// What a blank cell holds.
const BLANK: u32 = b' ' as u32;

/// One row of cells.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    /// The cells while all are ASCII.
    ascii: Vec<u8>,
    /// The cells once one is not.
    wide: Vec<u32>,
    is_wide: bool,
    /// Whether the text goes on in the next row: the line was wrapped, not ended.
    pub(crate) wrapped: bool,
    styles: Vec<StyleId>,
    clusters: Clusters,
    /// The generation in which it last changed.
    pub(crate) stamp: u64,
}

/// What stands in one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Glyph<'a> {
    /// One character.
    Char(char),
    /// A grapheme cluster of several.
    Cluster(&'a str),
    /// The right half of the wide cell before it.
    Tail,
}

impl Row {
    /// How many cells it has; those past it are blank.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        if self.is_wide { self.wide.len() } else { self.ascii.len() }
    }

    /// The row's bytes, if it has never held anything but ASCII since it was cleared.
    #[inline]
    pub(crate) fn as_ascii(&self) -> Option<&[u8]> {
        (!self.is_wide).then_some(self.ascii.as_slice())
    }

    /// The row's style numbers: none at all, or one for each cell.
    #[inline]
    pub(crate) fn styles(&self) -> &[StyleId] {
        &self.styles
    }

    /// The style number of a cell.
    #[inline]
    pub(crate) fn style(&self, x: usize) -> StyleId {
        self.styles.get(x).copied().unwrap_or(0)
    }

    /// Replaces every style number.
    pub(crate) fn map_styles(&mut self, mut new: impl FnMut(StyleId) -> StyleId) {
        for style in &mut self.styles {
            *style = new(*style);
        }
    }

    /// Empties the row and keeps its memory.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.ascii.clear();
        self.styles.clear();
        self.wrapped = false;
        if self.is_wide {
            self.wide.clear();
            self.clusters.clear();
            self.is_wide = false;
        }
    }

    /// The raw value of a cell.
    #[inline]
    fn raw(&self, x: usize) -> u32 {
        if self.is_wide {
            self.wide.get(x).copied().unwrap_or(BLANK)
        } else {
            self.ascii.get(x).map_or(BLANK, |&byte| u32::from(byte))
        }
    }

    /// What a cell holds; a blank past the end.
    #[inline]
    pub(crate) fn glyph(&self, x: usize) -> Glyph<'_> {
        match self.raw(x) {
            TAIL => Glyph::Tail,
            raw if raw & CLUSTER != 0 => Glyph::Cluster(self.clusters.get(raw & !CLUSTER)),
            raw => Glyph::Char(char::from_u32(raw).unwrap_or(' ')),
        }
    }

    /// Whether the cell is the right half of a wide one.
    #[inline]
    pub(crate) fn is_tail(&self, x: usize) -> bool {
        self.is_wide && self.wide.get(x) == Some(&TAIL)
    }

    /// How many cells the glyph at `x` takes.
    #[inline]
    pub(crate) fn width(&self, x: usize) -> usize {
        1 + usize::from(self.is_tail(x + 1))
    }

    /// Whether the cell shows nothing and has the default style.
    pub(crate) fn is_blank(&self, x: usize) -> bool {
        self.raw(x) == BLANK && self.style(x) == 0
    }

    /// How many cells it has without the blank ones at its end.
    pub(crate) fn used(&self) -> usize {
        let mut used = self.len();
        while used > 0 && self.is_blank(used - 1) {
            used -= 1;
        }
        used
    }

    /// Writes printable ASCII from cell `x` on. The caller keeps it within the screen.
    #[inline]
    pub(crate) fn put_ascii(&mut self, x: usize, run: &[u8], style: StyleId) {
        if self.is_wide {
            return self.put_ascii_wide(x, run, style);
        }
        let len = self.ascii.len();
        if x == len {
            self.ascii.extend_from_slice(run);
        } else if x + run.len() <= len {
            self.ascii[x..x + run.len()].copy_from_slice(run);
        } else {
            self.ascii.resize(x, b' ');
            self.ascii.extend_from_slice(run);
        }
        if style != 0 || !self.styles.is_empty() {
            self.put_style(x, run.len(), style);
        }
    }

    #[inline]
    fn put_style(&mut self, x: usize, count: usize, style: StyleId) {
        let len = self.len();
        if self.styles.len() < len {
            self.styles.resize(len, 0);
        }
        self.styles[x..x + count].fill(style);
    }

    fn put_ascii_wide(&mut self, x: usize, run: &[u8], style: StyleId) {
        let end = x + run.len();
        self.part(x);
        self.part(end);
        if self.wide.len() < end {
            self.wide.resize(end, BLANK);
        }
        for (cell, byte) in self.wide[x..end].iter_mut().zip(run) {
            *cell = u32::from(*byte);
        }
        if style != 0 || !self.styles.is_empty() {
            self.put_style(x, run.len(), style);
        }
    }

    /// Writes one character of one or two cells.
    #[inline]
    pub(crate) fn put_char(&mut self, x: usize, c: char, width: usize, style: StyleId) {
        if !self.is_wide {
            self.widen();
        }
        let end = x + width;
        if self.wide.len() == x {
            self.wide.push(c as u32);
            if width == 2 {
                self.wide.push(TAIL);
            }
        } else {
            self.make_room(x, end);
            self.wide[x] = c as u32;
            if width == 2 {
                self.wide[x + 1] = TAIL;
            }
        }
        if style != 0 || !self.styles.is_empty() {
            self.put_style(x, width, style);
        }
    }

    /// Makes `x..end` exist, and no wide cell reach over its ends.
    fn make_room(&mut self, x: usize, end: usize) {
        self.part(x);
        self.part(end);
        if self.wide.len() < end {
            self.wide.resize(end, BLANK);
        }
    }

    fn widen(&mut self) {
        self.wide.clear();
        self.wide.extend(self.ascii.iter().map(|&byte| u32::from(byte)));
        self.ascii.clear();
        self.is_wide = true;
    }

    /// Blanks both halves of a wide cell that lies across the edge before `x`.
    #[inline]
    pub(crate) fn part(&mut self, x: usize) {
        if x > 0 && self.is_tail(x) {
            self.wide[x - 1] = BLANK;
            self.wide[x] = BLANK;
        }
    }

    /// Makes the glyph at `x` a cluster of this text, `width` cells wide. What was past it and
    /// now is under it is overwritten.
    pub(crate) fn put_cluster(&mut self, x: usize, text: &str, width: usize, style: StyleId) {
        let mut chars = text.chars();
        if let (Some(only), None) = (chars.next(), chars.next()) {
            return self.put_char(x, only, width, style);
        }
        if !self.is_wide {
            self.widen();
        }
        self.make_room(x, x + width);
        if self.clusters.len() > self.wide.len() {
            self.clusters.keep_used(&mut self.wide);
        }
        self.wide[x] = CLUSTER | self.clusters.push(text);
        if width == 2 {
            self.wide[x + 1] = TAIL;
        }
        if style != 0 || !self.styles.is_empty() {
            self.put_style(x, width, style);
        }
    }

    /// Adds a character to the glyph at `x`, which stays as wide as it is; nothing happens if the
    /// cluster would grow past its bound.
    pub(crate) fn join(&mut self, x: usize, c: char) {
        if let raw @ CLUSTER.. = self.raw(x) {
            self.wide[x] = CLUSTER | self.clusters.extend(raw & !CLUSTER, c);
            return;
        }
        let Glyph::Char(base) = self.glyph(x) else { return };
        self.extend_to(x + 1);
        if !self.is_wide {
            self.widen();
        }
        if self.clusters.len() > self.wide.len() {
            self.clusters.keep_used(&mut self.wide);
        }
        let cluster = self.clusters.push(base.encode_utf8(&mut [0; 4]));
        self.wide[x] = CLUSTER | self.clusters.extend(cluster, c);
    }

    /// The last code point of the glyph at `x`, and whether it has only that one.
    pub(crate) fn last_char(&self, x: usize) -> (char, bool) {
        match self.glyph(x) {
            Glyph::Char(c) => (c, true),
            Glyph::Cluster(text) => (text.chars().next_back().unwrap_or(' '), false),
            Glyph::Tail => (' ', true),
        }
    }

    /// The text of the glyph at `x`.
    pub(crate) fn glyph_text(&self, x: usize) -> String {
        let mut text = String::new();
        self.push_glyph(x, &mut text);
        text
    }

    /// Appends the text of the glyph at `x`.
    pub(crate) fn push_glyph(&self, x: usize, out: &mut String) {
        match self.glyph(x) {
            Glyph::Char(c) => out.push(c),
            Glyph::Cluster(text) => out.push_str(text),
            Glyph::Tail => {}
        }
    }

    /// Heap bytes held.
    pub(crate) fn heap(&self) -> usize {
        self.ascii.capacity()
            + self.wide.capacity() * 4
            + self.styles.capacity() * 2
            + self.clusters.heap()
    }
}
