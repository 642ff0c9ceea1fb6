//! The sessions of several machines in one list.
//!
//! All are asked side by side. One that does not answer is a row that says so: the others' sessions
//! are worth seeing all the same.

use greenroom_client::{Error, Machine, Session};
use serde_json::{Value, json};

use super::{by_number, row};
use crate::context::{Context, identity};
use crate::failure::{Exit, Failure, Result};
use crate::machines::{self, LOCAL, ONE_OF_SEVERAL, Saved};
use crate::output::{Output, Style};
use crate::table::{Cell, table};
use crate::{moment, terminal};

/// A machine's sessions, or why it has none to show.
type Answer = (String, std::result::Result<Value, Failure>);

/// Lists the sessions of those that were named, and with `all` of this machine and all saved ones.
pub(super) fn list(context: &Context<'_>, ended: bool, all: bool) -> Result<Exit> {
    let params = json!({"ended": ended});
    let (here, there) = meant(context, all)?;
    let mut answers: Vec<Answer> = Vec::new();
    if here {
        answers.push((LOCAL.to_owned(), here_listed(context, &params).map(by_number)));
    }
    let far = machines::side_by_side(context, &there, |tunnel| {
        let mut connection = tunnel.connect(&identity(), true)?;
        connection.call_within("session.list", &params, ONE_OF_SEVERAL)
    })?;
    let named = there.into_iter().map(|it| it.name).zip(far);
    answers.extend(
        named.map(|(name, it)| {
            (name, it.map(by_number).map_err(|error: Error| context.failed(error)))
        }),
    );
    match context.output.is_json() {
        true => context.output.value(&to_wire(&answers))?,
        false => {
            let width = terminal::size().map(|it| it.cols().into());
            let text = shown(context.output, &answers, moment::now(), width);
            context.output.bytes(text.as_bytes())?;
        }
    }
    // Somebody answered, or it failed as the last of them did.
    let failed = answers.iter().map(|it| it.1.as_ref().err()).collect::<Option<Vec<_>>>();
    Ok(failed.and_then(|it| it.last().map(|it| it.exit())).unwrap_or(Exit::OK))
}

/// Whether this machine is meant, and which others.
fn meant(context: &Context<'_>, all: bool) -> Result<(bool, Vec<Machine>)> {
    let state = context.paths()?.state;
    let (mut here, mut there) = (all, Vec::new());
    if all {
        there = Saved::below(&state).all()?;
    }
    for name in &context.chosen.several {
        match machines::find(name, || Ok(Saved::below(&state)))? {
            None => here = true,
            Some(machine) if there.contains(&machine) => {}
            Some(machine) => there.push(machine),
        }
    }
    Ok((here, there))
}

/// The sessions of this machine, whichever one the variable names.
fn here_listed(context: &Context<'_>, params: &Value) -> Result<Value> {
    let here = Context::new(context.host, context.output);
    here.ask(|it| Ok(it.call("session.list", params)?))
}

/// Every session with its host, and an entry for each machine that did not answer.
fn to_wire(answers: &[Answer]) -> Value {
    let mut all = Vec::new();
    for (host, answer) in answers {
        match answer {
            Ok(list) => all.extend(list.as_array().into_iter().flatten().map(|session| {
                let mut session = session.clone();
                session["host"] = host.as_str().into();
                session
            })),
            Err(failure) => {
                let mut entry = failure.for_programs();
                entry["host"] = host.as_str().into();
                all.push(entry);
            }
        }
    }
    all.into()
}

fn shown(output: &Output, answers: &[Answer], now: i64, width: Option<usize>) -> String {
    let header = ["HOST", "#", "NAME", "STATE", "SIZE", "CLIENTS", "AGE", "COMMAND"];
    let mut rows = Vec::new();
    for (host, answer) in answers {
        let host = || Cell::new(host, Style::Plain);
        match answer {
            Ok(list) => {
                let sessions = list.as_array().into_iter().flatten();
                let sessions: Vec<Session> = sessions.map(Session::from_wire).collect();
                rows.extend(sessions.iter().map(|it| {
                    let mut cells = row(it, now);
                    cells.insert(0, host());
                    cells
                }));
            }
            Err(failure) => rows.push(degraded(host(), failure)),
        }
    }
    table(output, &header, &rows, width)
}

/// The row of a machine that did not answer.
fn degraded(host: Cell, failure: &Failure) -> Vec<Cell> {
    let empty = || Cell::new("", Style::Plain);
    let state = Cell::new("no answer", Style::Bad);
    let why = Cell::new(failure.message(), Style::Faint);
    vec![host, empty(), empty(), state, empty(), empty(), empty(), why]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_answer_is_a_row_and_an_entry() {
        let session = json!([{"number": 1, "name": "main", "state": "running", "cols": 80,
            "rows": 24, "created": 0, "command": "bash"}]);
        let answers = [
            (LOCAL.to_owned(), Ok(session)),
            ("box".to_owned(), Err(Failure::usage("host `box`: no route"))),
        ];
        let text = shown(&Output::new(true, true), &answers, 60_000, None);
        let expected = "\
HOST   #  NAME  STATE      SIZE   CLIENTS  AGE  COMMAND
local  1  main  running    80x24  0        1m   bash
box             no answer                       host `box`: no route
";
        assert_eq!(text, expected);
        let json = to_wire(&answers);
        assert_eq!((&json[0]["host"], &json[0]["name"]), (&"local".into(), &"main".into()));
        assert_eq!((&json[1]["host"], &json[1]["error"]["kind"]), (&"box".into(), &"usage".into()));
    }
}
