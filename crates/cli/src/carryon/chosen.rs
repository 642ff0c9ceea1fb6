//! Which session is meant: an exact name, an exact id, the beginning of an id, in that order; or the
//! one a person picks.
//!
//! Unlike our own verbs this one looks at living sessions only, names need not be unique, and
//! numbers mean nothing: that is the contract.

use greenroom_client::{Connection, Session};

use super::asked;
use super::list;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::moment;
use crate::plain::plain;
use crate::terminal;

/// A session that was chosen.
pub(super) struct Chosen {
    pub(super) session: Session,
    /// It was picked from a list, not named.
    pub(super) picked: bool,
}

/// The session that is meant; a person is asked if none or several are.
pub(super) fn session(
    context: &Context<'_>,
    connection: &mut Connection,
    named: Option<&str>,
) -> Result<Chosen> {
    if named.is_none() && !terminal::is_there() {
        return Err(Failure::usage("session argument required"));
    }
    let mut sessions = list::living(connection)?;
    if let Some(named) = named {
        sessions = matching(sessions, named);
        match sessions.len() {
            0 => return Err(Failure::usage(format!("no session matching \"{}\"", plain(named)))),
            1 => {}
            _ if terminal::is_there() => {}
            _ => {
                let text = "(use ID to disambiguate)";
                let text = format!("multiple sessions named \"{}\" {text}", plain(named));
                return Err(Failure::usage(text));
            }
        }
    }
    if let ([session], Some(_)) = (&*sessions, named) {
        return Ok(Chosen { session: session.clone(), picked: false });
    }
    pick(context, &sessions)
}

/// The sessions that a text means.
fn matching(sessions: Vec<Session>, text: &str) -> Vec<Session> {
    let by_name = |it: &Session| it.name == text;
    let by_id = |it: &Session| it.id == text;
    let by_beginning = |it: &Session| !text.is_empty() && it.id.starts_with(text);
    let ways: [&dyn Fn(&Session) -> bool; 3] = [&by_name, &by_id, &by_beginning];
    match ways.into_iter().find(|way| sessions.iter().any(way)) {
        Some(way) => sessions.into_iter().filter(way).collect(),
        None => Vec::new(),
    }
}

/// Has a person pick one.
fn pick(context: &Context<'_>, sessions: &[Session]) -> Result<Chosen> {
    if sessions.is_empty() {
        return Err(Failure::usage(list::NONE));
    }
    let now = moment::now();
    for (index, session) in sessions.iter().enumerate() {
        let row = list::row(context.output, session, now);
        context.output.line(&format!("{:>3}  {row}", index + 1))?;
    }
    let answer = asked::line(&format!("session [1-{}]: ", sessions.len()))?;
    let answer = answer.filter(|it| !it.is_empty()).ok_or_else(asked::nothing_chosen)?;
    let number = answer.parse::<usize>().ok().and_then(|it| it.checked_sub(1));
    match number.and_then(|it| sessions.get(it)) {
        Some(session) => Ok(Chosen { session: session.clone(), picked: true }),
        None => Err(Failure::usage(format!("no session {} in the list", plain(&answer)))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn meant(text: &str) -> Vec<String> {
        let all = [
            ("native-aaaa", "work"),
            ("native-aabb", "work"),
            ("native-cccc", "native-aaaa"),
            ("native-dddd", "native-d"),
            ("tmux-play", "play"),
        ];
        let all = all.map(|(id, name)| Session::from_wire(&json!({"id": id, "name": name})));
        matching(all.into(), text).into_iter().map(|it| it.id).collect()
    }

    #[test]
    fn names_win_over_ids_and_ids_over_their_beginnings() {
        assert_eq!(meant("work"), ["native-aaaa", "native-aabb"]);
        assert_eq!(meant("native-aaaa"), ["native-cccc"], "somebody's name");
        assert_eq!(meant("native-aabb"), ["native-aabb"]);
        assert_eq!(meant("native-aa"), ["native-aaaa", "native-aabb"]);
        assert_eq!(meant("native-d"), ["native-dddd"]);
        assert_eq!(meant("tmux"), ["tmux-play"]);
        assert!(meant("").is_empty() && meant("wor").is_empty() && meant("aaaa").is_empty());
    }
}
