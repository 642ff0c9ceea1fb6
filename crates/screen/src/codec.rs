//! Variable-length numbers and bounded reading, for history pages and checkpoints.

/// Appends a number, seven bits a byte, low ones first.
#[inline]
pub(crate) fn push_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number off the front; nothing if there is none.
#[inline]
pub(crate) fn read_varint(input: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for (index, &byte) in input.iter().enumerate().take(10) {
        number |= u64::from(byte & 0x7f).checked_shl(7 * index as u32)?;
        if byte < 0x80 {
            *input = &input[index + 1..];
            return Some(number);
        }
    }
    None
}

/// Writes the fields of a checkpoint.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    pub(crate) out: Vec<u8>,
}

impl Writer {
    pub(crate) fn byte(&mut self, byte: u8) {
        self.out.push(byte);
    }

    pub(crate) fn flag(&mut self, flag: bool) {
        self.out.push(u8::from(flag));
    }

    pub(crate) fn number(&mut self, number: u64) {
        push_varint(&mut self.out, number);
    }

    /// Bytes with their length before them.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.out.extend_from_slice(bytes);
    }

    pub(crate) fn wide(&mut self, number: u128) {
        self.out.extend_from_slice(&number.to_le_bytes());
    }
}

/// Reads the fields of a checkpoint. Everything is nothing once something does not fit.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    pub(crate) fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        read_varint(&mut self.rest)
    }

    /// A number that is at most `most`.
    pub(crate) fn count(&mut self, most: usize) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|&count| count <= most)
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(bytes)
    }

    /// A text of at most `most` bytes, without control characters.
    pub(crate) fn text(&mut self, most: usize) -> Option<String> {
        let text = std::str::from_utf8(self.bytes()?).ok()?;
        let good = text.len() <= most && !text.chars().any(char::is_control);
        good.then(|| text.to_owned())
    }

    pub(crate) fn wide(&mut self) -> Option<u128> {
        let (bytes, rest) = self.rest.split_first_chunk::<16>()?;
        self.rest = rest;
        Some(u128::from_le_bytes(*bytes))
    }
}
