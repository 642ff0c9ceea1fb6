//! A private server: the ptywright protocol on the standard streams of a process.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};

use rustix::process::Signal;

use crate::home::Home;
use crate::process;
use crate::rpc::{Framing, Rpc};
use crate::wait::eventually_some;

/// A private server's process; it is killed when this is dropped.
#[derive(Debug)]
pub struct Serving {
    child: Child,
    /// Where what it says on standard error goes.
    said: PathBuf,
}

impl Serving {
    /// Starts a private server with these further arguments, and gives its client.
    ///
    /// # Panics
    /// The program cannot be run.
    #[must_use]
    pub fn start(home: &Home, framing: Framing, arguments: &[String]) -> (Serving, Rpc) {
        let said = home.path().join(format!("serve-said-{}", crate::daemon::unique()));
        let log = File::create(&said).expect("making a file for what the server says");
        let framed = match framing {
            Framing::Lines => "ndjson",
            Framing::Headers => "lsp",
        };
        let mut command = home.command(["serve", "--stdio", "--framing", framed]);
        // Its holders' sockets are below the home, so that it can clean up after them.
        command.args(arguments).env("TMPDIR", home.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().expect("starting a private server");
        let rpc = Rpc::of_child(&mut child, framing);
        (Serving { child, said }, rpc)
    }

    /// Its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it said on standard error.
    #[must_use]
    pub fn said(&self) -> String {
        std::fs::read_to_string(&self.said).unwrap_or_default()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        process::kill(self.pid(), signal);
    }

    /// Waits until it has ended by itself.
    ///
    /// # Panics
    /// It does not end in time.
    #[track_caller]
    pub fn wait_for_end(&mut self) -> ExitStatus {
        eventually_some("the server ends", || self.child.try_wait().expect("looking at it"))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}
