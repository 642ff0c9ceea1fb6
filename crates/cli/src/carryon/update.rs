//! `carryon update`: a newer version of the program, which nothing here fetches.

use clap::Args;

use crate::context::Context;
use crate::failure::{Exit, Result};

/// Says how a newer version is had.
///
/// The program fetches nothing by itself. Sessions live on while it is replaced.
#[derive(Debug, Args)]
pub(super) struct Update {
    /// Only looks whether there is one.
    #[arg(long)]
    check: bool,
}

impl Update {
    pub(super) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let version = concat!("This is greenroom ", env!("CARGO_PKG_VERSION"));
        context.output.line(&match self.check {
            true => format!("{version}; it does not look for others"),
            false => format!("{version}; install another one the way this one was installed"),
        })?;
        Ok(Exit::OK)
    }
}
