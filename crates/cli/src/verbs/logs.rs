//! `logs`: what the daemon noted.
//!
//! Not here: how entries are got and followed (`follow`).

use std::fs;
use std::path::Path;

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Exit, Failure, Result};
use crate::follow::{Entries, timestamp};
use crate::moment;
use crate::output::{Output, Style};
use crate::plain::plain;

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
        let connection = match context.connect_to_running() {
            Ok(connection) => connection,
            // The file is on the other machine, too.
            Err(failure) if context.chosen.machine.is_some() => return Err(failure),
            Err(_) => {
                let file = context.paths()?.state.join(LOG_FILE);
                return from_file(context.output, &file, self.last);
            }
        };
        let level = self.level.as_deref();
        let entries = Entries { last: self.last, level, follow: self.follow };
        entries.each(context, connection, |entry| show(context.output, entry))?;
        Ok(Exit::OK)
    }
}

fn show(output: &Output, entry: &Value) -> Result<()> {
    if output.is_json() {
        return Ok(output.value(entry)?);
    }
    let text = |key: &str| plain(entry[key].as_str().unwrap_or_default());
    let time = moment::clock(timestamp(entry));
    let level = text("level");
    let style = match level.as_str() {
        "error" | "warn" => Style::Bad,
        _ => Style::Faint,
    };
    let level = output.styled(style, &format!("{level:<5}"));
    let time = output.styled(Style::Faint, &time);
    Ok(output.line(&format!("{time} {level} {}: {}", text("component"), text("message")))?)
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
