//! `cargo xtask start`: builds the program and puts whoever typed it into a persistent session.
//!
//! What happens then is the program's own: without a verb it attaches to the default session,
//! makes it if it is not there, and starts its daemon; without a terminal it says how to attach.

use std::io::{IsTerminal as _, stdin, stdout};
use std::process::Command;

use anyhow::Result;

use crate::bench::build_greenroom;
use crate::page;
use crate::workspace::run as run_command;

/// The key that leaves a session unless the configuration says otherwise: the default of
/// `attach.detach_key` in `greenroom`'s configuration, which no verb prints.
const DETACH_KEY: &str = "ctrl+\\";

pub(crate) fn run(_: &[String]) -> Result<()> {
    if let Err(error) = page::build() {
        // Everything but the browser works without it.
        eprintln!("==> without its page: {error:#}");
    }
    let program = build_greenroom()?;
    if stdin().is_terminal() && stdout().is_terminal() {
        eprintln!("==> {program}");
        eprintln!("    {DETACH_KEY} leaves the session running; the same command brings it back");
    } else {
        eprintln!("==> no terminal here: run the same command in one, or `{program} attach`");
    }
    run_command(&mut Command::new(&program), &program)
}
