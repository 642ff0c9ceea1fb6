//! The messages of `/ws/pty`, as they are on the wire.
//!
//! What is not in the contract is only added: `seq`, the offset to go on from with `?since=`, `lagged`,
//! and what a session is besides its id.

use axum::body::Bytes;
use axum::extract::ws::Utf8Bytes;
use greenroom_engine::{End, Error, ErrorKind};
use greenroom_model::{ExitStatus, Size};
use serde_json::{Value, json};

use super::opening::Opened;
use crate::history::History;

/// The size of a terminal whose client does not say.
const USUAL: (u64, u64) = (80, 24);

/// The longest side of a terminal, by the contract.
const MAX_SIDE: u64 = 500;

/// What a client said.
#[derive(Debug, PartialEq)]
pub(super) enum Said {
    /// It typed.
    Input(Bytes),
    /// It has this size.
    Resize(Size),
    /// It wants to know whether we are there; with the id of its request, if it has one.
    Ping(Option<Value>),
    /// Something we need not know.
    Nothing,
}

/// Reads a message. What is no object with a type is typed as it is.
pub(super) fn read(bytes: Bytes) -> Said {
    // Nothing but an object is read: everything else is typed, whatever it would mean.
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'{') {
        return Said::Input(bytes);
    }
    let Ok(value) = serde_json::from_slice::<Value>(&bytes) else { return Said::Input(bytes) };
    let Some(kind) = value["type"].as_str() else { return Said::Input(bytes) };
    match kind {
        "input" => match value["data"].as_str() {
            Some(data) => Said::Input(Bytes::copy_from_slice(data.as_bytes())),
            None => Said::Nothing,
        },
        "resize" => {
            let (cols, rows) = (side(&value["cols"], USUAL.0), side(&value["rows"], USUAL.1));
            Said::Resize(Size::clamped(cols, rows))
        }
        "ping" => Said::Ping(value.get("request_id").cloned()),
        _ => Said::Nothing,
    }
}

/// A side of a terminal: what is missing or no number is the usual, and what is absurd is clamped.
fn side(value: &Value, usual: u64) -> u16 {
    let number = match (value.as_u64(), value.as_f64()) {
        (Some(number), _) => number,
        (None, Some(number)) if number >= 1.0 => number as u64,
        (None, Some(_)) => 1,
        (None, None) => usual,
    };
    number.clamp(1, MAX_SIDE) as u16
}

/// The answer to a ping.
pub(super) fn pong(request: Option<&Value>) -> Utf8Bytes {
    match request {
        None => Utf8Bytes::from_static(r#"{"type":"pong"}"#),
        Some(id) => words(&json!({"type": "pong", "request_id": id})),
    }
}

fn words(value: &Value) -> Utf8Bytes {
    value.to_string().into()
}

/// What is said of one session.
pub(super) struct Speaker<'a> {
    /// What the contract calls it.
    pub(super) session: &'a str,
}

