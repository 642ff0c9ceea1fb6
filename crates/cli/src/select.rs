//! Which session is meant when none is named.
//!
//! The default session if it lives, else the only one that does. A named target is the daemon's
//! to find: a number, a name, an id, or the beginning of one.

use greenroom_client::{Connection, ErrorKind, Session};
use serde_json::{Value, json};

use crate::failure::{Failure, FailureKind, Result};
use crate::plain::escaped;

/// How many sessions a message names before it says how many more there are.
const NAMED: usize = 5;

/// The living sessions.
pub(crate) fn living(connection: &mut Connection) -> Result<Vec<Session>> {
    let list = connection.call("session.list", &json!({}))?;
    Ok(list.as_array().into_iter().flatten().map(Session::from_wire).collect())
}

/// The target that is meant: the named one, or the one to be picked.
pub(crate) fn target(
    connection: &mut Connection,
    named: Option<&str>,
    default: &str,
) -> Result<String> {
    match named {
        Some(target) => Ok(target.to_owned()),
        None => Ok(pick(&living(connection)?, default)?.exact()),
    }
}

/// The session as the daemon describes it.
pub(crate) fn info(connection: &mut Connection, target: &str) -> Result<(Session, Value)> {
    let value = connection.call("session.info", &json!({"sessionId": target}))?;
    Ok((Session::from_wire(&value), value))
}

/// The default session, or the only one.
pub(crate) fn pick<'a>(sessions: &'a [Session], default: &str) -> Result<&'a Session> {
    if let Some(session) = sessions.iter().find(|it| it.name == default) {
        return Ok(session);
    }
    match sessions {
        [] => Err(no_target(ErrorKind::NotFound, "no session is running")
            .hint("make one with `greenroom new`")),
        [only] => Ok(only),
        several => {
            let message = format!(
                "{} sessions are running, none is called `{default}`: {}",
                several.len(),
                names(several),
            );
            let hint = "say which: a name or a number from `greenroom ls`";
            Err(no_target(ErrorKind::Ambiguous, message).hint(hint))
        }
    }
}

fn no_target(kind: ErrorKind, message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Daemon(kind), message)
}

fn names(sessions: &[Session]) -> String {
    let named = sessions.iter().take(NAMED).map(|it| escaped(&it.name)).collect::<Vec<_>>();
    match sessions.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(number: u64, name: &str) -> Session {
        Session::from_wire(&json!({"number": number, "name": name, "uuid": format!("u{number}")}))
    }

    #[test]
    fn the_default_session_wins_over_others() {
        let sessions = [session(1, "a"), session(2, "main")];
        assert_eq!(pick(&sessions, "main").unwrap().exact(), "u2");
    }

    #[test]
    fn the_only_session_is_meant() {
        assert_eq!(pick(&[session(7, "a")], "main").unwrap().exact(), "u7");
    }

    #[test]
    fn none_and_several_are_told_apart_and_say_what_to_do() {
        let none = pick(&[], "main").unwrap_err();
        assert_eq!(none.exit().0, 3);
        assert!(none.for_people().contains("greenroom new"));
        let many: Vec<Session> = (0..7).map(|it| session(it, &format!("s{it}"))).collect();
        let several = pick(&many, "main").unwrap_err();
        assert_eq!(several.exit().0, 3);
        assert_eq!(
            several.for_people(),
            "error: 7 sessions are running, none is called `main`: s0, s1, s2, s3, s4 and 2 more\n\
             hint: say which: a name or a number from `greenroom ls`\n"
        );
    }
}
