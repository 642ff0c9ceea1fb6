//! How a cell looks: colours, attributes, underline, link.
//!
//! In the grid a style is a `u16` into a [`StyleTable`]; in a history page a small number into
//! the page's own list. Both hold the packed form, one integer, so comparing and hashing a style
//! costs an instruction or two. [`Style`] is the readable form that leaves the crate.

mod sgr;
mod table;

pub(crate) use table::{StyleId, StyleTable};

use bitflags::bitflags;

use crate::palette::{self, Slot};

/// A colour as the program named it; what it looks like is the viewer's palette.
///
/// ```
/// use greenroom_screen::{Color, Options, Screen};
///
/// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// screen.feed(b"a\x1b[31mb\x1b[38;2;255;128;0mc");
/// let line = screen.line(0).unwrap();
/// let colors: Vec<_> = line.cells().take(3).map(|cell| cell.style.fg).collect();
/// assert_eq!(colors, [Color::Default, Color::Indexed(1), Color::Rgb(255, 128, 0)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Color {
    /// The terminal's own foreground or background.
    #[default]
    Default,
    /// One of the 256 colours of the palette.
    Indexed(u8),
    /// Red, green, blue.
    Rgb(u8, u8, u8),
}

/// How a cell is underlined.
///
/// ```
/// use greenroom_screen::{Options, Screen, Underline};
///
/// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// screen.feed(b"\x1b[4:3mtypo");
/// let style = screen.line(0).unwrap().runs().next().unwrap().style;
/// assert_eq!(style.underline, Underline::Curly);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Underline {
    /// Not at all.
    #[default]
    None,
    /// One line.
    Single,
    /// Two lines.
    Double,
    /// A wavy line, as editors mark errors.
    Curly,
    /// A line of dots.
    Dotted,
    /// A line of dashes.
    Dashed,
}

bitflags! {
    /// What a cell's text looks like, apart from colour and underline.
    ///
    /// ```
    /// use greenroom_screen::{Attrs, Options, Screen};
    ///
    /// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"\x1b[1;7mtitle");
    /// let style = screen.line(0).unwrap().runs().next().unwrap().style;
    /// assert_eq!(style.attrs, Attrs::BOLD | Attrs::INVERSE);
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Attrs: u16 {
        /// SGR 1.
        const BOLD = 1;
        /// SGR 2.
        const DIM = 1 << 1;
        /// SGR 3.
        const ITALIC = 1 << 2;
        /// SGR 5 and 6.
        const BLINK = 1 << 3;
        /// SGR 7: foreground and background change places.
        const INVERSE = 1 << 4;
        /// SGR 8: a person does not see the text, so neither should a model reading the screen.
        const HIDDEN = 1 << 5;
        /// SGR 9.
        const STRIKE = 1 << 6;
        /// SGR 53.
        const OVERLINE = 1 << 7;
        /// DECSCA 1: selective erase leaves it alone.
        const PROTECTED = 1 << 8;
    }
}

/// The number of a link in its screen; see [`Screen::link`](crate::Screen::link).
///
/// Cells with the same number are one link, also across rows.
///
/// ```
/// use greenroom_screen::{Options, Screen};
///
/// let mut screen = Screen::new("4x2".parse().unwrap(), Options::default());
/// screen.feed(b"\x1b]8;;https://example.org\x07wrapped");
/// let link = |row| screen.line(row).unwrap().cells().next().unwrap().style.link;
/// assert!(link(0).is_some());
/// assert_eq!(link(0), link(1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkId(pub(crate) u16);

/// How a cell looks.
///
/// ```
/// use greenroom_screen::{Attrs, Color, Options, Screen};
///
/// let mut screen = Screen::new("20x2".parse().unwrap(), Options::default());
/// screen.feed(b"\x1b[1;38;5;208mhot");
/// let snapshot = screen.snapshot();
/// let style = snapshot.row(0).unwrap().cells().next().unwrap().style;
/// assert_eq!(style.fg, Color::Indexed(208));
/// assert!(style.attrs.contains(Attrs::BOLD));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Style {
    /// The colour of the text.
    pub fg: Color,
    /// The colour behind the text.
    pub bg: Color,
    /// The colour of the underline; the text's if default.
    pub underline_color: Color,
    /// How it is underlined.
    pub underline: Underline,
    /// Everything else.
    pub attrs: Attrs,
    /// The link the cell is part of.
    pub link: Option<LinkId>,
}

impl Style {
    /// Whether a person cannot see text in this style: hidden, or in the colour of its background.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"ok \x1b[8mhidden\x1b[m \x1b[34;44mblue\x1b[m");
    /// let line = screen.line(0).unwrap();
    /// let seen = line.cells().filter(|cell| !cell.style.is_invisible());
    /// let seen: String = seen.map(|cell| cell.text().to_string()).collect();
    /// assert_eq!(seen.trim(), "ok");
    /// ```
    #[must_use]
    pub fn is_invisible(&self) -> bool {
        let looks = |color| match color {
            Color::Default => None,
            Color::Indexed(index) => Some(palette::default(Slot::Indexed(index))),
            Color::Rgb(r, g, b) => Some((r, g, b)),
        };
        let (fg, bg) = (looks(self.fg), looks(self.bg));
        self.attrs.contains(Attrs::HIDDEN) || (fg.is_some() && fg == bg)
    }
}

/// A style in one integer. Zero is the default style.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Packed(u128);

