//! A person's terminal showing a session.
//!
//! What the daemon sends goes to the terminal as it is; what is typed goes through the scanner.
//! The detach key leaves at once. On the way out every mode a program can have set is taken back.

use std::time::{Duration, Instant};

use greenroom_client::{AttachOptions, Connection, Ended, Event, Lag, Stream, take_short_turns};
use greenroom_model::{Eager, ExitStatus, Offset};
use serde_json::json;

use super::direct::Direct;
use super::manners::{Interrupts, Manners};
use super::notice::{Act, Notice};
use super::poll::{self, Ready, TYPED, earliest};
use crate::context::Context;
use crate::failure::{Exit, Failure, Result};
use crate::host::Settings;
use crate::input::{Chord, Scanned, Scanner};
use crate::link::{Link, ping};
use crate::plain::plain;
use crate::terminal::{self, Caught, Raw, Signals, Writer, sequences};

/// How long to stay awake for an echo: it takes the way through two more processes and back.
const MOMENT: Duration = Duration::from_micros(200);

/// How to watch a session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watch {
    /// Types nothing and never sizes.
    pub(crate) read_only: bool,
    /// Goes on from here instead of showing the screen first.
    pub(crate) from: Option<Offset>,
}

/// Why the session is no longer shown.
#[derive(Debug, PartialEq, Eq)]
enum Left {
    /// The person pressed the detach key, or input ended.
    Detached,
    /// The session ended.
    Ended(Ended),
    /// A signal ends this process.
    Signal(i32),
    /// The terminal is gone.
    NoTerminal,
}

/// Shows a session on this terminal until it is left or ends.
pub(crate) fn watch(
    context: &Context<'_>,
    connection: Connection,
    target: &str,
    how: Watch,
) -> Result<Exit> {
    watch_as(context, connection, target, how, Manners::Ours)
}

/// As [`watch`], with the manners of another program.
pub(crate) fn watch_as(
    context: &Context<'_>,
    mut connection: Connection,
    target: &str,
    how: Watch,
    manners: Manners,
) -> Result<Exit> {
    let settings = context.settings()?;
    let scanner = scanner(&settings)?;
    let size = terminal::size().unwrap_or(settings.size);
    let options = AttachOptions {
        size: Some(size),
        read_only: how.read_only,
        raw: false,
        lag: Lag::Skip,
        history: settings.history,
        from: how.from,
        behalf: None,
        pictures: true,
        counts: true,
    };
    let stream = super::attach(context, &mut connection, target, &options)?;
    refuse_own(context, &stream)?;
    let signals = Signals::catch().map_err(|error| Failure::system("catching signals", &error))?;
    let mut watcher = Watcher {
        title: stream.session().title.clone(),
        link: Link::new(context, connection, stream)?,
        raw: Raw::enter(true, &signals)
            .map_err(|error| Failure::system("setting the terminal", &error))?,
        signals,
        writer: Writer::stdout()
            .map_err(|error| Failure::system("opening the terminal", &error))?,
        scanner,
        notice: Notice::default(),
        eager: Eager::new(MOMENT),
        direct: Direct::new(how.read_only),
        manners,
        interrupts: Interrupts::default(),
        read_only: how.read_only,
        typed: Vec::with_capacity(TYPED),
    };
    watcher.writer.push(sequences::enter(size));
    take_short_turns();
    let left = watcher.run();
    watcher.leave(context, left)
}

fn scanner(settings: &Settings) -> Result<Scanner> {
    let chord = |key, name: &str| {
        Chord::new(key).map_err(|error| {
            Failure::usage(format!("`{name}`: {error}")).hint("change it in the configuration")
        })
    };
    let detach = chord(&settings.detach_key, "attach.detach_key")?;
    let literal = settings.literal_key.as_ref();
    let literal = literal.map(|it| chord(it, "attach.literal_key")).transpose()?;
    Ok(Scanner::new(detach, literal))
}

/// Refuses to show a session inside itself: what it prints would make it print more.
fn refuse_own(context: &Context<'_>, stream: &Stream) -> Result<()> {
    let Some(inside) = context.host.variable("GREENROOM_SESSION") else { return Ok(()) };
    let session = stream.session();
    // A number counts the sessions of one machine only.
    let number = context.chosen.machine.is_none().then(|| session.number.to_string());
    let names = [Some(&session.uuid), Some(&session.id), number.as_ref()];
    match inside.to_str() {
        Some(inside) if !inside.is_empty() && names.iter().flatten().any(|it| *it == inside) => {
            Err(Failure::usage("this terminal is that very session")
                .hint("`greenroom new -d` makes another one, `greenroom ls` lists them"))
        }
        _ => Ok(()),
    }
}

struct Watcher<'a> {
    link: Link<'a>,
    signals: Signals,
    writer: Writer,
    raw: Raw,
    scanner: Scanner,
    notice: Notice,
    eager: Eager,
    direct: Direct,
    manners: Manners,
    interrupts: Interrupts,
    read_only: bool,
    /// The title the session set last, to be shown again after a notice.
    title: String,
    /// What passes of what was typed.
    typed: Vec<u8>,
}

