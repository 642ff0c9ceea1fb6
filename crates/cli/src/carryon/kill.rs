//! `carryon kill`: ends a session.

use clap::Args;
use serde_json::json;

use super::{asked, chosen, served};
use crate::context::Context;
use crate::failure::{Exit, Result};
use crate::plain::plain;

/// Ends a session and every process in it.
///
/// One that is named ends at once; for one that is picked from the list you are asked again.
#[derive(Debug, Args)]
pub(super) struct Kill {
    /// The session: its name, its id, or the beginning of its id.
    #[arg(value_name = "session")]
    session: Option<String>,
}

impl Kill {
    pub(super) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let mut connection = served::connect(context)?;
        let chosen = chosen::session(context, &mut connection, self.session.as_deref())?;
        let (name, id) = (plain(&chosen.session.name), plain(&chosen.session.id));
        if chosen.picked && !asked::yes(&format!("Kill session {name} ({id})?"))? {
            return Err(asked::nothing_chosen());
        }
        connection.call("session.kill", &json!({"sessionId": chosen.session.exact()}))?;
        context.output.line(&format!("Killed session {name} ({id})"))?;
        Ok(Exit::OK)
    }
}
