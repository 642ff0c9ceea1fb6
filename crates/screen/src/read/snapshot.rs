//! What a screen shows at one moment, to keep and to send elsewhere.

use std::borrow::Cow;
use std::sync::Arc;

use greenroom_model::{Offset, Size};

use super::diff::Position;
use super::line::Line;
use crate::links::{Link, Links};
use crate::modes::Modes;
use crate::row::Row;
use crate::screen::{Cursor, Screen};
use crate::style::{LinkId, Packed, StyleId};

/// Rows taken out of a screen, with the styles they use.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    pub(super) rows: Vec<Row>,
    palette: Vec<Packed>,
    /// The number in `palette` of each of the screen's styles; zero for those not met yet.
    numbers: Vec<StyleId>,
    /// The links those styles refer to.
    links: Vec<(LinkId, Link)>,
}

impl Rows {
    pub(super) fn with_capacity(rows: usize) -> Rows {
        Rows {
            rows: Vec::with_capacity(rows),
            palette: vec![Packed::DEFAULT],
            numbers: Vec::new(),
            links: Vec::new(),
        }
    }

    /// Adds a row; the screen's style numbers become those of this palette.
    pub(super) fn push(&mut self, row: &Row, styles: &[Packed]) {
        let mut row = row.clone();
        if !row.styles().is_empty() {
            self.numbers.resize(styles.len(), 0);
        }
        let (palette, numbers) = (&mut self.palette, &mut self.numbers);
        row.map_styles(|id| {
            let Some(number) = numbers.get_mut(id as usize) else { return 0 };
            if *number == 0 && id != 0 {
                palette.push(styles.get(id as usize).copied().unwrap_or_default());
                *number = palette.len() as StyleId - 1;
            }
            *number
        });
        self.rows.push(row);
    }

    /// Takes along where the links of the rows lead. To be called once, after the last row.
    pub(super) fn resolve_links(&mut self, links: &Links) {
        for number in self.palette.iter().map(|style| style.link()).filter(|&it| it != 0) {
            if let Some(link) = links.get(number)
                && self.link(LinkId(number)).is_none()
            {
                self.links.push((LinkId(number), link.clone()));
            }
        }
    }

    pub(super) fn link(&self, id: LinkId) -> Option<&Link> {
        self.links.iter().find(|(known, _)| *known == id).map(|(_, link)| link)
    }

    pub(super) fn line(&self, index: usize, cols: usize, number: u64) -> Option<Line<'_>> {
        let row = Cow::Borrowed(self.rows.get(index)?);
        Some(Line { row, palette: &self.palette, cols, number })
    }
}

/// What a screen shows at one moment.
///
/// Cloning it copies nothing, and it may go to any thread.
///
/// ```
/// use greenroom_screen::{Options, Screen};
///
/// let mut screen = Screen::new("20x2".parse().unwrap(), Options::default());
/// screen.feed(b"hello");
/// let then = screen.snapshot();
/// screen.feed(b" world");
/// assert_eq!(then.text(), "hello");
/// assert_eq!(then.cursor().col, 5);
/// ```
#[derive(Debug, Clone)]
pub struct Snapshot(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    size: Size,
    cols: usize,
    rows: Rows,
    cursor: Cursor,
    modes: Modes,
    title: String,
    position: Position,
    offset: Offset,
}

impl Screen {
    /// What the screen shows now.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"shown");
    /// let snapshot = screen.snapshot();
    /// let reader = std::thread::spawn(move || snapshot.text());
    /// assert_eq!(reader.join().unwrap(), "shown");
    /// ```
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let terminal = &self.terminal;
        let mut rows = Rows::with_capacity(terminal.rows);
        for row in terminal.grid.rows() {
            rows.push(row, terminal.styles.all());
        }
        rows.resolve_links(&terminal.links);
        Snapshot(Arc::new(Inner {
            size: terminal.size,
            cols: terminal.cols,
            rows,
            cursor: self.cursor(),
            modes: terminal.modes,
            title: terminal.titles.current.clone(),
            position: self.position(),
            offset: self.offset(),
        }))
    }
}

impl Snapshot {
    /// The size in cells.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// let snapshot = screen.snapshot();
    /// screen.resize("80x24".parse().unwrap());
    /// assert_eq!(snapshot.size().to_string(), "20x4");
    /// ```
    #[must_use]
    pub fn size(&self) -> Size {
        self.0.size
    }

    /// Where the cursor was.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"ab");
    /// assert_eq!(screen.snapshot().cursor(), screen.cursor());
    /// ```
    #[must_use]
    pub fn cursor(&self) -> Cursor {
        self.0.cursor
    }

    /// The modes that were set.
    ///
    /// ```
    /// # use greenroom_screen::{Modes, Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"\x1b[?1049h");
    /// assert!(screen.snapshot().modes().contains(Modes::ALTERNATE));
    /// ```
    #[must_use]
    pub fn modes(&self) -> Modes {
        self.0.modes
    }

    /// The window's title.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"\x1b]2;top\x07");
    /// assert_eq!(screen.snapshot().title(), "top");
    /// ```
    #[must_use]
    pub fn title(&self) -> &str {
        &self.0.title
    }

    /// What to ask [`Screen::diff`] for what changed since.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// let snapshot = screen.snapshot();
    /// screen.feed(b"later");
    /// assert_eq!(screen.diff(snapshot.position()).rows().count(), 1);
    /// ```
    #[must_use]
    pub fn position(&self) -> Position {
        self.0.position
    }

    /// How many bytes the screen had been fed.
    ///
    /// What follows it in the output is what the snapshot does not show.
    ///
    /// ```
    /// # use greenroom_model::Offset;
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"four");
    /// assert_eq!(screen.snapshot().offset(), Offset(4));
    /// ```
    #[must_use]
    pub fn offset(&self) -> Offset {
        self.0.offset
    }

    /// A row, from the top.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"one\r\ntwo");
    /// let snapshot = screen.snapshot();
    /// assert_eq!(snapshot.row(1).unwrap().text(), "two");
    /// assert!(snapshot.row(4).is_none());
    /// ```
    #[must_use]
    pub fn row(&self, row: u16) -> Option<Line<'_>> {
        let number = self.0.position.top + u64::from(row);
        self.0.rows.line(row as usize, self.0.cols, number)
    }

    /// The rows, from the top.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"one\r\ntwo");
    /// let snapshot = screen.snapshot();
    /// let texts: Vec<_> = snapshot.rows().map(|row| row.text()).collect();
    /// assert_eq!(texts, ["one", "two", "", ""]);
    /// ```
    pub fn rows(&self) -> impl Iterator<Item = Line<'_>> {
        (0..self.0.rows.rows.len() as u16).filter_map(|row| self.row(row))
    }

    /// Where a link of these rows leads.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x2".parse().unwrap(), Options::default());
    /// screen.feed(b"\x1b]8;;https://example.org\x07here\x1b]8;;\x07");
    /// let snapshot = screen.snapshot();
    /// let link = snapshot.row(0).unwrap().cell(0).unwrap().style.link.unwrap();
    /// assert_eq!(snapshot.link(link).unwrap().uri, "https://example.org");
    /// ```
    #[must_use]
    pub fn link(&self, link: LinkId) -> Option<&Link> {
        self.0.rows.link(link)
    }

    /// The text as [`Screen::text`] gives it.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"one  \r\ntwo");
    /// assert_eq!(screen.snapshot().text(), "one\ntwo");
    /// ```
    #[must_use]
    pub fn text(&self) -> String {
        super::text::join_rows(self.0.rows.rows.iter())
    }
}
