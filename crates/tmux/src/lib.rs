//! The user's own tmux: its sessions listed, made, changed, ended, and attached to.
//!
//! Everything is said to tmux by its command line, which is the same over many versions; nothing
//! is kept here between two calls, since other clients of the same server change it at any time.
//!
//! `tmux` has the verbs, `run` one command with its bounds, `listing` reads what tmux tells of its
//! sessions, `literal` how text passes tmux unchanged, `scrollback` what was printed, `attachment`
//! a client on a terminal of ours and `client` its process. Not here: doors, JSON, sessions of the
//! engine, the environment of this process (the caller gives one).
//!
//! Invariant: nothing but [`Tmux::create`] starts a server.
//!
//! Invariant: a session is looked up by its whole name and addressed by tmux's own number for it,
//! never by a name, which tmux completes and takes for a pattern.

mod attachment;
mod client;
mod error;
mod listing;
mod literal;
mod run;
mod scrollback;
mod tmux;

pub use attachment::Attachment;
pub use error::Error;
pub use listing::Session;
pub use tmux::{New, Server, Tmux};
