//! What the far program said, and what it means when it, or the line, failed.

use std::path::PathBuf;

use serde_json::Value;

use crate::connection::PROTOCOL;
use crate::error::{Error, ErrorKind};
use crate::machine::Machine;
use crate::ssh::Said;

/// The longest path a socket may have.
const MAX_SOCKET: usize = 107;

/// How many lines of what `ssh` said are passed on: its reason is in the last ones.
const WORDS_LINES: usize = 3;

/// How many bytes of each are, in letters: a line of a terminal and a half.
const WORDS_LINE: usize = 120;

/// Where the daemon of another machine is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Far {
    /// Its socket, on that machine.
    pub socket: PathBuf,
    /// Whether it runs.
    pub running: bool,
    /// The version of the far program.
    pub version: String,
}

/// Why a machine is of no use, without its name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    kind: ErrorKind,
    why: String,
    hint: Option<String>,
}

impl Problem {
    fn new(kind: ErrorKind, why: impl Into<String>, hint: &str) -> Problem {
        Problem { kind, why: why.into(), hint: Some(hint.to_owned()) }
    }

    /// The error it is, with the machine it is about.
    pub(crate) fn at(self, machine: &Machine) -> Error {
        let Problem { kind, why, hint } = self;
        let hint = hint.map(|it| it.replace("HOST", &machine.name));
        Error::Machine { host: machine.name.clone(), kind, why, hint }
    }
}

impl Far {
    /// Reads the answer to `daemon socket --json`.
    pub(crate) fn from_said(said: &Said) -> Result<Far, Problem> {
        match said.code {
            0 => Far::from_wire(&said.out),
            code => Err(failed(code, &said.err)),
        }
    }

    fn from_wire(out: &str) -> Result<Far, Problem> {
        // A shell's start-up files may print something of their own first.
        let values = out.lines().rev().filter_map(|it| serde_json::from_str::<Value>(it).ok());
        let answer = values.into_iter().find(|it| it["socket"].is_string());
        let Some(answer) = answer else {
            let why = format!("what runs there is no greenroom of this kind: {}", words(out));
            return Err(older(why));
        };
        let version = answer["version"].as_str().unwrap_or_default().to_owned();
        if let Some(theirs) = answer["protocol"].as_u64().filter(|it| *it != PROTOCOL) {
            let why = format!(
                "the greenroom there ({version}) speaks protocol {theirs}, this one {PROTOCOL}"
            );
            return Err(older(why));
        }
        let socket = answer["socket"].as_str().unwrap_or_default();
        let is_odd = socket.contains("${") || socket.chars().any(char::is_control);
        if !socket.starts_with('/') || socket.len() > MAX_SOCKET || is_odd {
            let why = format!("the far socket `{}` cannot be forwarded", socket.escape_debug());
            let hint = "set GREENROOM_HOME there to a short, plain path";
            return Err(Problem::new(ErrorKind::Unreachable, why, hint));
        }
        let running = answer["running"].as_bool().unwrap_or_default();
        Ok(Far { socket: socket.into(), running, version })
    }
}

/// Why there was no far program to say anything, if there was none: so every shell tells of it.
pub(crate) fn no_program(said: &Said) -> Option<Problem> {
    matches!(said.code, 126 | 127).then(|| {
        let why = format!("greenroom cannot be run there: {}", words(&said.err));
        let hint = "install it there, or say where it is: \
                    `greenroom host add NAME DESTINATION --program PATH`";
        Problem::new(ErrorKind::Unreachable, why, hint)
    })
}

/// The far program failed; as it was asked with `--json`, it says why in a way we understand.
fn failed(code: i32, err: &str) -> Problem {
    let values = err.lines().rev().filter_map(|it| serde_json::from_str::<Value>(it).ok());
    let Some(error) = values.into_iter().map(|it| it["error"].clone()).find(Value::is_object)
    else {
        let why = format!("the far greenroom ended with {code}: {}", words(err));
        return Problem::new(ErrorKind::Unreachable, why, "does `ssh HOST greenroom ls` work?");
    };
    let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
    match text("kind").as_str() {
        "usage" => older(format!("the greenroom there does not know this: {}", text("message"))),
        // A far daemon that does not start, for whatever reason, is not reached.
        "system" => Problem {
            kind: ErrorKind::Unreachable,
            why: text("message"),
            hint: error["hint"].as_str().map(str::to_owned),
        },
        kind => Problem {
            kind: ErrorKind::from_wire(kind),
            why: text("message"),
            hint: error["hint"].as_str().map(str::to_owned),
        },
    }
}

