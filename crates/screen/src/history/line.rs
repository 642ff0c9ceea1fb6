//! One line of history, as it lies in its page.

use crate::codec::read_varint;
use crate::row::{Exception, Row};
use crate::style::Packed;
use crate::unicode::{Class, MAX_CLUSTER_BYTES};
use greenroom_model::Size;

/// One line of history, as it lies in its page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HistoryLine<'a> {
    /// Its number since the beginning of the session.
    pub(crate) number: u64,
    /// Its text, without a line end.
    pub(crate) text: &'a [u8],
    /// Whether it goes on in the next line.
    pub(crate) wrapped: bool,
    pub(super) wide: bool,
    pub(super) styled: bool,
    pub(super) clusters: bool,
    pub(super) extra: &'a [u8],
    /// What its style numbers mean.
    pub(crate) styles: &'a [Packed],
}

/// A glyph of a line: where its text is and how many cells it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) width: usize,
}

impl<'a> HistoryLine<'a> {
    /// Puts the line into a row, with its page's style numbers.
    pub(crate) fn decode(&self, row: &mut Row) {
        row.clear();
        row.wrapped = self.wrapped;
        if self.wide {
            let text = String::from_utf8_lossy(self.text);
            let mut col = 0;
            for span in self.spans(&text) {
                row.put_text(col, text.get(span.start..span.end).unwrap_or(" "), span.width, 0);
                col += span.width;
            }
        } else {
            row.put_ascii(0, self.text, 0);
        }
        let mut col = 0;
        for (len, style) in self.runs() {
            row.style_run(col, len, style);
            col += len;
        }
    }

    /// The line's style runs.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (usize, u16)> + use<'a> {
        let mut extra = self.extra;
        let count = if self.styled { read_varint(&mut extra).unwrap_or(0) } else { 0 };
        (0..count).map_while(move |_| {
            let len = read_varint(&mut extra)?;
            let style = read_varint(&mut extra)?;
            Some((len as usize, style as u16))
        })
    }

    fn exceptions(&self) -> impl Iterator<Item = Exception> + use<'a> {
        let mut extra = if self.clusters { self.extra } else { &[] };
        if self.styled && self.clusters {
            let count = read_varint(&mut extra).unwrap_or(0);
            for _ in 0..count.saturating_mul(2) {
                if read_varint(&mut extra).is_none() {
                    break;
                }
            }
        }
        std::iter::from_fn(move || {
            let col = read_varint(&mut extra)? as usize;
            let packed = read_varint(&mut extra)?;
            let bytes = (packed >> 1) as usize;
            Some(Exception { col, bytes, width: (packed & 1) as usize + 1 })
        })
    }

    /// The glyphs of a line past ASCII; `text` is the line's.
    pub(crate) fn spans<'t>(&self, text: &'t str) -> impl Iterator<Item = Span> + use<'a, 't> {
        let mut exceptions = self.exceptions().peekable();
        let (mut col, mut at) = (0, 0);
        std::iter::from_fn(move || {
            let c = text.get(at..)?.chars().next()?;
            let mut span =
                Span { start: at, end: at + c.len_utf8(), width: Class::of(c).width().max(1) };
            if let Some(exception) = exceptions.next_if(|it| it.col == col) {
                span.end = (at + exception.bytes).min(text.len());
                span.width = exception.width;
            }
            at = span.end;
            col += span.width;
            Some(span)
        })
    }

    /// How many cells it has.
    pub(crate) fn width(&self) -> usize {
        self.col_of(self.text.len())
    }

    /// The cell in which the text's byte `at` stands; the line's width if it is its end.
    pub(crate) fn col_of(&self, at: usize) -> usize {
        if !self.wide {
            return at.min(self.text.len());
        }
        let text = String::from_utf8_lossy(self.text);
        let before = self.spans(&text).take_while(|span| span.end <= at);
        before.map(|span| span.width).sum()
    }

    /// Whether the parts fit together; a checkpoint may come from anywhere.
    pub(super) fn is_valid(&self) -> bool {
        let Some(cells) = (if self.wide { self.valid_cells() } else { self.ascii_cells() }) else {
            return false;
        };
        let styled: usize = self.runs().map(|(len, _)| len.min(1 << 20)).sum();
        let known = self.runs().all(|(_, style)| (style as usize) < self.styles.len());
        known && styled <= cells && cells <= Size::MAX_COLS as usize
    }

    /// How many cells a line of ASCII has, if it is one.
    fn ascii_cells(&self) -> Option<usize> {
        self.text.iter().all(|byte| (b' '..0x7f).contains(byte)).then_some(self.text.len())
    }

    /// How many cells a line past ASCII has, if every glyph is one that printing could have made.
    fn valid_cells(&self) -> Option<usize> {
        let text = std::str::from_utf8(self.text).ok()?;
        if text.chars().any(char::is_control) {
            return None;
        }
        let mut cells = 0;
        for span in self.spans(text) {
            let glyph = text.get(span.start..span.end)?;
            let mut chars = glyph.chars();
            let sound = match (chars.next()?, chars.next()) {
                (only, None) => Class::of(only).width().max(1) == span.width,
                (_, Some(_)) => glyph.len() <= MAX_CLUSTER_BYTES,
            };
            if !sound {
                return None;
            }
            cells += span.width;
        }
        Some(cells)
    }
}
