//! A page of history: some lines, complete by themselves.

use super::HistoryLine;
use crate::codec::{push_varint, read_varint};
use crate::row::{Exception, Row};
use crate::style::Packed;

/// When a page has enough text. Small enough that dropping one frees memory soon, large enough
/// that a search seldom changes pages.
const PAGE_TEXT: usize = 16 * 1024;

/// When a page has enough lines, however short: lines that are trimmed but not yet dropped are
/// at most this many.
const PAGE_LINES: usize = 512;

/// How much text a page takes at most. Pages end where a line ends, so that one line is searched
/// in one piece; a line longer than this is cut all the same.
const MAX_PAGE_TEXT: usize = 256 * 1024;

/// When a page has enough styles; beyond it a page of gradients would outgrow its text by far.
const PAGE_STYLES: usize = 4096;

/// The text holds something past ASCII.
const WIDE: u32 = 1 << 31;
/// The line has style runs.
const STYLED: u32 = 1 << 30;
/// The line has glyphs of several code points.
const CLUSTERS: u32 = 1 << 29;
const FLAGS: u32 = WIDE | STYLED | CLUSTERS;

/// Where a line ends in its page's text and extras; it begins where the one before ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Line {
    text: u32,
    /// The end in the extras, and the flags.
    extra: u32,
}

/// Some lines of history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Page {
    /// The number of the first line.
    start: u64,
    text: Vec<u8>,
    lines: Vec<Line>,
    /// Style runs and clusters of the lines that have them, as variable-length numbers.
    extra: Vec<u8>,
    styles: Vec<Packed>,
}

impl Page {
    /// Empties the page for lines from number `start` on.
    pub(super) fn reset(&mut self, start: u64) {
        self.start = start;
        self.text.clear();
        self.lines.clear();
        self.extra.clear();
        self.styles.clear();
        self.styles.push(Packed::DEFAULT);
    }

    #[inline]
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    pub(super) fn set_start(&mut self, start: u64) {
        self.start = start;
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The text of all lines.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    pub(crate) fn styles(&self) -> &[Packed] {
        &self.styles
    }

    /// Whether the last line goes on after this page.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        !self.lines.is_empty() && self.text.last() != Some(&b'\n')
    }

    /// Whether a row of `len` cells belongs into the next page.
    #[inline]
    pub(super) fn is_full(&self, len: usize) -> bool {
        let text = self.text.len();
        let full = text + len >= PAGE_TEXT
            || self.lines.len() >= PAGE_LINES
            || self.styles.len() >= PAGE_STYLES;
        full && text > 0 && (!self.is_open() || text >= MAX_PAGE_TEXT)
    }

    /// Adds a row without styles.
    #[inline]
    pub(super) fn push(&mut self, row: &Row) {
        let mut flags = 0;
        match row.as_ascii() {
            Some(bytes) => self.text.extend_from_slice(bytes),
            None => flags = self.push_wide(row),
        }
        self.end_line(row, flags);
    }

    /// Adds a line of ASCII.
    #[inline]
    pub(super) fn push_ascii(&mut self, text: &[u8], wrapped: bool) {
        self.text.extend_from_slice(text);
        if !wrapped {
            self.text.push(b'\n');
        }
        self.lines.push(Line { text: self.text.len() as u32, extra: self.extra.len() as u32 });
    }

    /// Adds a row with styles; `number` gives the page's number for a style of the grid.
    pub(super) fn push_styled(
        &mut self,
        row: &Row,
        mut number: impl FnMut(&mut Vec<Packed>, u16) -> u16,
    ) {
        let count_at = self.extra.len();
        let mut runs = 0;
        for (len, style) in row.runs() {
            if runs == 0 {
                // Nearly always enough; for more runs the count is written again below.
                self.extra.push(0);
            }
            runs += 1;
            let style = if style == 0 { 0 } else { number(&mut self.styles, style) };
            if len < 0x80 && style < 0x80 {
                self.extra.extend_from_slice(&[len as u8, style as u8]);
            } else {
                push_varint(&mut self.extra, len as u64);
                push_varint(&mut self.extra, u64::from(style));
            }
        }
        if runs > 0 {
            self.write_count(count_at, runs);
        }
        let mut flags = if runs > 0 { STYLED } else { 0 };
        match row.as_ascii() {
            Some(bytes) => self.text.extend_from_slice(bytes),
            None => flags |= self.push_wide(row),
        }
        self.end_line(row, flags);
    }

    /// Writes the number of runs in front of them, where a byte was left for it.
    fn write_count(&mut self, at: usize, runs: u64) {
        match self.extra.get_mut(at) {
            Some(count) if runs < 0x80 => *count = runs as u8,
            _ => {
                let mut count = Vec::with_capacity(3);
                push_varint(&mut count, runs);
                self.extra.splice(at..=at, count);
            }
        }
    }

    fn push_wide(&mut self, row: &Row) -> u32 {
        if !row.push_text(0, row.len(), &mut self.text) {
            // What made the row wide was overwritten.
            return 0;
        }
        let mut flags = WIDE;
        for Exception { col, bytes, width } in row.exceptions() {
            flags |= CLUSTERS;
            push_varint(&mut self.extra, col as u64);
            push_varint(&mut self.extra, (bytes as u64) << 1 | (width as u64 - 1));
        }
        flags
    }

    #[inline]
    fn end_line(&mut self, row: &Row, flags: u32) {
        if !row.wrapped {
            self.text.push(b'\n');
        }
        self.lines
            .push(Line { text: self.text.len() as u32, extra: self.extra.len() as u32 | flags });
    }

