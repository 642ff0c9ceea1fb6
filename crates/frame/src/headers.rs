//! A body behind `Content-Length: N` and an empty line, as language servers frame messages.
//!
//! Header names are matched without case, other headers are read over, a bare `\n` ends a line as
//! well. Not here: what is in a body.

#[cfg(test)]
mod tests;

use bytes::{Buf, Bytes, BytesMut};

/// The longest header, with its ends of lines: two headers make some 80 bytes, the rest is room
/// for those of others.
pub const MAX_HEADER: usize = 8 << 10;

/// Takes bodies out of a stream of bytes, however it is cut.
///
/// After an error the place of the next header is unknown: the connection is of no more use.
///
/// ```
/// use greenroom_frame::headers::HeaderDecoder;
///
/// let mut decoder = HeaderDecoder::new(1024);
/// decoder.feed(b"Content-Length: 2\r\n\r\n{}Content-");
/// assert_eq!(decoder.next()?.as_deref(), Some(&b"{}"[..]));
/// assert_eq!(decoder.next()?, None);
/// # Ok::<(), greenroom_frame::headers::HeaderError>(())
/// ```
#[derive(Debug)]
pub struct HeaderDecoder {
    buffer: BytesMut,
    /// The longest body.
    bound: usize,
    /// How much of the current header was read.
    header: usize,
    /// What it said so far.
    length: Option<usize>,
    /// Whether it is complete, and the body is next.
    in_body: bool,
}

/// Why bytes are not a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The header does not end within [`MAX_HEADER`].
    #[error("a header has more than {MAX_HEADER} bytes")]
    HeaderTooLong,
    /// A line of the header has no name and colon, or is no text.
    #[error("`{0}` is not a header")]
    NotAHeader(String),
    /// The header ended without saying how long the body is.
    #[error("a header has no Content-Length")]
    NoLength,
    /// The length is not a number, or said twice differently.
    #[error("`{0}` is not a Content-Length")]
    BadLength(String),
    /// The body is longer than the decoder's bound.
    #[error("a body has {length} bytes, more than {bound}")]
    TooLong {
        /// How long it is.
        length: usize,
        /// How long it may be.
        bound: usize,
    },
}

impl HeaderDecoder {
    /// Makes a decoder whose bodies have at most `bound` bytes.
    #[must_use]
    pub fn new(bound: usize) -> HeaderDecoder {
        HeaderDecoder { buffer: BytesMut::new(), bound, header: 0, length: None, in_body: false }
    }

    /// Adds bytes that were read.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The buffer to read into directly, behind what is there already.
    pub fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Takes the next complete body, or nothing as long as there is none.
    ///
    /// # Errors
    /// A header that is none, and a length past the bound, before the body is waited for.
    #[expect(
        clippy::should_implement_trait,
        reason = "`None` means not yet: it goes on after the next feed, an iterator would be over"
    )]
    pub fn next(&mut self) -> Result<Option<Bytes>, HeaderError> {
        while !self.in_body {
            let Some(line) = self.take_line()? else { return Ok(None) };
            match line.is_empty() {
                true => self.in_body = true,
                false => self.read_header(&line)?,
            }
        }
        let length = self.length.ok_or(HeaderError::NoLength)?;
        if self.buffer.len() < length {
            return Ok(None);
        }
        (self.header, self.length, self.in_body) = (0, None, false);
        Ok(Some(self.buffer.split_to(length).freeze()))
    }

    /// Takes a complete line of the header, without its end.
    /// Whether a message was begun and not ended.
    #[must_use]
    pub fn is_inside(&self) -> bool {
        self.in_body || self.header > 0 || !self.buffer.is_empty()
    }

    fn take_line(&mut self) -> Result<Option<Bytes>, HeaderError> {
        // Looking again from the start is bounded: a header is.
        let room = MAX_HEADER.saturating_sub(self.header);
        let within = &self.buffer[..self.buffer.len().min(room)];
        let Some(end) = memchr::memchr(b'\n', within) else {
            return match within.len() == room {
                true => Err(HeaderError::HeaderTooLong),
                false => Ok(None),
            };
        };
        let mut line = self.buffer.split_to(end).freeze();
        self.buffer.advance(1);
        self.header += end + 1;
        if line.last() == Some(&b'\r') {
            line.truncate(line.len() - 1);
        }
        Ok(Some(line))
    }

    fn read_header(&mut self, line: &[u8]) -> Result<(), HeaderError> {
        let text = str::from_utf8(line).ok().and_then(|it| it.split_once(':'));
        // Somebody who sends a JSON text a line is told so, not waited for.
        let text = text.filter(|(name, _)| is_name(name.trim()));
        let Some((name, value)) = text else { return Err(HeaderError::NotAHeader(shown(line))) };
        if !name.trim().eq_ignore_ascii_case("content-length") {
            return Ok(());
        }
        let value = value.trim();
        let is_number = !value.is_empty() && value.bytes().all(|it| it.is_ascii_digit());
        // More digits than a number has room for are past every bound.
        let length = value.parse().unwrap_or(usize::MAX);
        if !is_number || self.length.is_some_and(|before| before != length) {
            return Err(HeaderError::BadLength(shown(value.as_bytes())));
        }
        if length > self.bound {
            return Err(HeaderError::TooLong { length, bound: self.bound });
        }
        self.length = Some(length);
        Ok(())
    }
}

/// Whether a header can be called that: by letters, digits and what RFC 9110 allows beside them.
fn is_name(name: &str) -> bool {
    let is_part = |it: u8| it.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&it);
    !name.is_empty() && name.bytes().all(is_part)
}

/// The beginning of what a stranger sent, fit for a message.
fn shown(bytes: &[u8]) -> String {
    let beginning = &bytes[..bytes.len().min(40)];
    String::from_utf8_lossy(beginning).escape_debug().to_string()
}

/// The bytes of a whole message.
#[must_use]
pub fn encode(body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}
