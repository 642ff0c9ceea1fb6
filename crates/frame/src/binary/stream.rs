//! What the payloads of an attached stream begin with: offsets, and why there is a redraw.
//!
//! [`output_head`] and [`redraw_head`] are for the daemon: all of a frame before the terminal's
//! bytes, so that those are shared and not copied. [`Output`] and [`Redraw`] are for the client.

use bytes::{Buf, Bytes};

use super::encode::header_into;
use super::{FrameError, kind};

/// How long an offset is.
const OFFSET: usize = 8;

/// How long the beginning of a redraw is: the offset and the reason.
const REDRAW: usize = OFFSET + 1;

/// What a terminal is to be fed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The offset of the byte that follows these: where to go on after a lost connection.
    pub end: u64,
    /// The bytes.
    pub bytes: Bytes,
}

/// Bytes that bring any terminal to a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redraw {
    /// The offset the screen stands at, and of the next byte.
    pub offset: u64,
    /// Why it was sent.
    pub reason: RedrawReason,
    /// The bytes.
    pub bytes: Bytes,
}

/// What a client typed into a session's terminal by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// Up to where the client had seen the session's output.
    pub at: u64,
    /// The bytes.
    pub bytes: Bytes,
}

/// Why a redraw was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedrawReason {
    /// The stream begins.
    Attached,
    /// The client was too slow, and bytes were left out.
    Lagged,
    /// The session was resized.
    Resized,
    /// The terminal is not of the session's size: a picture of a part, and more will follow.
    Fitted,
    /// A reason of a later version.
    Other(u8),
}

impl RedrawReason {
    /// The number on the wire.
    #[must_use]
    pub fn to_wire(self) -> u8 {
        match self {
            RedrawReason::Attached => 0,
            RedrawReason::Lagged => 1,
            RedrawReason::Resized => 2,
            RedrawReason::Fitted => 3,
            RedrawReason::Other(number) => number,
        }
    }

    /// The reason with this number.
    #[must_use]
    pub fn from_wire(number: u8) -> RedrawReason {
        match number {
            0 => RedrawReason::Attached,
            1 => RedrawReason::Lagged,
            2 => RedrawReason::Resized,
            3 => RedrawReason::Fitted,
            other => RedrawReason::Other(other),
        }
    }
}

impl Output {
    /// Reads the payload of a frame of the type [`kind::OUTPUT`].
    ///
    /// # Errors
    /// A payload without room for the offset.
    pub fn from_payload(mut payload: Bytes) -> Result<Output, FrameError> {
        check_length(kind::OUTPUT, &payload, OFFSET)?;
        let end = payload.get_u64();
        Ok(Output { end, bytes: payload })
    }
}

impl Typed {
    /// Reads the payload of a frame of the type [`kind::TYPED`].
    ///
    /// # Errors
    /// A payload without room for the offset.
    pub fn from_payload(mut payload: Bytes) -> Result<Typed, FrameError> {
        check_length(kind::TYPED, &payload, OFFSET)?;
        let at = payload.get_u64();
        Ok(Typed { at, bytes: payload })
    }

    /// The payload of such a frame.
    #[must_use]
    pub fn to_payload(at: u64, bytes: &[u8]) -> Vec<u8> {
        [&at.to_be_bytes(), bytes].concat()
    }
}

impl Redraw {
    /// Reads the payload of a frame of the type [`kind::REDRAW`].
    ///
    /// # Errors
    /// A payload without room for offset and reason.
    pub fn from_payload(mut payload: Bytes) -> Result<Redraw, FrameError> {
        check_length(kind::REDRAW, &payload, REDRAW)?;
        let offset = payload.get_u64();
        let reason = RedrawReason::from_wire(payload.get_u8());
        Ok(Redraw { offset, reason, bytes: payload })
    }
}

/// Reads the payload of a frame of the type [`kind::TAKEN`].
///
/// # Errors
/// A payload that is there and has no room for the count.
pub fn taken_from_payload(mut payload: Bytes) -> Result<Option<u64>, FrameError> {
    if payload.is_empty() {
        return Ok(None);
    }
    check_length(kind::TAKEN, &payload, OFFSET)?;
    Ok(Some(payload.get_u64()))
}

/// The payload of such a frame.
#[must_use]
pub fn taken_to_payload(taken: Option<u64>) -> Vec<u8> {
    taken.map_or_else(Vec::new, |taken| taken.to_be_bytes().to_vec())
}

fn check_length(kind: u8, payload: &Bytes, needed: usize) -> Result<(), FrameError> {
    match payload.len() {
        length if length < needed => Err(FrameError::Short { kind, length, needed }),
        _ => Ok(()),
    }
}

/// All of an output frame before the terminal's bytes, of which there are `length`.
///
/// # Errors
/// An id or a payload past its bound.
pub fn output_head(stream: &str, end: u64, length: usize) -> Result<Vec<u8>, FrameError> {
    head(kind::OUTPUT, stream, &end.to_be_bytes(), length)
}

/// All of a redraw frame before the terminal's bytes, of which there are `length`.
///
/// # Errors
/// An id or a payload past its bound.
pub fn redraw_head(
    stream: &str,
    offset: u64,
    reason: RedrawReason,
    length: usize,
) -> Result<Vec<u8>, FrameError> {
    let mut beginning = [0; REDRAW];
    beginning[..OFFSET].copy_from_slice(&offset.to_be_bytes());
    beginning[OFFSET] = reason.to_wire();
    head(kind::REDRAW, stream, &beginning, length)
}

fn head(kind: u8, id: &str, beginning: &[u8], length: usize) -> Result<Vec<u8>, FrameError> {
    let mut bytes = Vec::with_capacity(9 + id.len() + beginning.len());
    header_into(&mut bytes, kind, id, beginning.len().saturating_add(length))?;
    bytes.extend_from_slice(beginning);
    Ok(bytes)
}
