//! `carryon list`: what sessions there are.

use clap::Args;
use greenroom_client::{Connection, Session};
use serde_json::json;

use super::served;
use crate::context::Context;
use crate::failure::{Exit, Result};
use crate::moment;
use crate::output::{Output, Style};
use crate::plain::{plain, width};

/// What is said when there are none.
pub(super) const NONE: &str = "no sessions are running";

/// How wide the columns are, as the contract has it.
const NAME: usize = 16;
const CLIENTS: usize = 12;
const TIME: usize = 12;

/// Lists the sessions: name, clients, when it was made, id.
#[derive(Debug, Args)]
#[command(visible_alias = "ls")]
pub(super) struct List;

impl List {
    pub(super) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let sessions = living(&mut served::connect(context)?)?;
        if sessions.is_empty() {
            context.output.remark(NONE);
        }
        let now = moment::now();
        for session in &sessions {
            context.output.line(&row(context.output, session, now))?;
        }
        Ok(Exit::OK)
    }
}

/// The living sessions, those of the user's tmux included.
pub(super) fn living(connection: &mut Connection) -> Result<Vec<Session>> {
    let list = connection.call("session.list", &json!({"tmux": true}))?;
    Ok(list.as_array().into_iter().flatten().map(Session::from_wire).collect())
}

/// A session as a line.
pub(super) fn row(output: &Output, session: &Session, now: i64) -> String {
    let clients = match session.clients {
        1 => "1 client".to_owned(),
        count => format!("{count} clients"),
    };
    let time = match now.saturating_sub(session.created_at) {
        ..1000 => "just now".to_owned(),
        _ => format!("{} ago", moment::age(session.created_at, now)),
    };
    let name = plain(&session.name);
    let [name, clients, time] = [
        padded(output, Style::Strong, &name, NAME),
        padded(output, Style::Plain, &clients, CLIENTS),
        padded(output, Style::Plain, &time, TIME),
    ];
    format!("{name} {clients} {time} {}", output.styled(Style::Faint, &plain(&session.id)))
}

/// The text, at least so many columns wide.
fn padded(output: &Output, style: Style, text: &str, columns: usize) -> String {
    let space = " ".repeat(columns.saturating_sub(width(text)));
    format!("{}{space}", output.styled(style, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_the_contract_has_them() {
        let row = |value| row(&Output::new(true, true), &Session::from_wire(&value), 300_500);
        assert_eq!(
            row(json!({"id": "native-1", "name": "work", "attachedClients": 1, "created": 500})),
            "work             1 client     5m ago       native-1"
        );
        assert_eq!(
            row(
                json!({"id": "native-2", "name": "a name that is longer\u{1b}", "created": 300_000})
            ),
            "a name that is longer 0 clients    just now     native-2"
        );
    }
}
