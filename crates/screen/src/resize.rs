//! Another size: lines wrap anew, the cursor stays on its character, nothing is lost.
//!
//! The rows of the screen go to the end of the history, all is wrapped to the new width
//! (`rewrap`), and the new screen's rows are taken off the end again. So there is one rule for
//! history and screen, and the only question here is where the screen's top comes to be.
//!
//! The alternate screen is cut or filled up instead: its program draws it again.

mod rewrap;
#[cfg(test)]
mod tests;

use greenroom_model::Size;

use self::rewrap::{Tracked, rewrap};
use crate::Pos;
use crate::fed::Fed;
use crate::grid::Grid;
use crate::row::Row;
use crate::screen::Screen;
use crate::style::Packed;
use crate::terminal::{MIN_COLS, Place, SavedCursor, Series, Terminal};

/// How many rows under the cursor are kept when they do not fit: several screens of the tallest
/// size. Those further down are lost, which takes a tall screen made both short and narrow.
pub(crate) const MAX_BELOW: usize = 4 * Size::MAX_ROWS as usize;

impl Screen {
    /// Changes the size.
    ///
    /// Lines of the primary screen and the history are wrapped to the new width; to another size
    /// and back leaves the text as it was, and a cursor in or behind it, as long as nothing was fed
    /// in between. What is
    /// returned has the report of the new size, if the program asked for it (mode 2048).
    ///
    /// ```
    /// use greenroom_screen::{Options, Screen};
    ///
    /// let mut screen = Screen::new("8x2".parse().unwrap(), Options::default());
    /// screen.feed(b"abcdefghij");
    /// assert_eq!(screen.text(), "abcdefgh\nij");
    /// screen.resize("5x2".parse().unwrap());
    /// assert_eq!(screen.text(), "abcde\nfghij");
    /// ```
    pub fn resize(&mut self, size: Size) -> Fed<'_> {
        self.resize_following(size, &mut [])
    }

    /// The same, and moves places along with the text they are at.
    ///
    /// ```
    /// use greenroom_screen::{Options, Pos, Screen};
    ///
    /// let mut screen = Screen::new("8x4".parse().unwrap(), Options::default());
    /// screen.feed(b"abcdefghij\r\nkl");
    /// let mut places = [Pos { row: 1, col: 1 }, Pos { row: 2, col: 0 }];
    /// screen.resize_following("5x4".parse().unwrap(), &mut places);
    /// assert_eq!(places, [Pos { row: 1, col: 4 }, Pos { row: 2, col: 0 }]);
    /// ```
    pub fn resize_following(&mut self, size: Size, places: &mut [Pos]) -> Fed<'_> {
        self.terminal.happened.clear();
        self.terminal.generation += 1;
        if size != self.terminal.size {
            self.terminal.resize(size, places);
            self.terminal.report_size_in_band();
        }
        self.fed()
    }
}

impl Terminal {
    fn resize(&mut self, size: Size, followed: &mut [Pos]) {
        let (cols, rows) = (MIN_COLS.max(size.cols() as usize), size.rows() as usize);
        self.all_changed = self.generation;
        if let Some(mut primary) = self.other.take() {
            self.graphics.leave_alternate();
            // Without a saved cursor its program is at the end of its text.
            let end = primary.rows().rposition(|row| row.used() > 0).unwrap_or(0);
            let place = Place { y: end, ..Place::default() };
            let place = primary.saved.map_or(place, |saved| saved.place);
            let shown = self.rows_shown(followed);
            let place = self.resize_primary(&mut primary, place, (cols, rows), followed);
            for (place, y) in followed.iter_mut().zip(shown) {
                let Some(y) = y else { continue };
                place.row = self.history.end() + y.min(rows as u64 - 1);
                place.col = place.col.min(cols as u16 - 1);
            }
            if let Some(saved) = &mut primary.saved {
                saved.place = place;
            }
            self.other = Some(primary);
            let mut place = self.cursor;
            resize_plainly(&mut self.grid, &mut place, cols, rows);
            self.cursor = place;
        } else {
            let mut grid = std::mem::replace(&mut self.grid, Grid::new(0));
            self.cursor = self.resize_primary(&mut grid, self.cursor, (cols, rows), followed);
            self.grid = grid;
        }
        self.size = size;
        (self.cols, self.rows) = (cols, rows);
        (self.top, self.bottom) = (0, rows - 1);
        self.tabs.resize(cols);
    }

