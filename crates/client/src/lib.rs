//! Connects to the daemon, calls its methods, attaches and reconnects.
//!
//! Blocking, without a runtime: a command asks one thing and waits; an attached terminal has its
//! own poll loop and drives a [`Connection`] from it. The contract is docs/protocol/native.md.
//!
//! - [`Endpoint`] finds the daemon's socket, checks whose it is, starts a daemon if there is none;
//! - [`Connection`] has the handshake, calls with deadlines, and events as they come;
//! - [`Stream`] is one attached session: it knows the offset reached, so that a lost connection
//!   goes on where it broke;
//! - [`Session`] is a session as the daemon lists it.
//!
//! Not here: the terminal of a person (`cli`), how a daemon is started (`greenroom`), and any
//! other transport than a local socket, for which [`Transport`] is the seam.

mod connection;
mod endpoint;
mod error;
mod event;
mod session;
mod stream;
mod transport;
mod wait;

pub use connection::{CALL_TIMEOUT, Connection, Hello, Identity, PROTOCOL, Received};
pub use endpoint::Endpoint;
pub use error::{Error, ErrorKind, Refusal};
pub use event::{Ended, Event};
pub use greenroom_frame::binary::stream::RedrawReason;
pub use session::{Session, State};
pub use stream::{AttachOptions, Lag, Stream};
pub use transport::Transport;
