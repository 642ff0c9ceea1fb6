//! Wrapping all lines to another width.

use crate::Pos;
use crate::history::{History, HistoryLine};
use crate::row::Row;
use crate::style::StyleTable;
use crate::terminal::Place;

/// A place that moves with the text under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tracked {
    /// The number of its row: before wrapping in the old rows, after it in the new.
    pub(super) row: u64,
    pub(super) col: usize,
    /// It is behind the last column rather than in it.
    pub(super) pending: bool,
}

impl Tracked {
    pub(super) fn new(row: u64, col: usize, pending: bool) -> Tracked {
        Tracked { row, col, pending }
    }

    /// The place by the number of its row, at most the last one's.
    pub(super) fn pos(&self, last: u64) -> Pos {
        let col = self.col + usize::from(self.pending);
        Pos { row: self.row.min(last), col: u16::try_from(col).unwrap_or(u16::MAX) }
    }

    /// The place on a screen whose top row has this number.
    pub(super) fn place(&self, top: u64, rows: usize, cols: usize) -> Place {
        let y = (self.row.saturating_sub(top) as usize).min(rows - 1);
        let x = self.col.min(cols - 1);
        Place { x, y, pending: self.pending && x + 1 == cols }
    }
}

/// Wraps every line to `cols`, and moves the tracked places along.
pub(super) fn rewrap(old: &History, cols: usize, places: &mut [Tracked]) -> History {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|&it| (places[it].row, places[it].col));
    let mut order = order.into_iter().peekable();
    let mut wrapping = Wrapping {
        new: old.rebuilt(),
        cols,
        line: Row::default(),
        given: 0,
        styles: StyleTable::without_sweeps(),
        waiting: Vec::new(),
        places,
    };
    let mut row = Row::default();
    for line in old.lines(old.first(), old.end()) {
        line.decode(&mut row);
        wrapping.adopt_styles(&mut row, &line);
        // What was before the oldest line goes with it.
        while let Some(next) = order.next_if(|&it| wrapping.places[it].row <= line.number) {
            wrapping.wait(next);
        }
        wrapping.add(&row);
    }
    // What is in the empty space below the text stays as far below it.
    let end = wrapping.new.end();
    for next in order {
        let place = &mut wrapping.places[next];
        place.row = end + place.row.saturating_sub(old.end());
        (place.col, place.pending) = (place.col.min(cols - 1), false);
    }
    wrapping.new
}

struct Wrapping<'a> {
    new: History,
    cols: usize,
    /// What the line being collected has left to give out.
    line: Row,
    /// How many cells of the line were given out already.
    given: usize,
    /// What the style numbers in `line` mean; pages have their own.
    styles: StyleTable,
    /// Places in the line, by the cell counted from the line's beginning.
    waiting: Vec<(usize, usize)>,
    places: &'a mut [Tracked],
}

impl Wrapping<'_> {
    /// Gives the row's styles numbers that hold for the whole line.
    fn adopt_styles(&mut self, row: &mut Row, line: &HistoryLine<'_>) {
        if self.line.len() == 0 && self.styles.is_nearly_full() {
            self.styles = StyleTable::without_sweeps();
            self.new.forget_numbers();
        }
        let mut known = (0, 0);
        row.map_styles(|id| {
            if id != known.0 {
                let style = line.styles.get(id as usize).copied().unwrap_or_default();
                known = (id, self.styles.find_or_add(style).unwrap_or(0));
            }
            known.1
        });
    }

    /// A place in the row about to be added.
    fn wait(&mut self, index: usize) {
        let place = self.places[index];
        let cell = self.given + self.line.len() + place.col + usize::from(place.pending);
        self.waiting.push((cell, index));
    }

    fn add(&mut self, row: &Row) {
        self.line.append(row, 0, row.len());
        while self.line.len() > self.cols {
            let cut = self.cols - usize::from(self.line.is_tail(self.cols));
            self.give(cut, true);
        }
        if !row.wrapped {
            self.give(self.line.len(), false);
            self.given = 0;
        }
    }

    /// Gives out a row of the first `len` cells.
    fn give(&mut self, len: usize, wrapped: bool) {
        let mut row = std::mem::take(&mut self.line);
        self.line.append(&row, len, row.len());
        row.truncate(len);
        row.wrapped = wrapped;
        let number = self.new.end();
        self.new.push(&row, self.styles.all());
        let (given, cols, places) = (self.given, self.cols, &mut *self.places);
        self.waiting.retain(|&(cell, index)| {
            let here = cell < given + len || !wrapped;
            if here {
                let col = cell.saturating_sub(given);
                // Right behind a full row, not somewhere in the empty space after it.
                let pending = col == cols && len == cols;
                places[index] = Tracked { row: number, col: col.min(cols - 1), pending };
            }
            !here
        });
        self.given += len;
    }
}
