//! One row with its styles, from wherever it is kept.

use std::borrow::Cow;
use std::fmt;

use crate::row::{Glyph, Row};
use crate::style::{Packed, Style};

/// One row of the screen or line of the history, with its styles.
#[derive(Debug, Clone)]
pub struct Line<'a> {
    pub(crate) row: Cow<'a, Row>,
    pub(crate) palette: &'a [Packed],
    pub(crate) cols: usize,
    pub(crate) number: u64,
}

/// What stands in a cell: a character, or several that look like one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellText<'a> {
    /// One character; a blank is a space.
    Char(char),
    /// A grapheme cluster.
    Cluster(&'a str),
}

impl fmt::Display for CellText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CellText::Char(c) => c.fmt(f),
            CellText::Cluster(text) => text.fmt(f),
        }
    }
}

/// One cell, or two that one wide glyph takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell<'a> {
    text: CellText<'a>,
    /// The column.
    pub col: u16,
    /// How many cells it takes: one or two.
    pub width: u8,
    /// How it looks.
    pub style: Style,
}

impl<'a> Cell<'a> {
    /// What stands in it.
    #[must_use]
    pub fn text(&self) -> CellText<'a> {
        self.text
    }
}

/// Cells next to each other that look alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The first column.
    pub col: u16,
    /// How many cells.
    pub len: u16,
    /// How they look.
    pub style: Style,
}

impl Line<'_> {
    /// The row's number, counted from the beginning of the session.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether the line goes on in the next row.
    #[must_use]
    pub fn is_wrapped(&self) -> bool {
        self.row.wrapped
    }

    /// How many cells were written: blanks past them never were, and are no part of the line.
    #[must_use]
    pub fn written(&self) -> u16 {
        self.row.len() as u16
    }

    /// The text, without blanks at the end.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// let mut screen = Screen::new("9x2".parse().unwrap(), Options::default());
    /// screen.feed(b"a b  ");
    /// assert_eq!(screen.line(screen.top_row()).unwrap().text(), "a b");
    /// ```
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = Vec::new();
        self.row.push_text(0, self.row.len(), &mut text);
        let mut text = String::from_utf8(text).unwrap_or_default();
        text.truncate(text.trim_end_matches(' ').len());
        text
    }

    /// All cells of the row, blank ones included; the right half of a wide one is not a cell of
    /// its own.
    pub fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        let mut known = (0, Style::default());
        (0..self.cols).filter_map(move |col| {
            let text = match self.row.glyph(col) {
                Glyph::Char(c) => CellText::Char(c),
                Glyph::Cluster(text) => CellText::Cluster(text),
                Glyph::Tail => return None,
            };
            let id = self.row.style(col);
            if id != known.0 {
                known = (id, self.style(id));
            }
            let width = self.row.width(col) as u8;
            Some(Cell { text, col: col as u16, width, style: known.1 })
        })
    }

    /// The runs of cells that look alike, without default ones at the end.
    pub fn runs(&self) -> impl Iterator<Item = Run> {
        let mut col = 0;
        self.row.runs().map(move |(len, id)| {
            let run = Run { col: col as u16, len: len as u16, style: self.style(id) };
            col += len;
            run
        })
    }

    fn style(&self, id: u16) -> Style {
        self.palette.get(id as usize).copied().unwrap_or_default().unpack()
    }
}
