//! `ptywright run`.

use clap::Args;
use greenroom_model::Size;

use crate::attached::{Bridge, Typing};
use crate::context::Context;
use crate::failure::{Exit, Failure, Result};
use crate::terminal;
use crate::verbs::new::Wanted;
use crate::verbs::run::in_session;

/// The size of a terminal nobody looks at, as the contract has it.
const ROWS: u16 = 24;
const COLS: u16 = 80;

/// Runs a program on a terminal of its own, with its input and output here.
///
/// Its exit code is this one's.
#[derive(Debug, Args)]
pub(super) struct Run {
    /// The rows of its terminal; without them those of this one, or 24.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    rows: Option<u16>,
    /// The columns of its terminal; without them those of this one, or 80.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    cols: Option<u16>,
    /// The program and its arguments.
    #[arg(last = true, value_name = "COMMAND", required = true)]
    command: Vec<String>,
}

impl Run {
    pub(super) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let seen = terminal::size().filter(|_| terminal::is_there());
        let cols = self.cols.or(seen.map(Size::cols)).unwrap_or(COLS);
        let rows = self.rows.or(seen.map(Size::rows)).unwrap_or(ROWS);
        let size = Size::new(cols, rows)
            .ok_or_else(|| Failure::usage(format!("a terminal of {cols}x{rows} is too large")))?;
        let wanted =
            Wanted { size: Some(size), command: self.command, expect: true, ..Wanted::default() };
        let how = Bridge { keep: false, size, typing: Typing::KeysIfShown };
        in_session(context, &wanted, how)
    }
}
