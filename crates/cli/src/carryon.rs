//! The command line of carryOn: what the program does when it is started under that name.
//!
//! Its verbs, their flags, what they print and the codes they end with are a contract with people,
//! scripts and an editor's extension that start `carryon`; what they do is done by our own daemon,
//! which is made to serve carryOn's folder as well (`served`). One file a subject; which session is
//! meant is found in `chosen`, and a person is asked in `asked`.
//!
//! **Invariant:** who fails is told why in one line that begins with `Error: `, then how the verb is
//! used, and the code is 1.

mod asked;
mod attach;
mod chosen;
mod config;
mod create;
mod daemon;
mod kill;
mod list;
mod logs;
mod project;
mod remote;
mod rename;
mod served;
mod update;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ArgMatches, Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use greenroom_client::Identity;

use crate::context::Context;
use crate::failure::{Exit, Failure, FailureKind, Result};
use crate::host::Host;
use crate::output::Output;

/// The name it is started under.
pub(crate) const NAME: &str = "carryon";

/// Keeps terminal sessions alive, to be carried on from any terminal.
///
/// Without a verb it makes a session and attaches to it.
#[derive(Debug, Parser)]
#[command(name = NAME, version, subcommand_required = false, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(flatten)]
    session: create::Kind,
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Create(create::Create),
    List(list::List),
    Attach(attach::Attach),
    Kill(kill::Kill),
    Rename(rename::Rename),
    Start(daemon::Start),
    Stop(daemon::Stop),
    Status(daemon::Status),
    Config(config::Config),
    Logs(logs::Logs),
    Project(project::Project),
    Remote(remote::Remote),
    Update(update::Update),
}

/// Runs the command line and gives the code to exit with.
pub(crate) fn main(host: &dyn Host, mut args: Vec<OsString>) -> ExitCode {
    // However the link is reached, help names the program.
    if let Some(first) = args.first_mut() {
        *first = NAME.into();
    }
    let no_colour = host.variable("NO_COLOR").is_some_and(|it| !it.is_empty());
    let output = Output::new(false, no_colour);
    let greeting = served::greeting(host);
    let context = Context { identity: identity(host), greeting, ..Context::new(host, &output) };
    let mut command = Arguments::command();
    let read = command.try_get_matches_from_mut(args).and_then(|matches| {
        let arguments = Arguments::from_arg_matches(&matches)?;
        Ok((arguments, matches))
    });
    let code = match read {
        Ok((arguments, matches)) => arguments
            .run(&context)
            .unwrap_or_else(|failure| report(&failure, &usage(&mut command, &matches))),
        Err(error) => misread(&output, &error, &mut command),
    };
    ExitCode::from(code.0)
}

impl Arguments {
    fn run(self, context: &Context<'_>) -> Result<Exit> {
        match self.verb {
            None => create::Create::of(self.session).run(context),
            Some(Verb::Create(verb)) => verb.run(context),
            Some(Verb::List(verb)) => verb.run(context),
            Some(Verb::Attach(verb)) => verb.run(context),
            Some(Verb::Kill(verb)) => verb.run(context),
            Some(Verb::Rename(verb)) => verb.run(context),
            Some(Verb::Start(verb)) => verb.run(context),
            Some(Verb::Stop(verb)) => verb.run(context),
            Some(Verb::Status(verb)) => verb.run(context),
            Some(Verb::Config(verb)) => verb.run(context),
            Some(Verb::Logs(verb)) => verb.run(context),
            Some(Verb::Project(verb)) => verb.run(context),
            Some(Verb::Remote(verb)) => verb.run(context),
            Some(Verb::Update(verb)) => verb.run(context),
        }
    }
}

/// Who we tell the daemon we are: an editor says who it is when it starts us.
fn identity(host: &dyn Host) -> Identity {
    let said = |name: &str| {
        let text = host.variable(name).and_then(|it| it.into_string().ok());
        text.filter(|it| !it.is_empty())
    };
    let ours = crate::context::identity();
    Identity {
        kind: said("CARRYON_CLIENT_TYPE").unwrap_or(ours.kind),
        name: said("CARRYON_CLIENT_NAME").unwrap_or(ours.name),
        client: ours.client,
    }
}

/// How the verb that was asked for is used.
fn usage(command: &mut Command, matches: &ArgMatches) -> String {
    if let Some((name, below)) = matches.subcommand()
        && let Some(verb) = command.find_subcommand_mut(name)
    {
        return usage(verb, below);
    }
    command.render_usage().to_string()
}

/// Says what went wrong and how the verb is used; gives the code, one for everything.
fn report(failure: &Failure, usage: &str) -> Exit {
    if failure.kind() == FailureKind::Quiet {
        return Exit::OK;
    }
    complain(&format!("Error: {}\n\n{usage}\n", failure.message()));
    Exit::FAILED
}

/// Shows the help that was asked for, or what is wrong with the arguments.
fn misread(output: &Output, error: &clap::Error, command: &mut Command) -> Exit {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let usage = command.render_usage().to_string();
            output.help(error).map_or_else(|error| report(&error.into(), &usage), |()| Exit::OK)
        }
        _ => {
            let text = error.render().to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            let usage = match text.contains("Usage:") {
                true => String::new(),
                false => format!("\n{}\n", command.render_usage()),
            };
            complain(&format!("Error: {text}{usage}"));
            Exit::FAILED
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

    #[test]
    fn usage_is_that_of_the_verb() {
        let of = |line: &str| {
            let mut command = Arguments::command();
            let matches = command.try_get_matches_from_mut(line.split(' ')).unwrap();
            usage(&mut command, &matches)
        };
        assert_eq!(of("carryon attach x"), "Usage: carryon attach [session]");
        assert_eq!(of("carryon config get x"), "Usage: carryon config get <key>");
        assert!(of("carryon -n x").starts_with("Usage: carryon "));
    }
}