const COLOR_BITS: u32 = 26;
const COLOR_MASK: u128 = (1 << COLOR_BITS) - 1;
const FG: u32 = 0;
const BG: u32 = COLOR_BITS;
const UNDERLINE_COLOR: u32 = 2 * COLOR_BITS;
const ATTRS: u32 = 3 * COLOR_BITS;
const UNDERLINE: u32 = ATTRS + 16;
const LINK: u32 = UNDERLINE + 3;
const ALL_BITS: u32 = LINK + 16;

fn pack_color(color: Color) -> u128 {
    match color {
        Color::Default => 0,
        Color::Indexed(index) => 1 << 24 | u128::from(index),
        Color::Rgb(r, g, b) => 2 << 24 | u128::from(r) << 16 | u128::from(g) << 8 | u128::from(b),
    }
}

fn unpack_color(bits: u128) -> Color {
    match bits >> 24 & 3 {
        0 => Color::Default,
        1 => Color::Indexed(bits as u8),
        _ => Color::Rgb((bits >> 16) as u8, (bits >> 8) as u8, bits as u8),
    }
}

impl Packed {
    pub(crate) const DEFAULT: Packed = Packed(0);

    #[inline]
    fn set(&mut self, at: u32, mask: u128, bits: u128) {
        self.0 = self.0 & !(mask << at) | bits << at;
    }

    #[inline]
    pub(crate) fn set_fg(&mut self, color: Color) {
        self.set(FG, COLOR_MASK, pack_color(color));
    }

    #[inline]
    pub(crate) fn set_bg(&mut self, color: Color) {
        self.set(BG, COLOR_MASK, pack_color(color));
    }

    pub(crate) fn set_underline_color(&mut self, color: Color) {
        self.set(UNDERLINE_COLOR, COLOR_MASK, pack_color(color));
    }

    #[inline]
    pub(crate) fn insert(&mut self, attrs: Attrs) {
        self.0 |= u128::from(attrs.bits()) << ATTRS;
    }

    #[inline]
    pub(crate) fn remove(&mut self, attrs: Attrs) {
        self.0 &= !(u128::from(attrs.bits()) << ATTRS);
    }

    pub(crate) fn toggle(&mut self, attrs: Attrs) {
        self.0 ^= u128::from(attrs.bits()) << ATTRS;
    }

    pub(crate) fn contains(self, attrs: Attrs) -> bool {
        Attrs::from_bits_retain((self.0 >> ATTRS) as u16).contains(attrs)
    }

    pub(crate) fn set_underline(&mut self, underline: Underline) {
        self.set(UNDERLINE, 7, underline as u128);
    }

    pub(crate) fn set_link(&mut self, link: u16) {
        self.set(LINK, 0xffff, u128::from(link));
    }

    /// The link's number; zero is none.
    pub(crate) fn link(self) -> u16 {
        (self.0 >> LINK) as u16
    }

    /// What SGR 0 leaves: the link and the protection, which have their own sequences.
    #[inline]
    pub(crate) fn reset(self) -> Packed {
        let kept = 0xffff << LINK | u128::from(Attrs::PROTECTED.bits()) << ATTRS;
        Packed(self.0 & kept)
    }

    /// What an erased cell shows: the background alone.
    #[inline]
    pub(crate) fn erased(self) -> Packed {
        Packed(self.0 & COLOR_MASK << BG)
    }

    pub(crate) fn bits(self) -> u128 {
        self.0
    }

    /// The style with these bits, if they are one.
    pub(crate) fn from_bits(bits: u128) -> Option<Packed> {
        let style = Packed(bits);
        (bits >> ALL_BITS == 0 && style.unpack().pack() == style).then_some(style)
    }

    pub(crate) fn unpack(self) -> Style {
        let link = self.link();
        Style {
            fg: unpack_color(self.0 >> FG & COLOR_MASK),
            bg: unpack_color(self.0 >> BG & COLOR_MASK),
            underline_color: unpack_color(self.0 >> UNDERLINE_COLOR & COLOR_MASK),
            underline: match self.0 >> UNDERLINE & 7 {
                0 => Underline::None,
                1 => Underline::Single,
                2 => Underline::Double,
                3 => Underline::Curly,
                4 => Underline::Dotted,
                _ => Underline::Dashed,
            },
            attrs: Attrs::from_bits_truncate((self.0 >> ATTRS) as u16),
            link: (link != 0).then_some(LinkId(link)),
        }
    }
}

impl Style {
    pub(crate) fn pack(&self) -> Packed {
        let mut packed = Packed::DEFAULT;
        packed.set_fg(self.fg);
        packed.set_bg(self.bg);
        packed.set_underline_color(self.underline_color);
        packed.set_underline(self.underline);
        packed.insert(self.attrs);
        packed.set_link(self.link.map_or(0, |link| link.0));
        packed
    }
}

#[cfg(test)]
mod tests {
    use super::{Attrs, Color, LinkId, Style, Underline};

    #[test]
    fn a_style_survives_packing() {
        let style = Style {
            fg: Color::Rgb(1, 2, 3),
            bg: Color::Indexed(255),
            underline_color: Color::Rgb(255, 254, 253),
            underline: Underline::Dashed,
            attrs: Attrs::all(),
            link: Some(LinkId(u16::MAX)),
        };
        assert_eq!(style.pack().unpack(), style);
        assert_eq!(Style::default().pack(), super::Packed::DEFAULT);
    }

    #[test]
    fn text_in_the_colour_of_its_background_is_invisible() {
        let mut style = Style { fg: Color::Indexed(4), ..Style::default() };
        assert!(!style.is_invisible());
        style.bg = Color::Indexed(4);
        assert!(style.is_invisible());
    }
}
