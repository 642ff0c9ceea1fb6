//! The page in `web/`: built before the program that carries it, and tried in a real browser.
//!
//! npm does the work, by the lock file. Not here: what is in the page (`web/`), how it is embedded
//! (`greenroom::assets`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::Result;

use crate::workspace::{cargo, root, run as run_command, target};

/// Installs what the lock file names, if that has changed, and builds the page.
pub(crate) fn build() -> Result<()> {
    let web = folder()?;
    if !is_installed(&web) {
        // Not `ci`: it insists on packages for every other platform, which not every registry has.
        npm(&["install", "--no-save", "--no-audit", "--no-fund"])?;
    }
    npm(&["run", "build"])
}

/// Runs the tests that need no browser.
pub(crate) fn test() -> Result<()> {
    npm(&["test"])
}

/// `cargo xtask browser`: builds page and program and tries them in Chromium, which is installed if need be.
pub(crate) fn browser(_: &[String]) -> Result<()> {
    build()?;
    cargo(&["build", "--package=greenroom"])?;
    let mut command = npm_command(&["run", "test:browser"])?;
    command.env("CARGO_TARGET_DIR", target()?);
    run_command(&mut command, "npm run test:browser")
}

fn folder() -> Result<PathBuf> {
    Ok(root()?.join("web"))
}

/// Whether what is installed is not older than the lock file. npm leaves a copy of it behind.
fn is_installed(web: &Path) -> bool {
    let changed = |path: &str| -> Option<SystemTime> {
        fs::metadata(web.join(path)).and_then(|it| it.modified()).ok()
    };
    let installed = changed("node_modules/.package-lock.json");
    installed.is_some() && installed >= changed("package-lock.json")
}

fn npm(arguments: &[&str]) -> Result<()> {
    run_command(&mut npm_command(arguments)?, &format!("npm {} (in web/)", arguments.join(" ")))
}

fn npm_command(arguments: &[&str]) -> Result<Command> {
    let mut command = Command::new("npm");
    command.args(arguments).current_dir(folder()?);
    Ok(command)
}
