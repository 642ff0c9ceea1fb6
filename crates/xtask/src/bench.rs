//! `cargo xtask bench screen`: builds the benchmark optimised and runs it.

use anyhow::{Result, bail};

use crate::workspace::cargo;

pub(crate) const USAGE: &str = "screen [--quick] [--save]";

/// Where `--save` puts the report: results are kept in the repository.
const SCREEN_REPORT: &str = "docs/bench-screen.md";

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let Some((what, flags)) = arguments.split_first() else {
        bail!("say what to measure: `cargo xtask bench {USAGE}`");
    };
    if what != "screen" {
        bail!("cannot measure `{what}`: `cargo xtask bench {USAGE}`");
    }
    let mut command =
        vec!["run", "--profile", "bench", "--package", "greenroom-bench", "--bin", "bench", "--"];
    command.push("screen");
    for flag in flags {
        match flag.as_str() {
            "--quick" => command.push("--quick"),
            "--save" => command.extend(["--save", SCREEN_REPORT]),
            _ => bail!("unknown flag `{flag}`: `cargo xtask bench {USAGE}`"),
        }
    }
    cargo(&command)
}
