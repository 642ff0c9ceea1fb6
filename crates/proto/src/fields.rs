//! Numbers, texts and lists as the payloads have them: big endian, with lengths in front.

use crate::ProtoError;

/// Writes the fields of one message, its header in front.
pub(crate) struct Writer<'a> {
    out: &'a mut Vec<u8>,
    begin: usize,
}

impl<'a> Writer<'a> {
    /// Begins a message.
    pub(crate) fn message(number: u8, out: &'a mut Vec<u8>) -> Writer<'a> {
        let begin = out.len();
        out.extend_from_slice(&[number, 0, 0, 0, 0]);
        Writer { out, begin }
    }

    /// Begins fields without a header.
    pub(crate) fn plain(out: &'a mut Vec<u8>) -> Writer<'a> {
        let begin = out.len();
        Writer { out, begin }
    }

    /// Ends a message: its length is known now.
    pub(crate) fn end(self) {
        let payload = self.out.len() - self.begin - crate::HEADER;
        let length = u32::try_from(payload).unwrap_or(u32::MAX).to_be_bytes();
        self.out[self.begin + 1..self.begin + crate::HEADER].copy_from_slice(&length);
    }

    pub(crate) fn u8(&mut self, value: u8) {
        self.out.push(value);
    }

    pub(crate) fn u16(&mut self, value: u16) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    pub(crate) fn i32(&mut self, value: i32) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    pub(crate) fn bytes(&mut self, value: &[u8]) {
        self.u32(u32::try_from(value.len()).unwrap_or(u32::MAX));
        self.out.extend_from_slice(value);
    }

    /// What remains is this, without a length.
    pub(crate) fn rest(&mut self, value: &[u8]) {
        self.out.extend_from_slice(value);
    }
}

/// Reads fields from the front of a payload.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(payload: &'a [u8]) -> Reader<'a> {
        Reader { rest: payload }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ProtoError> {
        let (head, rest) = self.rest.split_first_chunk().ok_or(ProtoError::Short)?;
        self.rest = rest;
        Ok(*head)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, ProtoError> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    pub(crate) fn u16(&mut self) -> Result<u16, ProtoError> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, ProtoError> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(crate) fn i32(&mut self) -> Result<i32, ProtoError> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, ProtoError> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], ProtoError> {
        let length = self.u32()? as usize;
        let (head, rest) = self.rest.split_at_checked(length).ok_or(ProtoError::Short)?;
        self.rest = rest;
        Ok(head)
    }

    pub(crate) fn text(&mut self) -> Result<String, ProtoError> {
        Ok(String::from_utf8_lossy(self.bytes()?).into_owned())
    }

    /// How many entries follow. Each takes at least its length field, so a count that could not
    /// fit is refused before anything is reserved for it.
    pub(crate) fn count(&mut self) -> Result<usize, ProtoError> {
        let count = self.u32()? as usize;
        if count > self.rest.len() / 4 { Err(ProtoError::Short) } else { Ok(count) }
    }

    /// Whether nothing follows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn rest(self) -> &'a [u8] {
        self.rest
    }
}
