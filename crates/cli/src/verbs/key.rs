//! `key`: presses keys in a session.

use clap::Args;
use greenroom_model::{KeyError, KeyEvent};
use serde_json::json;

use crate::context::{self, Context};
use crate::failure::{Exit, Result};

/// Presses keys in a session, such as ctrl+c, up, f5, alt+enter or q.
///
/// Each is encoded as the program asked for: application cursor keys, kitty's protocol.
#[derive(Debug, Args)]
pub(crate) struct Key {
    /// The session.
    #[arg(value_name = "SESSION", value_parser = context::target)]
    session: String,
    /// The keys, pressed one after the other.
    #[arg(value_name = "KEY", required = true, value_parser = key)]
    keys: Vec<KeyEvent>,
}

fn key(text: &str) -> std::result::Result<KeyEvent, String> {
    text.parse().map_err(|error: KeyError| error.to_string())
}

impl Key {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let keys: Vec<String> = self.keys.iter().map(KeyEvent::to_string).collect();
        let answer =
            context.call("session.key", &json!({"sessionId": self.session, "keys": keys}))?;
        if context.output.is_json() {
            context.output.value(&answer)?;
        }
        Ok(Exit::OK)
    }
}
