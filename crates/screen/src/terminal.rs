//! The terminal itself: what every sequence does to the screens.
//!
//! [`Terminal`] owns the state; each file beside this one is one group of functions on it, and
//! `sequences` is the table that leads from a sequence to its function. `Screen` (in `screen.rs`)
//! is the face the rest of the world sees.
//!
//! Flow: `parser` → here → `grid`, `history`, and the lists of what happened (`Happened`).
//!
//! Invariant: the cursor is inside the grid; rows are never wider than the screen; nothing here
//! reads a clock, allocates without a bound or panics, whatever the bytes.

mod cursor;
mod dcs;
mod edit;
mod graphics;
mod happened;
mod lines;
mod modes;
mod osc;
mod print;
mod rect;
mod reports;
mod save;
mod scroll;
pub(crate) mod sequences;
mod sgr;

pub(crate) use graphics::Graphics;
pub use graphics::{Graphic, GraphicKind};
pub(crate) use happened::Happened;
pub(crate) use save::SavedCursor;

use greenroom_model::Size;

use crate::charset::Charsets;
use crate::grid::Grid;
use crate::history::{History, MAX_HISTORY};
use crate::links::Links;
use crate::marks::Marks;
use crate::modes::Modes;
use crate::options::Options;
use crate::palette::Palette;
use crate::parser::{Actor, Csi, StringSequence};
use crate::row::Row;
use crate::style::{Packed, StyleId, StyleTable};
use crate::tabs::Tabs;
use crate::title::Titles;

/// The narrowest grid: one column could not show a wide character at all. xterm.js has the same.
pub(crate) const MIN_COLS: usize = 2;

/// What the cursor looks like (DECSCUSR); zero is the terminal's own choice.
pub(crate) const MAX_CURSOR_STYLE: u16 = 6;

/// Where the cursor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Place {
    pub(crate) x: usize,
    pub(crate) y: usize,
    /// The last column was written; the next character goes to the next row.
    pub(crate) pending: bool,
}

/// What the screen was before a series of resizes: each is made from there, so that the sizes in
/// between leave no trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Series {
    /// Where the text is that was at the screen's top: row and column.
    pub(crate) row: u64,
    pub(crate) col: usize,
    /// Whether there were blank rows under the text.
    pub(crate) roomy: bool,
}

/// The state that sequences act on.
#[derive(Debug, Clone)]
pub(crate) struct Terminal {
    pub(crate) options: Options,
    /// The size asked for; the grid is at least [`MIN_COLS`] wide.
    pub(crate) size: Size,
    pub(crate) cols: usize,
    pub(crate) rows: usize,
    /// The screen that is shown.
    pub(crate) grid: Grid,
    /// The screen that is not; the alternate one is made when first used.
    pub(crate) other: Option<Box<Grid>>,
    pub(crate) history: History,
    /// Rows under the cursor that a smaller size had no room for, kept while `series` is.
    pub(crate) below: Vec<Row>,
    /// What a series of resizes began with, until the program acts on the primary screen.
    pub(crate) series: Option<Series>,
    pub(crate) styles: StyleTable,
    pub(crate) links: Links,
    pub(crate) cursor: Place,
    pub(crate) pen: Packed,
    /// The pen's number, while known.
    pub(crate) pen_id: Option<StyleId>,
    pub(crate) charsets: Charsets,
    /// First and last row of the scroll region.
    pub(crate) top: usize,
    pub(crate) bottom: usize,
    pub(crate) tabs: Tabs,
    pub(crate) modes: Modes,
    /// What XTSAVE saved.
    pub(crate) saved_modes: Option<Modes>,
    pub(crate) cursor_style: u16,
    /// modifyOtherKeys.
    pub(crate) other_keys: u8,
    /// DECSACE: whether DECCARA and DECRARA change a rectangle rather than a stream.
    pub(crate) rectangle: bool,
    pub(crate) titles: Titles,
    pub(crate) cwd: Option<(String, String)>,
    pub(crate) palette: Palette,
    pub(crate) marks: Marks,
    pub(crate) graphics: Graphics,
    /// How much must follow a line's end for whole lines to be worth looking for.
    pub(crate) many_lines: usize,
    /// When a search for whole lines failed: how much is left once its bytes have passed.
    pub(crate) look_again_at: usize,
    /// Where whole lines end; only of use while they are taken.
    line_ends: Vec<lines::RowEnd>,
    /// Whether the thing just before was a printed character: REP and clusters ask.
    pub(crate) printed: bool,
    /// The generation of the feed under way.
    pub(crate) generation: u64,
    /// The generation in which every row last changed at once.
    pub(crate) all_changed: u64,
    pub(crate) happened: Happened,
}