    /// Ends the last line if it was only wrapped.
    pub(super) fn close(&mut self) {
        if self.is_open() {
            self.text.push(b'\n');
            if let Some(line) = self.lines.last_mut() {
                line.text += 1;
            }
        }
    }

    /// Removes the last line.
    pub(super) fn pop(&mut self) {
        self.lines.pop();
        let (text, extra) = self.starts(self.lines.len());
        self.text.truncate(text);
        self.extra.truncate(extra);
    }

    /// Where line `index` begins in the text and in the extras.
    #[inline]
    fn starts(&self, index: usize) -> (usize, usize) {
        match index.checked_sub(1).and_then(|before| self.lines.get(before)) {
            Some(line) => (line.text as usize, (line.extra & !FLAGS) as usize),
            None => (0, 0),
        }
    }

    /// Line `index` of the page.
    #[inline]
    pub(crate) fn line(&self, index: usize) -> Option<HistoryLine<'_>> {
        let line = self.lines.get(index)?;
        let (text, extra) = self.starts(index);
        let bytes = self.text.get(text..line.text as usize)?;
        let (bytes, wrapped) = match bytes {
            [bytes @ .., b'\n'] => (bytes, false),
            bytes => (bytes, true),
        };
        Some(HistoryLine {
            number: self.start + index as u64,
            text: bytes,
            wrapped,
            wide: line.extra & WIDE != 0,
            styled: line.extra & STYLED != 0,
            clusters: line.extra & CLUSTERS != 0,
            extra: self.extra.get(extra..(line.extra & !FLAGS) as usize)?,
            styles: &self.styles,
        })
    }

    /// The line that the text's byte `at` is in.
    pub(crate) fn line_at(&self, at: usize) -> Option<HistoryLine<'_>> {
        self.line(self.lines.partition_point(|line| line.text as usize <= at))
    }

    /// Where line `index` begins in the text.
    pub(crate) fn text_start(&self, index: usize) -> usize {
        self.starts(index).0
    }

    /// Puts line `index` into a row, with the page's style numbers.
    pub(super) fn decode(&self, index: usize, row: &mut Row) {
        if let Some(line) = self.line(index) {
            line.decode(row);
        }
    }

    /// Heap bytes held.
    pub(crate) fn heap(&self) -> usize {
        self.text.capacity()
            + self.lines.capacity() * size_of::<Line>()
            + self.extra.capacity()
            + self.styles.capacity() * size_of::<Packed>()
    }

    /// Writes the page for a checkpoint.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        push_varint(out, self.lines.len() as u64);
        let mut before = (0, 0);
        for line in &self.lines {
            let extra = line.extra & !FLAGS;
            let flags = u64::from(line.extra >> 29);
            push_varint(out, u64::from(line.text - before.0) << 3 | flags);
            if flags & 3 != 0 {
                push_varint(out, u64::from(extra - before.1));
            }
            before = (line.text, extra);
        }
        out.extend_from_slice(&self.text);
        out.extend_from_slice(&self.extra);
        push_varint(out, self.styles.len() as u64);
        for style in &self.styles {
            out.extend_from_slice(&style.bits().to_le_bytes());
        }
    }

    /// Reads what [`Page::write`] wrote, or nothing if it is not that.
    pub(crate) fn read(input: &mut &[u8]) -> Option<Page> {
        let count = usize::try_from(read_varint(input)?).ok()?;
        // Each line takes a byte at least: a count that lies is refused before it allocates.
        if count == 0 || count > input.len() || count > MAX_PAGE_TEXT {
            return None;
        }
        let mut lines = Vec::with_capacity(count);
        let (mut text, mut extra) = (0_u64, 0_u64);
        for _ in 0..count {
            let packed = read_varint(input)?;
            text = text.checked_add(packed >> 3)?;
            if packed & 3 != 0 {
                extra = extra.checked_add(read_varint(input)?)?;
            }
            if text > input.len() as u64 || extra > input.len() as u64 || extra >= 1 << 29 {
                return None;
            }
            lines.push(Line { text: text as u32, extra: extra as u32 | (packed as u32 & 7) << 29 });
        }
        let text = take(input, text as usize)?.to_vec();
        let extra = take(input, extra as usize)?.to_vec();
        let styles = read_styles(input)?;
        let page = Page { start: 0, text, lines, extra, styles };
        page.is_valid().then_some(page)
    }

    /// How many cells the widest line has.
    pub(crate) fn widest(&self) -> usize {
        let lines = (0..self.lines.len()).filter_map(|index| self.line(index));
        lines.map(|line| line.width()).max().unwrap_or(0)
    }

    /// Whether every line is what pushing rows could have made.
    fn is_valid(&self) -> bool {
        let lines = self.lines.len();
        (0..lines).all(|index| {
            let newline_inside = || {
                let (start, _) = self.starts(index);
                let end = self.lines[index].text as usize;
                let body = &self.text[start..end.max(start + 1) - 1];
                memchr::memchr(b'\n', body).is_some()
            };
            self.lines[index].text as usize > self.starts(index).0
                && !newline_inside()
                && self.line(index).is_some_and(|line| line.is_valid())
        })
    }
}

fn take<'a>(input: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, rest) = input.split_at_checked(len)?;
    *input = rest;
    Some(taken)
}

fn read_styles(input: &mut &[u8]) -> Option<Vec<Packed>> {
    let count = usize::try_from(read_varint(input)?).ok()?;
    let bytes = take(input, count.checked_mul(16)?)?;
    let styles: Option<Vec<_>> = bytes
        .as_chunks::<16>()
        .0
        .iter()
        .map(|bits| Packed::from_bits(u128::from_le_bytes(*bits)))
        .collect();
    styles.filter(|styles| styles.first() == Some(&Packed::DEFAULT))
}
