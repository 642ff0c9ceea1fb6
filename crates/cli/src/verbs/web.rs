//! `web`: serves browsers.

use clap::Args;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Exit, Result};

/// Serves sessions to browsers from now on, and says where.
///
/// The address has the token in it, behind `#`, which browsers do not send: whoever opens it is logged
/// in. It holds until the daemon ends; `doors.web.enabled` in the configuration is for good.
#[derive(Debug, Args)]
pub(crate) struct Web {
    /// The port; 0 for any that is free.
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Lets other machines in, by TLS.
    #[arg(long)]
    expose: bool,
    /// Serves them no more.
    #[arg(long, conflicts_with_all = ["port", "expose"])]
    off: bool,
}

impl Web {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let answer = match self.off {
            true => context.call("web.close", &json!({}))?,
            false => {
                let mut params = json!({"port": self.port});
                if self.expose {
                    params["expose"] = true.into();
                }
                context.call("web.open", &params)?
            }
        };
        match (context.output.is_json(), answer["open"].as_str()) {
            (true, _) => context.output.value(&answer)?,
            (false, Some(address)) => context.output.line(address)?,
            (false, None) if answer["was"] == Value::Bool(false) => {
                context.output.remark("browsers were not served");
            }
            (false, None) => {}
        }
        Ok(Exit::OK)
    }
}
