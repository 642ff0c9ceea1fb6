//! `completions`: what a shell needs to complete verbs and flags.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use serde_json::json;

use crate::args::Arguments;
use crate::context::Context;
use crate::failure::{Exit, Result};

/// Prints what a shell needs to complete verbs and flags.
///
/// For bash: greenroom completions bash > ~/.local/share/bash-completion/completions/greenroom
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "greenroom", &mut script);
        match context.output.is_json() {
            true => context.output.value(&json!({"script": String::from_utf8_lossy(&script)}))?,
            false => context.output.bytes(&script)?,
        }
        Ok(Exit::OK)
    }
}
