//! `run`: a program in a session, with its standard streams here.

use clap::Args;
use greenroom_client::Session;
use greenroom_model::Size;

use super::new::{Limits, Wanted};
use crate::attached::{self, Bridge, Typing};
use crate::context::{self, Context};
use crate::failure::{Exit, Result};
use crate::{environment, name, terminal};

/// Runs a program in a session of its own, with its input and output here.
///
/// What it prints comes out as it is; what is read from standard input is typed. Signals are passed on,
/// and its exit code is this one's (128 and the signal, if one ended it). It survives the daemon,
/// and can be watched meanwhile. With --json, output is a JSON object a line, its bytes in base64.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The session's name, which no other that runs may have.
    #[arg(short, long)]
    name: Option<String>,
    /// The folder it runs in; without it, this one.
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<std::path::PathBuf>,
    /// A variable of its environment.
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = environment::pair)]
    variables: Vec<(String, String)>,
    /// The size of its terminal; without it, that of this one.
    #[arg(long, value_name = "COLSxROWS", value_parser = context::size)]
    size: Option<Size>,
    #[command(flatten)]
    limits: Limits,
    /// Keeps the session when the program ended, to be read.
    #[arg(long)]
    keep: bool,
    /// The program and its arguments.
    #[arg(last = true, value_name = "COMMAND", required = true)]
    command: Vec<String>,
}

impl Run {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        self.name.as_deref().map_or(Ok(()), name::check)?;
        let size = match self.size.or_else(terminal::size) {
            Some(size) => size,
            None => context.settings()?.size,
        };
        let wanted = Wanted {
            name: self.name,
            unique: true,
            cwd: self.cwd,
            variables: self.variables,
            size: Some(size),
            command: self.command,
            limits: self.limits,
            expect: true,
        };
        in_session(context, &wanted, Bridge { keep: self.keep, size, typing: Typing::Keys })
    }
}

/// Makes a session, bridges it to the standard streams, and gives its exit code.
pub(crate) fn in_session(context: &Context<'_>, wanted: &Wanted, how: Bridge) -> Result<Exit> {
    let mut connection = context.connect()?;
    let value = wanted.create(context, &mut connection)?;
    attached::bridge(context, connection, &Session::from_wire(&value), how)
}
