//! `search`: finds text in what a session printed.

use clap::Args;
use serde_json::{Value, json};

use crate::context::{self, Context};
use crate::failure::{Exit, Result};
use crate::output::Style;
use crate::plain::plain;

/// Finds text in what a session printed, the newest last.
///
/// Each line found is shown with the number of its row since the session began. Nothing found is
/// exit code 1, as grep has it.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// The session.
    #[arg(value_name = "SESSION", value_parser = context::target)]
    session: String,
    /// What to look for.
    #[arg(value_name = "PATTERN", value_parser = context::pattern, allow_hyphen_values = true)]
    pattern: String,
    /// The pattern is a regular expression.
    #[arg(short = 'E', long)]
    regex: bool,
    /// Capital and small letters are the same.
    #[arg(short, long)]
    ignore_case: bool,
    /// At most so many, the newest.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

impl Search {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let kind = if self.regex { "regex" } else { "text" };
        let mut params = json!({"sessionId": self.session, "ignoreCase": self.ignore_case});
        params[kind] = self.pattern.into();
        if let Some(limit) = self.limit {
            params["limit"] = limit.into();
        }
        let answer = context.ask(|it| Ok(it.call("session.search", &params)?))?;
        let matches = answer["matches"].as_array().map(Vec::as_slice).unwrap_or_default();
        if context.output.is_json() {
            context.output.value(&answer)?;
        } else {
            let mut text = String::new();
            for row in rows(matches) {
                let number = context.output.styled(Style::Faint, &format!("{}:", row.0));
                text.push_str(&format!("{number}{}\n", plain(row.1)));
            }
            context.output.bytes(text.as_bytes())?;
        }
        Ok(if matches.is_empty() { Exit::FAILED } else { Exit::OK })
    }
}

/// Each row once, however often it matches.
fn rows(matches: &[Value]) -> Vec<(u64, &str)> {
    let row = |it: &Value| it["row"].as_u64().unwrap_or_default();
    let mut rows: Vec<(u64, &str)> =
        matches.iter().map(|it| (row(it), it["line"].as_str().unwrap_or_default())).collect();
    rows.dedup_by_key(|it| it.0);
    rows
}
