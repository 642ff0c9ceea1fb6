//! Cuts a stream of bytes into messages.

use bytes::{Buf as _, Bytes, BytesMut};

use crate::{FromHolder, HEADER, MAX_PAYLOAD, ToHolder};

/// Why bytes are not a message. The connection they came on is of no use any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProtoError {
    /// A length is past [`MAX_PAYLOAD`].
    #[error("a message of {0} bytes is too long")]
    TooLong(u32),
    /// A payload ends before its fields do.
    #[error("a message is shorter than its fields")]
    Short,
    /// A field has a value that means nothing.
    #[error("a message has a field out of range")]
    Range,
}

/// Collects bytes until a message is whole. Incomplete is an ordinary state: `Ok(None)`.
///
/// ```
/// use greenroom_proto::{Decoder, ToHolder};
///
/// let mut bytes = Vec::new();
/// ToHolder::Release.encode(&mut bytes);
/// let mut decoder = Decoder::default();
/// decoder.feed(&bytes[..3]);
/// assert!(decoder.to_holder().unwrap().is_none());
/// decoder.feed(&bytes[3..]);
/// assert_eq!(decoder.to_holder().unwrap(), Some(ToHolder::Release));
/// ```
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: BytesMut,
}

impl Decoder {
    /// Adds bytes that arrived.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Where to read into, for who reads without a copy between.
    pub fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Whether nothing is left over.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// The next message of a holder, if it is whole; unknown numbers are skipped.
    ///
    /// # Errors
    /// The stream is broken; nothing more can be read from it.
    pub fn from_holder(&mut self) -> Result<Option<FromHolder>, ProtoError> {
        while let Some((number, payload)) = self.message()? {
            if let Some(message) = FromHolder::decode(number, payload)? {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }

    /// The next message to a holder, if it is whole; unknown numbers are skipped.
    ///
    /// # Errors
    /// The stream is broken; nothing more can be read from it.
    pub fn to_holder(&mut self) -> Result<Option<ToHolder>, ProtoError> {
        while let Some((number, payload)) = self.message()? {
            if let Some(message) = ToHolder::decode(number, payload)? {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }

    fn message(&mut self) -> Result<Option<(u8, Bytes)>, ProtoError> {
        let Some(&[number, a, b, c, d]) = self.buffer.first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes([a, b, c, d]);
        if length as usize > MAX_PAYLOAD {
            return Err(ProtoError::TooLong(length));
        }
        let whole = HEADER + length as usize;
        if self.buffer.len() < whole {
            return Ok(None);
        }
        self.buffer.advance(HEADER);
        Ok(Some((number, self.buffer.split_to(length as usize).freeze())))
    }
}
