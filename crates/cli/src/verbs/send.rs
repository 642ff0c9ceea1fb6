//! `send`: types text into a session.

use std::io::{self, Read as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use serde_json::{Value, json};

use crate::context::{self, Context};
use crate::failure::{Exit, Failure, Result};

/// How much standard input is sent at once: what a daemon takes in one message is 64 MiB, and
/// base64 makes it a third longer.
const MAX_STDIN: usize = 32 << 20;

/// Types text into a session.
///
/// Several texts are typed with a space between them; a newline in them is the Enter key. The answer
/// comes when the program's terminal has taken all of it; it names the offset that
/// `wait --after` takes.
#[derive(Debug, Args)]
pub(crate) struct Send {
    /// The session.
    #[arg(value_name = "SESSION", value_parser = context::target)]
    session: String,
    /// What to type.
    #[arg(value_name = "TEXT", required_unless_present_any = ["stdin", "enter"])]
    text: Vec<String>,
    /// Types what comes from standard input, byte by byte as it is, once all of it has come.
    #[arg(long, conflicts_with = "text")]
    stdin: bool,
    /// Sends it as a paste: in brackets if the program asked for them, without control characters.
    #[arg(long)]
    paste: bool,
    /// Presses Enter behind it.
    #[arg(short, long)]
    enter: bool,
}

impl Send {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let mut params = self.params()?;
        params["sessionId"] = self.session.into();
        let answer = context.call("session.send", &params)?;
        if context.output.is_json() {
            context.output.value(&answer)?;
        }
        Ok(Exit::OK)
    }

    fn params(&self) -> Result<Value> {
        let mut params = json!({"paste": self.paste, "enter": self.enter});
        if !self.stdin {
            params["text"] = self.text.join(" ").into();
            return Ok(params);
        }
        let bytes = standard_input()?;
        if bytes.is_empty() && !self.enter {
            return Err(Failure::usage("standard input is empty: there is nothing to type")
                .hint("with --enter, the Enter key alone is pressed"));
        }
        if !self.paste {
            params["base64"] = STANDARD.encode(bytes).into();
            return Ok(params);
        }
        // A paste is text: what is to be taken out of it is decided by characters.
        let text = String::from_utf8(bytes);
        let text = text.map_err(|_| Failure::usage("what is to be pasted is not UTF-8"))?;
        params["text"] = text.into();
        Ok(params)
    }
}

fn standard_input() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = MAX_STDIN as u64 + 1;
    let read = io::stdin().lock().take(limit).read_to_end(&mut bytes);
    read.map_err(|error| Failure::system("reading standard input", &error))?;
    if bytes.len() > MAX_STDIN {
        return Err(Failure::usage(format!("standard input has more than {MAX_STDIN} bytes"))
            .hint("send it in parts"));
    }
    Ok(bytes)
}
