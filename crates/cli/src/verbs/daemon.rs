//! `daemon`: starts, stops and shows the process that serves all sessions.

use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use greenroom_client::{Endpoint, Error, ErrorKind, PROTOCOL};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};

use crate::context::{Context, identity};
use crate::failure::{Exit, Failure, FailureKind, Result};
use crate::machines::pass_on;
use crate::plain::plain;
use crate::verbs::Place;

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How long a daemon may take to end: it has checkpoints to write.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// How often it is looked whether it has.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Starts, stops, restarts and shows the daemon; sessions live on whatever happens to it.
#[derive(Debug, Args)]
pub(crate) struct Daemon {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Starts the daemon, if it does not run.
    Start {
        /// Stays in the foreground and logs to standard error.
        #[arg(long)]
        foreground: bool,
    },
    /// Stops the daemon; sessions live on.
    Stop,
    /// Stops the daemon and starts this version of it; sessions and attached terminals live on.
    Restart {
        /// Stays in the foreground and logs to standard error.
        #[arg(long)]
        foreground: bool,
    },
    /// Shows the daemon; exit code 5 if there is none.
    Status,
    /// Says where the daemon listens and whether it runs; other machines ask this.
    Socket {
        /// Starts it, if it does not run.
        #[arg(long)]
        start: bool,
    },
}

impl Daemon {
    /// Where it can be done.
    pub(crate) fn place(&self) -> Place {
        match self.what {
            What::Start { foreground: true } | What::Restart { foreground: true } => {
                Place::Here("daemon start --foreground")
            }
            What::Socket { .. } => Place::Here("daemon socket"),
            What::Start { .. } | What::Stop | What::Restart { .. } | What::Status => {
                Place::Anywhere
            }
        }
    }

    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        // Its process is not of this machine: only its own program can wait for its end.
        if let Some(tunnel) = context.tunnel()? {
            match self.what {
                What::Stop => return pass_on(context, &tunnel, &["daemon", "stop"]),
                What::Restart { .. } => return pass_on(context, &tunnel, &["daemon", "restart"]),
                What::Start { .. } | What::Status | What::Socket { .. } => {}
            }
        }
        match self.what {
            What::Start { foreground } => start(context, foreground),
            What::Stop => {
                let stopped = stop(context)?;
                match (context.output.is_json(), stopped) {
                    (true, _) => context.output.value(&json!({"ok": true, "stopped": stopped}))?,
                    (false, true) => {
                        context.output.line("the daemon has stopped; sessions live on")?
                    }
                    (false, false) => context.output.line("no daemon is running")?,
                }
                Ok(Exit::OK)
            }
            What::Restart { foreground } => {
                stop(context)?;
                start(context, foreground)
            }
            What::Status => status(context),
            What::Socket { start } => socket(context, start),
        }
    }
}

fn start(context: &Context<'_>, foreground: bool) -> Result<Exit> {
    if foreground {
        context.host.run_daemon(true)?;
        return Ok(Exit::OK);
    }
    let connection = context.connect()?;
    let hello = connection.hello();
    match context.output.is_json() {
        true => context.output.value(&json!({"pid": hello.pid, "version": hello.version}))?,
        false => {
            let pid = hello.pid.map(|it| format!(", pid {it}")).unwrap_or_default();
            let line = format!("the daemon is running (greenroom {}{pid})", plain(&hello.version));
            context.output.line(&line)?;
        }
    }
    Ok(Exit::OK)
}

/// Says where the daemon listens: all that somebody needs who brings its socket elsewhere.
fn socket(context: &Context<'_>, start: bool) -> Result<Exit> {
    if start {
        context.connect()?;
    }
    let endpoint = context.endpoint()?;
    // One that listens is one that runs: whether it answers, who asked will see.
    let running = match endpoint.peer() {
        Ok(_) => true,
        Err(error) if is_absent(&error) => false,
        Err(error) => return Err(error.into()),
    };
    let path = endpoint.path().display().to_string();
    match context.output.is_json() {
        true => context.output.value(&json!({
            "socket": path, "running": running, "version": VERSION, "protocol": PROTOCOL,
        }))?,
        false => context.output.line(&plain(&path))?,
    }
    Ok(Exit::OK)
}

