//! Erasing, and characters inserted and deleted.

use super::Terminal;
use crate::style::StyleId;

impl Terminal {
    /// ED.
    pub(super) fn erase_display(&mut self, how: u16) {
        let style = self.erase_style();
        match how {
            0 => {
                let (y, from) = (self.cursor.y, self.behind());
                self.erase_cells(y, from, self.cols, style);
                // A line that is erased alone may go on where the one above was wrapped: zsh has it so.
                if from == 0 {
                    self.unwrap_above(y);
                }
                (self.cursor.y + 1..self.rows).for_each(|y| self.erase_row(y, style));
            }
            1 => {
                (0..self.cursor.y).for_each(|y| self.erase_row(y, style));
                self.erase_cells(self.cursor.y, 0, self.cursor.x + 1, style);
                if self.cursor.x + 1 == self.cols {
                    self.unwrap_row(self.cursor.y);
                }
            }
            2 => {
                (0..self.rows).for_each(|y| self.erase_row(y, style));
                self.graphics.clear(self.history.end(), self.is_alternate());
            }
            3 => {
                self.history.clear();
                self.forget_trimmed();
                self.happened.history_cleared = true;
            }
            _ => {}
        }
    }

    /// EL.
    pub(super) fn erase_line(&mut self, how: u16) {
        let (y, x, style) = (self.cursor.y, self.cursor.x, self.erase_style());
        match how {
            0 => self.erase_cells(y, self.behind(), self.cols, style),
            1 => self.erase_cells(y, 0, x + 1, style),
            2 => self.erase_row(y, style),
            _ => {}
        }
    }

    /// The first column that EL 0 and its kin erase: none is left when a wrap is pending.
    fn behind(&self) -> usize {
        self.cursor.x + usize::from(self.cursor.pending)
    }

    /// Blanks cells of a row and keeps the wrap flags true to what is left.
    fn erase_cells(&mut self, y: usize, from: usize, to: usize, style: StyleId) {
        let cols = self.cols;
        let row = self.touch(y);
        row.erase(from, to, style);
        if to == cols && from < to {
            row.wrapped = false;
        }
        self.settle(y);
    }

    fn erase_row(&mut self, y: usize, style: StyleId) {
        self.blank_row(y, style);
        self.unwrap_above(y);
    }

    /// The row above no longer goes on in row `y`, which is empty now.
    pub(super) fn unwrap_above(&mut self, y: usize) {
        match y.checked_sub(1) {
            Some(above) => self.unwrap_row(above),
            None if !self.is_alternate() => self.history.close(),
            None => {}
        }
    }

    /// ECH.
    pub(super) fn erase_chars(&mut self, count: usize) {
        let (x, style) = (self.cursor.x, self.erase_style());
        let to = (x + count).min(self.cols);
        // Unlike EL, part of a row is erased: the line above still goes on in it.
        let row = self.touch(self.cursor.y);
        row.erase(x, to, style);
        if to == self.cols {
            self.unwrap_row(self.cursor.y);
        }
        self.settle(self.cursor.y);
        self.cursor.pending = false;
    }

    /// ICH.
    pub(super) fn insert_chars(&mut self, count: usize) {
        let (x, cols, style) = (self.cursor.x, self.cols, self.erase_style());
        self.here().insert(x, count, cols, style);
        self.unwrap_row(self.cursor.y);
        self.cursor.pending = false;
    }

    /// DCH.
    pub(super) fn delete_chars(&mut self, count: usize) {
        let (x, cols, style) = (self.cursor.x, self.cols, self.erase_style());
        self.here().delete(x, count, cols, style);
        self.unwrap_row(self.cursor.y);
        self.cursor.pending = false;
    }

    /// DECSED and DECSEL: as ED and EL, but protected cells stay.
    pub(super) fn erase_selectively(&mut self, how: u16, whole_display: bool) {
        let (place, cols, rows) = (self.cursor, self.cols, self.rows);
        let (first, last) = if whole_display { (0, rows - 1) } else { (place.y, place.y) };
        for y in first..=last {
            let (from, to) = match how {
                0 if y < place.y => continue,
                0 if y == place.y => (self.behind(), cols),
                1 if y > place.y => continue,
                1 if y == place.y => (0, place.x + 1),
                0..=2 => (0, cols),
                _ => return,
            };
            self.erase_unprotected(y, from, to);
        }
    }

    /// Blanks the cells of a row that are not protected; they lose their style.
    pub(super) fn erase_unprotected(&mut self, y: usize, from: usize, to: usize) {
        let style = self.erase_style();
        let generation = self.generation;
        let (styles, grid) = (&self.styles, &mut self.grid);
        let row = grid.row_mut(y);
        row.stamp = generation;
        let is_protected = |style| styles.get(style).contains(crate::style::Attrs::PROTECTED);
        let to = if style == 0 { to.min(row.len()) } else { to };
        if row.runs().any(|(_, style)| is_protected(style)) {
            for x in from..to {
                if !is_protected(row.style(x)) {
                    row.erase(x, x + 1, style);
                }
            }
        } else {
            row.erase(from, to, style);
        }
        self.settle(y);
    }

    /// A row that lost its end does not go on in the next: only full ones do.
    fn settle(&mut self, y: usize) {
        if self.grid.row(y).len() + 1 < self.cols {
            self.unwrap_row(y);
        }
    }

    /// DECALN: the screen full of `E`, margins reset.
    pub(super) fn align(&mut self) {
        self.top = 0;
        self.bottom = self.rows - 1;
        self.cursor = Default::default();
        self.unwrap_above(0);
        let line = vec![b'E'; self.cols];
        for y in 0..self.rows {
            self.blank_row(y, 0);
            self.touch(y).put_ascii(0, &line, 0);
        }
    }
}
