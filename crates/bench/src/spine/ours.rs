//! greenroom as a contender: a home of its own, its daemon, sessions in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use greenroom_client::{Connection, Endpoint, Event, Identity};
use greenroom_model::Size;
use rustix::event::PollFlags;
use rustix::process::{Pid, Signal, WaitOptions, waitpid};
use serde_json::{Map, Value, json};

use super::place::{Environment, Place, output, words};
use super::terminal::Terminal;
use super::wait::{PATIENCE, ready_within};

/// The variable that names the folder of everything.
const HOME: &str = "GREENROOM_HOME";

/// One home with its daemon. The processes are ended by the run's family.
pub(crate) struct Ours<'a> {
    place: &'a Place,
    program: &'a Path,
    home: PathBuf,
}

impl<'a> Ours<'a> {
    /// Starts a daemon in a new home, with a configuration unless that is empty.
    pub(crate) fn start(
        place: &'a Place,
        program: &'a Path,
        home: &str,
        config: &str,
    ) -> Result<Ours<'a>> {
        let ours = Ours { place, program, home: place.path(home) };
        if !config.is_empty() {
            fs::create_dir(&ours.home)?;
            fs::write(ours.home.join("config.toml"), config)?;
        }
        ours.start_daemon()?;
        Ok(ours)
    }

    pub(crate) fn start_daemon(&self) -> Result<()> {
        output(self.command().args(["daemon", "start"])).map(drop).context("starting the daemon")
    }

    /// The command line, with its arguments to come.
    pub(crate) fn command(&self) -> Command {
        let mut command = self.place.command(self.program);
        command.env(HOME, &self.home);
        command
    }

    fn environment(&self) -> Environment {
        let mut environment = self.place.environment();
        environment.push((HOME.to_owned(), self.home.to_string_lossy().into_owned()));
        environment
    }

    /// A terminal with a session attached.
    pub(crate) fn attach(&self, name: &str, size: Size) -> Result<Terminal> {
        let program = self.program.to_string_lossy();
        Terminal::start(size, &words(&[&program, "attach", name]), &self.environment())
    }

    /// Its folder.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// Where the daemon speaks its own protocol.
    pub(crate) fn native(&self) -> PathBuf {
        self.home.join("run/greenroom.sock")
    }

    /// Where the daemon speaks the ptywright protocol.
    pub(crate) fn ptywright(&self) -> PathBuf {
        self.home.join("run/ptywright.sock")
    }

    pub(crate) fn connect(&self) -> Result<Connection> {
        let identity = Identity {
            client: concat!("greenroom-bench ", env!("CARGO_PKG_VERSION")).to_owned(),
            kind: "bench".to_owned(),
            name: "bench".to_owned(),
        };
        let endpoint = Endpoint::new(self.native());
        endpoint.connect(&identity).context("connecting to the daemon")
    }

    /// Makes a session.
    pub(crate) fn create(
        &self,
        connection: &mut Connection,
        name: &str,
        argv: &[String],
        size: Size,
    ) -> Result<()> {
        let environment = self.place.environment().into_iter();
        let environment: Map<String, Value> =
            environment.map(|(name, value)| (name, value.into())).collect();
        let params = json!({
            "name": name, "cwd": "/", "argv": argv, "env": environment, "clearEnv": true,
            "cols": size.cols(), "rows": size.rows(),
        });
        connection.call("session.create", &params).map(drop).context("making a session")
    }

    /// Kills the daemon as nobody should, and waits until it is gone.
    pub(crate) fn kill_daemon(&self, connection: &Connection) -> Result<()> {
        let pid = daemon(connection)?;
        greenroom_pty::kill(pid, Signal::KILL.as_raw());
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        // Adopted by the run, or still the child of something of the run, which reaps it.
        waitpid(pid, WaitOptions::empty()).map(drop).unwrap_or_default();
        Ok(())
    }
}

/// The daemon's process.
pub(crate) fn daemon(connection: &Connection) -> Result<u32> {
    connection.hello().pid.context("the daemon does not say its process")
}

/// Ends a session with all its processes.
pub(crate) fn kill(connection: &mut Connection, name: &str) -> Result<()> {
    let params = json!({"sessionId": name, "graceMs": 0});
    connection.call("session.kill", &params).with_context(|| format!("killing `{name}`"))?;
    // So that the next repetition meets the same daemon as the one before.
    connection.call("session.forget", &json!({"sessionId": name})).map(drop)?;
    Ok(())
}

/// Begins to wait for a text on the screen.
pub(crate) fn begin_wait(connection: &mut Connection, name: &str, text: &str) -> Result<u64> {
    let timeout = PATIENCE.as_millis() as u64;
    let matcher = json!({"text": text, "in": "screen"});
    let params = json!({"sessionId": name, "for": matcher, "after": 0, "timeoutMs": timeout});
    Ok(connection.start("session.wait", &params)?)
}

/// Waits for the answer to a request that was started.
pub(crate) fn answer(connection: &mut Connection, id: u64) -> Result<Value> {
    loop {
        while let Some(event) = connection.next_event()? {
            match event {
                Event::Answer { id: it, result } if it == id => return Ok(result?),
                _ => {}
            }
        }
        // The daemon has a time-out of its own; this is for a daemon that hangs.
        if !ready_within(connection, PollFlags::IN, PATIENCE + Duration::from_secs(1))? {
            bail!("the daemon does not answer");
        }
        connection.receive()?;
    }
}
