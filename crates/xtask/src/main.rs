//! `cargo xtask <command>`: everything a developer runs in this repository, the same everywhere.
//!
//! One file a command, one line in [`COMMANDS`]. Needs nothing but cargo: what else a command
//! needs, it installs ([`needs`]) or names.

#![expect(clippy::print_stderr, reason = "a command's complaints are for the terminal")]

use std::env;
use std::process::ExitCode;

use anyhow::Result;

mod bench;
mod docs;
mod needs;
mod page;
mod start;
mod test;
mod tidy;
mod unicode;
mod workspace;

/// One command of this program.
struct Entry {
    name: &'static str,
    /// The arguments it takes, as the help shows them; without any it gets none.
    usage: &'static str,
    does: &'static str,
    run: Run,
}

/// What a command does with the arguments after its name.
type Run = fn(&[String]) -> Result<()>;

/// The commands, in the order of the help.
const COMMANDS: &[Entry] = &[
    entry("start", "", "builds everything and puts you into a session that stays", start::run),
    entry("test", "", "installs what the suite needs and runs it", test::run),
    entry("ci", "", "the same: what passes here passes there", test::run),
    entry("browser", "", "tries the page in a real browser", page::browser),
    entry("tidy", "", "checks the rules no other tool checks", tidy::run),
    entry("docs", "", "writes the generated part of docs/", docs::run),
    entry("unicode", "", "writes the screen's table of widths", unicode::run),
    entry("bench", bench::USAGE, "measures ours beside its peers", bench::run),
];

const fn entry(name: &'static str, usage: &'static str, does: &'static str, run: Run) -> Entry {
    Entry { name, usage, does, run }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some((entry, rest)) = find(&arguments) else {
        eprintln!("usage: cargo xtask <command>");
        for Entry { name, usage, does, .. } in COMMANDS {
            eprintln!("  {:32} {does}", format!("{name} {usage}"));
        }
        return ExitCode::from(2);
    };
    match (entry.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The command that was asked for, with its arguments.
fn find(arguments: &[String]) -> Option<(&'static Entry, &[String])> {
    let (name, rest) = arguments.split_first()?;
    let entry = COMMANDS.iter().find(|entry| entry.name == name)?;
    (rest.is_empty() || !entry.usage.is_empty()).then_some((entry, rest))
}