    /// Wraps the primary screen and the history anew and says where the cursor is then.
    fn resize_primary(
        &mut self,
        grid: &mut Grid,
        cursor: Place,
        (cols, rows): (usize, usize),
        followed: &mut [Pos],
    ) -> Place {
        let mut content = grid.take_rows();
        let old_rows = content.len();
        content.append(&mut self.below);
        let last = content.iter().rposition(|row| row.used() > 0).unwrap_or(0);
        let last = last.max(cursor.y.min(old_rows - 1));
        content.truncate(last + 1);
        let base = self.history.end();
        let roomy = content.len() < old_rows;
        let series = self.series.unwrap_or(Series { row: base, col: 0, roomy });
        let mut places = self.places_to_follow(base, series, cursor, grid.saved.as_ref());
        let more = places.len();
        places.extend(followed.iter().map(|it| self.tracked(it.row, it.col)));
        self.history.set_limit(usize::MAX);
        for row in &content {
            self.history.push(row, self.styles.all());
        }
        drop(content);
        self.history.close();
        if cols != self.cols {
            self.history = rewrap(&self.history, cols, &mut places);
            // What wrapped it had style numbers of its own.
            self.history.forget_numbers();
        }

        let total = self.history.end();
        let top = Top {
            anchor: places[ANCHOR].row,
            cursor: places[CURSOR].row,
            end: total,
            first: self.history.first(),
            rows: rows as u64,
        };
        let top = top.choose(series.roomy);
        self.take_screen(grid, total.saturating_sub(top) as usize, rows);
        let new_cursor = places[CURSOR].place(top, rows, cols);
        if let Some(saved) = &mut grid.saved {
            saved.place = places[SAVED].place(top, rows, cols);
        }
        let last = self.history.end() + rows as u64 - 1;
        self.move_marks(&places, last);
        for (place, to) in followed.iter_mut().zip(&places[more..]) {
            *place = to.pos(last);
        }
        // Lines past the limit go as new ones come, not at once: a wider size may want them back.
        self.history.set_limit(self.options.history_lines);
        if self.options.history_lines == 0 {
            self.history.clear();
        }
        self.forget_trimmed();
        let Tracked { row, col, .. } = places[ANCHOR];
        // So much text may wrap into so many rows that the oldest had to go.
        self.series = Some(Series { row: row.max(self.history.first()), col, ..series });
        new_cursor
    }

    /// The places that move with the text: the screen's top, the cursors, marks and pictures.
    fn places_to_follow(
        &self,
        base: u64,
        series: Series,
        cursor: Place,
        saved: Option<&SavedCursor>,
    ) -> Vec<Tracked> {
        let at = |place: Place| Tracked::new(base + place.y as u64, place.x, place.pending);
        let saved = saved.map_or(Place::default(), |saved| saved.place);
        let marks = self.marks.iter().map(|mark| self.tracked(mark.row, mark.col));
        let pictures = self.graphics.iter().map(|it| Tracked::new(it.row, it.col as usize, false));
        [Tracked::new(series.row, series.col, false), at(cursor), at(saved)]
            .into_iter()
            .chain(marks)
            .chain(pictures)
            .collect()
    }

    /// A place, which may be behind the last column.
    fn tracked(&self, row: u64, col: u16) -> Tracked {
        let pending = usize::from(col) >= self.cols;
        Tracked::new(row, usize::from(col) - usize::from(pending), pending)
    }

    /// In which rows of the screen places are, as far as they are on it.
    fn rows_shown(&self, places: &[Pos]) -> Vec<Option<u64>> {
        places.iter().map(|it| it.row.checked_sub(self.history.end())).collect()
    }