impl Speaker<'_> {
    /// Which session it is: always the first message.
    pub(super) fn session(&self, opened: &Opened) -> Utf8Bytes {
        words(&json!({"type": "session", "session_id": self.session, "provider": opened.provider,
            "resumed": opened.resumed, "cols": opened.size.cols(), "rows": opened.size.rows()}))
    }

    pub(super) fn printed(&self, text: &str, next: u64) -> Utf8Bytes {
        // Written by hand: this is the one that is made for every byte that is shown.
        let mut out = Vec::with_capacity(text.len() + text.len() / 8 + 128);
        out.extend_from_slice(br#"{"type":"output","data":"#);
        // Writing to a `Vec` does not fail.
        serde_json::to_writer(&mut out, text).ok();
        out.extend_from_slice(
            format!(r#","session_id":"{}","seq":{next}}}"#, self.session).as_bytes(),
        );
        Utf8Bytes::try_from(Bytes::from(out)).unwrap_or_default()
    }

    pub(super) fn history(&self, history: &History) -> Utf8Bytes {
        words(&json!({"type": "history", "data": history.text, "session_id": self.session,
            "seq": history.at}))
    }

    /// It was too slow; a `history` follows that begins with an empty screen.
    pub(super) fn lagged(&self, at: u64) -> Utf8Bytes {
        words(&json!({"type": "lagged", "session_id": self.session, "seq": at}))
    }

    /// What was to be resumed is not there; what follows is new.
    pub(super) fn not_found(&self) -> Utf8Bytes {
        let data = format!("No session {} to resume; this is a new one.", self.session);
        words(&json!({"type": "session_not_found", "session_id": self.session, "data": data}))
    }

    /// The program could not be started.
    pub(super) fn failed(&self, error: &Error) -> Utf8Bytes {
        let (kind, reason) = match error {
            Error::Spawn { what, .. } => {
                ("spawn_failed", format!("PTY command not found or not executable: {what}"))
            }
            other => (failure(other.kind()), other.to_string()),
        };
        words(&json!({"type": "error", "session_id": self.session,
            "data": format!("Failed to start session: {error}"),
            "error": {"type": kind, "reason": reason}}))
    }

    /// It ended, after everything it printed.
    pub(super) fn exit(&self, end: End) -> Utf8Bytes {
        let (code, signal) = match end {
            End::Exited(ExitStatus::Code(code)) => (Some(code), None),
            End::Exited(ExitStatus::Signal(signal)) => (None, Some(signal)),
            End::Lost => (None, None),
        };
        words(&json!({"type": "exit", "code": code, "signal": signal,
            "session_id": self.session}))
    }
}

/// The kinds of failure, as the wire has them. No `_` arm: a new kind is decided here.
fn failure(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Spawn => "spawn_failed",
        ErrorKind::Limit | ErrorKind::Busy => "at_capacity",
        ErrorKind::Denied => "denied",
        ErrorKind::Invalid => "invalid",
        ErrorKind::NotFound | ErrorKind::Ambiguous | ErrorKind::Ended | ErrorKind::Lost => {
            "not_found"
        }
        ErrorKind::Timeout | ErrorKind::Storage | ErrorKind::Internal => "internal",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(text: &'static str) -> Said {
        Said::Input(Bytes::from_static(text.as_bytes()))
    }

    fn said(text: &'static str) -> Said {
        read(Bytes::from_static(text.as_bytes()))
    }

    #[test]
    fn what_is_no_object_with_a_type_is_typed() {
        for raw in [
            "ls\n",
            "7",
            "null",
            "true",
            "\"text\"",
            "[1,2]",
            "{",
            "{}",
            r#"{"data":"x"}"#,
            r#"{"type":5}"#,
            "",
            " ",
            "[[[[",
        ] {
            assert_eq!(said(raw), input(raw), "{raw}");
        }
        let deep = "{\"a\":".repeat(100_000);
        assert_eq!(read(Bytes::from(deep.clone())), Said::Input(Bytes::from(deep)));
    }

    #[test]
    fn messages_are_read_with_their_defaults() {
        assert_eq!(said(r#"{"type":"input","data":"ls\n"}"#), input("ls\n"));
        assert_eq!(said(r#" {"type":"input"}"#), Said::Nothing);
        assert_eq!(said(r#"{"type":"dance"}"#), Said::Nothing);
        assert_eq!(said(r#"{"type":"ping"}"#), Said::Ping(None));
        let resized = |text| match said(text) {
            Said::Resize(size) => (size.cols(), size.rows()),
            other => panic!("{other:?}"),
        };
        assert_eq!(resized(r#"{"type":"resize","rows":40,"cols":120}"#), (120, 40));
        assert_eq!(resized(r#"{"type":"resize"}"#), (80, 24));
        assert_eq!(resized(r#"{"type":"resize","rows":0,"cols":-5}"#), (1, 1));
        assert_eq!(resized(r#"{"type":"resize","rows":1e300,"cols":99999}"#), (500, 500));
        assert_eq!(resized(r#"{"type":"resize","rows":"x","cols":30.7}"#), (30, 24));
    }
}