fn older(why: String) -> Problem {
    Problem::new(ErrorKind::Protocol, why, "install the same greenroom on both machines")
}

/// What it means that the line failed, by what `ssh` said. Its messages are not translated.
pub(crate) fn line_failed(err: &str) -> Problem {
    let says = |texts: &[&str]| texts.iter().any(|it| err.contains(it));
    let why = words(err);
    if says(&["Host key verification failed", "IDENTIFICATION HAS CHANGED"]) {
        let why = format!("its key is not the one `ssh` knows: {why}");
        let hint = "connect once with `ssh HOST` at a terminal, and look at its key";
        return Problem::new(ErrorKind::Denied, why, hint);
    }
    if says(&[
        "Permission denied",
        "Too many authentication failures",
        "No supported authentication",
    ]) {
        let why = format!("it does not let you in: {why}");
        let hint = "at a terminal `ssh` can ask for a password; or add your key there, or name \
                    another one: `greenroom host add NAME DESTINATION --identity FILE`";
        return Problem::new(ErrorKind::Denied, why, hint);
    }
    if says(&["Could not resolve hostname"]) {
        let hint = "`greenroom host ls` lists the saved ones; any other name is for `ssh` to find";
        return Problem::new(ErrorKind::Unreachable, format!("no such host: {why}"), hint);
    }
    Problem::new(ErrorKind::Unreachable, why, "is it switched on, and does `ssh HOST` work?")
}

/// The last of what was said, on one line.
pub(crate) fn words(said: &str) -> String {
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(WORDS_LINES)..];
    let cut = |line: &&str| line.chars().take(WORDS_LINE).collect::<String>();
    match last.iter().map(cut).collect::<Vec<_>>().join("; ") {
        text if text.is_empty() => "it did not say why".to_owned(),
        text => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(code: i32, out: &str, err: &str) -> Said {
        Said { code, out: out.to_owned(), err: err.to_owned() }
    }

    #[test]
    fn the_answer_is_found_behind_what_start_up_files_print() {
        let out =
            "welcome\n{\"x\":1}\n{\"socket\":\"/r/g.sock\",\"running\":true,\"version\":\"1\"}\n";
        let far = Far::from_said(&said(0, out, "")).unwrap();
        assert_eq!((far.socket.to_str(), far.running), (Some("/r/g.sock"), true));
    }

    #[test]
    fn every_failure_says_what_kind_it_is() {
        let kind =
            |code, out: &str, err: &str| Far::from_said(&said(code, out, err)).unwrap_err().kind;
        let absent = no_program(&said(127, "", "sh: greenroom: not found")).unwrap();
        assert_eq!(absent.kind, ErrorKind::Unreachable);
        assert_eq!(kind(0, "hello", ""), ErrorKind::Protocol);
        assert_eq!(kind(0, r#"{"socket":"/a","protocol":99}"#, ""), ErrorKind::Protocol);
        assert_eq!(kind(0, r#"{"socket":"a"}"#, ""), ErrorKind::Unreachable);
        assert_eq!(kind(0, r#"{"socket":"/${HOME}"}"#, ""), ErrorKind::Unreachable);
        let error = |kind: &str| format!(r#"{{"error":{{"kind":"{kind}","message":"m"}}}}"#);
        assert_eq!(kind(2, "", &error("usage")), ErrorKind::Protocol);
        assert_eq!(kind(6, "", &error("denied")), ErrorKind::Denied);
        assert_eq!(kind(5, "", &error("unreachable")), ErrorKind::Unreachable);
        assert_eq!(kind(1, "", &error("system")), ErrorKind::Unreachable);
        assert_eq!(kind(1, "", "This account is not available."), ErrorKind::Unreachable);
    }

    #[test]
    fn what_ssh_says_is_understood_and_passed_on() {
        let denied = line_failed("me@box: Permission denied (publickey).\r\n");
        assert_eq!(denied.kind, ErrorKind::Denied);
        assert!(denied.why.contains("(publickey)"), "{}", denied.why);
        let changed = line_failed("@@ WARNING @@\nHost key verification failed.\r\n");
        assert_eq!(changed.kind, ErrorKind::Denied);
        let unknown = line_failed("ssh: Could not resolve hostname box: Name not known\r\n");
        assert_eq!(unknown.kind, ErrorKind::Unreachable);
        assert!(unknown.why.starts_with("no such host"), "{}", unknown.why);
        assert_eq!(line_failed("").kind, ErrorKind::Unreachable);
        assert!(words(&"long ".repeat(1000)).len() <= WORDS_LINE);
    }
}
