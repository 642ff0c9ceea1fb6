//! A daemon in the foreground, to be killed and started again.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::Signal;

use crate::home::Home;
use crate::process;
use crate::wait::{eventually, eventually_some};

/// A daemon's process; it is killed when this is dropped. Sessions are the home's to end.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
    /// Where what it says on standard error goes.
    said: PathBuf,
}

impl Daemon {
    /// Starts a daemon in a home and waits until it answers.
    #[must_use]
    pub fn start(home: &Home) -> Daemon {
        Daemon::start_of(home, home.binary())
    }

    /// Starts a daemon of another build.
    #[must_use]
    pub fn start_of(home: &Home, binary: &Path) -> Daemon {
        let mut daemon = Daemon::begin(home, command(home, binary));
        daemon.wait_until_it_answers(home);
        daemon
    }

    /// Starts a daemon by a command of its own, and does not wait.
    ///
    /// # Panics
    /// The command cannot be run.
    #[must_use]
    pub fn begin(home: &Home, mut command: Command) -> Daemon {
        let said = home.path().join(format!("said-{}", unique()));
        let log = File::create(&said).expect("making a file for what the daemon says");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let child = command.spawn().expect("starting the daemon");
        Daemon { child, said }
    }

    /// Waits until this daemon, and no other, answers.
    ///
    /// # Panics
    /// It ended, or does not answer in time.
    #[track_caller]
    pub fn wait_until_it_answers(&mut self, home: &Home) {
        let pid = self.pid();
        eventually("the daemon answers", || {
            if let Some(status) = self.child.try_wait().expect("looking at the daemon") {
                panic!("the daemon ended with {status}: {}", self.said());
            }
            home.try_connect().is_ok_and(|it| it.hello().pid == Some(pid))
        });
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

    /// Kills it as nobody should, and waits until it is gone.
    pub fn kill(mut self) {
        self.end();
    }

    /// Kills it and starts another.
    pub fn restart(&mut self, home: &Home) {
        self.end();
        *self = Daemon::start(home);
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
        eventually_some("the daemon ends", || self.child.try_wait().expect("looking at it"))
    }

    fn end(&mut self) {
        // It may have ended by itself.
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.end();
    }
}

/// What starts a daemon in the foreground.
fn command(home: &Home, binary: &Path) -> Command {
    home.command_of(binary, ["daemon", "start", "--foreground"])
}

pub(crate) fn unique() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static LAST: AtomicU32 = AtomicU32::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}
