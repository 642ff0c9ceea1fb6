//! `forget`: removes what is kept of sessions that ended.

use clap::Args;
use greenroom_client::{Session, State};
use serde_json::json;

use crate::context::{self, Context};
use crate::failure::{Exit, Result};

/// Removes sessions that ended: their screen, their text and their place in the list.
#[derive(Debug, Args)]
pub(crate) struct Forget {
    /// The sessions.
    #[arg(value_name = "SESSION", value_parser = context::target, required_unless_present = "all_ended")]
    sessions: Vec<String>,
    /// Every session that ended.
    #[arg(long, conflicts_with = "sessions")]
    all_ended: bool,
}

impl Forget {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let targets = match self.all_ended {
            true => ended(context)?,
            false => self.sessions,
        };
        context.for_each(&targets, |connection, target| {
            connection.call("session.forget", &json!({"sessionId": target})).map(drop)
        })?;
        if context.output.is_json() {
            context.output.value(&json!({"ok": true, "forgotten": targets.len()}))?;
        }
        Ok(Exit::OK)
    }
}

fn ended(context: &Context<'_>) -> Result<Vec<String>> {
    let list = context.call("session.list", &json!({"ended": true}))?;
    let sessions = list.as_array().into_iter().flatten().map(Session::from_wire);
    Ok(sessions.filter(|it| it.state != State::Running).map(|it| it.exact()).collect())
}
