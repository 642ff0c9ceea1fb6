//! Characters into cells.

use super::Terminal;
use crate::modes::Modes;
use crate::unicode::{self, Class};

impl Terminal {
    /// Prints a run of ASCII.
    #[inline]
    pub(super) fn print_ascii(&mut self, run: &[u8]) {
        if !self.charsets.is_ascii() || self.modes.contains(Modes::INSERT) {
            return self.print_mapped(run);
        }
        self.printed = true;
        let style = self.pen_style();
        let mut run = run;
        loop {
            if self.cursor.pending {
                self.wrap();
            }
            let x = self.cursor.x;
            let count = run.len().min(self.cols - x);
            let (now, later) = run.split_at(count);
            self.here().put_ascii(x, now, style);
            self.advance(count);
            if later.is_empty() {
                return;
            }
            run = if self.modes.contains(Modes::AUTOWRAP) { later } else { &run[run.len() - 1..] };
        }
    }

    /// Prints ASCII where a character set or insert mode is in the way.
    fn print_mapped(&mut self, run: &[u8]) {
        for &byte in run {
            match self.charsets.map(byte) {
                c if c.is_ascii() => {
                    self.make_room(1);
                    let (x, style) = (self.cursor.x, self.pen_style());
                    self.here().put_ascii(x, &[c as u8], style);
                    self.advance(1);
                    self.printed = true;
                }
                c => self.put(c, 1),
            }
        }
    }

    /// Prints one character past ASCII.
    #[inline]
    pub(super) fn print_scalar(&mut self, c: char) {
        let class = Class::of(c);
        let (x, width) = (self.cursor.x, class.width());
        // Nearly always it joins nothing and has room; a pending wrap is at the last column.
        if class.is_plain() && x + width < self.cols && !self.modes.contains(Modes::INSERT) {
            self.charsets.single = None;
            self.printed = true;
            let style = self.pen_style();
            self.here().put_char(x, c, width, style);
            self.cursor.x = x + width;
        } else if class.is_plain() || !self.joined(c, class) {
            self.put(c, width);
        }
    }

    #[inline]
    fn put(&mut self, c: char, width: usize) {
        self.charsets.single = None;
        if width == 2 && !self.modes.contains(Modes::AUTOWRAP) && self.cursor.x + 2 > self.cols {
            // Half a character cannot be shown, and without autowrap there is nowhere to go.
            return;
        }
        self.make_room(width);
        let (x, style) = (self.cursor.x, self.pen_style());
        self.here().put_char(x, c, width, style);
        self.advance(width);
        self.printed = true;
    }

    /// Sees to it that a character of this width can be put at the cursor.
    #[inline]
    fn make_room(&mut self, width: usize) {
        if self.cursor.pending {
            self.wrap();
        }
        if self.cursor.x + width > self.cols {
            // A wide character does not fit: the last column stays empty.
            let (x, cols) = (self.cursor.x, self.cols);
            self.here().erase(x, cols, 0);
            self.wrap();
        }
        if self.modes.contains(Modes::INSERT) {
            let (x, cols) = (self.cursor.x, self.cols);
            self.here().insert(x, width, cols, 0);
            self.unwrap_row(self.cursor.y);
        }
    }

    /// Moves the cursor behind what was printed.
    #[inline]
    fn advance(&mut self, width: usize) {
        let x = self.cursor.x + width;
        if x < self.cols {
            self.cursor.x = x;
        } else {
            self.cursor.x = self.cols - 1;
            self.cursor.pending = true;
        }
    }

    /// Goes to the next row because the last column was written. Without autowrap it stays.
    #[inline]
    fn wrap(&mut self) {
        self.cursor.pending = false;
        if self.modes.contains(Modes::AUTOWRAP) {
            // If the row was scrolled away meanwhile, there is nothing here to go on from.
            let cols = self.cols;
            let row = self.here();
            row.wrapped = row.len() + 1 >= cols;
            self.cursor.x = 0;
            self.index();
        }
    }

    /// Adds a character to the glyph before the cursor, if it belongs there. True if it is done.
    fn joined(&mut self, c: char, class: Class) -> bool {
        let zero = class.width() == 0;
        let before = match self.cursor {
            place if place.pending => self.cols - 1,
            place if place.x > 0 => place.x - 1,
            // A mark with nothing before it has nothing to mark.
            _ => return zero,
        };
        let graphemes = self.modes.contains(Modes::GRAPHEMES);
        let row = self.grid.row(self.cursor.y);
        let at = before - usize::from(row.is_tail(before));
        if !zero {
            let (last, only) = row.last_char(at);
            let may = graphemes && self.printed && unicode::may_join(last, only, class.kind());
            if !may || !unicode::joins(&row.glyph_text(at), c) {
                return false;
            }
        }
        self.join(at, c, graphemes && (!zero || c == '\u{fe0f}'));
        true
    }

    /// Adds a character to the glyph at `at`, which may make it wider.
    fn join(&mut self, at: usize, c: char, may_grow: bool) {
        let row = self.grid.row(self.cursor.y);
        let old = row.width(at);
        if !may_grow || old == 2 {
            return self.here().join(at, c);
        }
        let (mut text, style) = (row.glyph_text(at), row.style(at));
        text.push(c);
        let new = unicode::cluster_width(&text).max(old);
        if new == old || text.len() > unicode::MAX_CLUSTER_BYTES {
            self.here().join(at, c);
        } else if at + new <= self.cols {
            self.here().put_cluster(at, &text, new, style);
            self.cursor.pending = false;
            self.cursor.x = at;
            self.advance(new);
        } else {
            self.move_grown(at, &text, new);
        }
    }

    /// Takes a glyph that grew past the last column to the next row, as if it had come whole.
    fn move_grown(&mut self, at: usize, text: &str, width: usize) {
        if !self.modes.contains(Modes::AUTOWRAP) {
            return;
        }
        let (style, cols) = (self.grid.row(self.cursor.y).style(at), self.cols);
        self.here().erase(at, cols, 0);
        self.wrap();
        self.here().put_cluster(0, text, width, style);
        self.cursor.x = 0;
        self.advance(width);
    }

    /// REP: prints the glyph before the cursor again.
    pub(super) fn repeat(&mut self, count: usize) {
        if !self.printed {
            return;
        }
        let place = self.cursor;
        let before = if place.pending { self.cols } else { place.x };
        let Some(before) = before.checked_sub(1) else { return };
        let row = self.grid.row(place.y);
        let at = if row.is_tail(before) { before - 1 } else { before };
        let (width, mut text) = (row.width(at), String::new());
        row.push_glyph(at, &mut text);
        // More than a screenful would only print the same again.
        let count = count.min(self.cols * self.rows);
        if let &[byte] = text.as_bytes()
            && !self.modes.contains(Modes::INSERT)
        {
            // The character is what it was: no character set is asked again.
            let charsets = std::mem::take(&mut self.charsets);
            self.print_ascii(&vec![byte; count]);
            self.charsets = charsets;
            return;
        }
        for _ in 0..count {
            if !self.modes.contains(Modes::AUTOWRAP) && self.cursor.x + width > self.cols {
                return;
            }
            self.make_room(width);
            let (x, style) = (self.cursor.x, self.pen_style());
            self.here().put_text(x, &text, width, style);
            self.advance(width);
        }
    }
}
