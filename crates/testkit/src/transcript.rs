//! Golden transcripts: what a client sends and what it gets, played against a real server.
//!
//! A line is `> ` a request, completed by what every request of the protocol has; `>> ` a message
//! sent as it is; `< ` the next answer; `~ ` a notification that has come by now, after the last
//! one that was asked for; `= ` a text that a stream's output has by then; `# ` a comment; `! ` what
//! the server must be, which whoever starts it reads. What is expected is a part of what comes:
//! fields it does not name may be there, `null` also means absent, `"*"` stands for anything and
//! `"*text*"` for a text that has this in it. `{folder}` is the folder of the test.

use std::path::Path;

use serde_json::{Map, Value};

/// Who plays the client.
pub trait Party {
    /// Sends a message.
    fn send(&mut self, message: &str);

    /// The next message that came.
    fn message(&mut self) -> Value;

    /// Adds what every request has and this one does not.
    fn complete(&mut self, request: &mut Map<String, Value>);

    /// Waits until a stream's output has this text.
    fn wait_for_output(&mut self, text: &str);
}

/// The files of a folder with golden transcripts, by name and in order.
///
/// # Panics
/// They cannot be read.
#[must_use]
pub fn transcripts(folder: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).expect("the folder of transcripts");
    let paths = entries.map(|entry| entry.expect("a transcript").path());
    let mut all: Vec<(String, String)> = paths
        .map(|path| {
            let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).expect("reading a transcript"))
        })
        .collect();
    all.sort();
    all
}

/// Plays a transcript.
///
/// # Panics
/// Something else came than what is expected; the message has the line.
pub fn play(name: &str, text: &str, folder: &Path, party: &mut impl Party) {
    let mut notes: Vec<Value> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let place = format!("{name}:{}", number + 1);
        let line = line.replace("{folder}", &folder.display().to_string());
        let read = |text: &str| -> Value {
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{place}: {error}"))
        };
        match line.split_once(' ').unwrap_or((&line, "")) {
            (">", request) => match serde_json::from_str(request) {
                Ok(Value::Object(mut request)) => {
                    party.complete(&mut request);
                    party.send(&Value::from(request).to_string());
                }
                _ => party.send(request),
            },
            (">>", message) => party.send(message),
            ("<", expected) => {
                let came = loop {
                    match party.message() {
                        answer if answer.get("id").is_some() => break answer,
                        note => notes.push(note),
                    }
                };
                if let Some(difference) = differs(&read(expected), &came, "") {
                    panic!("{place}: {difference}\n  in {came}");
                }
            }
            ("~", expected) => {
                let expected = read(expected);
                let fits = |note: &Value| differs(&expected, note, "").is_none();
                let at = loop {
                    if let Some(at) = notes.iter().position(fits) {
                        break at;
                    }
                    let message = party.message();
                    let early = message.get("id").is_some();
                    assert!(!early, "{place}: the answer came before {expected}: {message}");
                    notes.push(message);
                };
                notes.drain(..=at);
            }
            ("=", expected) => party.wait_for_output(expected),
            ("#" | "!" | "", _) => {}
            _ => panic!("{place}: `{line}`"),
        }
    }
}

/// Whether what came is what was expected; else where it differs.
fn differs(expected: &Value, came: &Value, at: &str) -> Option<String> {
    match (expected, came) {
        (Value::String(any), _) if any == "*" => None,
        (Value::String(part), Value::String(came)) if is_in(part, came) => None,
        (Value::Object(expected), Value::Object(came)) => {
            expected.iter().find_map(|(name, value)| {
                differs(value, came.get(name).unwrap_or(&Value::Null), &format!("{at}.{name}"))
            })
        }
        (Value::Array(expected), Value::Array(came)) if expected.len() == came.len() => {
            let mut pairs = expected.iter().zip(came).enumerate();
            pairs.find_map(|(index, (one, two))| differs(one, two, &format!("{at}[{index}]")))
        }
        (expected, came) if expected == came => None,
        (expected, came) => Some(format!("{at}: expected {expected}, came {came}")),
    }
}

/// Whether `*text*` has its text in another one.
fn is_in(part: &str, text: &str) -> bool {
    let part = part.strip_prefix('*').and_then(|it| it.strip_suffix('*'));
    part.is_some_and(|part| text.contains(part))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_part_of_what_came_is_enough() {
        let came = json!({"id": 1, "result": {"a": [1, {"b": "some text"}], "c": 5}});
        for expected in [
            json!({}),
            json!({"result": {"a": "*"}}),
            json!({"result": {"a": [1, {"b": "*me te*", "d": null}]}, "error": null}),
        ] {
            assert_eq!(differs(&expected, &came, ""), None, "{expected}");
        }
        for (expected, at) in [
            (json!({"result": {"c": 6}}), ".result.c"),
            (json!({"result": {"a": [1]}}), ".result.a"),
            (json!({"result": {"a": [1, {"b": "*other*"}]}}), ".result.a[1].b"),
            (json!({"error": {}}), ".error"),
        ] {
            assert!(differs(&expected, &came, "").unwrap().starts_with(at), "{expected}");
        }
    }
}