impl Terminal {
    pub(crate) fn new(size: Size, options: Options) -> Terminal {
        let (cols, rows) = (MIN_COLS.max(size.cols() as usize), size.rows() as usize);
        let history_lines = options.history_lines.min(MAX_HISTORY);
        let options = Options { history_lines, ..options };
        Terminal {
            size,
            cols,
            rows,
            grid: Grid::new(rows),
            other: None,
            history: History::new(options.history_lines),
            below: Vec::new(),
            series: None,
            styles: StyleTable::default(),
            links: Links::default(),
            cursor: Place::default(),
            pen: Packed::DEFAULT,
            pen_id: Some(0),
            charsets: Charsets::default(),
            top: 0,
            bottom: rows - 1,
            tabs: Tabs::new(cols),
            modes: Modes::INITIAL,
            saved_modes: None,
            cursor_style: 0,
            other_keys: 0,
            rectangle: false,
            titles: Titles::default(),
            cwd: None,
            palette: Palette::default(),
            marks: Marks::default(),
            graphics: Graphics::default(),
            many_lines: 0,
            look_again_at: usize::MAX,
            line_ends: Vec::new(),
            printed: false,
            generation: 0,
            all_changed: 0,
            happened: Happened::default(),
            options,
        }
    }

    /// Whether the alternate screen is shown.
    #[inline]
    pub(crate) fn is_alternate(&self) -> bool {
        self.modes.contains(Modes::ALTERNATE)
    }

    /// The row the cursor is in, marked as changed.
    #[inline]
    fn here(&mut self) -> &mut Row {
        let generation = self.generation;
        let row = self.grid.row_mut(self.cursor.y);
        row.stamp = generation;
        row
    }

    /// Row `y`, marked as changed.
    #[inline]
    fn touch(&mut self, y: usize) -> &mut Row {
        let generation = self.generation;
        let row = self.grid.row_mut(y);
        row.stamp = generation;
        row
    }

    /// The pen's style number.
    #[inline]
    fn pen_style(&mut self) -> StyleId {
        match self.pen_id {
            Some(id) => id,
            None => {
                let id = self.intern(self.pen);
                self.pen_id = Some(id);
                id
            }
        }
    }

    /// The number of the style that erased cells get.
    #[inline]
    fn erase_style(&mut self) -> StyleId {
        let erased = self.pen.erased();
        if erased == Packed::DEFAULT { 0 } else { self.intern(erased) }
    }

    /// The number of a style. The default one if so many are on the screens that there is no
    /// number left, which takes a screen of 65,535 distinct styles.
    #[inline]
    pub(crate) fn intern(&mut self, style: Packed) -> StyleId {
        match self.styles.find_or_add(style) {
            Some(id) => id,
            None if !self.styles.is_worth_sweeping() => 0,
            None => {
                self.sweep_styles();
                self.styles.find_or_add(style).unwrap_or(0)
            }
        }
    }

    /// Frees the numbers of styles that no cell has.
    #[cold]
    pub(crate) fn sweep_styles(&mut self) {
        let mut used = vec![false; self.styles.all().len()];
        let grids = [Some(&self.grid), self.other.as_deref()];
        let rows = grids.into_iter().flatten().flat_map(Grid::rows).chain(&self.below);
        for &style in rows.flat_map(Row::styles) {
            used[style as usize] = true;
        }
        if let Some(id) = self.pen_id {
            used[id as usize] = true;
        }
        self.styles.sweep(&used);
        self.history.forget_numbers();
    }

