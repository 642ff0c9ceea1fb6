//! What a server says of its own accord, as lines for people.

use serde_json::Value;

use crate::plain::plain;

/// How many characters of some output are shown: a line or two of a terminal.
const SHOWN_CHARS: usize = 160;

/// What is said of a server that is gone.
pub(crate) const LOST: &str = "the server is gone";

/// The same of one at a socket, where another may listen.
pub(crate) const LOST_SOCKET: &str = "the server is gone; the next call connects again";

/// Something a person is told while nothing runs.
#[derive(Debug)]
pub(crate) enum Note {
    /// The server says that something happened.
    Happened { method: String, params: Value },
    /// The server is gone.
    Lost {
        /// Whether another may listen at its socket.
        is_socket: bool,
    },
    /// There is a server again.
    Found,
}

impl Note {
    /// A line for people; none for what only programs want to know.
    pub(crate) fn line(&self) -> Option<String> {
        match self {
            Note::Happened { method, params } => happened(method, params),
            Note::Lost { is_socket } => {
                Some(if *is_socket { LOST_SOCKET } else { LOST }.to_owned())
            }
            Note::Found => Some("connected to the server again".to_owned()),
        }
    }
}

fn happened(method: &str, params: &Value) -> Option<String> {
    let session = params["session"].as_str().unwrap_or("?");
    match method {
        // The output that comes with it says more.
        "session.changed" => None,
        "session.output" => {
            let text = plain(params["output"].as_str().unwrap_or_default());
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            (!text.is_empty()).then(|| format!("[{session}] {}", cut(&text)))
        }
        "session.exited" => {
            let how = match (params["exit_code"].as_i64(), params["signal"].as_i64()) {
                (Some(code), _) => format!("exited with {code}"),
                (None, Some(signal)) => format!("ended by signal {signal}"),
                (None, None) if params["lost"] == true => "is lost".to_owned(),
                (None, None) => "exited".to_owned(),
            };
            Some(format!("[{session}] {how}"))
        }
        "session.raw_transcript_error" => {
            let (error, written) = (&params["error"], params["written"].as_u64().unwrap_or(0));
            let error = plain(error.as_str().unwrap_or_default());
            Some(format!("[{session}] its raw transcript is whole up to byte {written}: {error}"))
        }
        other => Some(format!("[{session}] {}", plain(other))),
    }
}

/// The end of a text: what came last says most.
fn cut(text: &str) -> String {
    let too_many = text.chars().count().saturating_sub(SHOWN_CHARS);
    match too_many {
        0 => text.to_owned(),
        _ => format!("…{}", text.chars().skip(too_many).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_note_is_one_line() {
        let line = |method: &str, params: Value| {
            Note::Happened { method: method.to_owned(), params }.line()
        };
        let output = json!({"session": "s1", "output": "\x1b[1ma\r\nb\x1b[m"});
        assert_eq!(line("session.output", output).as_deref(), Some("[s1] a b"));
        assert_eq!(line("session.changed", json!({"session": "s1"})), None);
        let long = json!({"session": "s1", "output": "x".repeat(1000)});
        assert!(line("session.output", long).unwrap().chars().count() < 200);
        assert_eq!(line("session.exited", json!({"session": "s2"})).unwrap(), "[s2] exited");
        let killed = json!({"session": "s2", "signal": 9});
        assert_eq!(line("session.exited", killed).unwrap(), "[s2] ended by signal 9");
        let full = json!({"session": "s2", "error": "no space", "written": 6, "stopped": true});
        assert_eq!(
            line("session.raw_transcript_error", full).unwrap(),
            "[s2] its raw transcript is whole up to byte 6: no space"
        );
    }
}
