//! What a verb is given: the host, the output, and a way to the daemon.

use greenroom_client::{Connection, Endpoint, Error, Identity};
use greenroom_model::Size;
use serde_json::Value;

use crate::failure::{Failure, Result};
use crate::host::{Host, Paths, Settings};
use crate::output::Output;

/// What a verb is given.
pub(crate) struct Context<'a> {
    /// The program around the command line.
    pub(crate) host: &'a dyn Host,
    /// Where it writes to.
    pub(crate) output: &'a Output,
}

impl<'a> Context<'a> {
    pub(crate) fn new(host: &'a dyn Host, output: &'a Output) -> Context<'a> {
        Context { host, output }
    }

    pub(crate) fn paths(&self) -> Result<Paths> {
        Ok(self.host.paths()?)
    }

    pub(crate) fn settings(&self) -> Result<Settings> {
        let settings = self.host.settings().map_err(Failure::from);
        settings.map_err(|failure| failure.hint("`greenroom config check` names every mistake"))
    }

    pub(crate) fn endpoint(&self) -> Result<Endpoint> {
        Ok(Endpoint::new(self.paths()?.socket))
    }

    /// Connects; starts a daemon if there is none. Sessions may live without one, so that even
    /// who only looks needs it.
    pub(crate) fn connect(&self) -> Result<Connection> {
        let mut start = || self.start_daemon();
        Ok(self.endpoint()?.connect_or_start(&identity(), &mut start)?)
    }

    /// Connects to a daemon that runs.
    pub(crate) fn connect_to_running(&self) -> Result<Connection> {
        Ok(self.endpoint()?.connect(&identity())?)
    }

    /// Starts a daemon; the error is its own text.
    pub(crate) fn start_daemon(&self) -> std::result::Result<(), String> {
        self.host.start_daemon().map_err(|error| format!("{error:#}"))
    }

    /// Calls one method over a connection of its own.
    pub(crate) fn call(&self, method: &str, params: &Value) -> Result<Value> {
        Ok(self.connect()?.call(method, params)?)
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

/// Who we tell the daemon we are.
pub(crate) fn identity() -> Identity {
    Identity {
        client: concat!("greenroom ", env!("CARGO_PKG_VERSION")).to_owned(),
        kind: "cli".to_owned(),
        name: "Terminal".to_owned(),
    }
}

/// Reads a size as an argument.
pub(crate) fn size(text: &str) -> std::result::Result<Size, String> {
    text.parse().map_err(|error: greenroom_model::SizeError| error.to_string())
}