/// Stops the daemon and waits until its process is gone; false if there was none.
pub(crate) fn stop(context: &Context<'_>) -> Result<bool> {
    let endpoint = context.endpoint()?;
    let pid = match endpoint.peer() {
        Ok(pid) => pid,
        Err(error) if is_absent(&error) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let asked = endpoint.connect(&identity());
    let asked = asked.and_then(|mut it| it.call_within("daemon.stop", &json!({}), STOP_TIMEOUT));
    match (asked, pid) {
        // It may well end before its answer is sent.
        (Ok(_) | Err(Error::Lost(_)), pid) => wait_until_gone(&endpoint, pid),
        // One that does not answer, or speaks something else, understands a signal still.
        (Err(_), Some(pid)) => end_by_signal(&endpoint, pid),
        (Err(error), None) => Err(error.into()),
    }?;
    Ok(true)
}

fn is_absent(error: &Error) -> bool {
    error.kind() == ErrorKind::Unreachable
}

/// Waits until the process is gone, so that whoever starts another one finds the lock free.
fn wait_until_gone(endpoint: &Endpoint, pid: Option<u32>) -> Result<()> {
    let deadline = Instant::now() + STOP_TIMEOUT;
    while is_there(endpoint, pid) {
        if Instant::now() >= deadline {
            let message = format!("the daemon has not ended within {} s", STOP_TIMEOUT.as_secs());
            let failure = Failure::new(FailureKind::Daemon(ErrorKind::Timeout), message);
            return Err(match pid {
                Some(pid) => failure.hint(format!("`kill -9 {pid}` ends it; sessions live on")),
                None => failure,
            });
        }
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

fn is_there(endpoint: &Endpoint, pid: Option<u32>) -> bool {
    match pid.and_then(process) {
        Some(pid) => test_kill_process(pid).is_ok() && !is_zombie(pid),
        None => endpoint.peer().is_ok(),
    }
}

/// Whether a process has ended and only its parent has not noticed.
fn is_zombie(pid: Pid) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    // The name before the state is in parentheses and may have any character.
    status.is_ok_and(|it| it.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z')))
}

/// Ends a daemon that does not listen: politely, then not. Sessions survive both.
fn end_by_signal(endpoint: &Endpoint, pid: u32) -> Result<()> {
    for signal in [Signal::TERM, Signal::KILL] {
        if let Some(process) = process(pid) {
            // It may be gone already: that is looked at next.
            kill_process(process, signal).unwrap_or_default();
        }
        if wait_until_gone(endpoint, Some(pid)).is_ok() {
            return Ok(());
        }
    }
    wait_until_gone(endpoint, Some(pid))
}

fn process(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

fn status(context: &Context<'_>) -> Result<Exit> {
    let status = context.connect_to_running()?.call("daemon.status", &json!({}))?;
    if context.output.is_json() {
        context.output.value(&status)?;
        return Ok(Exit::OK);
    }
    for (name, text) in facts(&status) {
        context.output.line(&format!("{name:>9}  {}", plain(&text)))?;
    }
    Ok(Exit::OK)
}

/// What there is to say, without what is missing.
fn facts(status: &Value) -> Vec<(&'static str, String)> {
    let text = |key: &str| match &status[key] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let uptime = status["uptime"].as_f64().unwrap_or_default();
    let storage = match (status["storage"]["ok"].as_bool(), status["storage"]["error"].as_str()) {
        (Some(false), error) => error.unwrap_or("not writable").to_owned(),
        _ => String::new(),
    };
    let refused = match status["refused"].as_array().map_or(0, Vec::len) {
        0 => String::new(),
        1 => "a session is out of reach; `greenroom doctor` says which".to_owned(),
        count => format!("{count} sessions are out of reach; `greenroom doctor` says which"),
    };
    let facts = vec![
        ("version", text("version")),
        ("pid", text("pid")),
        ("uptime", format!("{uptime:.0} s")),
        ("sessions", text("sessions")),
        ("ended", text("ended")),
        ("clients", text("clients")),
        ("home", text("home")),
        ("socket", text("socket")),
        ("storage", storage),
        ("refused", refused),
    ];
    facts.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}
