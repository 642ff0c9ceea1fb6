//! What several subjects need.

use std::time::Duration;

use greenroom_client::{Connection, Event};
use greenroom_testkit::{Home, next_event};
use serde_json::{Value, json};

/// How long a session has for something it is waited for.
const PATIENCE: Duration = Duration::from_secs(25);

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
    wait_long_for_text(connection, session, text, PATIENCE);
}

/// The same for what takes longer than anything else may.
#[track_caller]
pub(crate) fn wait_long_for_text(
    connection: &mut Connection,
    session: &str,
    text: &str,
    patience: Duration,
) {
    let matcher = json!({"text": text, "in": "output"});
    let timeout = u64::try_from(patience.as_millis()).unwrap();
    let params = json!({"sessionId": session, "for": matcher, "after": 0, "timeoutMs": timeout});
    let answer = connection.call_within("session.wait", &params, patience + PATIENCE);
    answer.unwrap_or_else(|error| panic!("waiting for `{text}` in `{session}`: {error}"));
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

/// Numbers that look random and are the same each time (xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next().to_le_bytes()[0]).collect()
    }
}

/// A bad frame, or one that is good by accident.
pub(crate) fn mutated(random: &mut Random, valid: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = valid[random.below(valid.len())].clone();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        match random.below(4) {
            0 => bytes[at] = random.next().to_le_bytes()[0],
            1 => bytes.truncate(at.max(1)),
            2 => bytes.insert(at, random.next().to_le_bytes()[0]),
            _ => bytes[at] ^= 1 << random.below(8),
        }
    }
    bytes
}

/// How long a valid client may wait after a bad one. A build that is not optimised is slower, and
/// so is a machine that runs other tests.
pub(crate) const SERVED: Duration =
    Duration::from_millis(if cfg!(debug_assertions) { 1_000 } else { 100 });
