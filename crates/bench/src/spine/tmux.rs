//! tmux as a contender: a server of its own, as fast as it can be configured.
//!
//! Without a status line, so that it has the whole terminal and draws nothing but the session; with
//! a history as long as ours.

use std::process::Command;

use anyhow::{Context as _, Result};
use greenroom_model::Size;

use super::control::Control;
use super::place::{Place, output, words};
use super::terminal::Terminal;
use crate::screen::HISTORY;

/// The session that keeps the server alive between measurements.
const KEEPER: &str = "keeper";

/// One server; it is ended when this is dropped.
pub(crate) struct Tmux<'a> {
    place: &'a Place,
    socket: String,
}

impl<'a> Tmux<'a> {
    /// Starts a server.
    pub(crate) fn start(place: &'a Place, name: &str) -> Result<Tmux<'a>> {
        let history = HISTORY.to_string();
        let tmux = Tmux { place, socket: place.text(name) };
        tmux.create(KEEPER, &words(&["sleep", "86400"]), Size::DEFAULT)?;
        for option in [["status", "off"], ["history-limit", &history], ["escape-time", "0"]] {
            tmux.run(&["set-option", "-g", option[0], option[1]])?;
        }
        Ok(tmux)
    }

    /// The command line, with its arguments to come.
    pub(crate) fn command(&self) -> Command {
        let mut command = self.place.command("tmux");
        command.args(["-S", &self.socket, "-f", "/dev/null"]);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Result<String> {
        output(self.command().args(arguments))
    }

    pub(crate) fn create(&self, name: &str, argv: &[String], size: Size) -> Result<()> {
        let (cols, rows) = (size.cols().to_string(), size.rows().to_string());
        let mut command = self.command();
        command.args(["new-session", "-d", "-s", name, "-x", &cols, "-y", &rows]).args(argv);
        output(&mut command).map(drop)
    }

    pub(crate) fn kill(&self, name: &str) -> Result<()> {
        self.run(&["kill-session", "-t", name]).map(drop)
    }

    /// A terminal with a session attached.
    pub(crate) fn attach(&self, name: &str, size: Size) -> Result<Terminal> {
        let argv = ["tmux", "-u", "-S", &self.socket, "attach-session", "-t", name];
        self.place.terminal(size, &words(&argv))
    }

    /// A client in control mode: what a program connects with.
    pub(crate) fn control(&self, name: &str) -> Result<Control> {
        Control::start(self.command().args(["-C", "attach-session", "-t", name]))
    }

    /// The server's process.
    pub(crate) fn server(&self) -> Result<u32> {
        let text = self.run(&["display-message", "-p", "#{pid}"])?;
        text.trim_end().parse().context("reading the process of the tmux server")
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        // What is left of it is ended with the run's family.
        self.run(&["kill-server"]).map(drop).unwrap_or_default();
    }
}
