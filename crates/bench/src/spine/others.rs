//! GNU screen and dtach as contenders: a process for each session, as our holders are.

use std::os::unix::fs::DirBuilderExt as _;
use std::{fs, thread};

use anyhow::{Context as _, Result};
use greenroom_model::Size;
use rustix::process::Signal;

use super::family::descendants;
use super::place::{Place, output, words};
use super::terminal::Terminal;
use super::wait::REST;

/// How many lines GNU screen keeps unless told otherwise.
pub(crate) const SCREEN_HISTORY: usize = 100;

/// Makes a session of GNU screen that nobody is attached to. It takes the room for its history at
/// once, so who compares idle sessions leaves it as short as it is by default.
pub(crate) fn create_screen(
    place: &Place,
    name: &str,
    history: usize,
    argv: &[String],
) -> Result<()> {
    let folder = place.path("screens");
    if !folder.exists() {
        // screen refuses a folder that others may look into.
        let made = fs::DirBuilder::new().mode(0o700).create(&folder);
        made.context("making a folder for screen")?;
    }
    let history = history.to_string();
    let mut command = place.command("screen");
    command.env("SCREENDIR", folder).args(["-U", "-c", "/dev/null", "-h", &history]);
    output(command.args(["-d", "-m", "-S", name]).args(argv)).map(drop)
}

/// Makes a session of dtach that nobody is attached to.
pub(crate) fn create_dtach(place: &Place, name: &str, argv: &[String]) -> Result<()> {
    let mut command = place.command("dtach");
    output(command.args(["-n", &place.text(name), "-E", "-z"]).args(argv)).map(drop)
}

/// A terminal with a new session of dtach.
pub(crate) fn attach_dtach(place: &Place, name: &str, argv: &[String]) -> Result<Terminal> {
    let mut words = words(&["dtach", "-c", &place.text(name), "-E", "-z", "-r", "none"]);
    words.extend_from_slice(argv);
    place.terminal(Size::DEFAULT, &words)
}

/// The processes of a program that this run has started.
pub(crate) fn processes(program: &str) -> Vec<u32> {
    let named = |pid: &u32| {
        fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim_end() == program)
    };
    descendants().into_iter().filter(named).collect()
}

/// Ends all processes of a program that this run has started; their terminals hang up.
pub(crate) fn end(program: &str) {
    for pid in processes(program) {
        greenroom_pty::kill(pid, Signal::KILL.as_raw());
    }
    thread::sleep(REST);
}
