//! What the suite and the benchmarks need besides cargo, and how a machine gets it.
//!
//! On a fresh Debian machine with Rust and Node the missing rest is installed, as root; elsewhere
//! it is named. Not here: other npm packages of a test, which the test itself installs.

use std::env;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use crate::workspace::{cargo, cargo_command, root, run};

/// The programs the tests start, each in the Debian package of the same name.
const PACKAGED: &[&str] = &["chromium", "strace", "tmux", "vim", "zsh"];

/// Other programs the tests start, and the Debian packages they are in.
const IN_PACKAGES: &[(&str, &str)] = &[("ssh", "openssh-client"), ("sshd", "openssh-server")];

/// Where programs are that not everybody has in their search path.
const SYSTEM_PROGRAMS: &str = "/usr/sbin";

/// Programs Debian has too old to install for somebody: the tests want Node 20.
const FOUND: &[&str] = &["node", "npm"];

/// Installs what is missing, or says what is.
pub(crate) fn install() -> Result<()> {
    for program in FOUND {
        ensure!(is_found(program), "`{program}` is missing: install Node 20 or newer, with npm");
    }
    install_programs(PACKAGED)?;
    let missing = IN_PACKAGES.iter().filter(|(program, _)| !is_found(program));
    let missing: Vec<&str> = missing.map(|(_, package)| *package).collect();
    if !missing.is_empty() {
        install_packages(&missing)?;
    }
    if !has_nextest()? {
        eprintln!("==> installing cargo-nextest, once");
        cargo(&["install", "cargo-nextest", "--locked"])?;
    }
    install_claude_code()
}

/// Has the program that runs Claude Code offline install it, which it does when it is first run.
fn install_claude_code() -> Result<()> {
    let program = root()?.join("../shared/standin/claude-offline");
    ensure!(program.exists(), "`{}` runs Claude Code for the tests: missing", program.display());
    let mut command = Command::new(&program);
    // A stand-in of its API need not be there to say the version.
    command.arg("--version").env("CLAUDE_OFFLINE_URL", "http://127.0.0.1:9").stdout(Stdio::null());
    run(&mut command, "installing Claude Code")
}

/// Installs those programs that are missing, each from the Debian package of the same name.
pub(crate) fn install_programs(programs: &[&str]) -> Result<()> {
    let missing: Vec<&str> = programs.iter().copied().filter(|it| !is_found(it)).collect();
    if missing.is_empty() { Ok(()) } else { install_packages(&missing) }
}

fn install_packages(packages: &[&str]) -> Result<()> {
    let names = packages.join(" ");
    if !is_found("apt-get") {
        bail!("missing: {names}; install them with this system's package manager");
    }
    if !is_root()? {
        bail!("missing: {names}; only root can install them: `sudo apt-get install {names}`");
    }
    eprintln!("==> installing {names}");
    apt_get(&["update"])?;
    apt_get(&[&["install", "--yes", "--no-install-recommends"], packages].concat())
}

fn apt_get(arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("apt-get");
    command.arg("--quiet=2").args(arguments).stdin(Stdio::null());
    // A package that asks would wait for an answer nobody gives.
    command.env("DEBIAN_FRONTEND", "noninteractive");
    run(&mut command, &format!("apt-get {}", arguments.join(" ")))
}

/// Whether a program is on the path.
fn is_found(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain([SYSTEM_PROGRAMS.into()]);
    folders.into_iter().any(|folder| folder.join(program).is_file())
}

fn is_root() -> Result<bool> {
    let output = Command::new("id").arg("-u").output().context("starting `id -u`")?;
    Ok(output.stdout.trim_ascii() == b"0")
}

fn has_nextest() -> Result<bool> {
    let mut command = cargo_command(&["nextest", "--version"])?;
    let output = command.output().context("starting `cargo nextest --version`")?;
    Ok(output.status.success())
}