impl Watcher<'_> {
    fn run(&mut self) -> Result<Left> {
        let mut buffer = vec![0; TYPED];
        let mut now = Instant::now();
        loop {
            // Before waiting: the answer to attaching may have brought the first frames along.
            self.draw(now)?;
            if self.writer.flush().is_err() {
                return Ok(Left::NoTerminal);
            }
            if self.writer.has_waiting() {
                // Nobody may be looking, for ever perhaps.
                self.direct.give_back();
            }
            if self.direct.tell(&mut self.link, now)? {
                // Something else may come of it; if not, the daemon is asked whether it is there.
                self.notice.typed(now);
            }
            if let Some(how) = self.link.stream().ended().filter(|_| !self.writer.has_waiting()) {
                return Ok(Left::Ended(how.clone()));
            }
            let ready = self.wait()?;
            now = Instant::now();
            if ready.signals
                && let Some(left) = self.caught(now)?
            {
                return Ok(left);
            }
            if ready.stdin
                && let Some(count) = poll::read_stdin(&mut buffer)
                && let Some(left) = self.type_in(&buffer[..count], now)?
            {
                return Ok(left);
            }
            if (ready.tap || self.direct.is_late(now))
                && let Some(bytes) = self.direct.look(&mut self.link)
            {
                self.writer.push(bytes);
                continue;
            }
            if ready.link && self.link.exchange(now)? {
                self.notice.heard(now);
                self.eager.answered();
                self.direct.borrow(&self.link, now);
            }
            if ready.cut {
                self.link.cut(now)?;
            }
            self.look_at_the_clock(now)?;
        }
    }

    fn wait(&mut self) -> Result<Ready> {
        while self.eager.stays_awake(Instant::now()) {
            // Others first, on whose answer this waits.
            std::thread::yield_now();
            let ready = self.wait_until(Some(Instant::now()))?;
            if ready.is_any() {
                return Ok(ready);
            }
        }
        let deadline = earliest(&[
            self.scanner.deadline(),
            self.direct.deadline(),
            self.link.deadline(),
            self.notice.deadline(self.link.down_since()),
        ]);
        self.wait_until(deadline)
    }

    fn wait_until(&self, deadline: Option<Instant>) -> Result<Ready> {
        let ends = (&self.link, self.direct.polled());
        poll::wait(true, ends, &self.signals, &self.writer, deadline)
            .map_err(|error| Failure::system("waiting for the terminal", &error))
    }

    fn caught(&mut self, now: Instant) -> Result<Option<Left>> {
        for signal in self.signals.take() {
            match signal {
                Caught::Resized => self.resize(now)?,
                Caught::Continued => {
                    // A shell had the terminal: its modes and its screen are what that left.
                    self.raw.again(&self.signals).unwrap_or_default();
                    self.resize(now)?;
                    self.link.redraw(now)?;
                }
                Caught::End(signal) => return Ok(Some(Left::Signal(signal))),
            }
        }
        Ok(None)
    }

    fn resize(&mut self, now: Instant) -> Result<()> {
        match terminal::size() {
            Some(size) => self.link.resize(size, now),
            None => Ok(()),
        }
    }

    /// Takes what was typed; nothing at all means that nothing more will come.
    fn type_in(&mut self, bytes: &[u8], now: Instant) -> Result<Option<Left>> {
        if bytes.is_empty() {
            return Ok(Some(Left::Detached));
        }
        let scanned = self.scanner.feed(bytes, now, &mut self.typed);
        self.send_typed(now)?;
        let insists = self.interrupts.typed(bytes) && self.manners.leaves_by_interrupts();
        Ok((scanned == Scanned::Detach || insists).then_some(Left::Detached))
    }

    fn send_typed(&mut self, now: Instant) -> Result<()> {
        if !self.typed.is_empty() && !self.read_only {
            let seen = self.link.stream().offset();
            let typed = self.direct.type_in(&self.typed, seen, now);
            if typed < self.typed.len() {
                self.link.input(&self.typed[typed..], now)?;
                self.direct.went_by_daemon(now);
                self.notice.typed(now);
                self.eager.asked(Instant::now());
            }
        }
        self.typed.clear();
        Ok(())
    }

    /// Hands what came to the terminal.
    fn draw(&mut self, now: Instant) -> Result<()> {
        while let Some(event) = self.link.next_event(now)? {
            match event {
                Event::Output { bytes, .. } => {
                    self.direct.heard(now);
                    self.writer.push(bytes);
                }
                Event::Redraw { bytes, reason, .. } => {
                    self.direct.redrawn(reason);
                    self.writer.push(bytes);
                }
                Event::SizeWanted { .. } => self.resize(now)?,
                Event::Notification { method, params } if method == "session.title" => {
                    let session = self.link.stream().session();
                    if params["sessionId"].as_str() == Some(session.id.as_str()) {
                        self.title = params["title"].as_str().unwrap_or_default().to_owned();
                    }
                }
                Event::Ended { .. } => self.direct.give_back(),
                Event::Taken { .. } | Event::Notification { .. } | Event::Answer { .. } => {}
            }
        }
        Ok(())
    }

    fn look_at_the_clock(&mut self, now: Instant) -> Result<()> {
        if self.scanner.deadline().is_some_and(|it| now >= it) {
            self.scanner.give_up(&mut self.typed);
            self.send_typed(now)?;
        }
        if self.link.retry(now)? {
            self.notice.heard(now);
        }
        match self.notice.act(self.link.down_since(), now) {
            Some(Act::Ask) => {
                let (method, params) = ping();
                self.link.tell(method, &params, now)?;
            }
            Some(Act::Tell) => {
                let name = &self.link.stream().session().name;
                let awaited = self.link.awaited();
                let text = format!("greenroom: waiting for {awaited} ({})", plain(name));
                self.writer.push(sequences::title(&text));
            }
            Some(Act::Untell) => self.writer.push(sequences::title(&self.title)),
            None => {}
        }
        Ok(())
    }

    /// Restores the terminal and says why it is back.
    fn leave(mut self, context: &Context<'_>, left: Result<Left>) -> Result<Exit> {
        // What is left of the output is of no use to who left; at an end nothing is left.
        self.writer.clear();
        self.writer.push(sequences::leave(self.writer.shows_alternate()));
        self.writer.push(sequences::BELOW);
        if let (Ok(left), Manners::Ours, false) = (&left, self.manners, context.output.is_json()) {
            self.writer.push(self.farewell(left, &context.program()).into_bytes());
        }
        self.writer.finish();
        drop(self.raw);
        let session = self.link.stream().target().to_owned();
        let name = self.link.stream().session().name.clone();
        self.link.close();
        let left = left?;
        if self.manners == Manners::Carryon {
            context.output.remark(&left.as_carryon_says_it(&name));
            return Ok(Exit::OK);
        }
        if context.output.is_json() {
            context.output.value(&to_wire(&left, &session))?;
        }
        Ok(match left {
            Left::Detached | Left::Ended(_) => Exit::OK,
            Left::Signal(signal) => Exit(u8::try_from(128 + signal).unwrap_or(Exit::FAILED.0)),
            Left::NoTerminal => Exit::FAILED,
        })
    }

    fn farewell(&self, left: &Left, program: &str) -> String {
        let session = self.link.stream().session();
        let name = plain(&session.name);
        match left {
            Left::Detached => {
                let target =
                    if name.is_empty() { session.number.to_string() } else { quoted(&name) };
                format!("[detached from {name}; {program} attach {target} to return]\r\n")
            }
            Left::Ended(Ended::Program(ExitStatus::Code(code))) => {
                format!("[session {name} ended: exit {code}]\r\n")
            }
            Left::Ended(Ended::Program(ExitStatus::Signal(signal))) => {
                format!("[session {name} ended: signal {signal}]\r\n")
            }
            Left::Ended(Ended::Unknown(reason)) => {
                format!("[session {name} ended: {}]\r\n", plain(reason))
            }
            Left::Signal(_) | Left::NoTerminal => String::new(),
        }
    }
}

