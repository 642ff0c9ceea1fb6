//! Colours the program changed (OSC 4, 10, 11, 12), and what the others are.

/// A colour as red, green and blue.
pub(crate) type Rgb = (u8, u8, u8);

/// A colour that a program can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Slot {
    /// One of the 256.
    Indexed(u8),
    Foreground,
    Background,
    Cursor,
}

impl Slot {
    /// The number of the OSC that sets it.
    pub(crate) fn osc(self) -> u16 {
        match self {
            Slot::Indexed(_) => 4,
            Slot::Foreground => 10,
            Slot::Background => 11,
            Slot::Cursor => 12,
        }
    }
}

/// xterm's sixteen first colours.
const ANSI: [Rgb; 16] = [
    (0x00, 0x00, 0x00),
    (0xcd, 0x00, 0x00),
    (0x00, 0xcd, 0x00),
    (0xcd, 0xcd, 0x00),
    (0x00, 0x00, 0xee),
    (0xcd, 0x00, 0xcd),
    (0x00, 0xcd, 0xcd),
    (0xe5, 0xe5, 0xe5),
    (0x7f, 0x7f, 0x7f),
    (0xff, 0x00, 0x00),
    (0x00, 0xff, 0x00),
    (0xff, 0xff, 0x00),
    (0x5c, 0x5c, 0xff),
    (0xff, 0x00, 0xff),
    (0x00, 0xff, 0xff),
    (0xff, 0xff, 0xff),
];

/// The colours a program changed, sorted. At most one of each slot: 259.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Palette(Vec<(Slot, Rgb)>);

impl Palette {
    /// A colour as it is now.
    pub(crate) fn get(&self, slot: Slot) -> Rgb {
        self.changed(slot).unwrap_or_else(|| default(slot))
    }

    /// A colour, if a program changed it.
    pub(crate) fn changed(&self, slot: Slot) -> Option<Rgb> {
        let at = self.0.binary_search_by_key(&slot, |&(slot, _)| slot).ok()?;
        Some(self.0[at].1)
    }

    pub(crate) fn set(&mut self, slot: Slot, rgb: Rgb) {
        match self.0.binary_search_by_key(&slot, |&(slot, _)| slot) {
            Ok(at) => self.0[at].1 = rgb,
            Err(at) => self.0.insert(at, (slot, rgb)),
        }
    }

    pub(crate) fn reset(&mut self, slot: Slot) {
        self.0.retain(|&(it, _)| it != slot);
    }

    pub(crate) fn reset_indexed(&mut self) {
        self.0.retain(|(slot, _)| !matches!(slot, Slot::Indexed(_)));
    }

    /// What was changed.
    pub(crate) fn changes(&self) -> &[(Slot, Rgb)] {
        &self.0
    }

    pub(crate) fn heap(&self) -> usize {
        self.0.capacity() * size_of::<(Slot, Rgb)>()
    }
}

/// What a slot is before a program changes it: xterm's palette, light grey on black.
pub(crate) fn default(slot: Slot) -> Rgb {
    let index = match slot {
        Slot::Foreground | Slot::Cursor => 7,
        Slot::Background => 0,
        Slot::Indexed(index) => index,
    };
    match index {
        0..=15 => ANSI[index as usize],
        16..=231 => {
            let level = |part: u8| if part == 0 { 0 } else { 55 + 40 * part };
            let cube = index - 16;
            (level(cube / 36), level(cube / 6 % 6), level(cube % 6))
        }
        232.. => {
            let grey = 8 + 10 * (index - 232);
            (grey, grey, grey)
        }
    }
}

/// Reads a colour as X11 writes it: `rgb:r/g/b` with one to four digits each, or `#rgb`.
pub(crate) fn parse(text: &str) -> Option<Rgb> {
    let part = |hex: &str| {
        let value = u32::from_str_radix(hex, 16).ok()?;
        let most = 16_u32.pow(hex.len() as u32) - 1;
        ((1..=4).contains(&hex.len())).then_some((value * 255 / most) as u8)
    };
    if !text.is_ascii() || text.len() > 24 {
        return None;
    }
    if let Some(rest) = text.strip_prefix("rgb:") {
        let mut parts = rest.split('/');
        let rgb = (part(parts.next()?)?, part(parts.next()?)?, part(parts.next()?)?);
        return parts.next().is_none().then_some(rgb);
    }
    let hex = text.strip_prefix('#')?;
    let digits = hex.len() / 3;
    (hex.len() == digits * 3 && (1..=4).contains(&digits)).then_some(())?;
    Some((part(&hex[..digits])?, part(&hex[digits..2 * digits])?, part(&hex[2 * digits..])?))
}

#[cfg(test)]
mod tests {
    use super::{Palette, Slot, parse};

    #[test]
    fn colours_are_read_as_x11_writes_them() {
        assert_eq!(parse("rgb:ff/80/00"), Some((255, 128, 0)));
        assert_eq!(parse("rgb:ffff/0000/8080"), Some((255, 0, 128)));
        assert_eq!(parse("rgb:f/0/8"), Some((255, 0, 136)));
        assert_eq!(parse("#ff8000"), Some((255, 128, 0)));
        for bad in ["", "red", "rgb:", "rgb:1/2", "rgb:1/2/3/4", "#12345", "rgb:12345/0/0", "#é00"]
        {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_cube_and_the_greys_are_xterms() {
        let palette = Palette::default();
        assert_eq!(palette.get(Slot::Indexed(196)), (255, 0, 0));
        assert_eq!(palette.get(Slot::Indexed(255)), (238, 238, 238));
    }
}
