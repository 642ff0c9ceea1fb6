//! What changed since a moment.

use super::line::Line;
use super::snapshot::Rows;
use crate::links::Link;
use crate::modes::Modes;
use crate::screen::{Cursor, Screen};
use crate::style::LinkId;

/// A moment in a screen's life, to ask for what changed since.
///
/// The default is before everything: a diff since then has every row that was ever touched. A
/// moment belongs to one screen in one process: after [`Screen::restore`] ask with the default.
///
/// ```
/// use greenroom_screen::{Options, Position, Screen};
///
/// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// screen.feed(b"one\r\ntwo");
/// assert_eq!(screen.diff(Position::default()).rows().count(), 2);
/// assert!(screen.diff(screen.position()).is_empty());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Position {
    pub(crate) generation: u64,
    pub(crate) top: u64,
}

impl Position {
    /// Counts up with every feed and resize.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// let before = screen.position().generation();
    /// screen.feed(b"news");
    /// assert_eq!(screen.position().generation(), before + 1);
    /// ```
    #[must_use]
    pub fn generation(self) -> u64 {
        self.generation
    }

    /// The number the screen's top row had.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// let mut screen = Screen::new("20x1".parse().unwrap(), Options::default());
    /// let then = screen.position();
    /// screen.feed(b"1\r\n2");
    /// assert_eq!((then.top_row(), screen.position().top_row()), (0, 1));
    /// ```
    #[must_use]
    pub fn top_row(self) -> u64 {
        self.top
    }
}

/// What changed since a [`Position`].
///
/// To bring a copy up to date: move its rows up by [`Diff::scrolled`], at most its height, then
/// replace the rows of [`Diff::rows`], each at its number less [`Position::top_row`].
///
/// ```
/// use greenroom_screen::{Options, Screen};
///
/// let mut screen = Screen::new("20x2".parse().unwrap(), Options::default());
/// screen.feed(b"one\r\ntwo");
/// let mut copy: Vec<String> = screen.snapshot().rows().map(|row| row.text()).collect();
/// let then = screen.position();
/// screen.feed(b"\r\nthree");
///
/// let diff = screen.diff(then);
/// let gone = copy.len().min(diff.scrolled as usize);
/// copy.rotate_left(gone);
/// for row in diff.rows() {
///     copy[(row.number() - diff.position.top_row()) as usize] = row.text();
/// }
/// assert_eq!(copy, ["two", "three"]);
/// ```
#[derive(Debug, Clone)]
pub struct Diff {
    /// What to ask for the next diff with.
    pub position: Position,
    /// How many rows left at the top; the screen's height or more if nothing is left.
    pub scrolled: u64,
    /// Where the cursor is now.
    pub cursor: Cursor,
    /// The modes that are set now.
    pub modes: Modes,
    rows: Rows,
    numbers: Vec<u64>,
    cols: usize,
}

impl Diff {
    /// The rows that changed, with their numbers.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// let then = screen.position();
    /// screen.feed(b"\x1b[4;1Hstatus");
    /// let diff = screen.diff(then);
    /// let numbers: Vec<_> = diff.rows().map(|row| row.number()).collect();
    /// assert_eq!(numbers, [3]);
    /// ```
    pub fn rows(&self) -> impl Iterator<Item = Line<'_>> {
        let numbers = self.numbers.iter().enumerate();
        numbers.filter_map(|(index, &number)| self.rows.line(index, self.cols, number))
    }

    /// Where a link of these rows leads; as [`Snapshot::link`](crate::Snapshot::link).
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x2".parse().unwrap(), Options::default());
    /// let then = screen.position();
    /// screen.feed(b"\x1b]8;;https://example.org\x07here");
    /// let diff = screen.diff(then);
    /// let link = diff.rows().next().unwrap().cell(0).unwrap().style.link.unwrap();
    /// assert_eq!(diff.link(link).unwrap().uri, "https://example.org");
    /// ```
    #[must_use]
    pub fn link(&self, link: LinkId) -> Option<&Link> {
        self.rows.link(link)
    }

    /// Whether no row changed or moved.
    ///
    /// The cursor and the modes may have changed all the same.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// let then = screen.position();
    /// screen.feed(b"\x1b[3;3H"); // only the cursor moves
    /// let diff = screen.diff(then);
    /// assert!(diff.is_empty());
    /// assert_eq!(diff.cursor.row, 2);
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty() && self.scrolled == 0
    }
}

impl Screen {
    /// This moment, to ask [`Screen::diff`] for what changed since.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// let then = screen.position();
    /// screen.feed(b"hello");
    /// assert_eq!(screen.diff(then).rows().count(), 1);
    /// assert_eq!(screen.diff(screen.position()).rows().count(), 0);
    /// ```
    #[must_use]
    pub fn position(&self) -> Position {
        Position { generation: self.terminal.generation, top: self.terminal.history.end() }
    }

    /// What changed since `then`. Costs what changed, not what there is.
    ///
    /// ```
    /// use greenroom_screen::{Options, Screen};
    ///
    /// let mut screen = Screen::new("20x3".parse().unwrap(), Options::default());
    /// let then = screen.position();
    /// screen.feed(b"\x1b[2;1Hnew");
    /// let diff = screen.diff(then);
    /// let changed: Vec<_> = diff.rows().map(|row| (row.number(), row.text())).collect();
    /// assert_eq!(changed, [(1, "new".to_owned())]);
    /// ```
    #[must_use]
    pub fn diff(&self, then: Position) -> Diff {
        let terminal = &self.terminal;
        let all = terminal.all_changed > then.generation;
        let top = terminal.history.end();
        let mut rows = Rows::with_capacity(1);
        let mut numbers = Vec::new();
        for (y, row) in terminal.grid.rows().enumerate() {
            if all || row.stamp > then.generation {
                rows.push(row, terminal.styles.all());
                numbers.push(top + y as u64);
            }
        }
        rows.resolve_links(&terminal.links);
        Diff {
            position: self.position(),
            scrolled: top.saturating_sub(then.top),
            cursor: self.cursor(),
            modes: terminal.modes,
            rows,
            numbers,
            cols: terminal.cols,
        }
    }
}
