//! `repl`: a Lua console on a server of the ptywright protocol.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use greenroom_repl as console;

use super::serve::Framing;
use crate::context::Context;
use crate::failure::{Exit, Failure, FailureKind, Result};
use crate::{host, terminal};

/// Where what was typed is kept, below the state folder.
const HISTORY: &str = "repl_history";

/// Opens a Lua console: begins sessions, types, waits, looks.
///
/// Without a socket or a command it starts a private server, whose sessions end with it. The daemon's
/// sessions are at run/ptywright.sock. What is not typed by a person is run as a script, up to the
/// first error.
#[derive(Debug, Args)]
pub(crate) struct Repl {
    #[command(flatten)]
    server: Server,
}

/// Where the server of a console is.
#[derive(Debug, Args)]
pub(crate) struct Server {
    /// Connects to the server at this socket.
    #[arg(long, value_name = "PATH", conflicts_with = "stdio")]
    socket: Option<PathBuf>,
    /// Starts the command behind `--` as the server, and speaks on its standard streams.
    #[arg(long, requires = "command")]
    stdio: bool,
    /// How messages are framed: a line each, or behind Content-Length.
    #[arg(long, value_enum, default_value_t = Framing::Ndjson)]
    framing: Framing,
    /// The server's command.
    #[arg(last = true, value_name = "COMMAND", requires = "stdio")]
    command: Vec<OsString>,
}

impl Repl {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let history = context.paths()?.state.join(HISTORY);
        self.server.open(context, history)
    }
}

impl Server {
    /// Opens a console on it.
    pub(crate) fn open(self, context: &Context<'_>, history: PathBuf) -> Result<Exit> {
        let framing = match host::Framing::from(self.framing) {
            host::Framing::Lines => console::Framing::Lines,
            host::Framing::Headers => console::Framing::Headers,
        };
        let mut command = self.command.into_iter();
        let server = match (self.socket, command.next()) {
            (Some(path), _) => console::Server::Socket(path),
            (None, Some(file)) => console::Server::Program {
                file: file.into(),
                name: None,
                arguments: command.collect(),
            },
            (None, None) => private(context, self.framing)?,
        };
        let is_interactive = terminal::is_there();
        let history = Some(history);
        let options = console::Options { server, framing, history, is_interactive };
        console::run(&options).map_err(|error| {
            Failure::new(FailureKind::System, format!("{:#}", anyhow::Error::from(error)))
        })?;
        Ok(Exit::OK)
    }
}

/// A server of this very program, for this console alone.
fn private(context: &Context<'_>, framing: Framing) -> Result<console::Server> {
    let framing = match framing {
        Framing::Ndjson => "ndjson",
        Framing::Lsp => "lsp",
    };
    let arguments = ["serve", "--stdio", "--framing", framing].map(OsString::from).to_vec();
    let file = context.host.program()?;
    // Under its own name, whatever link we were started through.
    Ok(console::Server::Program { file, name: Some("greenroom".into()), arguments })
}
