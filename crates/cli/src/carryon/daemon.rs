//! `carryon start`, `stop` and `status`: the process that serves all sessions.
//!
//! A lock says who is the daemon, so that two that are started at once, or one that is started inside
//! a session, take nothing from each other.

use clap::Args;
use greenroom_client::{Connection, Hello};
use serde_json::{Value, json};

use super::served::{self, is_absent};
use crate::context::Context;
use crate::failure::{Exit, Result};
use crate::plain::plain;
use crate::verbs::daemon;

/// The variable by which `start` is told to stay in the foreground.
const FOREGROUND: &str = "CARRYON_DAEMON";

/// What is said when there is none.
const NOT_RUNNING: &str = "Daemon is not running";

/// Starts the daemon, if it does not run.
#[derive(Debug, Args)]
pub(super) struct Start {
    /// Stays in the foreground and logs to standard error.
    #[arg(long)]
    foreground: bool,
}

/// Stops the daemon; sessions live on.
#[derive(Debug, Args)]
pub(super) struct Stop;

/// Shows the daemon.
#[derive(Debug, Args)]
pub(super) struct Status;

impl Start {
    pub(super) fn run(self, context: &Context<'_>) -> Result<Exit> {
        match context.connect_to_running() {
            Ok(connection) => return started(context, connection, "already running"),
            Err(failure) if is_absent(&failure) => {}
            Err(failure) => return Err(failure),
        }
        let told = context.host.variable(FOREGROUND).is_some_and(|it| it == "1");
        match self.foreground || told {
            true => in_the_foreground(context),
            false => started(context, context.connect()?, "started"),
        }
    }
}

/// Has a daemon that runs serve the folder, and tells of it.
fn started(context: &Context<'_>, mut connection: Connection, how: &str) -> Result<Exit> {
    served::serve(context, &mut connection)?;
    context.output.line(&format!("Daemon {how}{}", process(connection.hello())))?;
    Ok(Exit::OK)
}

fn process(hello: &Hello) -> String {
    hello.pid.map(|it| format!(" (pid {it})")).unwrap_or_default()
}

/// Is the daemon until it is told to stop.
fn in_the_foreground(context: &Context<'_>) -> Result<Exit> {
    served::serve_soon(context)?;
    context.host.run_daemon(&[])?;
    Ok(Exit::OK)
}

impl Stop {
    pub(super) fn run(self, context: &Context<'_>) -> Result<Exit> {
        // Only the one of this folder: another has other sessions.
        let serving = served::connect_to_serving(context)?.is_some();
        let stopped = serving && daemon::stop(context)?;
        context.output.line(if stopped {
            "Daemon stopped; sessions live on"
        } else {
            NOT_RUNNING
        })?;
        Ok(Exit::OK)
    }
}

impl Status {
    pub(super) fn run(self, context: &Context<'_>) -> Result<Exit> {
        // Whoever asks whether it runs does not want it started; that it does not is an answer.
        let Some(mut connection) = served::connect_to_serving(context)? else {
            context.output.line(NOT_RUNNING)?;
            return Ok(Exit::OK);
        };
        let status = connection.call("daemon.status", &json!({}))?;
        context.output.line(&format!("Daemon is running{}", process(connection.hello())))?;
        for (name, text) in facts(&status) {
            context.output.line(&format!("  {:<10} {}", format!("{name}:"), plain(&text)))?;
        }
        Ok(Exit::OK)
    }
}

/// What there is to say.
fn facts(status: &Value) -> Vec<(&'static str, String)> {
    let is = |value: &Value| value.as_bool().unwrap_or_default();
    let backends = status["backends"].as_array().into_iter().flatten();
    let backends = backends.filter(|it| is(&it["available"])).filter_map(|it| it["id"].as_str());
    let local = match (is(&status["local"]["running"]), is(&status["local"]["enabled"])) {
        (true, _) => status["local"]["url"].as_str().unwrap_or("running"),
        (false, true) => "enabled, not running",
        (false, false) => "disabled",
    };
    let remote = match (is(&status["remote"]["connected"]), is(&status["remote"]["enabled"])) {
        (true, _) => "connected",
        (false, true) => "enabled, not connected",
        (false, false) => "disabled",
    };
    let uptime = status["uptime"].as_f64().unwrap_or_default();
    vec![
        ("uptime", format!("{uptime:.0} s")),
        ("sessions", status["sessions"].as_u64().unwrap_or_default().to_string()),
        ("backends", backends.collect::<Vec<_>>().join(", ")),
        ("local", local.to_owned()),
        ("remote", remote.to_owned()),
    ]
}