    /// Frees the numbers of links that no cell and no line has.
    #[cold]
    fn sweep_links(&mut self) {
        self.sweep_styles();
        let mut used = vec![false; self.links.slots()];
        let grids = [Some(&self.grid), self.other.as_deref()];
        let saved = grids.into_iter().flatten().filter_map(|grid| grid.saved.as_ref());
        let pens = saved.map(|saved| saved.pen).chain([self.pen]);
        let live = self.styles.in_use();
        for link in live.chain(pens).map(Packed::link) {
            if let Some(slot) = used.get_mut(link as usize) {
                *slot = true;
            }
        }
        self.history.mark_links(&mut used);
        self.links.sweep(&used);
    }

    /// Forgets the marks and pictures whose rows the history no longer has.
    pub(crate) fn forget_trimmed(&mut self) {
        self.graphics.trim(self.history.first());
        self.marks.trim(self.history.first());
    }

    /// The program acts on the primary screen: what a series of resizes kept to be undone is past.
    #[cold]
    fn end_series(&mut self) {
        if !self.is_alternate() {
            self.series = None;
            self.below = Vec::new();
        }
    }

    /// Heap bytes held.
    pub(crate) fn heap(&self) -> usize {
        let other = self.other.as_ref().map_or(0, |grid| grid.heap() + size_of::<Grid>());
        let below: usize = self.below.iter().map(|row| row.heap() + size_of::<Row>()).sum();
        let cwd = self.cwd.as_ref().map_or(0, |(host, path)| host.len() + path.len());
        self.grid.heap()
            + other
            + below
            + cwd
            + self.titles.heap()
            + self.line_ends.capacity() * size_of::<lines::RowEnd>()
            + self.history.heap()
            + self.styles.heap()
            + self.links.heap()
            + self.tabs.heap()
            + self.marks.heap()
            + self.graphics.heap()
            + self.palette.heap()
            + self.happened.heap()
    }
}

impl Actor for Terminal {
    #[inline]
    fn ascii(&mut self, run: &[u8]) {
        if self.series.is_some() {
            self.end_series();
        }
        self.print_ascii(run);
    }

    #[inline]
    fn scalar(&mut self, c: char) {
        if self.series.is_some() {
            self.end_series();
        }
        self.print_scalar(c);
    }

    #[inline]
    fn control(&mut self, byte: u8) {
        if self.series.is_some() && byte != 0x07 {
            self.end_series();
        }
        self.printed = false;
        match byte {
            b'\n' | 0x0b | 0x0c => self.line_feed(),
            b'\r' => self.carriage_return(),
            0x08 => self.backspace(),
            b'\t' => self.tab(1),
            0x07 => self.bell(),
            0x0e => self.charsets.left = 1,
            0x0f => self.charsets.left = 0,
            _ => {}
        }
    }

    #[inline]
    fn new_line(&mut self) {
        if self.series.is_some() {
            self.end_series();
        }
        self.printed = false;
        self.cursor.x = 0;
        self.line_feed();
    }

    #[inline]
    fn lines(&mut self, bytes: &[u8]) -> usize {
        if bytes.len() < self.many_lines || bytes.len() > self.look_again_at {
            return 0;
        }
        self.print_lines(bytes)
    }

    fn escape(&mut self, intermediate: u8, last: u8) {
        if self.series.is_some() {
            self.end_series();
        }
        self.printed = false;
        self.dispatch_escape(intermediate, last);
    }

    #[inline]
    fn csi(&mut self, sequence: &Csi) {
        if self.series.is_some() {
            self.end_series();
        }
        self.dispatch_csi(sequence);
        self.printed = false;
    }

    fn string(&mut self, string: &StringSequence<'_>) {
        self.printed = false;
        self.dispatch_string(string);
    }
}
