//! `attach`: brings a session to this terminal.

use clap::Args;
use greenroom_client::ErrorKind;

use super::new::{self, Wanted};
use crate::attached::{self, Watch};
use crate::context::Context;
use crate::failure::{Exit, Failure, FailureKind, Result};
use crate::{select, terminal};

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
    #[arg(value_name = "SESSION")]
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
    let wanted = Wanted { name: Some(name.clone()), ..Wanted::default() };
    let value = match select::info(&mut connection, &name) {
        Ok((session, value)) if session.ended.is_none() && session.name == name => value,
        Ok(_) => wanted.create(context, &mut connection)?,
        Err(failure) if failure.kind() == FailureKind::Daemon(ErrorKind::NotFound) => {
            wanted.create(context, &mut connection)?
        }
        Err(failure) => return Err(failure),
    };
    if context.output.is_json() || !terminal::is_there() {
        return new::announce(context, &value);
    }
    new::attach(context, connection, &value, false)
}
