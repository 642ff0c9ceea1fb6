//! Sequences of terminals that speak eight bits, as the seven bits everybody else sends.
//!
//! The bytes that begin them are also parts of characters in UTF-8, so only one that continues no
//! character is taken for a control.

/// Rewrites control characters of the upper half, however the bytes are cut.
#[derive(Debug, Default)]
pub(crate) struct SevenBit {
    /// How many bytes the character that began still wants.
    wants: u8,
}

impl SevenBit {
    /// Adds the bytes to `out`, with their controls in seven bits.
    pub(crate) fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        for &byte in bytes {
            if self.wants > 0 && matches!(byte, 0x80..=0xbf) {
                self.wants -= 1;
                out.push(byte);
                continue;
            }
            self.wants = match byte {
                0xc2..=0xdf => 1,
                0xe0..=0xef => 2,
                0xf0..=0xf4 => 3,
                _ => 0,
            };
            match byte {
                // DCS, CSI, ST, OSC: ESC and the letter 0x40 below.
                0x90 | 0x9b..=0x9d => out.extend_from_slice(&[0x1b, byte - 0x40]),
                _ => out.push(byte),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &[u8], expected: &[u8]) {
        for cut in 0..=input.len() {
            let (head, tail) = input.split_at(cut);
            let (mut seven, mut out) = (SevenBit::default(), Vec::new());
            seven.feed(head, &mut out);
            seven.feed(tail, &mut out);
            assert_eq!(out, expected, "cut at byte {cut}");
        }
    }

    #[test]
    fn controls_of_eight_bits_become_those_of_seven() {
        check(b"a\x9b?1;2cb", b"a\x1b[?1;2cb");
        check(b"\x90>|x\x9c\x9d11;?\x9c", b"\x1bP>|x\x1b\\\x1b]11;?\x1b\\");
    }

    #[test]
    fn parts_of_characters_are_none() {
        // Each has one of those bytes in it.
        for text in ["śŐ", "℀ℛ", "日本", "😛🐐"] {
            check(text.as_bytes(), text.as_bytes());
        }
    }
}
