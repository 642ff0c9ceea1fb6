//! `wait`: until a session shows something, is quiet, or ends.

use std::time::{Duration, Instant};

use clap::Args;
use greenroom_client::{CALL_TIMEOUT, Error};
use serde_json::{Value, json};

use crate::context::{self, Context};
use crate::failure::{Exit, Failure, Result};
use crate::plain::plain;

/// How long a wait without a time-out is waited for: longer than any session lives.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Waits until a session prints something, is quiet for a while, or ends.
///
/// What counts is what was printed after the last input, not its echo and not what was there
/// before; `--after 0` looks at everything. Prints what matched. Exit code 4 when time is up.
#[derive(Debug, Args)]
pub(crate) struct Wait {
    /// The session.
    #[arg(value_name = "SESSION", value_parser = context::target)]
    session: String,
    /// Until this text is printed.
    #[arg(short, long, value_name = "TEXT", value_parser = context::pattern, allow_hyphen_values = true)]
    text: Vec<String>,
    /// Until something printed matches this regular expression.
    #[arg(short = 'E', long, value_name = "REGEX", value_parser = context::pattern, allow_hyphen_values = true)]
    regex: Vec<String>,
    /// Until nothing was printed for so long, in milliseconds.
    #[arg(long, value_name = "MS")]
    idle: Option<u64>,
    /// Until the program ends.
    #[arg(long)]
    exit: bool,
    /// Until all of these are so; without it, one is enough.
    #[arg(long)]
    all: bool,
    /// And while this text is not on the screen.
    #[arg(long, value_name = "TEXT", value_parser = context::pattern, allow_hyphen_values = true)]
    not: Vec<String>,
    /// Capital and small letters are the same.
    #[arg(short, long)]
    ignore_case: bool,
    /// Looks at the screen as it is, instead of what is printed from now on.
    #[arg(long)]
    screen: bool,
    /// Gives up after so many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
    /// Looks at what was printed after this offset, such as `send --json` gives it.
    #[arg(long, value_name = "OFFSET")]
    after: Option<u64>,
}

fn seconds(text: &str) -> std::result::Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "seconds are a number, such as 2.5".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

impl Wait {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let matcher = self.matcher()?;
        let answer = self.wait(context, &matcher)?;
        if context.output.is_json() {
            context.output.value(&answer)?;
        } else if let Some(text) = answer["text"].as_str() {
            context.output.line(&plain(text))?;
        }
        Ok(Exit::OK)
    }

    /// Waits; a daemon that is restarted meanwhile is asked again.
    fn wait(&self, context: &Context<'_>, matcher: &Value) -> Result<Value> {
        let deadline = self.timeout.map(|it| Instant::now() + it.min(FOREVER));
        let mut connection = context.connect()?;
        loop {
            let screen = context.output.is_json();
            let mut params = json!({"sessionId": self.session, "for": matcher, "screen": screen});
            let mut patience = FOREVER;
            if let Some(deadline) = deadline {
                let left = deadline.saturating_duration_since(Instant::now());
                params["timeoutMs"] = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).into();
                patience = left + CALL_TIMEOUT;
            }
            if let Some(after) = self.after {
                params["after"] = after.into();
            }
            match connection.call_within("session.wait", &params, patience) {
                Err(Error::Lost(_)) => {
                    connection = context.connect_after(&mut connection, deadline)?;
                }
                other => return Ok(other?),
            }
        }
    }

    /// What is waited for, as the daemon is told.
    fn matcher(&self) -> Result<Value> {
        let place = if self.screen { "screen" } else { "output" };
        let pattern = |kind: &str, it: &String| json!({kind: it, "in": place, "ignoreCase": self.ignore_case});
        let mut wanted: Vec<Value> = self.text.iter().map(|it| pattern("text", it)).collect();
        wanted.extend(self.regex.iter().map(|it| pattern("regex", it)));
        wanted.extend(self.idle.map(|it| json!({"idle": it})));
        wanted.extend(self.exit.then(|| json!({"exit": true})));
        let mut every: Vec<Value> = match (wanted.len(), self.all) {
            (0 | 1, _) | (_, true) => wanted,
            (_, false) => vec![json!({"any": wanted})],
        };
        every.extend(self.not.iter().map(
            |it| json!({"not": {"text": it, "in": "screen", "ignoreCase": self.ignore_case}}),
        ));
        match every.len() {
            0 => Err(Failure::usage("nothing to wait for")
                .hint("say what: --text, --regex, --idle, --exit or --not")),
            1 => Ok(every.remove(0)),
            _ => Ok(json!({"all": every})),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        wait: Wait,
    }

    fn matcher(line: &str) -> Result<Value> {
        let words = format!("wait s {line}");
        Line::try_parse_from(words.split_whitespace()).unwrap().wait.matcher()
    }

    fn text(text: &str) -> Value {
        json!({"text": text, "in": "output", "ignoreCase": false})
    }

    #[test]
    fn one_is_asked_for_as_it_is() {
        assert_eq!(matcher("--text a").unwrap(), text("a"));
        assert_eq!(matcher("--exit").unwrap(), json!({"exit": true}));
        assert_eq!(matcher("--idle 300 --all").unwrap(), json!({"idle": 300}));
    }

    #[test]
    fn several_are_any_unless_all_is_said() {
        assert_eq!(matcher("--text a --text b").unwrap(), json!({"any": [text("a"), text("b")]}));
        let all = matcher("--text a --exit --all").unwrap();
        assert_eq!(all, json!({"all": [text("a"), {"exit": true}]}));
    }

    #[test]
    fn what_must_not_be_holds_beside_any_of_the_others() {
        let not = json!({"not": {"text": "c", "in": "screen", "ignoreCase": false}});
        let both = matcher("--text a --text b --not c").unwrap();
        assert_eq!(both, json!({"all": [{"any": [text("a"), text("b")]}, not]}));
        assert_eq!(matcher("--not c").unwrap(), not);
    }

    #[test]
    fn what_is_everywhere_is_not_waited_for() {
        for flag in ["--text", "--regex", "--not"] {
            let line = Line::try_parse_from(["wait", "s", flag, ""]);
            let wrong = line.map(drop).unwrap_err().to_string();
            assert!(wrong.contains("nothing is everywhere"), "{wrong}");
        }
    }

    #[test]
    fn nothing_to_wait_for_is_a_mistake() {
        assert_eq!(matcher("").unwrap_err().exit().0, 2);
    }
}
