//! One character at a time out of bytes that may not be UTF-8.

/// What stands at the start of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decoded {
    /// A character and how many bytes it took.
    Scalar(char, usize),
    /// This many bytes can be no part of a character.
    Invalid(usize),
    /// All there is may be the start of a character.
    Incomplete,
}

/// Decodes the character at the start of `bytes`, which begin with a byte of at least 0x80.
#[inline]
pub(super) fn decode(bytes: &[u8]) -> Decoded {
    let &[lead, ref rest @ ..] = bytes else { return Decoded::Incomplete };
    // The second byte's range is what excludes overlong forms, surrogates and the far end.
    let (more, low, high) = match lead {
        0xc2..=0xdf => (1, 0x80, 0xbf),
        0xe0 => (2, 0xa0, 0xbf),
        0xed => (2, 0x80, 0x9f),
        0xe1..=0xef => (2, 0x80, 0xbf),
        0xf0 => (3, 0x90, 0xbf),
        0xf1..=0xf3 => (3, 0x80, 0xbf),
        0xf4 => (3, 0x80, 0x8f),
        _ => return Decoded::Invalid(1),
    };
    let Some(&second) = rest.first() else { return Decoded::Incomplete };
    if second < low || second > high {
        return Decoded::Invalid(1);
    }
    let mut code = u32::from(lead) & (0x3f >> more);
    code = code << 6 | u32::from(second & 0x3f);
    for index in 1..more {
        let Some(&byte) = rest.get(index) else { return Decoded::Incomplete };
        if byte & 0xc0 != 0x80 {
            return Decoded::Invalid(index + 1);
        }
        code = code << 6 | u32::from(byte & 0x3f);
    }
    match char::from_u32(code) {
        Some(c) => Decoded::Scalar(c, more + 1),
        None => Decoded::Invalid(more + 1),
    }
}

/// The first bytes of a character whose rest has not come yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Partial {
    bytes: [u8; 3],
    len: u8,
}

impl Partial {
    /// Keeps the start of a character: one to three bytes.
    pub(super) fn new(start: &[u8]) -> Partial {
        let mut partial = Partial::default();
        partial.extend(start);
        partial
    }

    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The bytes held.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len as usize]
    }

    /// Adds bytes that still do not complete the character.
    pub(super) fn extend(&mut self, more: &[u8]) {
        for &byte in more {
            if let Some(slot) = self.bytes.get_mut(self.len as usize) {
                *slot = byte;
                self.len += 1;
            }
        }
    }

    /// Decodes what is held together with what follows; the second value is how many bytes were
    /// held, which are no part of `more`.
    pub(super) fn resume(&self, more: &[u8]) -> (Decoded, usize) {
        let held = self.len as usize;
        let mut whole = [0; 6];
        let mut len = 0;
        for &byte in self.bytes().iter().chain(more.iter().take(3)) {
            whole[len] = byte;
            len += 1;
        }
        (decode(&whole[..len]), held)
    }
}

#[cfg(test)]
mod tests {
    use super::{Decoded, decode};

    #[test]
    fn every_character_decodes_as_std_does() {
        for c in ('\u{80}'..=char::MAX).step_by(7) {
            let mut buffer = [0; 4];
            let text = c.encode_utf8(&mut buffer);
            assert_eq!(decode(text.as_bytes()), Decoded::Scalar(c, text.len()));
        }
    }

    #[test]
    fn broken_bytes_are_skipped_as_std_skips_them() {
        let broken: &[&[u8]] = &[
            b"\xc0\xaf",
            b"\xed\xa0\x80",
            b"\xf5\x80",
            b"\xe6\xbcx",
            b"\xf0\x9f\x91x",
            b"\x80",
            b"\xff",
            b"\xf4\x90\x80\x80",
            b"\xe0\x80\x80",
        ];
        for bytes in broken {
            let std = std::str::from_utf8(bytes).unwrap_err();
            assert_eq!(decode(bytes), Decoded::Invalid(std.error_len().unwrap()), "{bytes:x?}");
        }
    }
}
