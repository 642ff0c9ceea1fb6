//! `carryon logs`: what the daemon noted.
//!
//! Followed, entries are pushed by the daemon; nothing is asked again and again. A daemon that is
//! restarted is followed on, with what it noted meanwhile.

use std::os::fd::AsFd as _;
use std::thread;
use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;
use greenroom_client::{Connection, Event};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde_json::{Value, json};

use super::served;
use crate::context::Context;
use crate::failure::{Exit, Failure, Result};
use crate::moment;
use crate::output::{Output, Style};
use crate::plain::plain;
use crate::verbs::logs::{LOG_FILE, from_file};

/// How often a daemon that is gone is looked for: at once, to a person.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How many entries a daemon that is back is asked for: more than it notes when it starts.
const MEANWHILE: u64 = 1000;

/// Shows what the daemon noted.
///
/// Without a daemon, the file it left is shown.
#[derive(Debug, Args)]
pub(super) struct Logs {
    /// Only the last entries.
    #[arg(long, value_name = "n", default_value_t = 50)]
    last: u64,
    /// Only entries of this level.
    #[arg(long, value_name = "level", value_parser = PossibleValuesParser::new(["debug", "info", "warn", "error"]))]
    level: Option<String>,
    /// Goes on with what is noted from now on.
    #[arg(short, long)]
    follow: bool,
}

impl Logs {
    pub(super) fn run(self, context: &Context<'_>) -> Result<Exit> {
        // Whoever looks for why there is no daemon does not want one started.
        let mut connection = match context.connect_to_running() {
            Err(failure) if served::is_absent(&failure) => {
                let file = context.paths()?.state.join(LOG_FILE);
                return from_file(context.output, &file, self.last);
            }
            other => other?,
        };
        let mut shown = Shown { output: context.output, newest: i64::MIN };
        let entries = self.ask(&mut connection, self.last)?;
        shown.all(&entries)?;
        if !self.follow {
            return Ok(Exit::OK);
        }
        loop {
            until_lost(&mut connection, &mut shown)?;
            connection = back(context);
            // What is not newer was shown before.
            let since = shown.newest;
            let meanwhile = self.ask(&mut connection, MEANWHILE).unwrap_or_default();
            let meanwhile = meanwhile.into_iter().filter(|it| timestamp(it) > since);
            shown.all(&meanwhile.collect::<Vec<_>>())?;
        }
    }

    /// The last entries; the daemon tells of those to come if they are to be followed.
    fn ask(&self, connection: &mut Connection, last: u64) -> Result<Vec<Value>> {
        let mut params = json!({"last": last});
        if let Some(level) = &self.level {
            params["level"] = level.as_str().into();
        }
        if self.follow {
            params["follow"] = true.into();
        }
        let mut answer = connection.call("daemon.logs", &params)?;
        match answer["entries"].take() {
            Value::Array(entries) => Ok(entries),
            _ => Ok(Vec::new()),
        }
    }
}

/// Shows what is told until the connection is lost.
fn until_lost(connection: &mut Connection, shown: &mut Shown<'_>) -> Result<()> {
    loop {
        while let Some(event) = connection.next_event()? {
            if let Event::Notification { method, params } = event
                && method == "daemon.logs.entry"
            {
                shown.one(&params["entry"])?;
            }
        }
        wait(connection)?;
        if connection.receive().is_err() {
            return Ok(());
        }
    }
}

fn wait(connection: &Connection) -> Result<()> {
    let mut polled = [PollFd::from_borrowed_fd(connection.as_fd(), PollFlags::IN)];
    match poll(&mut polled, None) {
        // Nothing was read then, and it is waited again.
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(Failure::system("waiting for the daemon", &error)),
    }
}

/// The daemon that is back, sooner or later.
fn back(context: &Context<'_>) -> Connection {
    loop {
        match context.connect_to_running() {
            Ok(connection) => return connection,
            Err(_) => thread::sleep(LOOK_EVERY),
        }
    }
}

/// What was shown.
struct Shown<'a> {
    output: &'a Output,
    /// The time of the newest entry.
    newest: i64,
}

impl Shown<'_> {
    fn all(&mut self, entries: &[Value]) -> Result<()> {
        entries.iter().try_for_each(|it| self.one(it))
    }

    fn one(&mut self, entry: &Value) -> Result<()> {
        let text = |key: &str| plain(entry[key].as_str().unwrap_or_default());
        let level = text("level");
        let style = match level.as_str() {
            "error" | "warn" => Style::Bad,
            _ => Style::Plain,
        };
        self.newest = self.newest.max(timestamp(entry));
        let time = self.output.styled(Style::Faint, &moment::clock(timestamp(entry)));
        let level = self.output.styled(style, &format!("{:<5}", level.to_uppercase()));
        let (component, message) = (text("component"), text("message"));
        Ok(self.output.line(&format!("{time} {level} [{component}] {message}"))?)
    }
}

fn timestamp(entry: &Value) -> i64 {
    entry["timestamp"].as_i64().unwrap_or_default()
}
