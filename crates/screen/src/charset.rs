//! Character sets: the line drawing of the VT100 and the few national letters still in use.

/// What a designated set makes of a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Charset {
    /// Bytes are what they say.
    #[default]
    Ascii,
    /// DEC Special Graphics: lower case letters are lines and corners.
    Graphics,
    /// As ASCII, but `#` is the pound sign.
    British,
}

/// What `_` to `~` are in DEC Special Graphics.
const GRAPHICS: [char; 32] = [
    ' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─',
    '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
];

impl Charset {
    /// The set that this final byte of `ESC ( …` names; ASCII if it is one we do not have.
    pub(crate) fn from_final(byte: u8) -> Charset {
        match byte {
            b'0' => Charset::Graphics,
            b'A' => Charset::British,
            _ => Charset::Ascii,
        }
    }

    /// The final byte that names it.
    pub(crate) fn to_final(self) -> u8 {
        match self {
            Charset::Ascii => b'B',
            Charset::Graphics => b'0',
            Charset::British => b'A',
        }
    }

    fn map(self, byte: u8) -> char {
        match self {
            Charset::Graphics if (b'_'..=b'~').contains(&byte) => GRAPHICS[(byte - b'_') as usize],
            Charset::British if byte == b'#' => '£',
            Charset::Ascii | Charset::Graphics | Charset::British => char::from(byte),
        }
    }
}

/// The four designated sets and which of them is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Charsets {
    pub(crate) sets: [Charset; 4],
    /// The set in use for bytes below 0x80.
    pub(crate) left: u8,
    /// The set for the next character only (SS2, SS3).
    pub(crate) single: Option<u8>,
}

impl Charsets {
    /// Whether bytes are what they say.
    #[inline]
    pub(crate) fn is_ascii(&self) -> bool {
        self.sets[(self.left & 3) as usize] == Charset::Ascii && self.single.is_none()
    }

    /// What a byte is in the set in use.
    pub(crate) fn map(&mut self, byte: u8) -> char {
        let set = self.single.take().unwrap_or(self.left);
        self.sets[(set & 3) as usize].map(byte)
    }
}
