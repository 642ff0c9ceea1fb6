//! What crosses between a holder and the daemon: messages, and nothing that sends them.
//!
//! A message is `[number u8][length u32][payload]`, big endian. Numbers are fixed and never used
//! again; a reader skips numbers it does not know by their length, and fields it does not know at
//! the end of a payload it does. So a new daemon reads old holders, and the other way round.
//!
//! The holder speaks first: [`FromHolder::Hello`] carries [`VERSION`], and with its first byte the
//! terminal's descriptor travels beside the stream. Not here: sockets, descriptors, processes.

mod decode;
mod description;
mod fields;
mod from_holder;
mod spawn;
mod to_holder;

pub use decode::{Decoder, ProtoError};
pub use description::Description;
pub use from_holder::{FromHolder, Hello, Stage};
pub use spawn::Spawn;
pub use to_holder::ToHolder;

/// The version of what a holder says. It grows when a message's meaning changes, which is to be
/// avoided: a new message or a new field at the end needs no new version.
pub const VERSION: u16 = 1;

/// The largest payload: a checkpoint of the largest screen with its history fits well.
pub const MAX_PAYLOAD: usize = 64 << 20;

/// How many bytes of output one message carries at most. Small enough that a keystroke's echo
/// never waits behind much, large enough that headers cost nothing.
pub const MAX_OUTPUT: usize = 64 << 10;

/// How long number and length are.
pub const HEADER: usize = 5;
