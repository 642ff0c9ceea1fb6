//! From bytes to frames.

use bytes::{Buf, Bytes, BytesMut};

use super::{Frame, FrameError, MAX_ID, MAX_PAYLOAD};

/// How long a length field is.
const LENGTH: usize = 4;

/// How long type and id length are.
const HEAD: usize = 1 + LENGTH;

/// Takes frames out of a stream of bytes, however it is cut.
///
/// After an error the place of the next frame is unknown: the connection is of no more use.
///
/// ```
/// use greenroom_frame::binary::{FrameDecoder, encode, kind};
///
/// let bytes = encode(kind::INPUT, "1", b"ls\r")?;
/// let mut decoder = FrameDecoder::default();
/// decoder.feed(&bytes[..6]);
/// assert_eq!(decoder.next()?, None);
/// decoder.feed(&bytes[6..]);
/// assert_eq!(decoder.next()?.map(|frame| frame.payload), Some("ls\r".into()));
/// # Ok::<(), greenroom_frame::binary::FrameError>(())
/// ```
#[derive(Debug, Default)]
pub struct FrameDecoder {
    buffer: BytesMut,
}

impl FrameDecoder {
    /// Adds bytes that were read.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The buffer to read into directly, behind what is there already.
    pub fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Whether a frame has begun and is not complete, as far as was asked.
    #[must_use]
    pub fn is_mid_frame(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// Takes the next complete frame, or nothing as long as there is none.
    ///
    /// # Errors
    /// A length past its bound, as soon as the field is there, and an id that is not UTF-8.
    #[expect(
        clippy::should_implement_trait,
        reason = "`None` means not yet: it goes on after the next feed, an iterator would be over"
    )]
    pub fn next(&mut self) -> Result<Option<Frame>, FrameError> {
        let Some(id_length) = self.length_at(1) else { return Ok(None) };
        if id_length > MAX_ID {
            return Err(FrameError::IdTooLong(id_length));
        }
        let Some(payload_length) = self.length_at(HEAD + id_length) else { return Ok(None) };
        if payload_length > MAX_PAYLOAD {
            return Err(FrameError::PayloadTooLong(payload_length));
        }
        let payload_at = HEAD + id_length + LENGTH;
        if self.buffer.len() < payload_at + payload_length {
            return Ok(None);
        }
        let mut whole: Bytes = self.buffer.split_to(payload_at + payload_length).freeze();
        let id = str::from_utf8(&whole[HEAD..HEAD + id_length]);
        let id = id.map_err(|_| FrameError::IdNotUtf8)?.to_owned();
        let kind = whole[0];
        whole.advance(payload_at);
        Ok(Some(Frame { kind, id, payload: whole }))
    }

    /// The length field at a place, if all of it is there.
    fn length_at(&self, at: usize) -> Option<usize> {
        let field: [u8; LENGTH] = self.buffer.get(at..at + LENGTH)?.try_into().ok()?;
        usize::try_from(u32::from_be_bytes(field)).ok()
    }
}
