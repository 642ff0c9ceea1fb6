//! `logs`: what the daemon noted.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;
use greenroom_client::{Connection, ErrorKind};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Exit, Failure, FailureKind, Result};
use crate::moment;
use crate::output::{Output, Style};
use crate::plain::plain;

/// How often new entries are asked for: at once, to a person.
const FOLLOW_EVERY: Duration = Duration::from_millis(500);

/// How many entries are looked at when following: more than are noted in that time.
const FOLLOW_LAST: u64 = 1000;

/// What a call over a lost connection gives.
const GONE: FailureKind = FailureKind::Daemon(ErrorKind::Unreachable);

/// The name of the daemon's log in the state folder.
pub(crate) const LOG_FILE: &str = "daemon.log";

/// Shows what the daemon noted.
///
/// Without a daemon, the file it left is shown.
#[derive(Debug, Args)]
pub(crate) struct Logs {
    /// Only the last entries.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    last: u64,
    /// Only entries of this level.
    #[arg(long, value_name = "LEVEL", value_parser = PossibleValuesParser::new(["error", "warn", "info", "debug", "trace"]))]
    level: Option<String>,
    /// Goes on with what is noted from now on.
    #[arg(short, long)]
    follow: bool,
}

impl Logs {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        // Whoever looks for why there is no daemon does not want one started.
        let mut connection = match context.connect_to_running() {
            Ok(connection) => connection,
            // The file is on the other machine, too.
            Err(failure) if context.chosen.machine.is_some() => return Err(failure),
            Err(_) => {
                let file = context.paths()?.state.join(LOG_FILE);
                return from_file(context.output, &file, self.last);
            }
        };
        let mut seen = HashSet::new();
        self.show(context.output, &mut connection, self.last, &mut seen)?;
        if !self.follow {
            return Ok(Exit::OK);
        }
        loop {
            thread::sleep(FOLLOW_EVERY);
            match self.show(context.output, &mut connection, FOLLOW_LAST, &mut seen) {
                // A daemon that is restarted goes on where it was.
                Err(failure) if failure.kind() == GONE => {
                    if let Ok(again) = context.connect_to_running() {
                        connection = again;
                    }
                }
                other => other?,
            }
        }
    }

    /// Shows the last entries that were not shown yet.
    fn show(
        &self,
        output: &Output,
        connection: &mut Connection,
        last: u64,
        seen: &mut HashSet<String>,
    ) -> Result<()> {
        let mut params = json!({"last": last});
        if let Some(level) = &self.level {
            params["level"] = level.as_str().into();
        }
        let answer = connection.call("daemon.logs", &params)?;
        let entries = answer["entries"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_first = seen.is_empty();
        let mut current = HashSet::new();
        for entry in entries {
            let text = entry.to_string();
            if is_first || !seen.contains(&text) {
                self.entry(output, entry)?;
            }
            current.insert(text);
        }
        // Keeping only what is still listed bounds what is remembered.
        if !current.is_empty() {
            *seen = current;
        }
        Ok(())
    }

    fn entry(&self, output: &Output, entry: &Value) -> Result<()> {
        if output.is_json() {
            return Ok(output.value(entry)?);
        }
        let text = |key: &str| plain(entry[key].as_str().unwrap_or_default());
        let time = moment::clock(entry["timestamp"].as_i64().unwrap_or_default());
        let level = text("level");
        let style = match level.as_str() {
            "error" | "warn" => Style::Bad,
            _ => Style::Faint,
        };
        let level = output.styled(style, &format!("{level:<5}"));
        let time = output.styled(Style::Faint, &time);
        Ok(output.line(&format!("{time} {level} {}: {}", text("component"), text("message")))?)
    }
}

/// Shows the end of the file a daemon left.
pub(crate) fn from_file(output: &Output, file: &Path, last: u64) -> Result<Exit> {
    let text = fs::read(file).map_err(|error| {
        Failure::system(&format!("no daemon is running, and reading `{}`", file.display()), &error)
            .hint("start a daemon with `greenroom daemon start`")
    })?;
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let skipped = lines.len().saturating_sub(usize::try_from(last).unwrap_or(usize::MAX));
    output.remark(&format!("no daemon is running; from `{}`:", file.display()));
    for line in &lines[skipped..] {
        match output.is_json() {
            true => output.value(&json!({"line": line}))?,
            false => output.line(&plain(line))?,
        }
    }
    Ok(Exit::OK)
}
