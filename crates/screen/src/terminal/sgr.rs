//! SGR: what the pen looks like.

use super::Terminal;
use crate::parser::Params;
use crate::style::{Attrs, Color, Packed, Underline};

impl Terminal {
    /// SGR.
    #[inline]
    pub(super) fn set_pen(&mut self, params: &Params) {
        self.pen_id = None;
        let values = params.values();
        if let [0] = values {
            self.pen = self.pen.reset();
            return;
        }
        let mut index = 0;
        while index < values.len() {
            index += apply(&mut self.pen, params, index);
        }
    }
}

/// Applies the number at `index` and says how many it took.
#[inline]
fn apply(pen: &mut Packed, params: &Params, index: usize) -> usize {
    let number = params.get(index);
    match number {
        0 => *pen = pen.reset(),
        1 => pen.insert(Attrs::BOLD),
        2 => pen.insert(Attrs::DIM),
        3 => pen.insert(Attrs::ITALIC),
        4 => return underline(pen, params, index),
        5 | 6 => pen.insert(Attrs::BLINK),
        7 => pen.insert(Attrs::INVERSE),
        8 => pen.insert(Attrs::HIDDEN),
        9 => pen.insert(Attrs::STRIKE),
        21 => pen.set_underline(Underline::Double),
        22 => pen.remove(Attrs::BOLD | Attrs::DIM),
        23 => pen.remove(Attrs::ITALIC),
        24 => pen.set_underline(Underline::None),
        25 => pen.remove(Attrs::BLINK),
        27 => pen.remove(Attrs::INVERSE),
        28 => pen.remove(Attrs::HIDDEN),
        29 => pen.remove(Attrs::STRIKE),
        30..=37 => pen.set_fg(Color::Indexed(number as u8 - 30)),
        38 | 48 | 58 => return extended(pen, params, index, number),
        39 => pen.set_fg(Color::Default),
        40..=47 => pen.set_bg(Color::Indexed(number as u8 - 40)),
        49 => pen.set_bg(Color::Default),
        53 => pen.insert(Attrs::OVERLINE),
        55 => pen.remove(Attrs::OVERLINE),
        59 => pen.set_underline_color(Color::Default),
        90..=97 => pen.set_fg(Color::Indexed(number as u8 - 90 + 8)),
        100..=107 => pen.set_bg(Color::Indexed(number as u8 - 100 + 8)),
        _ => {}
    }
    // Sub-parameters of a number that has none are no numbers of their own.
    1 + subs(params, index)
}

/// How many sub-parameters follow number `index`.
#[inline]
fn subs(params: &Params, index: usize) -> usize {
    if !params.has_subs() {
        return 0;
    }
    (index + 1..params.len()).take_while(|&it| params.is_sub(it)).count()
}

/// `4`, or `4:style`.
fn underline(pen: &mut Packed, params: &Params, index: usize) -> usize {
    let subs = subs(params, index);
    let style = if subs == 0 { 1 } else { params.get(index + 1) };
    pen.set_underline(match style {
        0 => Underline::None,
        2 => Underline::Double,
        3 => Underline::Curly,
        4 => Underline::Dotted,
        5 => Underline::Dashed,
        _ => Underline::Single,
    });
    1 + subs
}

/// `38;5;n`, `38;2;r;g;b`, `38:5:n`, `38:2:r:g:b` and `38:2:space:r:g:b`, for all three colours.
fn extended(pen: &mut Packed, params: &Params, index: usize, number: u16) -> usize {
    let subs = subs(params, index);
    let (kind, at, taken) = if subs > 0 {
        // With a colour space there is one number more before the red.
        let space = usize::from(params.get(index + 1) == 2 && subs >= 5);
        (params.get(index + 1), index + 2 + space, 1 + subs)
    } else {
        let kind = params.get(index + 1);
        (
            kind,
            index + 2,
            match kind {
                2 => 5,
                5 => 3,
                _ => 2,
            },
        )
    };
    let needed = if kind == 2 { 3 } else { 1 };
    let last = if subs > 0 { index + subs } else { params.len() - 1 };
    let byte = |offset: usize| params.get(at + offset).min(255) as u8;
    if at + needed > last + 1 {
        return taken;
    }
    let color = match kind {
        2 => Color::Rgb(byte(0), byte(1), byte(2)),
        5 => Color::Indexed(byte(0)),
        _ => return taken,
    };
    match number {
        38 => pen.set_fg(color),
        48 => pen.set_bg(color),
        _ => pen.set_underline_color(color),
    }
    taken
}