impl Left {
    /// What carryOn says at the end, which is no longer than that.
    fn as_carryon_says_it(&self, name: &str) -> String {
        match self {
            Left::Ended(_) => "[local] session ended".to_owned(),
            Left::Detached | Left::Signal(_) | Left::NoTerminal => {
                let name = quoted(&plain(name));
                format!("[local] detached; carryon attach {name} to return")
            }
        }
    }
}

/// A name as a shell takes it.
fn quoted(name: &str) -> String {
    let is_simple = |it: char| it.is_ascii_alphanumeric() || "-_.:/@+%".contains(it);
    match name.chars().all(is_simple) && !name.starts_with('-') {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', r"'\''")),
    }
}

fn to_wire(left: &Left, session: &str) -> serde_json::Value {
    match left {
        Left::Detached => json!({"sessionId": session, "left": "detached"}),
        Left::Ended(Ended::Program(ExitStatus::Code(code))) => {
            json!({"sessionId": session, "left": "ended", "code": code})
        }
        Left::Ended(Ended::Program(ExitStatus::Signal(signal))) => {
            json!({"sessionId": session, "left": "ended", "signal": signal})
        }
        Left::Ended(Ended::Unknown(reason)) => {
            json!({"sessionId": session, "left": "ended", "reason": reason})
        }
        Left::Signal(_) | Left::NoTerminal => json!({"sessionId": session, "left": "hangup"}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_be_typed_back() {
        assert_eq!(quoted("main"), "main");
        assert_eq!(quoted("my work"), "'my work'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("-x"), "'-x'");
    }
}
