//! `serve`: the ptywright protocol, with sessions of its own.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::context::Context;
use crate::failure::{Exit, Result};
use crate::host;

/// Serves the ptywright protocol to scripts and agents, with sessions of its own.
///
/// On standard input and output, or at a socket. Its sessions are private, and end with it. The
/// daemon serves the same protocol at run/ptywright.sock, for all sessions.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Speaks on standard input and output.
    #[arg(long, conflicts_with = "socket")]
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

/// How messages are framed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Framing {
    /// A line each.
    Ndjson,
    /// Behind Content-Length.
    Lsp,
}

impl From<Framing> for host::Framing {
    fn from(framing: Framing) -> host::Framing {
        match framing {
            Framing::Ndjson => host::Framing::Lines,
            Framing::Lsp => host::Framing::Headers,
        }
    }
}

impl Serve {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let announce = !self.stdio && self.socket.is_none() && !context.output.is_json();
        let transport = match (self.stdio, self.socket) {
            (true, _) => host::Transport::Stdio,
            (false, Some(path)) => host::Transport::Socket(path),
            (false, None) => host::Transport::Socket(context.host.ptywright_home()?.join("socket")),
        };
        let (plugins, allow_plugin_load) = (self.plugins, self.allow_plugin_load);
        let framing = self.framing.into();
        let serve = host::Serve { transport, framing, plugins, allow_plugin_load, announce };
        Ok(Exit(context.host.serve(&serve)?))
    }
}
