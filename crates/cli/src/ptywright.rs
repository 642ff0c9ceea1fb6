//! The command line of ptywright: what the program does when it is started under that name.
//!
//! Its verbs, their flags, what they print and the codes they end with are a contract with scripts
//! that start `ptywright`; what they do is done by our own verbs. One file a verb.
//!
//! **Invariant:** an error is one line, `ptywright: ` and a text without secrets.

mod completions;
mod logs;
mod repl;
mod run;
mod serve;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, Subcommand};

use crate::context::Context;
use crate::failure::{Exit, Failure, FailureKind, Result};
use crate::host::Host;
use crate::output::Output;

/// The name it is started under.
pub(crate) const NAME: &str = "ptywright";

/// Drives terminal programs for scripts and agents.
#[derive(Debug, Parser)]
#[command(name = NAME, version, subcommand_required = false)]
struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Run(run::Run),
    Serve(serve::Serve),
    Repl(repl::Repl),
    Logs(logs::Logs),
    Completions(completions::Completions),
}

/// Runs the command line and gives the code to exit with.
pub(crate) fn main(host: &dyn Host, mut args: Vec<OsString>) -> ExitCode {
    // However the link is reached, help names the program.
    if let Some(first) = args.first_mut() {
        *first = NAME.into();
    }
    let no_colour = host.variable("NO_COLOR").is_some_and(|it| !it.is_empty());
    let output = Output::new(false, no_colour);
    let context = Context::new(host, &output);
    let code = match Arguments::try_parse_from(args) {
        Ok(Arguments { verb: None }) => help(&output),
        Ok(Arguments { verb: Some(verb) }) => verb.run(&context),
        Err(error) => return ExitCode::from(misread(host, &output, &error).0),
    };
    ExitCode::from(code.unwrap_or_else(|failure| report(host, &failure)).0)
}

impl Verb {
    fn run(self, context: &Context<'_>) -> Result<Exit> {
        match self {
            Verb::Run(verb) => verb.run(context),
            Verb::Serve(verb) => verb.run(context),
            Verb::Repl(verb) => verb.run(context),
            Verb::Logs(verb) => verb.run(context),
            Verb::Completions(verb) => verb.run(context),
        }
    }
}

fn help(output: &Output) -> Result<Exit> {
    output.line(&Arguments::command().render_help().to_string())?;
    Ok(Exit::OK)
}

/// Says what went wrong, and gives the code for it: one for everything.
fn report(host: &dyn Host, failure: &Failure) -> Exit {
    if failure.kind() == FailureKind::Quiet {
        return Exit::OK;
    }
    complain(&format!("{NAME}: {}\n", host.redact(&failure.message())));
    Exit::FAILED
}

/// Shows the help that was asked for, or what is wrong with the arguments.
fn misread(host: &dyn Host, output: &Output, error: &clap::Error) -> Exit {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output.help(error).map_or_else(|error| report(host, &error.into()), |()| Exit::OK)
        }
        _ => {
            let text = error.render().to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            complain(&format!("{NAME}: {}", host.redact(text)));
            FailureKind::Usage.exit()
        }
    }
}

fn complain(text: &str) {
    // Nobody can be told that nobody can be told.
    std::io::stderr().write_all(text.as_bytes()).unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_verbs_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_verb_has_help_of_its_own() {
        for verb in Arguments::command().get_subcommands() {
            assert!(verb.get_about().is_some(), "`{}` says nothing of itself", verb.get_name());
        }
    }
}
