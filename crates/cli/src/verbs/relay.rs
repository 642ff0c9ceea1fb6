//! `relay`: what the daemon starts for a client at a session's own socket.

use std::path::PathBuf;

use clap::Args;
use greenroom_client::{Endpoint, close_inherited};

use crate::context::Context;
use crate::failure::{Exit, Result};
use crate::relay::relay;

/// Carries a session to a client of carryOn's at standard input; the daemon starts it.
#[derive(Debug, Args)]
pub(crate) struct Relay {
    /// The session's id.
    session: String,
    /// The daemon's socket.
    socket: PathBuf,
}

impl Relay {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        // Whatever the daemon was started with: whoever waits for its end must not wait for ours.
        close_inherited();
        // Away from the terminal and the process group of the daemon, if it has any.
        let _session = rustix::process::setsid();
        relay(context, &Endpoint::new(self.socket), &self.session)?;
        Ok(Exit::OK)
    }
}
