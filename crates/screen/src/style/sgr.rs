//! A style as the numbers of the SGR that sets it.

use std::io::Write as _;

use super::{Attrs, Color, Style, Underline};

/// What each attribute is called.
const NUMBERS: [(Attrs, &[u8]); 8] = [
    (Attrs::BOLD, b";1"),
    (Attrs::DIM, b";2"),
    (Attrs::ITALIC, b";3"),
    (Attrs::BLINK, b";5"),
    (Attrs::INVERSE, b";7"),
    (Attrs::HIDDEN, b";8"),
    (Attrs::STRIKE, b";9"),
    (Attrs::OVERLINE, b";53"),
];

impl Style {
    /// Appends the numbers that set this style from whatever was before: `0`, and what differs
    /// from the default. Links and protection are no part of SGR.
    pub(crate) fn push_sgr(&self, out: &mut Vec<u8>) {
        out.push(b'0');
        if !self.attrs.is_empty() {
            for (attr, number) in NUMBERS {
                if self.attrs.contains(attr) {
                    out.extend_from_slice(number);
                }
            }
        }
        out.extend_from_slice(match self.underline {
            Underline::None => b"",
            Underline::Single => b";4",
            Underline::Double => b";4:2",
            Underline::Curly => b";4:3",
            Underline::Dotted => b";4:4",
            Underline::Dashed => b";4:5",
        });
        push_color(out, self.fg, 30);
        push_color(out, self.bg, 40);
        push_color(out, self.underline_color, 50);
    }
}

/// Appends the numbers that set a colour; `base` is 30, 40 or 50.
fn push_color(out: &mut Vec<u8>, color: Color, base: u16) {
    // Writing to a vector cannot fail.
    let _ok = match color {
        Color::Default => Ok(()),
        Color::Indexed(index @ 0..=7) if base < 50 => write!(out, ";{}", base + u16::from(index)),
        Color::Indexed(index @ 8..=15) if base < 50 => {
            write!(out, ";{}", base + 52 + u16::from(index))
        }
        // With semicolons older terminals would read an underline's colour as blinking.
        Color::Indexed(index) if base == 50 => write!(out, ";58:5:{index}"),
        Color::Rgb(r, g, b) if base == 50 => write!(out, ";58:2::{r}:{g}:{b}"),
        Color::Indexed(index) => write!(out, ";{};5;{index}", base + 8),
        Color::Rgb(r, g, b) => write!(out, ";{};2;{r};{g};{b}", base + 8),
    };
}
