//! `carryon attach`: brings a session to this terminal.

use clap::Args;
use greenroom_client::{Connection, Session};

use super::{chosen, served};
use crate::attached::{self, Manners, Watch};
use crate::context::Context;
use crate::failure::{Exit, Failure, Result};
use crate::terminal;

/// Brings a session to this terminal.
///
/// Ctrl+C twice in a row leaves it running and returns here; the program gets both. So does ctrl+\,
/// of which it gets nothing. A daemon that is restarted meanwhile is reconnected to.
#[derive(Debug, Args)]
pub(super) struct Attach {
    /// The session: its name, its id, or the beginning of its id.
    #[arg(value_name = "session")]
    session: Option<String>,
}

impl Attach {
    pub(super) fn run(self, context: &Context<'_>) -> Result<Exit> {
        let mut connection = served::connect(context)?;
        let chosen = chosen::session(context, &mut connection, self.session.as_deref())?;
        let how = Watch { read_only: false, from: None };
        show(context, connection, &chosen.session, how)
    }
}

/// Shows a session until it is left or ends.
pub(super) fn show(
    context: &Context<'_>,
    connection: Connection,
    session: &Session,
    how: Watch,
) -> Result<Exit> {
    if !terminal::is_there() {
        return Err(Failure::usage("attaching needs a terminal"));
    }
    attached::watch_as(context, connection, &session.exact(), how, Manners::Carryon)
}
