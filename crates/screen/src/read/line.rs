//! One row with its styles, from wherever it is kept.

use std::borrow::Cow;
use std::fmt;

use super::text::into_string;
use crate::row::{Glyph, Row};
use crate::style::{Packed, Style};

/// One row of the screen or line of the history, with its styles.
///
/// ```
/// use greenroom_screen::{Options, Screen};
///
/// let mut screen = Screen::new("20x2".parse().unwrap(), Options::default());
/// screen.feed(b"old\r\nnew\r\nnewer");
/// let line = screen.line(screen.first_row()).unwrap();
/// assert_eq!((line.number(), line.text().as_str()), (0, "old"));
/// ```
#[derive(Debug, Clone)]
pub struct Line<'a> {
    pub(crate) row: Cow<'a, Row>,
    pub(crate) palette: &'a [Packed],
    pub(crate) cols: usize,
    pub(crate) number: u64,
}

/// What stands in a cell: a character, or several that look like one.
///
/// ```
/// use greenroom_screen::{CellText, Options, Screen};
///
/// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// screen.feed("e\u{301}x".as_bytes());
/// let line = screen.line(0).unwrap();
/// let texts: Vec<_> = line.cells().take(2).map(|cell| cell.text()).collect();
/// assert_eq!(texts, [CellText::Cluster("e\u{301}"), CellText::Char('x')]);
/// assert_eq!(texts[0].to_string(), "e\u{301}");
/// ```
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
///
/// ```
/// use greenroom_screen::{Options, Screen};
///
/// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// screen.feed("漢a".as_bytes());
/// let line = screen.line(0).unwrap();
/// let places: Vec<_> = line.cells().take(2).map(|cell| (cell.col, cell.width)).collect();
/// assert_eq!(places, [(0, 2), (2, 1)]);
/// ```
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
    ///
    /// ```
    /// # use greenroom_screen::{CellText, Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"a");
    /// let line = screen.line(0).unwrap();
    /// let mut cells = line.cells();
    /// assert_eq!(cells.next().unwrap().text(), CellText::Char('a'));
    /// assert_eq!(cells.next().unwrap().text(), CellText::Char(' '));
    /// ```
    #[must_use]
    pub fn text(&self) -> CellText<'a> {
        self.text
    }
}

/// Cells next to each other that look alike.
///
/// ```
/// use greenroom_screen::{Color, Options, Run, Screen, Style};
///
/// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// screen.feed(b"ok \x1b[31mred\x1b[m");
/// let red = Style { fg: Color::Indexed(1), ..Style::default() };
/// let last = screen.line(0).unwrap().runs().last();
/// assert_eq!(last, Some(Run { col: 3, len: 3, style: red }));
/// ```
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
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// let mut screen = Screen::new("20x2".parse().unwrap(), Options::default());
    /// screen.feed(b"1\r\n2\r\n3");
    /// let snapshot = screen.snapshot();
    /// let numbers: Vec<_> = snapshot.rows().map(|row| row.number()).collect();
    /// assert_eq!(numbers, [1, 2]);
    /// ```
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether the line goes on in the next row.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// let mut screen = Screen::new("4x2".parse().unwrap(), Options::default());
    /// screen.feed(b"longer");
    /// assert!(screen.line(0).unwrap().is_wrapped());
    /// assert!(!screen.line(1).unwrap().is_wrapped());
    /// ```
    #[must_use]
    pub fn is_wrapped(&self) -> bool {
        self.row.wrapped
    }

    /// How many cells were written.
    ///
    /// Blanks past them never were, and are no part of the line.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"a  ");
    /// let line = screen.line(0).unwrap();
    /// assert_eq!(line.written(), 3);
    /// assert_eq!(line.text(), "a");
    /// ```
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
        let mut text = into_string(text);
        text.truncate(text.trim_end_matches(' ').len());
        text
    }

    /// All cells of the row, blank ones included.
    ///
    /// The right half of a wide one is not a cell of its own.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// let mut screen = Screen::new("5x2".parse().unwrap(), Options::default());
    /// screen.feed("漢a".as_bytes());
    /// let line = screen.line(0).unwrap();
    /// let texts: Vec<_> = line.cells().map(|cell| cell.text().to_string()).collect();
    /// assert_eq!(texts, ["漢", "a", " ", " "]);
    /// ```
    #[inline]
    pub fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        let mut known = (0, Style::default());
        (0..self.cols).filter_map(move |col| {
            let text = self.glyph(col)?;
            let id = self.row.style(col);
            if id != known.0 {
                known = (id, self.style(id));
            }
            let width = self.row.width(col) as u8;
            Some(Cell { text, col: col as u16, width, style: known.1 })
        })
    }

    /// The glyph at a column; at its right half, the whole wide glyph.
    ///
    /// ```
    /// # use greenroom_screen::{CellText, Options, Screen};
    /// # let mut screen = Screen::new("20x2".parse().unwrap(), Options::default());
    /// screen.feed("a漢".as_bytes());
    /// let line = screen.line(0).unwrap();
    /// let cell = line.cell(2).unwrap();
    /// assert_eq!((cell.text(), cell.col, cell.width), (CellText::Char('漢'), 1, 2));
    /// assert_eq!(line.cell(20), None);
    /// ```
    #[must_use]
    pub fn cell(&self, col: u16) -> Option<Cell<'_>> {
        let col = (col as usize) - usize::from(self.row.is_tail(col as usize));
        let text = self.glyph(col)?;
        let (width, style) = (self.row.width(col) as u8, self.style(self.row.style(col)));
        (col < self.cols).then_some(Cell { text, col: col as u16, width, style })
    }

    /// The runs of cells that look alike, without default ones at the end.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"ab\x1b[1mcde\x1b[mf");
    /// let line = screen.line(0).unwrap();
    /// let runs: Vec<_> = line.runs().map(|run| (run.col, run.len)).collect();
    /// assert_eq!(runs, [(0, 2), (2, 3)]);
    /// ```
    pub fn runs(&self) -> impl Iterator<Item = Run> {
        let mut col = 0;
        self.row.runs().map(move |(len, id)| {
            let run = Run { col: col as u16, len: len as u16, style: self.style(id) };
            col += len;
            run
        })
    }

    /// What stands at a column; nothing at the right half of a wide glyph.
    #[inline]
    fn glyph(&self, col: usize) -> Option<CellText<'_>> {
        match self.row.glyph(col) {
            Glyph::Char(c) => Some(CellText::Char(c)),
            Glyph::Cluster(text) => Some(CellText::Cluster(text)),
            Glyph::Tail => None,
        }
    }

    fn style(&self, id: u16) -> Style {
        self.palette.get(id as usize).copied().unwrap_or_default().unpack()
    }
}
