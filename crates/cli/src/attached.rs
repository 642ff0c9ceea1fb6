//! A session at this end: a person's terminal, or the standard streams of `run`.
//!
//! Each is one poll loop over standard input, the link to the daemon, signals and standard output;
//! no threads. One read gives one write, both ways: what a key costs is what the kernel asks for.

mod bridge;
mod direct;
mod manners;
mod notice;
mod poll;
mod watch;

use std::time::{Duration, Instant};

use greenroom_client::{AttachOptions, Connection, Error, Stream};

use crate::context::Context;

pub(crate) use bridge::{Bridge, Typing, bridge};
pub(crate) use manners::Manners;
pub(crate) use poll::earliest;
pub(crate) use watch::{Watch, watch, watch_as};

/// How long a daemon that was lost before it showed a session has to be followed by the next: one that is restarted
/// takes a moment, and one that was stopped for good is not waited for.
const NEXT: Duration = Duration::from_secs(10);

/// Attaches, at the next daemon if this one ends meanwhile: to be shown something twice does no harm.
fn attach(
    context: &Context<'_>,
    connection: &mut Connection,
    target: &str,
    options: &AttachOptions,
) -> Result<Stream, Error> {
    let deadline = Instant::now() + NEXT;
    loop {
        let attached = Stream::attach(connection, target, options.clone());
        let Err(Error::Lost(_)) = &attached else { return attached };
        let Ok(next) = context.connect_after(connection, Some(deadline)) else { return attached };
        *connection = next;
    }
}
