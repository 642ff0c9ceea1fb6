//! Framing without I/O: lines, Content-Length, typed binary frames and the JSON-RPC envelope.
//!
//! Every decoder is fed whatever bytes there are and asked for what is complete; "not yet" is an
//! ordinary value. Whoever owns the socket reads and writes: nothing here knows of one.
//!
//! - [`binary`]: `[type][id][payload]` frames, what our own client and daemon speak;
//! - [`lines`]: a message a line;
//! - [`headers`]: `Content-Length` and a body, as language servers do it;
//! - [`rpc`]: requests, responses and notifications, whatever frames carry them.
//!
//! **Invariant:** a length is checked against its bound as soon as it is known, before anything of
//! that length is kept. **Invariant:** any way of cutting the input gives the same messages.

pub mod binary;
pub mod headers;
pub mod lines;
pub mod rpc;
