//! `ls`: what sessions there are.

mod everywhere;

use clap::Args;
use greenroom_client::{Ended, Session, State};
use greenroom_model::ExitStatus;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Exit, Result};
use crate::output::{Output, Style};
use crate::plain::escaped;
use crate::table::{Cell, table};
use crate::{moment, terminal};

/// Lists the sessions.
#[derive(Debug, Args)]
#[command(visible_alias = "list")]
pub(crate) struct Ls {
    /// Lists those that ended, too.
    #[arg(short = 'a', long = "all", visible_alias = "ended")]
    ended: bool,
    /// Lists those of this machine and of all saved hosts.
    #[arg(long)]
    all_hosts: bool,
}

impl Ls {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        if self.all_hosts || context.chosen.several.len() > 1 {
            return everywhere::list(context, self.ended, self.all_hosts);
        }
        let params = json!({"ended": self.ended});
        let list = by_number(context.ask(|it| Ok(it.call("session.list", &params)?))?);
        if context.output.is_json() {
            context.output.value(&list)?;
            return Ok(Exit::OK);
        }
        let sessions: Vec<Session> =
            list.as_array().into_iter().flatten().map(Session::from_wire).collect();
        if sessions.is_empty() {
            let program = context.program();
            context.output.remark(&format!("no sessions; make one with `{program} new`"));
            return Ok(Exit::OK);
        }
        let width = terminal::size().map(|it| it.cols().into());
        context.output.bytes(shown(context.output, &sessions, moment::now(), width).as_bytes())?;
        Ok(Exit::OK)
    }
}

/// A list as people and programs get it: in the order in which the sessions were made. The daemon has
/// that of carryOn, by name.
fn by_number(mut list: Value) -> Value {
    if let Some(sessions) = list.as_array_mut() {
        sessions.sort_by_key(|it| it["number"].as_u64());
    }
    list
}

/// The sessions as a table.
fn shown(output: &Output, sessions: &[Session], now: i64, width: Option<usize>) -> String {
    let header = ["#", "NAME", "STATE", "SIZE", "CLIENTS", "AGE", "COMMAND"];
    let rows: Vec<Vec<Cell>> = sessions.iter().map(|it| row(it, now)).collect();
    table(output, &header, &rows, width)
}

fn row(session: &Session, now: i64) -> Vec<Cell> {
    let (state, style) = state(session);
    let command = match session.title.as_str() {
        "" => session.command.clone(),
        title => format!("{} ({title})", session.command),
    };
    vec![
        Cell::new(session.number.to_string(), Style::Plain),
        Cell::new(escaped(&session.name), Style::Strong),
        Cell::new(state, style),
        Cell::new(session.size.to_string(), Style::Plain),
        Cell::new(session.clients.to_string(), Style::Plain),
        Cell::new(moment::age(session.created_at, now), Style::Plain),
        Cell::new(command, Style::Plain),
    ]
}

/// Whether it lives, or how it ended.
pub(super) fn state(session: &Session) -> (String, Style) {
    match (session.state, &session.ended) {
        (State::Running, _) => ("running".to_owned(), Style::Good),
        (_, Some(Ended::Program(ExitStatus::Code(0)))) => ("exit 0".to_owned(), Style::Faint),
        (_, Some(Ended::Program(ExitStatus::Code(code)))) => (format!("exit {code}"), Style::Bad),
        (_, Some(Ended::Program(ExitStatus::Signal(signal)))) => {
            (format!("signal {signal}"), Style::Bad)
        }
        (state, _) => (state.name().to_owned(), Style::Bad),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_in_the_order_in_which_they_were_made() {
        let list = json!([{"number": 10, "name": "a"}, {"number": 9, "name": "b"}]);
        assert_eq!(by_number(list)[0]["name"], "b");
    }

    #[test]
    fn sessions_are_an_aligned_table_without_control_characters() {
        let sessions = [
            json!({"number": 1, "name": "main", "state": "running", "cols": 80, "rows": 24,
                "attachedClients": 2, "created": 0, "command": "bash", "title": "x\u{1b}]0;y\u{7}"}),
            json!({"number": 12, "name": "a\u{202e}b", "state": "ended", "code": 3, "cols": 132,
                "rows": 43, "created": 60_000, "command": "make"}),
            json!({"number": 13, "name": "k", "state": "ended", "signal": 9, "created": 0}),
            json!({"number": 14, "name": "l", "state": "lost", "created": 0}),
        ];
        let sessions: Vec<Session> = sessions.iter().map(Session::from_wire).collect();
        let text = shown(&Output::new(true, true), &sessions, 120_000, None);
        let expected = "\
#   NAME        STATE     SIZE    CLIENTS  AGE  COMMAND
1   main        running   80x24   2        2m   bash (x]0;y)
12  a\\u{202e}b  exit 3    132x43  0        1m   make
13  k           signal 9  80x24   0        2m
14  l           lost      80x24   0        2m
";
        assert_eq!(text, expected);
    }
}
