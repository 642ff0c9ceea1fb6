//! `carryon rename`: gives a session another name.

use clap::Args;
use serde_json::json;

use super::{asked, chosen, served};
use crate::context::Context;
use crate::failure::{Exit, Failure, Result};
use crate::plain::plain;
use crate::terminal;

/// Gives a session another name.
#[derive(Debug, Args)]
pub(super) struct Rename {
    /// The session: its name, its id, or the beginning of its id.
    #[arg(value_name = "session")]
    session: Option<String>,
    /// Its new name.
    #[arg(value_name = "name")]
    name: Option<String>,
}

impl Rename {
    pub(super) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let mut connection = served::connect(context)?;
        let session = chosen::session(context, &mut connection, self.session.as_deref())?.session;
        let name = match self.name {
            Some(name) => name,
            None if terminal::is_there() => asked::line("new name: ")?.unwrap_or_default(),
            None => return Err(Failure::usage("name argument required")),
        };
        if name.is_empty() {
            return Err(Failure::usage("name argument required"));
        }
        let params = json!({"sessionId": session.exact(), "name": name});
        connection.call("session.rename", &params)?;
        let (old, new) = (plain(&session.name), plain(&name));
        context.output.line(&format!("Renamed session {old} to {new}"))?;
        Ok(Exit::OK)
    }
}
