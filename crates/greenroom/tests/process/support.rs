//! What several subjects need.

use greenroom_client::{Connection, Event};
use greenroom_testkit::{Home, next_event};
use serde_json::{Value, json};

/// A home for this build of the program.
pub(crate) fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_greenroom"))
}

/// Calls a method that must succeed.
#[track_caller]
pub(crate) fn call(connection: &mut Connection, method: &str, params: Value) -> Value {
    match connection.call(method, &params) {
        Ok(answer) => answer,
        Err(error) => panic!("`{method}` {params}: {error}"),
    }
}

/// Waits until a session has printed a text, whenever that was.
#[track_caller]
pub(crate) fn wait_for_text(connection: &mut Connection, session: &str, text: &str) {
    let matcher = json!({"text": text, "in": "output"});
    let params = json!({"sessionId": session, "for": matcher, "after": 0, "timeoutMs": 25_000});
    call(connection, "session.wait", params);
}

/// Waits until a session has ended, and gives what is known of it then.
#[track_caller]
pub(crate) fn wait_for_end(connection: &mut Connection, session: &str) -> Value {
    let params = json!({"sessionId": session, "for": {"exit": true}, "timeoutMs": 25_000});
    match connection.call("session.wait", &params) {
        Ok(_) => {}
        // It may have ended before it was asked for.
        Err(error) if error.kind() == greenroom_client::ErrorKind::Ended => {}
        Err(error) => panic!("waiting for the end of `{session}`: {error}"),
    }
    call(connection, "session.info", json!({"sessionId": session}))
}

/// The text of a session's screen.
#[track_caller]
pub(crate) fn screen(connection: &mut Connection, session: &str) -> String {
    let answer = call(connection, "session.read", json!({"sessionId": session}));
    answer["text"].as_str().unwrap().to_owned()
}

/// A process number of a session object.
pub(crate) fn pid(session: &Value, field: &str) -> u32 {
    u32::try_from(session[field].as_u64().unwrap()).unwrap()
}

/// Waits for a notification of this kind about a session; gives its particulars.
#[track_caller]
pub(crate) fn note(connection: &mut Connection, wanted: &str, session: &str) -> Value {
    loop {
        match next_event(connection, wanted) {
            Some(Event::Notification { method, params })
                if method == wanted && params["sessionId"] == session =>
            {
                return params;
            }
            Some(_) => {}
            None => panic!("the connection was lost before `{wanted}`"),
        }
    }
}

/// Presses Enter in a session.
#[track_caller]
pub(crate) fn enter(connection: &mut Connection, session: &str) {
    call(connection, "session.send", json!({"sessionId": session, "enter": true}));
}

/// A program for [`assert_answers`].
pub(crate) const ANSWERS: &str =
    "stty -echo; while read line; do echo answer-to-${line#question-}; done";

/// Asks a session that runs [`ANSWERS`] something, and waits for the answer.
#[track_caller]
pub(crate) fn assert_answers(connection: &mut Connection, session: &str, round: u32) {
    let text = format!("question-{round}\n");
    let sent = call(connection, "session.send", json!({"sessionId": session, "text": text}));
    let wanted = json!({"text": format!("answer-to-{round}\n")});
    let wait = json!({"sessionId": session, "for": wanted, "after": sent["offset"],
        "timeoutMs": 20_000});
    call(connection, "session.wait", wait);
}
