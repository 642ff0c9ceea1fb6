//! `rename`: gives a session another name.

use clap::Args;
use serde_json::json;

use crate::context::{self, Context};
use crate::failure::{Exit, Result};
use crate::name;

/// Gives a session another name.
///
/// No other that runs may have it.
#[derive(Debug, Args)]
pub(crate) struct Rename {
    /// The session.
    #[arg(value_name = "SESSION", value_parser = context::target)]
    session: String,
    /// Its new name.
    #[arg(value_name = "NAME")]
    name: String,
}

impl Rename {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        name::check(&self.name)?;
        let params = json!({"sessionId": self.session, "name": self.name, "unique": true});
        let answer = context.call("session.rename", &params)?;
        if context.output.is_json() {
            context.output.value(&answer)?;
        }
        Ok(Exit::OK)
    }
}
