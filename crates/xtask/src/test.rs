//! `cargo xtask test`: the one command that must pass, here and in CI.
//!
//! Steps run in order and the first that fails ends the run. The quick ones that fail most come
//! first. nextest comes last of cargo's, so that its summary closes the output: doc tests close
//! with one line a crate, and those of a crate without any say that no test was run.
//!
//! Nothing is left out of a step: the peers in `bench` make up most of a cold build, but `bench`
//! has tests, too, and what it builds once is kept in the target folder.

use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use crate::workspace::cargo_command;
use crate::{needs, page, tidy};

/// What cargo checks, as one would type it; with the flags its `rustdoc` gets.
const STEPS: &[(&str, &str)] = &[
    ("fmt --check", ""),
    ("clippy --workspace --all-targets -- -D warnings", ""),
    ("doc --workspace --no-deps", "-D warnings"),
    ("test --doc --workspace", ""),
];

/// The tests, whose summary closes the output.
const TESTS: &str = "nextest run --workspace --no-fail-fast";

pub(crate) fn run(_: &[String]) -> Result<()> {
    let begin = Instant::now();
    needs::install()?;
    // Before cargo's: the program carries the page.
    step("npm install && npm run build (in web/)", page::build)?;
    step("npm test (in web/)", page::test)?;
    for (arguments, rustdoc_flags) in STEPS {
        cargo_step(arguments, rustdoc_flags)?;
    }
    step("cargo xtask browser", || page::browser(&[]))?;
    cargo_step(TESTS, "")?;
    step("cargo xtask tidy", || tidy::run(&[]))?;
    step("what the tests left behind", nothing_is_left)?;
    eprintln!("==> all passed, {:.1} s", begin.elapsed().as_secs_f64());
    Ok(())
}

/// The suite leaves no process, socket or folder behind, whether its tests passed or not.
fn nothing_is_left() -> Result<()> {
    let left = greenroom_testkit::leftovers();
    ensure!(left.is_empty(), "left behind: {}", left.join(", "));
    Ok(())
}

fn cargo_step(arguments: &str, rustdoc_flags: &str) -> Result<()> {
    let words: Vec<&str> = arguments.split(' ').collect();
    let mut command = cargo_command(&words)?;
    let mut line = format!("cargo {arguments}");
    if !rustdoc_flags.is_empty() {
        command.env("RUSTDOCFLAGS", rustdoc_flags);
        line = format!("RUSTDOCFLAGS='{rustdoc_flags}' {line}");
    }
    step(&line, || {
        let status = command.status()?;
        ensure!(status.success(), "{status}");
        Ok(())
    })
}

/// Says what runs and how long it took; `line` is what a person types to run it alone.
fn step(line: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    eprintln!("==> {line}");
    let begin = Instant::now();
    work().with_context(|| format!("stopped at `{line}`, which can be rerun alone"))?;
    eprintln!("    passed, {:.1} s", begin.elapsed().as_secs_f64());
    Ok(())
}
