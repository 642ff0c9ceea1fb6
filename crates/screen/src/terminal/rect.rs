//! Rectangles: copied, filled, erased and restyled (VT400).

use super::Terminal;
use crate::modes::Modes;
use crate::parser::Params;
use crate::row::Glyph;
use crate::style::Attrs;
use crate::unicode::Class;

/// Rows and columns, from zero, the end ones excluded.
#[derive(Debug, Clone, Copy)]
struct Rect {
    top: usize,
    left: usize,
    bottom: usize,
    right: usize,
}

impl Terminal {
    /// The rectangle that four numbers from `at` on name; nothing if it is empty.
    fn rect(&self, params: &Params, at: usize) -> Option<Rect> {
        let origin = if self.modes.contains(Modes::ORIGIN) { self.top } else { 0 };
        let last = if self.modes.contains(Modes::ORIGIN) { self.bottom + 1 } else { self.rows };
        let row = |index, default: usize| {
            let number = params.or(index, default.min(u16::MAX as usize) as u16) as usize;
            (number + origin).min(last)
        };
        let top = row(at, 1).checked_sub(1)?;
        let left = params.or(at + 1, 1) as usize - 1;
        let bottom = row(at + 2, self.rows);
        let right = (params.or(at + 3, u16::MAX) as usize).min(self.cols);
        (top < bottom && left < right).then_some(Rect { top, left, bottom, right })
    }

    /// DECCRA.
    pub(super) fn copy_rect(&mut self, params: &Params) {
        let Some(from) = self.rect(params, 0) else { return };
        let origin = if self.modes.contains(Modes::ORIGIN) { self.top } else { 0 };
        let to_top = params.or(5, 1) as usize - 1 + origin;
        let to_left = params.or(6, 1) as usize - 1;
        if to_top >= self.rows || to_left >= self.cols {
            return;
        }
        let height = (from.bottom - from.top).min(self.rows - to_top);
        let width = (from.right - from.left).min(self.cols - to_left);
        let source: Vec<_> = (0..height).map(|y| self.grid.row(from.top + y).clone()).collect();
        for (y, row) in source.iter().enumerate() {
            let target = self.touch(to_top + y);
            target.copy_cells(to_left, row, from.left, from.left + width);
        }
    }

    /// DECFRA.
    pub(super) fn fill_rect(&mut self, params: &Params) {
        let Some(c) = char::from_u32(u32::from(params.get(0))) else { return };
        let printable = (' '..='~').contains(&c) || c >= '\u{a0}';
        if !printable || Class::of(c).width() != 1 {
            return;
        }
        let Some(rect) = self.rect(params, 1) else { return };
        let style = self.pen_style();
        let text = c.to_string();
        for y in rect.top..rect.bottom {
            let row = self.touch(y);
            (rect.left..rect.right).for_each(|x| row.put_text(x, &text, 1, style));
        }
    }

    /// DECERA and DECSERA.
    pub(super) fn erase_rect(&mut self, params: &Params, selective: bool) {
        let Some(rect) = self.rect(params, 0) else { return };
        let style = self.erase_style();
        for y in rect.top..rect.bottom {
            if selective {
                self.erase_unprotected(y, rect.left, rect.right);
            } else {
                self.touch(y).erase(rect.left, rect.right, style);
                self.unwrap_row(y);
            }
        }
    }

    /// DECCARA and DECRARA: attributes of a rectangle set or reversed.
    pub(super) fn restyle_rect(&mut self, params: &Params, reverse: bool) {
        let Some(rect) = self.rect(params, 0) else { return };
        for y in rect.top..rect.bottom {
            let (from, to) = if self.rectangle {
                (rect.left, rect.right)
            } else {
                // The stream from the first cell to the last, row after row.
                let from = if y == rect.top { rect.left } else { 0 };
                let to = if y + 1 == rect.bottom { rect.right } else { self.cols };
                (from, to)
            };
            for x in from..to {
                let mut style = self.styles.get(self.grid.row(y).style(x));
                for &number in params.values().iter().skip(4) {
                    restyle(&mut style, number, reverse);
                }
                let id = self.intern(style);
                self.touch(y).restyle(x, id);
            }
        }
    }

    /// DECRQCRA, as xterm counts: the sum of the characters, taken from zero.
    pub(super) fn checksum(&mut self, params: &Params) {
        if !self.options.checksums {
            return;
        }
        if self.happened.is_full() {
            return;
        }
        let id = params.get(0);
        let mut sum = 0_u16;
        if let Some(rect) = self.rect(params, 2) {
            for y in rect.top..rect.bottom {
                let row = self.grid.row(y);
                for x in rect.left..rect.right {
                    let glyph = match row.glyph(x) {
                        Glyph::Char(c) => c as u16,
                        Glyph::Cluster(text) => {
                            text.chars().fold(0, |sum: u16, c| sum.wrapping_add(c as u16))
                        }
                        Glyph::Tail => 0,
                    };
                    sum = sum.wrapping_sub(glyph);
                }
            }
        }
        self.reply(format_args!("\x1bP{id}!~{sum:04X}\x1b\\"));
    }
}

fn restyle(style: &mut crate::style::Packed, number: u16, reverse: bool) {
    let attrs = match number {
        0 => Attrs::BOLD | Attrs::BLINK | Attrs::INVERSE,
        1 | 22 => Attrs::BOLD,
        4 | 24 => return restyle_underline(style, number, reverse),
        5 | 25 => Attrs::BLINK,
        7 | 27 => Attrs::INVERSE,
        8 | 28 => Attrs::HIDDEN,
        _ => return,
    };
    if reverse {
        style.toggle(attrs);
    } else if number == 0 || number > 20 {
        style.remove(attrs);
    } else {
        style.insert(attrs);
    }
    if number == 0 {
        restyle_underline(style, if reverse { 4 } else { 24 }, reverse);
    }
}

fn restyle_underline(style: &mut crate::style::Packed, number: u16, reverse: bool) {
    use crate::style::Underline;
    let is = style.unpack().underline != Underline::None;
    let on = if reverse { !is } else { number == 4 };
    style.set_underline(if on { Underline::Single } else { Underline::None });
}
