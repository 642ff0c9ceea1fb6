//! `cargo xtask <command>`: everything a developer runs in this repository, the same everywhere.
//!
//! One file a command, one line in [`COMMANDS`]. Needs nothing but cargo.

#![expect(clippy::print_stderr, reason = "a command's complaints are for the terminal")]

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, ensure};

mod bench;

/// A command: its name, what follows it, and what it does with the arguments after its name.
type Entry = (&'static str, &'static str, fn(&[String]) -> Result<()>);

/// The commands, in the order of the help.
const COMMANDS: &[Entry] = &[("bench", bench::USAGE, bench::run)];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let name = arguments.first().map(String::as_str);
    let Some((_, _, run)) = COMMANDS.iter().find(|entry| Some(entry.0) == name) else {
        eprintln!("usage: cargo xtask <command>");
        for (name, usage, _) in COMMANDS {
            eprintln!("  {name} {usage}");
        }
        return ExitCode::from(2);
    };
    match run(&arguments[1..]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Starts a cargo command in the root of the workspace, wherever the developer stands.
fn cargo(arguments: &[&str]) -> Result<()> {
    // The cargo that runs us, so that a chosen toolchain stays chosen.
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // Asked now, not when we were built: worktrees may share a target folder and so this program.
    let own = env::var_os("CARGO_MANIFEST_DIR").context("run this as `cargo xtask`")?;
    let root = Path::new(&own).ancestors().nth(2).context("finding the root of the workspace")?;
    let line = arguments.join(" ");
    let status = Command::new(cargo)
        .args(arguments)
        .current_dir(root)
        .status()
        .with_context(|| format!("starting `cargo {line}`"))?;
    ensure!(status.success(), "`cargo {line}` failed: {status}");
    Ok(())
}