    /// Moves marks and pictures where their text went, at most to the screen's last row.
    fn move_marks(&mut self, places: &[Tracked], last: u64) {
        let mut places = places.iter().skip(SAVED + 1);
        let mut marks = places.by_ref().take(self.marks.iter().len());
        self.marks.relocate(|| {
            let Pos { row, col } = marks.next()?.pos(last);
            Some((row, col))
        });
        self.graphics.relocate(|_| places.next().map(|to| (to.row.min(last), to.col as u16)));
    }

    /// Takes the last `count` lines of the history as the screen; those past its height wait
    /// below it.
    fn take_screen(&mut self, grid: &mut Grid, count: usize, height: usize) {
        // The old rows are gone, and with them most of what their styles had numbers for.
        self.sweep_styles();
        let surplus = count.saturating_sub(height + MAX_BELOW);
        for _ in 0..surplus {
            self.history.pop(&mut Row::default());
        }
        for _ in surplus..count {
            let mut row = Row::default();
            let Some(palette) = self.history.pop(&mut row) else { break };
            self.adopt_styles(&mut row, &palette);
            self.below.push(row);
        }
        let mut taken = std::mem::take(&mut self.below);
        taken.reverse();
        if taken.len() > height {
            self.below = taken.split_off(height);
        }
        taken.resize_with(height, Row::default);
        grid.set_rows(taken);
    }
}

impl Terminal {
    /// Gives a row's styles numbers of the screen's table. Nothing is swept meanwhile: no list a
    /// sweep looks at has the row yet.
    fn adopt_styles(&mut self, row: &mut Row, palette: &[Packed]) {
        let mut known = (0, 0);
        row.map_styles(|id| {
            if id != known.0 {
                let style = palette.get(id as usize).copied().unwrap_or_default();
                known = (id, self.styles.find_or_grow(style).unwrap_or(0));
            }
            known.1
        });
    }
}

const ANCHOR: usize = 0;
const CURSOR: usize = 1;
const SAVED: usize = 2;

/// What decides where the screen's top comes to be; all are row numbers but the last.
struct Top {
    /// Where the text that was at the top is now.
    anchor: u64,
    cursor: u64,
    /// After the last row with anything in it.
    end: u64,
    /// The oldest row there is.
    first: u64,
    /// How high the screen is.
    rows: u64,
}

impl Top {
    /// The row that becomes the top one. If text does not fit it goes up, but not so far that the
    /// cursor leaves. If there is room, lines come back from the history, unless the screen was
    /// `roomy` before: then there is more room below, as after clearing the screen.
    fn choose(&self, roomy: bool) -> u64 {
        let needed = self.end.saturating_sub(self.anchor);
        if needed > self.rows {
            return (self.end - self.rows).min(self.cursor);
        }
        let pull = if roomy { 0 } else { self.rows - needed };
        self.anchor.saturating_sub(pull).max(self.first)
    }
}

/// Cuts a screen or fills it up, without wrapping anything.
fn resize_plainly(grid: &mut Grid, cursor: &mut Place, cols: usize, rows: usize) {
    let mut all = grid.take_rows();
    while all.len() > rows {
        // Rows go at the bottom while the cursor is above them, then at the top.
        if all.len() > cursor.y + 1 {
            all.pop();
        } else {
            all.remove(0);
            cursor.y -= 1;
        }
    }
    all.resize_with(rows, Row::default);
    for row in &mut all {
        row.part(cols);
        row.truncate(cols);
        row.wrapped = false;
    }
    grid.set_rows(all);
    *cursor = clamp(*cursor, cols, rows);
    if let Some(saved) = &mut grid.saved {
        saved.place = clamp(saved.place, cols, rows);
    }
}

fn clamp(place: Place, cols: usize, rows: usize) -> Place {
    Place { x: place.x.min(cols - 1), y: place.y.min(rows - 1), pending: false }
}
