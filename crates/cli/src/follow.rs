//! What the daemon noted, and what it notes from now on: the daemon pushes entries, and nothing is
//! asked again and again.
//!
//! A daemon that is restarted is followed on, with what it noted meanwhile. It ends when nobody reads what
//! is shown any more, also if nothing is noted then. Not here: how an entry
//! looks (`verbs/logs.rs`, `carryon/logs.rs`).

use std::io;
use std::os::fd::AsFd as _;

use greenroom_client::{Connection, Event};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Failure, Result};

/// How often a daemon that is gone is looked for: at once, to a person.
const LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };

/// How many entries a daemon that is back is asked for: more than it notes when it starts.
const MEANWHILE: u64 = 1000;

/// Which entries are wanted.
pub(crate) struct Entries<'a> {
    /// At most so many of those that are there.
    pub(crate) last: u64,
    /// Only those of this level.
    pub(crate) level: Option<&'a str>,
    /// And those to come.
    pub(crate) follow: bool,
}

impl Entries<'_> {
    /// Gives every entry to `show`; ends only if they are not followed, or cannot be shown.
    pub(crate) fn each(
        &self,
        context: &Context<'_>,
        mut connection: Connection,
        mut show: impl FnMut(&Value) -> Result<()>,
    ) -> Result<()> {
        let mut seen = Seen::default();
        for entry in self.ask(&mut connection, self.last)? {
            seen.note(&entry);
            show(&entry)?;
        }
        if !self.follow {
            return Ok(());
        }
        loop {
            until_lost(&mut connection, |entry| {
                seen.note(entry);
                show(entry)
            })?;
            connection = back(context)?;
            // One that is gone again is looked for again.
            for entry in self.ask(&mut connection, MEANWHILE).unwrap_or_default() {
                if seen.note(&entry) {
                    show(&entry)?;
                }
            }
        }
    }

    /// The last entries; the daemon tells of those to come if they are to be followed.
    fn ask(&self, connection: &mut Connection, last: u64) -> Result<Vec<Value>> {
        let mut params = json!({"last": last});
        if let Some(level) = self.level {
            params["level"] = level.into();
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
fn until_lost(
    connection: &mut Connection,
    mut show: impl FnMut(&Value) -> Result<()>,
) -> Result<()> {
    loop {
        while let Some(event) = connection.next_event()? {
            if let Event::Notification { method, params } = event
                && method == "daemon.logs.entry"
            {
                show(&params["entry"])?;
            }
        }
        wait(connection)?;
        if connection.receive().is_err() {
            return Ok(());
        }
    }
}

/// Waits until the daemon has said something; fails quietly when nobody reads what is shown.
fn wait(connection: &Connection) -> Result<()> {
    polled(&mut [PollFd::from_borrowed_fd(connection.as_fd(), PollFlags::IN), reader()], None)
}

/// The daemon that is back, sooner or later.
fn back(context: &Context<'_>) -> Result<Connection> {
    loop {
        match context.connect_to_running() {
            Ok(connection) => return Ok(connection),
            Err(_) => polled(&mut [reader()], Some(&LOOK_EVERY))?,
        }
    }
}

/// Whoever reads what is shown: asked for nothing, the system still tells when they are gone.
fn reader() -> PollFd<'static> {
    PollFd::from_borrowed_fd(rustix::stdio::stdout(), PollFlags::empty())
}

/// Waits for one of these, the last of which is [`reader`].
fn polled(these: &mut [PollFd<'_>], most: Option<&Timespec>) -> Result<()> {
    match poll(these, most) {
        // Nothing was read then, and it is waited again.
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(Failure::system("waiting for the daemon", &error)),
    }
    match these.last().is_some_and(|it| it.revents().intersects(PollFlags::ERR | PollFlags::HUP)) {
        true => Err(io::Error::from(io::ErrorKind::BrokenPipe).into()),
        false => Ok(()),
    }
}

/// When an entry was noted.
pub(crate) fn timestamp(entry: &Value) -> i64 {
    entry["timestamp"].as_i64().unwrap_or_default()
}

/// How far the log was shown.
#[derive(Default)]
struct Seen {
    newest: i64,
    /// The entries of that very millisecond, which alone do not tell by their time.
    of_newest: Vec<Value>,
}

impl Seen {
    /// Whether an entry is new; then it is the newest.
    fn note(&mut self, entry: &Value) -> bool {
        let at = timestamp(entry);
        if at < self.newest || (at == self.newest && self.of_newest.contains(entry)) {
            return false;
        }
        if at > self.newest {
            self.newest = at;
            self.of_newest.clear();
        }
        self.of_newest.push(entry.clone());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_new_once() {
        let entry = |at: i64, message: &str| json!({"timestamp": at, "message": message});
        let mut seen = Seen::default();
        assert!(seen.note(&entry(5, "a")));
        assert!(seen.note(&entry(5, "b")), "noted in the same millisecond");
        assert!(!seen.note(&entry(5, "a")));
        assert!(!seen.note(&entry(4, "z")), "older");
        assert!(seen.note(&entry(6, "a")));
        assert!(!seen.note(&entry(5, "b")));
    }
}
