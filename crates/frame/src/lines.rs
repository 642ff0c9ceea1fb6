//! A message a line: what ends with `\n`, or `\r\n`, without its end.
//!
//! [`LineDecoder`] bounds a line, and goes on behind one that was too long, so that a dialect may
//! answer with an error and keep the connection. Not here: what is in a line.

#[cfg(test)]
mod tests;

use bytes::{Buf, Bytes, BytesMut};

/// Takes lines out of a stream of bytes, however it is cut.
///
/// ```
/// use greenroom_frame::lines::LineDecoder;
///
/// let mut lines = LineDecoder::new(1024);
/// lines.feed(b"{\"a\":1}\r\n{\"b\"");
/// assert_eq!(lines.next()?.as_deref(), Some(&b"{\"a\":1}"[..]));
/// assert_eq!(lines.next()?, None);
/// # Ok::<(), greenroom_frame::lines::LineError>(())
/// ```
#[derive(Debug)]
pub struct LineDecoder {
    buffer: BytesMut,
    /// How much of the buffer is known to have no end of a line.
    seen: usize,
    /// The longest line, without its end.
    bound: usize,
    /// Whether the rest of a line that was too long is being left out.
    skips: bool,
}

/// Why a line was left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// It is longer than the decoder's bound.
    #[error("a line has more than {0} bytes")]
    TooLong(usize),
}

impl LineDecoder {
    /// Makes a decoder whose lines have at most `bound` bytes, the end not counted.
    #[must_use]
    pub fn new(bound: usize) -> LineDecoder {
        LineDecoder { buffer: BytesMut::new(), seen: 0, bound, skips: false }
    }

    /// Adds bytes that were read.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The buffer to read into directly, behind what is there already.
    pub fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Takes the next complete line, or nothing as long as there is none.
    ///
    /// # Errors
    /// A line past the bound, as soon as that is known and once; the next call goes on behind it.
    #[expect(
        clippy::should_implement_trait,
        reason = "`None` means not yet: it goes on after the next feed, an iterator would be over"
    )]
    pub fn next(&mut self) -> Result<Option<Bytes>, LineError> {
        loop {
            let Some(end) = memchr::memchr(b'\n', &self.buffer[self.seen..]) else {
                return self.not_yet();
            };
            let mut line = self.buffer.split_to(self.seen + end).freeze();
            self.buffer.advance(1);
            self.seen = 0;
            if std::mem::take(&mut self.skips) {
                continue;
            }
            if line.last() == Some(&b'\r') {
                line.truncate(line.len() - 1);
            }
            return match line.len() > self.bound {
                true => Err(LineError::TooLong(self.bound)),
                false => Ok(Some(line)),
            };
        }
    }

    /// No end of a line is there: all is kept, unless it is too long already.
    fn not_yet(&mut self) -> Result<Option<Bytes>, LineError> {
        if self.skips {
            self.buffer.clear();
            self.seen = 0;
            return Ok(None);
        }
        self.seen = self.buffer.len();
        // A last `\r` may turn out to be half of the end.
        let certain = self.seen - usize::from(self.buffer.last() == Some(&b'\r'));
        if certain > self.bound {
            self.skips = true;
            self.buffer.clear();
            self.seen = 0;
            return Err(LineError::TooLong(self.bound));
        }
        Ok(None)
    }

    /// Takes what came after the last end of a line, once nothing more will come.
    #[must_use]
    pub fn take_rest(&mut self) -> Option<Bytes> {
        self.seen = 0;
        let rest = self.buffer.split().freeze();
        (!rest.is_empty() && !std::mem::take(&mut self.skips)).then_some(rest)
    }
}
