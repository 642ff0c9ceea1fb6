//! `carryon logs`: what the daemon noted.
//!
//! Not here: how entries are got and followed (`follow`).

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::Value;

use super::served;
use crate::context::Context;
use crate::failure::{Exit, Result};
use crate::follow::{Entries, timestamp};
use crate::moment;
use crate::output::{Output, Style};
use crate::plain::plain;
use crate::verbs::logs::{LOG_FILE, from_file};

/// Shows what the daemon noted.
///
/// Without a daemon, the file it left is shown.
#[derive(Debug, Args)]
pub(super) struct Logs {
    /// Only the last entries.
    #[arg(long, value_name = "n", default_value_t = 50)]
    last: u64,
    /// Only entries of this level.
    #[arg(long, value_name = "level", value_parser = PossibleValuesParser::new(["debug", "info", "warn", "error"]))]
    level: Option<String>,
    /// Goes on with what is noted from now on.
    #[arg(short, long)]
    follow: bool,
}

impl Logs {
    pub(super) fn run(self, context: &Context<'_>) -> Result<Exit> {
        // Whoever looks for why there is no daemon does not want one started.
        let connection = match context.connect_to_running() {
            Err(failure) if served::is_absent(&failure) => {
                let file = context.paths()?.state.join(LOG_FILE);
                return from_file(context.output, &file, self.last);
            }
            other => other?,
        };
        let level = self.level.as_deref();
        let entries = Entries { last: self.last, level, follow: self.follow };
        entries.each(context, connection, |entry| show(context.output, entry))?;
        Ok(Exit::OK)
    }
}

fn show(output: &Output, entry: &Value) -> Result<()> {
    let text = |key: &str| plain(entry[key].as_str().unwrap_or_default());
    let level = text("level");
    let style = match level.as_str() {
        "error" | "warn" => Style::Bad,
        _ => Style::Plain,
    };
    let time = output.styled(Style::Faint, &moment::clock(timestamp(entry)));
    let level = output.styled(style, &format!("{:<5}", level.to_uppercase()));
    let (component, message) = (text("component"), text("message"));
    Ok(output.line(&format!("{time} {level} [{component}] {message}"))?)
}
