//! Where the workspace lies, and how cargo is started in it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// The root of the workspace, wherever the developer stands.
pub(crate) fn root() -> Result<PathBuf> {
    // Asked now, not when we were built: worktrees may share a target folder and so this program.
    let own = env::var_os("CARGO_MANIFEST_DIR").context("run this as `cargo xtask`")?;
    let root = Path::new(&own).ancestors().nth(2).context("finding the root of the workspace")?;
    Ok(root.to_owned())
}

/// A cargo command in the root of the workspace, not yet started.
pub(crate) fn cargo_command(arguments: &[&str]) -> Result<Command> {
    // The cargo that runs us, so that a chosen toolchain stays chosen.
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root()?);
    Ok(command)
}

/// Runs a cargo command in the root of the workspace.
pub(crate) fn cargo(arguments: &[&str]) -> Result<()> {
    run(&mut cargo_command(arguments)?, &format!("cargo {}", arguments.join(" ")))
}

/// Runs a command to its end; `line` is what a person would type for it.
pub(crate) fn run(command: &mut Command, line: &str) -> Result<()> {
    let status = command.status().with_context(|| format!("starting `{line}`"))?;
    ensure!(status.success(), "`{line}` failed: {status}");
    Ok(())
}

/// Where cargo puts what it builds.
pub(crate) fn target() -> Result<PathBuf> {
    let mut command = cargo_command(&["metadata", "--no-deps", "--format-version=1"])?;
    let output = command.output().context("starting `cargo metadata`")?;
    ensure!(output.status.success(), "`cargo metadata` failed: {}", output.status);
    let metadata: Value = serde_json::from_slice(&output.stdout).context("reading its answer")?;
    let folder = metadata["target_directory"].as_str().context("finding the target folder")?;
    Ok(folder.into())
}

/// The text of a file, named from the root of the workspace.
pub(crate) fn read(path: &str) -> Result<String> {
    fs::read_to_string(root()?.join(path)).with_context(|| format!("reading `{path}`"))
}

/// Writes a file, named from the root of the workspace.
pub(crate) fn write(path: &str, text: &str) -> Result<()> {
    fs::write(root()?.join(path), text).with_context(|| format!("writing `{path}`"))
}
