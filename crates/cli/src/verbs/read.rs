//! `read`: what a session shows and showed.

use clap::Args;
use serde_json::json;

use crate::context::{self, Context};
use crate::failure::{Exit, Result};
use crate::plain::plain_lines;
use crate::select;

/// Prints what a session shows: its screen, or what scrolled off it.
#[derive(Debug, Args)]
pub(crate) struct Read {
    /// The session; without one the default session, or the only one.
    #[arg(value_name = "SESSION", value_parser = context::target)]
    session: Option<String>,
    /// What scrolled off the screen.
    #[arg(long, conflicts_with = "all")]
    history: bool,
    /// What scrolled off and the screen.
    #[arg(long)]
    all: bool,
    /// Only the last lines.
    #[arg(short = 'n', long, value_name = "N")]
    lines: Option<u64>,
    /// Keeps colours, as escape sequences.
    #[arg(long)]
    styled: bool,
}

impl Read {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let default = context.settings()?.default_session;
        let what = match (self.history, self.all) {
            (true, _) => "history",
            (_, true) => "all",
            _ => "screen",
        };
        let mut params = json!({"what": what, "styled": self.styled});
        if let Some(lines) = self.lines {
            params["lines"] = lines.into();
        }
        let answer = context.ask(|connection| {
            let target = select::target(connection, self.session.as_deref(), &default)?;
            params["sessionId"] = target.into();
            Ok(connection.call("session.read", &params)?)
        })?;
        if context.output.is_json() {
            context.output.value(&answer)?;
            return Ok(Exit::OK);
        }
        let text = answer["text"].as_str().unwrap_or_default();
        // Styles are escape sequences that the daemon made, not the program's.
        let mut text = if self.styled { text.to_owned() } else { plain_lines(text) };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        context.output.bytes(text.as_bytes())?;
        Ok(Exit::OK)
    }
}
