//! `share`: links that show one session to somebody.

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::json;

use crate::context::{self, Context};
use crate::failure::{Exit, Failure, Result};
use crate::moment;

/// Makes a link that shows one session to whoever opens it, for an hour.
///
/// The link is shown once. Who has it sees this session and no other, and may type only with `--write`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Share {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// The session.
    #[arg(value_name = "SESSION", value_parser = context::target, required = true)]
    session: Option<String>,
    /// Who has the link may type.
    #[arg(long)]
    write: bool,
    /// How long it holds: a number and s, m, h or d.
    #[arg(long = "for", value_name = "TIME", value_parser = lasting, default_value = "1h")]
    lasts: Duration,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Lists the links that hold.
    Ls,
    /// Removes links, and cuts off who uses them.
    Rm {
        /// The links, as `ls` calls them.
        #[arg(value_name = "LINK", required = true)]
        links: Vec<String>,
    },
}

/// Reads a time such as `90s`, `30m`, `2h`, `1d`.
fn lasting(text: &str) -> std::result::Result<Duration, String> {
    let wrong = || "a time is a number and s, m, h or d, such as 30m".to_owned();
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| wrong())?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(wrong)
}

impl Share {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        match (self.verb, self.session) {
            (Some(Verb::Ls), _) => list(context),
            (Some(Verb::Rm { links }), _) => {
                context.for_each(&links, |connection, link| {
                    connection.call("web.unshare", &json!({"id": link})).map(drop)
                })?;
                Ok(Exit::OK)
            }
            (None, Some(session)) => {
                let lasts_ms = u64::try_from(self.lasts.as_millis()).unwrap_or(u64::MAX);
                let params =
                    json!({"sessionId": session, "write": self.write, "lastsMs": lasts_ms});
                let answer = context.call("web.share", &params)?;
                match context.output.is_json() {
                    true => context.output.value(&answer)?,
                    false => {
                        context.output.line(answer["open"].as_str().unwrap_or_default())?;
                    }
                }
                Ok(Exit::OK)
            }
            (None, None) => Err(Failure::usage("which session?")),
        }
    }
}

fn list(context: &Context<'_>) -> Result<Exit> {
    let answer = context.call("web.shares", &json!({}))?;
    if context.output.is_json() {
        context.output.value(&answer["shares"])?;
        return Ok(Exit::OK);
    }
    for share in answer["shares"].as_array().into_iter().flatten() {
        let until = moment::clock(share["untilMs"].as_i64().unwrap_or(0));
        let may = if share["write"] == true { "types" } else { "looks" };
        let (id, uuid) = (&share["id"], &share["uuid"]);
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        context.output.line(&format!("{}  {}  {may}  until {until}", text(id), text(uuid)))?;
    }
    Ok(Exit::OK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(lasting("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(lasting("2h"), Ok(Duration::from_secs(7200)));
        for wrong in ["", "1", "h", "-1h", "1y", "99999999999999999999d", "1ü"] {
            assert!(lasting(wrong).is_err(), "{wrong}");
        }
    }
}
