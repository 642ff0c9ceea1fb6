//! `ptywright completions`.

use clap::builder::PossibleValuesParser;
use clap::{Args, CommandFactory as _, ValueEnum as _};
use clap_complete::Shell;

use super::{Arguments, NAME};
use crate::context::Context;
use crate::failure::{Exit, Failure, Result};

/// Prints what a shell needs to complete verbs and flags.
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell: bash, zsh, fish, elvish or powershell.
    // Not an enumeration: the contract has a text of its own for one that is not known.
    #[arg(value_name = "SHELL")]
    shell: String,
}

impl Completions {
    pub(super) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let unknown = |_| Failure::usage(format!("unknown shell '{}'", self.shell));
        let shell = Shell::from_str(&self.shell, true).map_err(unknown)?;
        let mut script = Vec::new();
        let shells = Shell::value_variants().iter().filter_map(Shell::to_possible_value);
        let shells = PossibleValuesParser::from(shells.collect::<Vec<_>>());
        let mut command = Arguments::command().mut_subcommand("completions", |completions| {
            completions.mut_arg("shell", |shell| shell.value_parser(shells))
        });
        clap_complete::generate(shell, &mut command, NAME, &mut script);
        context.output.bytes(&script)?;
        Ok(Exit::OK)
    }
}
