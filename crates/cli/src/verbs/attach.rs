//! `attach`: brings a session to this terminal.

use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use greenroom_client::{Connection, ErrorKind};
use serde_json::Value;

use super::new::{self, Wanted};
use crate::attached::{self, Watch};
use crate::context::{self, Context};
use crate::failure::{Exit, Failure, FailureKind, Result};
use crate::{select, terminal};

/// How long somebody else may take to make the session that we want as well: it takes milliseconds.
const MADE_WITHIN: Duration = Duration::from_secs(5);

/// How long is waited before it is looked for again: about as long as it takes.
const PAUSE: Duration = Duration::from_millis(10);

/// Brings a session to this terminal.
///
/// The detach key (ctrl+\, or `attach.detach_key` of the configuration) leaves it running and returns
/// here at once. To type that key itself, hold alt with it (or set `attach.literal_key`). Without a
/// session named, the default session is meant, or the only one that runs. A daemon that is restarted or
/// killed meanwhile is reconnected to, and nothing is lost.
#[derive(Debug, Args)]
#[command(visible_alias = "a")]
pub(crate) struct Attach {
    /// The session.
    #[arg(value_name = "SESSION", value_parser = context::target)]
    session: Option<String>,
    /// Only watches: types nothing, and leaves the size as it is.
    #[arg(short, long)]
    read_only: bool,
}

impl Attach {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Exit> {
        if !terminal::is_there() {
            return Err(Failure::usage("attaching needs a terminal")
                .hint("`greenroom read` prints the screen, `greenroom run` bridges a program"));
        }
        let mut connection = context.hail()?;
        let default = context.settings()?.default_session;
        let target = select::target(&mut connection, self.session.as_deref(), &default)?;
        attached::watch(
            context,
            connection,
            &target,
            Watch { read_only: self.read_only, from: None },
        )
    }
}

/// Attaches to the default session, and makes it if it is not there.
pub(crate) fn default_session(context: &Context<'_>) -> Result<Exit> {
    let name = context.settings()?.default_session;
    let mut connection = context.connect()?;
    let value = found_or_made(context, &mut connection, &name)?;
    if context.output.is_json() || !terminal::is_there() {
        return new::announce(context, &value);
    }
    new::attach(context, connection, &value, false)
}

/// The running session of a name, made if there is none. Of several that want it at once, one makes it.
fn found_or_made(context: &Context<'_>, connection: &mut Connection, name: &str) -> Result<Value> {
    let wanted = Wanted { name: Some(name.to_owned()), unique: true, ..Wanted::default() };
    let is = |failure: &Failure, kind| failure.kind() == FailureKind::Daemon(kind);
    let deadline = Instant::now() + MADE_WITHIN;
    loop {
        match select::info(connection, name) {
            Ok((session, value)) if session.ended.is_none() && session.name == name => {
                return Ok(value);
            }
            Ok(_) => {}
            Err(failure) if is(&failure, ErrorKind::NotFound) => {}
            Err(failure) => return Err(failure),
        }
        match wanted.create(context, connection) {
            Err(failure) if is(&failure, ErrorKind::Busy) && Instant::now() < deadline => {
                thread::sleep(PAUSE);
            }
            made => return made,
        }
    }
}
