//! `kill`: ends sessions.

use std::time::Duration;

use clap::Args;
use greenroom_client::CALL_TIMEOUT;
use serde_json::json;

use crate::context::{self, Context};
use crate::failure::{Exit, Result};

/// Ends sessions and every process in them.
///
/// Programs are asked to end first; what is still there after the grace time is killed. The
/// session stays readable until it is forgotten.
#[derive(Debug, Args)]
pub(crate) struct Kill {
    /// The sessions.
    #[arg(value_name = "SESSION", value_parser = context::target, required = true)]
    sessions: Vec<String>,
    /// How long programs may take to end by themselves, in milliseconds.
    #[arg(long, value_name = "MS")]
    grace: Option<u64>,
}

impl Kill {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let grace = Duration::from_millis(self.grace.unwrap_or_default());
        let timeout = CALL_TIMEOUT.saturating_add(grace);
        context.for_each(&self.sessions, |connection, target| {
            let mut params = json!({"sessionId": target});
            if let Some(grace) = self.grace {
                params["graceMs"] = grace.into();
            }
            connection.call_within("session.kill", &params, timeout).map(drop)
        })?;
        if context.output.is_json() {
            context.output.value(&json!({"ok": true}))?;
        }
        Ok(Exit::OK)
    }
}
