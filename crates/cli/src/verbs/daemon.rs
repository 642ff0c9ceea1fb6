//! `daemon`: starts, stops and shows the process that serves all sessions.

use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use greenroom_client::{Connection, Endpoint, Error, ErrorKind, PROTOCOL};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};

use crate::context::{Context, identity};
use crate::failure::{Exit, Failure, FailureKind, Result};
use crate::host::Compat;
use crate::machines::pass_on;
use crate::plain::plain;
use crate::verbs::{Place, config};

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
    Start(How),
    /// Stops the daemon; sessions live on.
    Stop,
    /// Stops the daemon and starts this version of it; sessions and attached terminals live on.
    Restart(How),
    /// Shows the daemon; exit code 5 if there is none.
    Status,
    /// Says where the daemon listens and whether it runs; other machines ask this.
    Socket {
        /// Starts it, if it does not run.
        #[arg(long)]
        start: bool,
    },
}

/// How it is started.
#[derive(Debug, Args)]
struct How {
    /// Stays in the foreground and logs to standard error.
    #[arg(long)]
    foreground: bool,
    /// Serves the place where that program's own clients look, too; `[compat]` does so for good.
    #[arg(long, value_name = "PROGRAM")]
    compat: Vec<Compat>,
}

impl Daemon {
    /// Where it can be done.
    pub(crate) fn place(&self) -> Place {
        match self.what {
            What::Start(How { foreground: true, .. })
            | What::Restart(How { foreground: true, .. }) => {
                Place::Here("daemon start --foreground")
            }
            What::Socket { .. } => Place::Here("daemon socket"),
            What::Start(_) | What::Stop | What::Restart(_) | What::Status => Place::Anywhere,
        }
    }

    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        // Its process is not of this machine: only its own program can wait for its end.
        if let Some(tunnel) = context.tunnel()? {
            match self.what {
                What::Stop => return pass_on(context, &tunnel, &["daemon", "stop"]),
                What::Restart(_) => return pass_on(context, &tunnel, &["daemon", "restart"]),
                What::Start(_) | What::Status | What::Socket { .. } => {}
            }
        }
        match self.what {
            What::Start(how) => start(context, &how),
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
            What::Restart(how) => {
                // First: a daemon that runs is better than one that does not start.
                config::refuse_mistakes(context)?;
                stop(context)?;
                start(context, &how)
            }
            What::Status => status(context),
            What::Socket { start } => socket(context, start),
        }
    }
}

fn start(context: &Context<'_>, how: &How) -> Result<Exit> {
    if how.foreground {
        context.host.run_daemon(&how.compat)?;
        return Ok(Exit::OK);
    }
    let mut started = false;
    let mut start = || {
        started = true;
        context.host.start_daemon(&how.compat).map_err(|error| format!("{error:#}"))
    };
    let connected = context.reach()?.connect_or_start(&context.identity, &mut start);
    let mut connection = connected.map_err(|error| context.failed(error))?;
    if !started {
        also_serve(context, &mut connection, &how.compat)?;
    }
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

/// Has a daemon that was running already serve other places, too.
fn also_serve(context: &Context<'_>, connection: &mut Connection, compat: &[Compat]) -> Result<()> {
    for program in compat {
        match program {
            Compat::Carryon => {
                let base = context.host.carryon_base()?.display().to_string();
                let params = json!({"name": program.name(), "base": base});
                connection.call("compat.serve", &params)?;
            }
            Compat::Ptywright => {
                let text = "the daemon runs already, and serves that from its start only";
                let hint = "`greenroom daemon restart --compat ptywright`; sessions live on";
                return Err(Failure::usage(text).hint(hint));
            }
        }
    }
    Ok(())
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
