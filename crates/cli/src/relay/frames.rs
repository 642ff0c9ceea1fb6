//! What crosses a session's own socket: carryOn's holder protocol.
//!
//! We speak first, without a frame: a handshake with the screen. Then both sides send
//! `[type u8][length u32][payload]`. Everything is big endian.

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use greenroom_client::{Ended, Session};
use greenroom_model::{ExitStatus, Size};

/// Types of frames.
pub(super) mod kind {
    /// Output to the client, input from it.
    pub(crate) const DATA: u8 = 0x00;
    /// The client's size.
    pub(crate) const RESIZE: u8 = 0x01;
    /// The session has ended.
    pub(crate) const EXIT: u8 = 0x02;
    /// The client asks how things stand.
    pub(crate) const STATUS: u8 = 0x03;
    /// How they stand.
    pub(crate) const STATUS_IS: u8 = 0x04;
    /// Somebody else sized last: the client is to say its size.
    pub(crate) const RESIZE_REQUEST: u8 = 0x05;
}

/// The longest payload either side sends. carryOn's own clients close at more.
pub(super) const MAX_PAYLOAD: usize = 8 << 20;

/// How long type and length are.
const HEAD: usize = 5;

/// What a session that was ended by a signal, or lost, has as exit code.
const NO_CODE: i32 = -1;

/// The other side announced a frame that is too long.
#[derive(Debug)]
pub(super) struct TooLong;

/// Takes frames out of a stream of bytes, however it is cut.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    pub(super) buffer: BytesMut,
}

impl Decoder {
    /// The next whole frame: its type and payload.
    pub(super) fn next(&mut self) -> Result<Option<(u8, Bytes)>, TooLong> {
        let Some(head) = self.buffer.first_chunk::<HEAD>() else { return Ok(None) };
        let [kind, length @ ..] = *head;
        let length = u32::from_be_bytes(length) as usize;
        if length > MAX_PAYLOAD {
            return Err(TooLong);
        }
        if self.buffer.len() < HEAD + length {
            return Ok(None);
        }
        let mut whole = self.buffer.split_to(HEAD + length).freeze();
        whole.advance(HEAD);
        Ok(Some((kind, whole)))
    }
}

/// What comes before a payload.
fn head(kind: u8, length: usize) -> Bytes {
    let mut bytes = BytesMut::with_capacity(HEAD);
    bytes.put_u8(kind);
    bytes.put_u32(u32::try_from(length).unwrap_or(u32::MAX));
    bytes.freeze()
}

/// Output as frames, none of which is too long.
pub(super) fn data(mut bytes: Bytes) -> Vec<Bytes> {
    let mut frames = Vec::with_capacity(2);
    while !bytes.is_empty() {
        let piece = bytes.split_to(bytes.len().min(MAX_PAYLOAD));
        frames.extend([head(kind::DATA, piece.len()), piece]);
    }
    frames
}

/// The request to say one's size.
pub(super) fn resize_request() -> Bytes {
    head(kind::RESIZE_REQUEST, 0)
}

/// The end of a session.
pub(super) fn exit(end: &Ended) -> [Bytes; 2] {
    let code = match end {
        Ended::Program(ExitStatus::Code(code)) => *code,
        Ended::Program(ExitStatus::Signal(_)) | Ended::Unknown(_) => NO_CODE,
    };
    [head(kind::EXIT, 4), Bytes::copy_from_slice(&code.to_be_bytes())]
}

/// What the greeting and the status say of a session.
#[derive(Debug, Clone)]
pub(super) struct About {
    pid: u32,
    holder_pid: u32,
    pub(super) size: Size,
    clients: u64,
    cwd: String,
    command: String,
}

