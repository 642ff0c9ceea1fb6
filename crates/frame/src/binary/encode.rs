//! From frames to bytes.

use super::{FrameError, MAX_ID, MAX_PAYLOAD};

/// The bytes of a whole frame.
///
/// # Errors
/// An id or a payload past its bound.
pub fn encode(kind: u8, id: &str, payload: &[u8]) -> Result<Vec<u8>, FrameError> {
    let mut bytes = Vec::with_capacity(9 + id.len() + payload.len());
    encode_into(&mut bytes, kind, id, payload)?;
    Ok(bytes)
}

/// Adds the bytes of a whole frame to those that wait to be written.
///
/// # Errors
/// An id or a payload past its bound; nothing is added then.
pub fn encode_into(
    bytes: &mut Vec<u8>,
    kind: u8,
    id: &str,
    payload: &[u8],
) -> Result<(), FrameError> {
    header_into(bytes, kind, id, payload.len())?;
    bytes.extend_from_slice(payload);
    Ok(())
}

/// What comes before the payload, for a vectored write that does not copy the payload.
///
/// # Errors
/// An id or a payload past its bound.
pub fn header(kind: u8, id: &str, payload_length: usize) -> Result<Vec<u8>, FrameError> {
    let mut bytes = Vec::with_capacity(9 + id.len());
    header_into(&mut bytes, kind, id, payload_length)?;
    Ok(bytes)
}

pub(super) fn header_into(
    bytes: &mut Vec<u8>,
    kind: u8,
    id: &str,
    payload_length: usize,
) -> Result<(), FrameError> {
    let id_field = field(id.len(), MAX_ID).ok_or(FrameError::IdTooLong(id.len()))?;
    let payload_field = field(payload_length, MAX_PAYLOAD);
    let payload_field = payload_field.ok_or(FrameError::PayloadTooLong(payload_length))?;
    bytes.push(kind);
    bytes.extend_from_slice(&id_field);
    bytes.extend_from_slice(id.as_bytes());
    bytes.extend_from_slice(&payload_field);
    Ok(())
}

/// A length as it is sent, if it is within its bound.
fn field(length: usize, bound: usize) -> Option<[u8; 4]> {
    if length > bound {
        return None;
    }
    u32::try_from(length).ok().map(u32::to_be_bytes)
}
