//! What a verb is given: the host, the output, and a way to the daemon.

use std::cell::OnceCell;
use std::time::{Duration, Instant};

use greenroom_client::{Connection, Endpoint, Error, Identity, Reach, Tunnel};
use greenroom_model::Size;
use serde_json::Value;

use crate::failure::{Failure, Result};
use crate::host::{Host, Paths, Settings};
use crate::machines::Chosen;
use crate::output::Output;
use crate::terminal;

/// How long a daemon that we started may take to answer its greeting: an attached terminal waits.
const GREETING: Duration = Duration::from_secs(2);

/// How often a daemon that somebody stopped is looked for: at once, to a person.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How often to see whether a daemon is there again that is being restarted: somebody waits for it.
const SOON: Duration = Duration::from_millis(20);
const SOON_TRIES: usize = 500;

/// What a verb is given.
pub(crate) struct Context<'a> {
    /// The program around the command line.
    pub(crate) host: &'a dyn Host,
    /// Where it writes to.
    pub(crate) output: &'a Output,
    /// Whose daemon is meant.
    pub(crate) chosen: Chosen,
    /// Who we tell the daemon we are.
    pub(crate) identity: Identity,
    /// What a daemon that we start is told first: a method and its parameters.
    pub(crate) greeting: Option<(&'static str, Value)>,
    /// What the configuration says, once it was read.
    pub(crate) settings: OnceCell<Settings>,
}

impl<'a> Context<'a> {
    /// For a verb about this machine.
    pub(crate) fn new(host: &'a dyn Host, output: &'a Output) -> Context<'a> {
        Context::about(host, output, Chosen::default())
    }

    pub(crate) fn about(host: &'a dyn Host, output: &'a Output, chosen: Chosen) -> Context<'a> {
        let (identity, settings) = (identity(), OnceCell::new());
        Context { host, output, chosen, identity, greeting: None, settings }
    }

    pub(crate) fn paths(&self) -> Result<Paths> {
        Ok(self.host.paths()?)
    }

    pub(crate) fn settings(&self) -> Result<Settings> {
        if let Some(settings) = self.settings.get() {
            return Ok(settings.clone());
        }
        let settings = self.host.settings().map_err(Failure::from);
        let settings = settings
            .map_err(|failure| failure.hint("`greenroom config check` names every mistake"))?;
        Ok(self.settings.get_or_init(|| settings).clone())
    }

    /// The daemon of this machine.
    pub(crate) fn endpoint(&self) -> Result<Endpoint> {
        Ok(Endpoint::new(self.paths()?.socket))
    }

    /// The line to the other machine, if one is meant.
    pub(crate) fn tunnel(&self) -> Result<Option<Tunnel>> {
        let Some(machine) = &self.chosen.machine else { return Ok(None) };
        let tunnel = Tunnel::new(machine.clone(), &self.paths()?.run);
        Ok(Some(if terminal::has_person() { tunnel.asking() } else { tunnel }))
    }

    /// The way to the daemon that is meant.
    pub(crate) fn reach(&self) -> Result<Reach> {
        Ok(match self.tunnel()? {
            Some(tunnel) => Reach::There(tunnel),
            None => Reach::Here(self.endpoint()?),
        })
    }

    /// How a person calls this program to have the same daemon.
    pub(crate) fn program(&self) -> String {
        match &self.chosen.machine {
            Some(machine) => format!("greenroom --host {}", machine.name),
            None => "greenroom".to_owned(),
        }
    }

    /// Why the daemon could not be reached. What `ssh` said may quote a command with secrets in it.
    pub(crate) fn failed(&self, error: Error) -> Failure {
        let is_quoted = matches!(error, Error::Machine { .. });
        let failure = Failure::from(error);
        if is_quoted { failure.redacted(|text| self.host.redact(text)) } else { failure }
    }

    /// Connects; starts a daemon if there is none. Sessions may live without one, so that even
    /// who only looks needs it.
    pub(crate) fn connect(&self) -> Result<Connection> {
        let mut start = || self.start_daemon();
        let connected = self.reach()?.connect_or_start(&self.identity, &mut start);
        connected.map_err(|error| self.failed(error))
    }

    /// Connects for a verb that changes nothing: what it asks goes along with who we are.
    pub(crate) fn hail(&self) -> Result<Connection> {
        let mut start = || self.start_daemon();
        let hailed = self.reach()?.hail_or_start(&self.identity, &mut start);
        hailed.map_err(|error| self.failed(error))
    }

    /// Connects to a daemon that runs.
    pub(crate) fn connect_to_running(&self) -> Result<Connection> {
        self.reach()?.connect(&self.identity).map_err(|error| self.failed(error))
    }

    /// Starts a daemon; the error is its own text.
    pub(crate) fn start_daemon(&self) -> std::result::Result<(), String> {
        self.host.start_daemon(&[]).map_err(|error| format!("{error:#}"))?;
        if let (Some((method, params)), Ok(mut connection)) =
            (&self.greeting, self.connect_to_running())
        {
            // It serves us all the same, whatever it says to that.
            let _greeted = connection.call_within(method, params, GREETING);
        }
        Ok(())
    }

    /// Calls one method over a connection of its own.
    pub(crate) fn call(&self, method: &str, params: &Value) -> Result<Value> {
        Ok(self.connect()?.call(method, params)?)
    }

    /// Asks something that changes nothing. If the daemon was gone before it answered, the next one is
    /// asked the same; that one's end as well would be no accident.
    pub(crate) fn ask<T>(&self, mut ask: impl FnMut(&mut Connection) -> Result<T>) -> Result<T> {
        let mut connection = self.hail()?;
        match ask(&mut connection) {
            // One that somebody stopped is not started again behind their back.
            Err(failure) if failure.is_lost() && !connection.was_stopped() => {
                ask(&mut self.hail()?)
            }
            other => other,
        }
    }

    /// Connects to the next daemon, after one that was lost: starts it, or, if somebody stopped that one,
    /// waits until somebody starts it.
    pub(crate) fn connect_after(
        &self,
        lost: &mut Connection,
        deadline: Option<Instant>,
    ) -> Result<Connection> {
        if !lost.was_stopped() {
            return self.connect();
        }
        let mut pauses = std::iter::repeat_n(SOON, SOON_TRIES).chain(std::iter::repeat(LOOK_EVERY));
        loop {
            match self.connect_to_running() {
                Err(_) if deadline.is_none_or(|it| Instant::now() < it) => {
                    std::thread::sleep(pauses.next().unwrap_or(LOOK_EVERY));
                }
                connected => return connected,
            }
        }
    }

    /// Calls a method for each target, tells of all that failed, and fails with the last of them.
    pub(crate) fn for_each(
        &self,
        targets: &[String],
        mut act: impl FnMut(&mut Connection, &str) -> std::result::Result<(), Error>,
    ) -> Result<()> {
        let mut connection = self.connect()?;
        let mut last = None;
        for target in targets {
            if let Err(error) = act(&mut connection, target)
                && let Some(failure) = last.replace(Failure::from(error))
            {
                self.output.failure(&failure);
            }
        }
        last.map_or(Ok(()), Err)
    }
}

