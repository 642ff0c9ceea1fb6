//! How messages are cut out of a stream: a line each, or behind `Content-Length`.

use bytes::{Bytes, BytesMut};
use greenroom_frame::headers::{HeaderDecoder, HeaderError};
use greenroom_frame::lines::{LineDecoder, LineError};

/// The longest message a client may send: a prompt of megabytes fits.
pub const MAX_MESSAGE: usize = 16 << 20;

/// How messages are framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Framing {
    /// One compact JSON text a line.
    Lines,
    /// `Content-Length: N`, an empty line, the text.
    Headers,
    /// As the client's first byte says: a brace begins a line, a letter a header.
    #[default]
    Guess,
}

impl Framing {
    /// What follows a message.
    pub(crate) fn end(self) -> &'static str {
        match self {
            Framing::Headers => "",
            Framing::Lines | Framing::Guess => "\n",
        }
    }

    /// What comes before a message of so many bytes, with what follows it.
    pub(crate) fn begin(self, length: usize) -> String {
        match self {
            Framing::Headers => format!("Content-Length: {length}\r\n\r\n"),
            Framing::Lines | Framing::Guess => String::new(),
        }
    }

    /// Whether the length of a message comes before it, so that all of it must be there.
    pub(crate) fn tells_length(self) -> bool {
        self == Framing::Headers
    }
}

/// Cuts messages out of what a client sends.
#[derive(Debug)]
pub(crate) enum Decoder {
    Lines(LineDecoder),
    Headers(HeaderDecoder),
    /// Nothing has come that would tell.
    Unknown(BytesMut),
}

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Came {
    /// Nothing whole yet.
    Nothing,
    /// A message.
    Message(Bytes),
    /// One that cannot be taken; the next can.
    Refused(LineError),
    /// Nothing that follows would make sense.
    Broken(HeaderError),
}

impl Decoder {
    pub(crate) fn new(framing: Framing) -> Decoder {
        match framing {
            Framing::Lines => Decoder::Lines(LineDecoder::new(MAX_MESSAGE)),
            Framing::Headers => Decoder::Headers(HeaderDecoder::new(MAX_MESSAGE)),
            Framing::Guess => Decoder::Unknown(BytesMut::new()),
        }
    }

    /// Where what is read goes.
    pub(crate) fn buffer(&mut self) -> &mut BytesMut {
        match self {
            Decoder::Lines(lines) => lines.buffer(),
            Decoder::Headers(headers) => headers.buffer(),
            Decoder::Unknown(buffer) => buffer,
        }
    }

    pub(crate) fn next(&mut self) -> Came {
        if let Decoder::Unknown(buffer) = self {
            let Some(first) = buffer.iter().find(|byte| !byte.is_ascii_whitespace()) else {
                buffer.clear();
                return Came::Nothing;
            };
            let framing =
                if first.is_ascii_alphabetic() { Framing::Headers } else { Framing::Lines };
            let read = std::mem::take(buffer);
            *self = Decoder::new(framing);
            *self.buffer() = read;
        }
        match self {
            Decoder::Lines(lines) => match lines.next() {
                Ok(Some(line)) => Came::Message(line),
                Ok(None) => Came::Nothing,
                Err(error) => Came::Refused(error),
            },
            Decoder::Headers(headers) => match headers.next() {
                Ok(Some(body)) => Came::Message(body),
                Ok(None) => Came::Nothing,
                Err(error) => Came::Broken(error),
            },
            Decoder::Unknown(_) => Came::Nothing,
        }
    }

    /// What was left without an end: the last line of a file need not have one.
    pub(crate) fn rest(&mut self) -> Option<Bytes> {
        match self {
            Decoder::Lines(lines) => lines.take_rest(),
            Decoder::Headers(_) | Decoder::Unknown(_) => None,
        }
    }

    /// Whether a message was begun and not ended.
    pub(crate) fn is_inside(&self) -> bool {
        match self {
            Decoder::Headers(headers) => headers.is_inside(),
            Decoder::Lines(_) | Decoder::Unknown(_) => false,
        }
    }

    /// Whether answers are framed by headers.
    pub(crate) fn has_headers(&self) -> bool {
        matches!(self, Decoder::Headers(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(decoder: &mut Decoder, bytes: &[u8]) -> Vec<Came> {
        let mut came = Vec::new();
        for byte in bytes {
            decoder.buffer().extend_from_slice(&[*byte]);
            while let next @ (Came::Message(_) | Came::Refused(_)) = decoder.next() {
                came.push(next);
            }
        }
        came
    }

    #[test]
    fn the_first_byte_tells() {
        let one = || Came::Message(Bytes::from_static(b"{}"));
        let mut lines = Decoder::new(Framing::Guess);
        assert_eq!(all(&mut lines, b" \n{}\n{}\r\n"), [one(), one()]);
        assert!(!lines.has_headers());
        let mut headers = Decoder::new(Framing::Guess);
        assert_eq!(all(&mut headers, b"content-length: 2\r\n\r\n{}"), [one()]);
        assert!(headers.has_headers());
    }

    #[test]
    fn a_gigabyte_is_refused_before_it_comes() {
        let mut decoder = Decoder::new(Framing::Headers);
        decoder.buffer().extend_from_slice(b"Content-Length: 1000000000\r\n\r\n");
        assert!(matches!(decoder.next(), Came::Broken(HeaderError::TooLong { .. })));
    }
}
