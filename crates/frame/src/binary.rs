//! Typed binary frames: `[type u8][idLen u32][id][payloadLen u32][payload]`, big endian.
//!
//! The contract is in docs/protocol/native.md. [`FrameDecoder`] reads them, [`encode_into`] and
//! [`header`] write them; [`stream`] has what the payloads of an attached stream begin with.
//! Not here: what a frame of some type means, and skipping unknown types, which is the reader's.

mod decode;
mod encode;
pub mod stream;
#[cfg(test)]
mod tests;

use bytes::Bytes;

pub use decode::FrameDecoder;
pub use encode::{encode, encode_into, header};

/// The longest id, in bytes. carryOn's bound: no id is near it, and a header stays small.
pub const MAX_ID: usize = 4096;

/// The longest payload, in bytes. carryOn's bound: the largest screen with all its history fits.
pub const MAX_PAYLOAD: usize = 64 << 20;

/// The types of frames, by their numbers on the wire.
pub mod kind {
    /// Input to a session, or its output to a client that attached without `stream`.
    pub const TERMINAL_DATA: u8 = 0x01;
    /// The size a client wants: `{"cols":80,"rows":24}`.
    pub const RESIZE: u8 = 0x02;
    /// From the client: detach. From the daemon: the stream has ended.
    pub const STREAM_CLOSE: u8 = 0x03;
    /// Somebody else sized last: the daemon asks the client for its size.
    pub const RESIZE_REQUEST: u8 = 0x04;
    /// What a terminal is to be fed, with the offset behind it.
    pub const OUTPUT: u8 = 0x10;
    /// Bytes that bring any terminal to the screen at an offset.
    pub const REDRAW: u8 = 0x11;
    /// How the session ended, as JSON: the last frame of a stream.
    pub const ENDED: u8 = 0x12;
    /// Input, attributed to the stream.
    pub const INPUT: u8 = 0x13;
    /// What a client typed into the terminal by itself, with the offset at which it did.
    pub const TYPED: u8 = 0x14;
    /// How much of what a client typed the terminal took; without a payload: nobody knows.
    pub const TAKEN: u8 = 0x15;
    /// JSON-RPC 2.0 in UTF-8; the id is empty.
    pub const JSON_RPC: u8 = 0xff;
}

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// What it is: one of [`kind`], or a number this version does not know.
    pub kind: u8,
    /// The session or stream it is about.
    pub id: String,
    /// What it carries: a part of the buffer it was read into.
    pub payload: Bytes,
}

/// Why bytes are not a frame, or a frame cannot be bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The id is longer than [`MAX_ID`].
    #[error("the id of a frame has {0} bytes, more than {MAX_ID}")]
    IdTooLong(usize),
    /// The payload is longer than [`MAX_PAYLOAD`].
    #[error("the payload of a frame has {0} bytes, more than {MAX_PAYLOAD}")]
    PayloadTooLong(usize),
    /// The id is not UTF-8.
    #[error("the id of a frame is not UTF-8")]
    IdNotUtf8,
    /// The payload is too short for what its type says it begins with.
    #[error(
        "a frame of type {kind:#04x} has {length} bytes, fewer than the {needed} it begins with"
    )]
    Short {
        /// The frame's type.
        kind: u8,
        /// How long the payload is.
        length: usize,
        /// How long its beginning is.
        needed: usize,
    },
}
