//! Scrolling, and rows inserted and deleted.

use super::Terminal;
use crate::style::StyleId;

impl Terminal {
    /// IND: down one row, scrolling at the bottom of the region.
    #[inline]
    pub(super) fn index(&mut self) {
        if self.cursor.y == self.bottom {
            let style = self.erase_style();
            self.scroll_up_once(style);
        } else if self.cursor.y + 1 < self.rows {
            self.cursor.y += 1;
        }
        self.cursor.pending = false;
    }

    /// RI: up one row, scrolling at the top of the region.
    pub(super) fn reverse_index(&mut self) {
        if self.cursor.y == self.top {
            self.scroll_down(1);
        } else {
            self.cursor.y = self.cursor.y.saturating_sub(1);
        }
        self.cursor.pending = false;
    }

    /// Whether rows that leave at the top of the region go to the history.
    #[inline]
    fn keeps_lines(&self) -> bool {
        self.top == 0 && !self.is_alternate()
    }

    #[inline]
    fn scroll_up_once(&mut self, style: StyleId) {
        let (top, bottom) = (self.top, self.bottom);
        if self.keeps_lines() {
            let trimmed = self.history.push(self.grid.row(0), self.styles.all());
            self.happened.scrolled += 1;
            if trimmed {
                self.forget_trimmed();
            }
            if bottom + 1 < self.rows {
                // The rows below stay where they are, which gives each the next number.
                self.touch_rows(bottom + 1, self.rows);
            }
        } else {
            self.touch_rows(top, bottom + 1);
        }
        self.grid.rotate_up(top, bottom);
        self.blank_row(bottom, style);
    }

    /// SU: the region moves up. Lines that leave the whole screen at its top are history like any
    /// other, as tmux has it (xterm.js drops them): nothing a program printed is lost.
    pub(super) fn scroll_up(&mut self, count: usize) {
        let style = self.erase_style();
        for _ in 0..count.min(self.bottom - self.top + 1) {
            self.scroll_up_once(style);
        }
    }

    /// SD: the region moves down.
    pub(super) fn scroll_down(&mut self, count: usize) {
        let style = self.erase_style();
        self.move_down_from(self.top, count, style);
    }

    /// Moves the rows from `from` to the region's end down; blanks come in at `from`.
    fn move_down_from(&mut self, from: usize, count: usize, style: StyleId) {
        for _ in 0..count.min(self.bottom - from + 1) {
            self.grid.rotate_down(from, self.bottom);
            self.blank_row(from, style);
        }
        // The row above no longer goes on in the one below it, nor the last in the next.
        self.unwrap_above(from);
        self.unwrap_row(self.bottom);
        self.touch_rows(from, self.bottom + 1);
    }

    /// IL.
    pub(super) fn insert_lines(&mut self, count: usize) {
        if self.cursor.y < self.top || self.cursor.y > self.bottom {
            return;
        }
        let style = self.erase_style();
        self.move_down_from(self.cursor.y, count, style);
        self.carriage_return();
    }

    /// DL.
    pub(super) fn delete_lines(&mut self, count: usize) {
        if self.cursor.y < self.top || self.cursor.y > self.bottom {
            return;
        }
        let (style, from, bottom) = (self.erase_style(), self.cursor.y, self.bottom);
        for _ in 0..count.min(bottom - from + 1) {
            self.grid.rotate_up(from, bottom);
            self.blank_row(bottom, style);
        }
        self.unwrap_above(from);
        self.touch_rows(from, bottom + 1);
        self.carriage_return();
    }

    /// SL and SR: the cells of the region move sideways.
    pub(super) fn scroll_sideways(&mut self, count: usize, left: bool) {
        let (style, cols) = (self.erase_style(), self.cols);
        for y in self.top..=self.bottom {
            let row = self.touch(y);
            row.wrapped = false;
            if left {
                row.delete(0, count, cols, style);
            } else {
                row.insert(0, count, cols, style);
            }
        }
    }

    /// DECIC and DECDC: columns inserted and deleted at the cursor, in all rows of the region.
    pub(super) fn columns(&mut self, count: usize, insert: bool) {
        let inside = (self.top..=self.bottom).contains(&self.cursor.y);
        if !inside {
            return;
        }
        let (style, cols, x) = (self.erase_style(), self.cols, self.cursor.x);
        for y in self.top..=self.bottom {
            let row = self.touch(y);
            row.wrapped = false;
            if insert {
                row.insert(x, count, cols, style);
            } else {
                row.delete(x, count, cols, style);
            }
        }
        self.cursor.pending = false;
    }

    /// Empties row `y`.
    #[inline]
    pub(super) fn blank_row(&mut self, y: usize, style: StyleId) {
        let cols = self.cols;
        let row = self.touch(y);
        row.clear();
        if style != 0 {
            row.erase(0, cols, style);
        }
    }

    /// Marks rows `from..to` as changed.
    pub(super) fn touch_rows(&mut self, from: usize, to: usize) {
        if from == 0 && to == self.rows {
            self.all_changed = self.generation;
            return;
        }
        for y in from..to {
            self.touch(y);
        }
    }

    /// Row `y` no longer goes on in the next.
    #[inline]
    pub(super) fn unwrap_row(&mut self, y: usize) {
        let generation = self.generation;
        let row = self.grid.row_mut(y);
        if row.wrapped {
            row.wrapped = false;
            row.stamp = generation;
        }
    }
}
