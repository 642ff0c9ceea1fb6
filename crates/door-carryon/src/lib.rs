//! The carryOn protocol, which is also our native one: frames, methods, notifications.
//!
//! The contract is docs/protocol/native.md. `connection` reads frames and starts requests,
//! `methods` is the table of what can be asked, `streams` carries attached sessions, `notes` tells
//! everybody what happened, `wire` has the shapes. Everything a method does is one verb of the
//! engine; here it is only renamed, reshaped and framed.
//!
//! Not here: sockets and peers (`door`), what a session is (`engine`), the daemon's own affairs
//! (the [`Daemon`] the program supplies).

mod clients;
mod connection;
mod error;
mod methods;
mod notes;
mod params;
mod streams;
mod wire;

use std::sync::Arc;

use greenroom_engine::Engine;

pub use connection::serve;
pub use methods::names as method_names;

use crate::clients::Clients;

/// The version of the native protocol, for the handshake.
pub const PROTOCOL: u64 = 1;

/// What this door can do beyond carryOn, for the handshake.
pub const CAPABILITIES: &[&str] =
    &["offsets", "read", "send", "search", "wait", "ended", "observe", "cancel"];

/// A line of the daemon's log.
#[derive(Debug, Clone)]
pub struct LogEntry {
    /// When, in milliseconds since 1970.
    pub timestamp_ms: u64,
    /// `error`, `warn`, `info` or `debug`.
    pub level: &'static str,
    /// Who says it.
    pub component: String,
    /// What.
    pub message: String,
}

/// What the daemon says of itself.
#[derive(Debug, Clone)]
pub struct Status {
    /// How long it runs, in seconds.
    pub uptime: f64,
    /// The program's version.
    pub version: &'static str,
    /// The folder that holds everything.
    pub home: String,
    /// Where it listens.
    pub socket: String,
    /// What is wrong with the archive, if something is.
    pub storage_error: Option<String>,
}

/// The daemon's own affairs, which the program supplies.
pub trait Daemon: Send + Sync {
    /// What it says of itself.
    fn status(&self) -> Status;
    /// Ends the daemon; sessions live on.
    fn stop(&self);
    /// The last lines of its log, the newest last.
    fn logs(&self, last: usize, level: Option<&str>) -> Vec<LogEntry>;
    /// Reads its configuration again.
    ///
    /// # Errors
    /// What is wrong with the file; the old one stays in force.
    fn reload(&self) -> Result<(), String>;
}

/// The door: what all its connections share.
pub struct Door {
    engine: Engine,
    daemon: Arc<dyn Daemon>,
    clients: Clients,
}

impl Door {
    /// Makes a door.
    #[must_use]
    pub fn new(engine: Engine, daemon: Arc<dyn Daemon>) -> Door {
        Door { engine, daemon, clients: Clients::default() }
    }
}
