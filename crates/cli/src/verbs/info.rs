//! `info`: all about one session.

use clap::Args;
use greenroom_client::Session;

use crate::context::{self, Context};
use crate::failure::{Exit, Result};
use crate::output::Style;
use crate::plain::{escaped, plain};
use crate::{moment, select};

/// Shows all about one session.
#[derive(Debug, Args)]
pub(crate) struct Info {
    /// The session; without one the default session, or the only one.
    #[arg(value_name = "SESSION", value_parser = context::target)]
    session: Option<String>,
}

impl Info {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let default = context.settings()?.default_session;
        let (session, value) = context.ask(|connection| {
            let target = select::target(connection, self.session.as_deref(), &default)?;
            select::info(connection, &target)
        })?;
        if context.output.is_json() {
            context.output.value(&value)?;
            return Ok(Exit::OK);
        }
        for (name, text) in facts(&session) {
            let name = context.output.styled(Style::Faint, &format!("{name:>9}"));
            context.output.line(&format!("{name}  {}", plain(&text)))?;
        }
        Ok(Exit::OK)
    }
}

/// What there is to say, without what is empty.
fn facts(session: &Session) -> Vec<(&'static str, String)> {
    let pid = session.pid.map(|it| it.to_string());
    let facts = vec![
        ("number", session.number.to_string()),
        ("name", escaped(&session.name)),
        ("id", session.id.clone()),
        ("uuid", session.uuid.clone()),
        ("state", super::ls::state(session).0),
        ("size", session.size.to_string()),
        ("clients", session.clients.to_string()),
        ("created", moment::clock(session.created_at)),
        ("ended", session.ended_at.map(moment::clock).unwrap_or_default()),
        ("pid", pid.unwrap_or_default()),
        ("command", session.command.clone()),
        ("folder", session.cwd.clone()),
        ("title", session.title.clone()),
        ("printed", format!("{} bytes", session.offset)),
    ];
    facts.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}
