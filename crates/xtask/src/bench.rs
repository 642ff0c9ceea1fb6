//! `cargo xtask bench`: builds the benchmark and what it measures optimised, and runs it.

use anyhow::{Result, bail, ensure};

use crate::needs;
use crate::workspace::{cargo, cargo_command, run as run_command, target};

pub(crate) const USAGE: &str = "[screen|spine] [--quick] [--save]";

/// The peers of a session, each in the Debian package of the same name.
const PEERS: &[&str] = &["tmux", "screen", "dtach"];

/// One thing that is measured.
struct Bench {
    name: &'static str,
    /// Where `--save` puts the report: results are kept in the repository.
    report: &'static str,
    /// Makes what it needs, and gives its further arguments.
    prepare: fn() -> Result<Vec<String>>,
}

const BENCHES: &[Bench] = &[
    Bench { name: "screen", report: "docs/bench-screen.md", prepare: || Ok(vec![]) },
    Bench { name: "spine", report: "docs/bench-spine.md", prepare: prepare_spine },
];

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (mut names, mut flags) = (Vec::new(), Vec::new());
    for argument in arguments {
        match argument.as_str() {
            "--quick" | "--save" => flags.push(argument.as_str()),
            name if BENCHES.iter().any(|bench| bench.name == name) => names.push(name),
            _ => bail!("cannot take `{argument}`: `cargo xtask bench {USAGE}`"),
        }
    }
    for bench in BENCHES.iter().filter(|it| names.is_empty() || names.contains(&it.name)) {
        measure(bench, &flags)?;
    }
    Ok(())
}

fn measure(bench: &Bench, flags: &[&str]) -> Result<()> {
    let more = (bench.prepare)()?;
    let mut command =
        vec!["run", "--profile", "bench", "--package", "greenroom-bench", "--bin", "bench", "--"];
    command.push(bench.name);
    command.extend(more.iter().map(String::as_str));
    for flag in flags {
        command.push(flag);
        if *flag == "--save" {
            command.push(bench.report);
        }
    }
    let line = format!("cargo {}", command.join(" "));
    run_command(&mut cargo_command(&command)?, &line)
}

/// Installs the peers and builds our program with its holder.
fn prepare_spine() -> Result<Vec<String>> {
    needs::install_programs(PEERS)?;
    Ok(vec!["--greenroom".to_owned(), build_greenroom()?])
}

/// Builds our program as it is shipped, with its holder beside it, and says where it is.
pub(crate) fn build_greenroom() -> Result<String> {
    cargo(&["build", "--release", "--package", "greenroom", "--bins"])?;
    let program = target()?.join("release/greenroom");
    ensure!(program.is_file(), "cargo built no `{}`", program.display());
    Ok(program.to_string_lossy().into_owned())
}
