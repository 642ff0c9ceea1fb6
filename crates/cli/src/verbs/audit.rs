//! `audit`: who did what.

use clap::Args;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Exit, Result};
use crate::moment;
use crate::output::{Output, Style};
use crate::plain::plain;

/// Shows who did what to sessions.
///
/// The daemon keeps the last 10,000 entries, over restarts: what was made, typed into, attached to,
/// renamed, killed and forgotten, when, and by whom. What was typed is not kept.
#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// Only the last entries.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    last: u64,
}

impl Audit {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let mut connection = context.connect()?;
        let answer = connection.call("daemon.audit", &json!({"last": self.last}))?;
        for entry in answer["entries"].as_array().map(Vec::as_slice).unwrap_or_default() {
            show(context.output, entry)?;
        }
        Ok(Exit::OK)
    }
}

fn show(output: &Output, entry: &Value) -> Result<()> {
    if output.is_json() {
        return Ok(output.value(entry)?);
    }
    let text = |key: &str| plain(entry[key].as_str().unwrap_or_default());
    let time = moment::clock(entry["timestamp"].as_i64().unwrap_or_default());
    let session = entry["number"].as_u64().map(|it| format!(" {it}")).unwrap_or_default();
    let denied = match entry["allowed"].as_bool() {
        Some(false) => output.styled(Style::Bad, " denied"),
        _ => String::new(),
    };
    let (time, who) = (output.styled(Style::Faint, &time), text("who"));
    Ok(output.line(&format!("{time} {}{session}{denied} by {who}", text("what")))?)
}