/// Who we are, if no other program is taken for us.
pub(crate) fn identity() -> Identity {
    Identity {
        client: concat!("greenroom ", env!("CARGO_PKG_VERSION")).to_owned(),
        kind: "cli".to_owned(),
        name: "Terminal".to_owned(),
    }
}

/// Reads a number of bytes as an argument: a number, or one with the first letter of what it counts.
pub(crate) fn bytes(text: &str) -> std::result::Result<u64, String> {
    let (number, shift) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 10),
        Some((at, 'm' | 'M')) => (&text[..at], 20),
        Some((at, 'g' | 'G')) => (&text[..at], 30),
        _ => (text, 0),
    };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| "say a number of bytes, or such as 512M or 2G".to_owned())
}

/// Reads what names a session as an argument.
pub(crate) fn target(text: &str) -> std::result::Result<String, String> {
    match text.is_empty() {
        true => Err("say its number, its name or its id, as `greenroom ls` shows them".to_owned()),
        false => Ok(text.to_owned()),
    }
}

/// Reads what is looked for as an argument, be it a text or a regular expression.
pub(crate) fn pattern(text: &str) -> std::result::Result<String, String> {
    match text.is_empty() {
        true => Err("say what to look for: nothing is everywhere".to_owned()),
        false => Ok(text.to_owned()),
    }
}

/// Reads a size as an argument.
pub(crate) fn size(text: &str) -> std::result::Result<Size, String> {
    text.parse().map_err(|error: greenroom_model::SizeError| error.to_string())
}
