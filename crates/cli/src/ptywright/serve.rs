//! `ptywright serve`.

use std::path::PathBuf;

use clap::Args;

use crate::context::Context;
use crate::failure::{Exit, Failure, Result};
use crate::host::{self, Transport};
use crate::verbs::serve::Framing;

/// Serves the JSON-RPC protocol, on standard input and output or at a socket.
#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Speaks on standard input and output.
    #[arg(long)]
    stdio: bool,
    /// Listens at this path; without it and --stdio, at `$PTYWRIGHT_HOME/socket`.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// How messages are framed: a line each, or behind Content-Length.
    #[arg(long, value_enum, default_value_t = Framing::Ndjson)]
    framing: Framing,
    /// Loads a plugin from its manifest.
    #[arg(long = "plugin", value_name = "MANIFEST.TOML")]
    plugins: Vec<PathBuf>,
    /// Lets clients load and unload plugins.
    #[arg(long)]
    allow_plugin_load: bool,
}

impl Serve {
    pub(super) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let announce = !self.stdio && self.socket.is_none();
        let transport = match (self.stdio, self.socket) {
            (true, Some(_)) => {
                return Err(Failure::usage("--stdio and --socket are mutually exclusive"));
            }
            (true, None) => Transport::Stdio,
            (false, Some(path)) => Transport::Socket(path),
            (false, None) => Transport::Socket(context.host.ptywright_home()?.join("socket")),
        };
        let (plugins, allow_plugin_load) = (self.plugins, self.allow_plugin_load);
        let framing = self.framing.into();
        let serve = host::Serve { transport, framing, plugins, allow_plugin_load, announce };
        Ok(Exit(context.host.serve(&serve)?))
    }
}
