//! The command line: one file a verb.
//!
//! [`main`] reads the arguments, runs a verb and turns what went wrong into a text, a hint and an
//! exit code. What only the whole program can do (where the folders are, the configuration, the
//! daemon in this very process) comes from a [`Host`], which `greenroom` supplies.
//!
//! - `args` the flags all verbs share, and the table of verbs; `verbs/` one file each;
//! - `context` what a verb is given; `select` which session is meant when none is named;
//! - `attached` the poll loops of a person's terminal and of `run`, on top of `link`, which
//!   reconnects; `input` what a person types; `terminal` the person's terminal;
//! - `relay` carries a session to a client of carryOn's, for the daemon;
//! - `follow` what the daemon noted, and what it will;
//! - `machines` the other machines whose daemons can be meant instead of this one's;
//! - `ptywright` and `carryon` the command lines of those programs, for who starts them;
//! - `name` what a person may call a session;
//! - `failure`, `output`, `table`, `plain` what is said and how.
//!
//! Not here: escape sequences of sessions (the daemon's screen), starting processes.

mod args;
mod attached;
mod carryon;
mod context;
mod environment;
mod failure;
mod follow;
mod host;
mod input;
mod link;
mod machines;
mod moment;
mod name;
mod output;
mod plain;
mod ptywright;
mod relay;
mod select;
mod table;
mod terminal;
mod verbs;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;

use args::Arguments;
use context::Context;
use failure::{Exit, Failure, FailureKind};
use machines::Chosen;
use output::Output;

pub use host::{
    Compat, DEFAULT_DETACH_KEY, Finding, Framing, Host, Paths, Serve, Settings, Transport,
};
pub use name::check_name;

/// Runs the command line and gives the code to exit with.
pub fn main(host: &dyn Host) -> ExitCode {
    let args = host.args();
    if started_as(&args, ptywright::NAME) {
        return ptywright::main(host, args);
    }
    if started_as(&args, carryon::NAME) {
        return carryon::main(host, args);
    }
    // Needed before the arguments are read: a complaint about them is an error as any other.
    let wants_json = asks_for_json(&args);
    let output =
        Output::new(wants_json, host.variable("NO_COLOR").is_some_and(|it| !it.is_empty()));
    let code = match Arguments::read(&args) {
        Ok(arguments) => {
            perform(arguments, host, &output).unwrap_or_else(|failure| report(&output, &failure))
        }
        Err(error) => misread(&output, &error),
    };
    ExitCode::from(code.0)
}

/// Does what was asked for, on the machine that is meant.
fn perform(arguments: Arguments, host: &dyn Host, output: &Output) -> failure::Result<Exit> {
    let chosen = Chosen::new(&arguments, host)?;
    let context = Context::about(host, output, chosen);
    match arguments.verb {
        Some(verb) => verb.run(&context),
        None => verbs::attach::default_session(&context),
    }
}

/// Whether the program was started under this name, wherever the link is.
fn started_as(args: &[OsString], name: &str) -> bool {
    args.first().and_then(|it| Path::new(it).file_name()).is_some_and(|it| it == name)
}

fn asks_for_json(args: &[OsString]) -> bool {
    let ours = args.iter().take_while(|it| *it != "--");
    ours.into_iter().any(|it| it == "--json")
}

/// Says what went wrong, and gives the code for it.
fn report(output: &Output, failure: &Failure) -> Exit {
    if failure.kind() == FailureKind::Quiet {
        return Exit::OK;
    }
    output.failure(failure);
    failure.exit()
}

/// Shows the help that was asked for, or what is wrong with the arguments.
fn misread(output: &Output, error: &clap::Error) -> Exit {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output.help(error).map_or_else(|error| report(output, &error.into()), |()| Exit::OK)
        }
        _ if output.is_json() => {
            let text = error.render().to_string();
            // What is wrong, and a list of what it is about; the usage comes behind an empty line.
            let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
            let said = lines.collect::<Vec<_>>().join(" ");
            let message = said.strip_prefix("error: ").unwrap_or(&said);
            let failure = Failure::usage(message).hint("`greenroom --help` lists verbs and flags");
            report(output, &failure)
        }
        _ => {
            error.print().unwrap_or_default();
            FailureKind::Usage.exit()
        }
    }
}
