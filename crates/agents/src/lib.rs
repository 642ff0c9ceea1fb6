//! Structured agent processes: Claude Code on pipes, shared by any number of clients.
//!
//! [`Chats`] is who talks to whom: which conversations run, who may have another. A conversation is
//! one task (`session`) that owns its process (`process`), what was said last (`log`), and what is
//! still to be answered. [`Client`] is a place in it: texts in, texts out, whatever carries them.
//!
//! What clients send comes in many shapes; `turn`, `answer`, `control` and `suggestion` make of each
//! the one that Claude Code understands. `options` are its arguments, `settings` its files, `memory`
//! which conversations there were, `rehearsal` the made-up events for clients under test.
//!
//! Not here: sockets, who may connect, configuration, and terminals (`engine`).
//!
//! Invariant: a client that does not read costs a position in a bounded log, and nobody waits for it.
//!
//! Invariant: Claude Code sees only lines it understands; everything else is refused to its sender.

mod answer;
mod chats;
mod client;
mod control;
mod files;
mod frames;
mod log;
mod memory;
mod options;
mod process;
mod rehearsal;
mod request;
mod session;
mod settings;
mod suggestion;
mod turn;

pub use chats::{Chats, Config, Listed};
pub use client::{Client, MESSAGE_MAX};
pub use options::{Mode, Options};
pub use request::Request;

/// Whether a variable of the daemon's own environment is for agents: who pays, and how the network is
/// reached. Sessions get none of these.
#[must_use]
pub fn is_passed(name: &str) -> bool {
    /// The families of variables that Claude Code reads.
    const FAMILIES: &[&str] = &["ANTHROPIC_", "CLAUDE_CODE_", "AWS_", "CLOUD_ML_", "VERTEX_"];
    /// Single ones.
    const SINGLE: &[&str] = &[
        "CLAUDE_CONFIG_DIR",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "no_proxy",
        "NODE_EXTRA_CA_CERTS",
        "SSL_CERT_FILE",
        "DISABLE_AUTOUPDATER",
        "DISABLE_TELEMETRY",
    ];
    SINGLE.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family))
}
