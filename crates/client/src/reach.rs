//! How the daemon is reached: at a socket of this machine, or over a line to another.

use std::os::unix::net::UnixStream;
use std::sync::Arc;

use crate::connection::{Connection, Identity};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::tunnel::{PATIENCE, Tunnel};

/// The way to a daemon, which can be gone again and again.
#[derive(Debug, Clone)]
pub enum Reach {
    /// The daemon of this machine.
    Here(Endpoint),
    /// The daemon of another one.
    There(Tunnel),
}

impl Reach {
    /// Connects to a daemon that is running.
    ///
    /// # Errors
    /// There is none, or no way there.
    pub fn connect(&self, identity: &Identity) -> Result<Connection, Error> {
        match self {
            Reach::Here(endpoint) => endpoint.connect(identity),
            Reach::There(tunnel) => tunnel.connect(identity, false),
        }
    }

    /// Connects; if no daemon runs, starts one. `start` starts that of this machine; another one's
    /// is started by its own program.
    ///
    /// # Errors
    /// It does not start, or there is no way there.
    pub fn connect_or_start(
        &self,
        identity: &Identity,
        start: &mut dyn FnMut() -> Result<(), String>,
    ) -> Result<Connection, Error> {
        match self {
            Reach::Here(endpoint) => endpoint.connect_or_start(identity, start),
            Reach::There(tunnel) => tunnel.connect(identity, true),
        }
    }

    /// The same with a daemon that is only hailed, where that is possible: see [`Connection::hail`].
    ///
    /// # Errors
    /// It does not start, or there is no way there.
    pub fn hail_or_start(
        &self,
        identity: &Identity,
        start: &mut dyn FnMut() -> Result<(), String>,
    ) -> Result<Connection, Error> {
        match self {
            Reach::Here(endpoint) => endpoint.hail_or_start(identity, start),
            Reach::There(tunnel) => tunnel.connect(identity, true),
        }
    }

    /// What the person calls the other machine, if it is one.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        match self {
            Reach::Here(_) => None,
            Reach::There(tunnel) => Some(&tunnel.machine().name),
        }
    }

    /// The same way, for a time when nobody can be asked anything; it is given up when the other end
    /// of `stop` is closed.
    #[must_use]
    pub fn unasked(&self, stop: Arc<UnixStream>) -> Reach {
        match self {
            Reach::Here(endpoint) => Reach::Here(endpoint.clone()),
            Reach::There(tunnel) => Reach::There(tunnel.clone().quiet(PATIENCE).until(stop)),
        }
    }
}
