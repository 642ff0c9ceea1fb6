//! `ptywright repl`.

use clap::Args;

use crate::context::Context;
use crate::failure::{Exit, Result};
use crate::verbs::repl;

/// Where what was typed is kept, below the home of ptywright.
const HISTORY: &str = "repl_history";

/// Opens a Lua console on a server: sessions, adapters, waits.
///
/// Without a socket or a command it starts a server of its own.
#[derive(Debug, Args)]
pub(super) struct Repl {
    #[command(flatten)]
    server: repl::Server,
}

impl Repl {
    pub(super) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let history = context.host.ptywright_home()?.join(HISTORY);
        self.server.open(context, history)
    }
}
