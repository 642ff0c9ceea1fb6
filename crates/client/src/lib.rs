//! Connects to the daemon, calls its methods, attaches and reconnects.
//!
//! Blocking, without a runtime: a command asks one thing and waits; an attached terminal has its
//! own poll loop and drives a [`Connection`] from it. The contract is docs/protocol/native.md.
//!
//! - [`Endpoint`] finds the daemon's socket, checks whose it is, starts a daemon if there is none;
//! - [`Reach`] is the way to a daemon: an endpoint here, or a [`Tunnel`] to another [`Machine`] over
//!   the system's `ssh`, which makes the far socket an endpoint here;
//! - [`Connection`] has the handshake, calls with deadlines, and events as they come;
//! - [`Stream`] is one attached session: it knows the offset reached, so that a lost connection
//!   goes on where it broke;
//! - [`Tap`] is the session's terminal, lent to who is attached, so that a key needs no daemon;
//! - [`Session`] is a session as the daemon lists it.
//!
//! Not here: the terminal of a person (`cli`), how a daemon is started (`greenroom`), which machines
//! are saved (`cli`), and any other transport than a local socket, for which [`Transport`] is the seam.

mod connection;
mod endpoint;
mod error;
mod event;
mod far;
mod line;
mod machine;
mod reach;
mod session;
mod ssh;
mod stream;
mod tap;
mod transport;
mod tunnel;
mod wait;

pub use connection::{CALL_TIMEOUT, Connection, Hello, Identity, PROTOCOL, Received, STOPPING};
pub use endpoint::Endpoint;
pub use error::{Error, ErrorKind, Refusal};
pub use event::{Ended, Event};
pub use far::Far;
pub use greenroom_frame::binary::stream::RedrawReason;
pub use greenroom_pty::{close_inherited, take_short_turns};
pub use machine::{BadMachine, Machine};
pub use reach::Reach;
pub use session::{Session, State};
pub use ssh::Said;
pub use stream::{AttachOptions, Behalf, Lag, Stream};
pub use tap::{Borrowed, Tap};
pub use transport::Transport;
pub use tunnel::{LINGER, PATIENCE, Tunnel};
