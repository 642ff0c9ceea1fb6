//! Moving the cursor, tab stops, and the controls that move it.

use super::Terminal;
use crate::event::Event;
use crate::modes::Modes;

impl Terminal {
    /// The rows the cursor may be addressed to.
    pub(super) fn bounds(&self) -> (usize, usize) {
        if self.modes.contains(Modes::ORIGIN) {
            (self.top, self.bottom)
        } else {
            (0, self.rows - 1)
        }
    }

    /// Puts the cursor at a row and column counted from the addressable origin.
    pub(super) fn move_to(&mut self, row: usize, col: usize) {
        let (first, last) = self.bounds();
        self.cursor.y = (first + row).min(last);
        self.move_to_col(col);
    }

    pub(super) fn move_to_col(&mut self, col: usize) {
        self.cursor.x = col.min(self.cols - 1);
        self.cursor.pending = false;
    }

    pub(super) fn move_to_row(&mut self, row: usize) {
        let (first, last) = self.bounds();
        self.cursor.y = (first + row).min(last);
        self.cursor.pending = false;
    }

    /// Up, but not out of the scroll region from inside.
    pub(super) fn move_up(&mut self, count: usize) {
        let stop = if self.cursor.y >= self.top { self.top } else { 0 };
        self.cursor.y = self.cursor.y.saturating_sub(count).max(stop);
        self.cursor.pending = false;
    }

    /// Down, but not out of the scroll region from inside.
    pub(super) fn move_down(&mut self, count: usize) {
        let stop = if self.cursor.y <= self.bottom { self.bottom } else { self.rows - 1 };
        self.cursor.y = (self.cursor.y + count).min(stop);
        self.cursor.pending = false;
    }

    pub(super) fn move_right(&mut self, count: usize) {
        self.move_to_col(self.cursor.x + count);
    }

    /// Left. A pending wrap counts as the last column, not as one past it.
    pub(super) fn move_left(&mut self, count: usize) {
        if self.modes.contains(Modes::REVERSE_WRAP) {
            (0..count.min(self.cols * self.rows)).for_each(|_| self.backspace());
            return;
        }
        self.move_to_col(self.cursor.x.saturating_sub(count));
    }

    pub(super) fn carriage_return(&mut self) {
        self.cursor.x = 0;
        self.cursor.pending = false;
    }

    #[inline]
    pub(super) fn line_feed(&mut self) {
        // An explicit line feed ends the line, whatever stood here before.
        self.unwrap_row(self.cursor.y);
        if self.modes.contains(Modes::NEWLINE) {
            self.cursor.x = 0;
        }
        self.index();
        self.cursor.pending = false;
    }

    pub(super) fn next_line(&mut self) {
        self.carriage_return();
        self.index();
    }

    pub(super) fn backspace(&mut self) {
        let place = self.cursor;
        let back = place.x == 0
            && place.y > self.top
            && place.y <= self.bottom
            && self.modes.contains(Modes::REVERSE_WRAP)
            && self.grid.row(place.y - 1).wrapped;
        if back {
            self.unwrap_row(place.y - 1);
            self.cursor.y -= 1;
            self.cursor.x = self.cols - 1;
        } else if place.pending && self.modes.contains(Modes::REVERSE_WRAP) {
            // The wrap that did not happen yet is what is taken back.
        } else {
            self.cursor.x = place.x.saturating_sub(1);
        }
        self.cursor.pending = false;
    }

    pub(super) fn tab(&mut self, count: usize) {
        if self.cursor.pending {
            return;
        }
        for _ in 0..count.min(self.cols) {
            self.cursor.x = self.tabs.next(self.cursor.x);
        }
    }

    pub(super) fn tab_back(&mut self, count: usize) {
        for _ in 0..count.min(self.cols) {
            self.cursor.x = self.tabs.previous(self.cursor.x);
        }
        self.cursor.pending = false;
    }

    /// TBC.
    pub(super) fn clear_tabs(&mut self, which: u16) {
        match which {
            0 => self.tabs.set(self.cursor.x, false),
            3 => self.tabs.clear(),
            _ => {}
        }
    }

    pub(super) fn bell(&mut self) {
        self.happened.event(Event::Bell);
    }
}