impl About {
    pub(super) fn of(session: &Session) -> About {
        About {
            pid: session.pid.unwrap_or(0),
            // A server of tmux holds all of its sessions; whose process it is, nobody asks.
            holder_pid: session.holder_pid.unwrap_or(0),
            size: session.size,
            clients: session.viewers.max(session.clients),
            cwd: session.cwd.clone(),
            command: session.command.clone(),
        }
    }

    fn write(&self, bytes: &mut BytesMut) {
        bytes.put_u32(self.pid);
        bytes.put_u32(self.holder_pid);
        bytes.put_u16(self.size.cols());
        bytes.put_u16(self.size.rows());
    }
}

/// The answer to a status request.
pub(super) fn status(about: &About) -> [Bytes; 2] {
    let mut bytes = BytesMut::with_capacity(14);
    about.write(&mut bytes);
    bytes.put_u16(u16::try_from(about.clients).unwrap_or(u16::MAX));
    [head(kind::STATUS_IS, bytes.len()), bytes.freeze()]
}

/// A size a client said.
pub(super) fn size(payload: &[u8]) -> Option<Size> {
    let [cols_high, cols_low, rows_high, rows_low] = *payload.first_chunk::<4>()?;
    let cols = u16::from_be_bytes([cols_high, cols_low]);
    let rows = u16::from_be_bytes([rows_high, rows_low]);
    (cols > 0 && rows > 0).then(|| Size::clamped(cols, rows))
}

/// What a connection begins with; so many bytes of screen follow.
pub(super) fn handshake(about: &About, screen: usize) -> Bytes {
    let (cwd, command) = (fitting(&about.cwd), fitting(&about.command));
    let mut bytes = BytesMut::with_capacity(20 + cwd.len() + command.len());
    about.write(&mut bytes);
    bytes.put_u32(u32::try_from(screen).unwrap_or(u32::MAX));
    for text in [cwd, command] {
        bytes.put_u16(u16::try_from(text.len()).unwrap_or(u16::MAX));
        bytes.put_slice(text.as_bytes());
    }
    bytes.freeze()
}

/// As much of a text as its length field can say.
fn fitting(text: &str) -> &str {
    text.get(..text.floor_char_boundary(usize::from(u16::MAX))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_found_however_the_bytes_are_cut() {
        let whole = [&[0, 0, 0, 0, 2][..], b"ls", &[3, 0, 0, 0, 0]].concat();
        for cut in 0..=whole.len() {
            let (mut decoder, mut got) = (Decoder::default(), Vec::new());
            for part in [&whole[..cut], &whole[cut..]] {
                decoder.buffer.extend_from_slice(part);
                while let Some(frame) = decoder.next().unwrap() {
                    got.push(frame);
                }
            }
            assert_eq!(got, [(0, Bytes::from("ls")), (3, Bytes::new())], "cut at {cut}");
        }
    }

    #[test]
    fn a_length_past_the_bound_is_refused_before_its_body() {
        let mut decoder = Decoder::default();
        decoder.buffer.extend_from_slice(&[0, 0, 0x80, 0, 1]);
        assert!(decoder.next().is_err());
    }

    #[test]
    fn a_long_redraw_is_several_frames() {
        let frames = data(Bytes::from(vec![b'x'; MAX_PAYLOAD + 3]));
        assert_eq!(frames.len(), 4);
        assert_eq!(frames[2][..], [0, 0, 0, 0, 3]);
    }

    #[test]
    fn a_signal_is_no_exit_code() {
        let code = |end: &Ended| i32::from_be_bytes(exit(end)[1][..].try_into().unwrap());
        assert_eq!(code(&Ended::Program(ExitStatus::Code(7))), 7);
        assert_eq!(code(&Ended::Program(ExitStatus::Signal(9))), -1);
    }

    #[test]
    fn a_size_is_two_numbers_above_zero() {
        assert_eq!(size(&[0, 80, 0, 24]), Size::new(80, 24));
        assert_eq!(size(&[0, 0, 0, 24]), None);
        assert_eq!(size(&[0, 80]), None);
    }
}
