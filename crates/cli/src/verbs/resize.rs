//! `resize`: gives a session's terminal another size.

use clap::Args;
use greenroom_model::Size;
use serde_json::json;

use crate::context::{self, Context};
use crate::failure::{Exit, Result};

/// Gives a session's terminal another size.
#[derive(Debug, Args)]
pub(crate) struct Resize {
    /// The session.
    #[arg(value_name = "SESSION", value_parser = context::target)]
    session: String,
    /// Columns and rows, such as 132x43.
    #[arg(value_name = "COLSxROWS", value_parser = context::size)]
    size: Size,
}

impl Resize {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let (cols, rows) = (self.size.cols(), self.size.rows());
        let params = json!({"sessionId": self.session, "cols": cols, "rows": rows});
        let answer = context.call("session.resize", &params)?;
        if context.output.is_json() {
            context.output.value(&answer)?;
        }
        Ok(Exit::OK)
    }
}
