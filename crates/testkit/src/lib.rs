//! What process tests need: sandboxed homes, daemons to kill, named waits, a look at processes.
//!
//! - [`Home`] is a temporary `GREENROOM_HOME`; dropping it ends every process that came of it and
//!   removes the folder, also when the test panics;
//! - [`Daemon`] is a daemon in the foreground, to be killed, stopped and started again;
//! - [`eventually`] waits for something that has a name, which is printed when it does not come;
//! - [`Wire`] speaks frames, good ones and bad ones; the typed client is [`Home::connect`];
//! - [`Rpc`] speaks the ptywright protocol, with the daemon or a private server ([`Serving`]);
//! - [`play`] plays golden transcripts;
//! - [`Lines`] checks that a numbered stream is whole; [`process`] looks at processes from outside;
//! - [`leftovers`] lists what tests left behind.
//!
//! Everything here panics when it fails: it is a test that fails then. Not here: the tests, which
//! are with the program (`greenroom`), and the path of its binary, which only they know.
#![expect(clippy::expect_used, reason = "whatever fails here fails the test that called it")]

mod daemon;
mod home;
mod leftovers;
mod lines;
pub mod process;
mod rpc;
mod serving;
mod transcript;
mod wait;
mod wire;

use std::time::Duration;

pub use daemon::Daemon;
pub use home::{HOLDER, Home, IDENTITY_KIND, PTYWRIGHT, SOCKET, create, session_list};
pub use leftovers::leftovers;
pub use lines::{LINE, Lines, line};
pub use rpc::{Framing, Rpc};
pub use rustix::process::Signal;
pub use serving::Serving;
pub use transcript::{Party, play, transcripts};
pub use wait::{BOUND, eventually, eventually_ok, eventually_some, next_event};
pub use wire::Wire;

/// The variable that asks for the numbers of FAULTS.md instead of those of the suite.
pub const FULL: &str = "GREENROOM_FULL";

/// How often to do something: `suite` times in the suite, `full` times when all was asked for.
#[must_use]
pub fn count(suite: usize, full: usize) -> usize {
    if std::env::var_os(FULL).is_some_and(|it| it != "0") { full } else { suite }
}

/// The variable that says for how many minutes everything is disturbed at once.
pub const SOAK: &str = "GREENROOM_SOAK_MINUTES";

/// For how long everything is to be disturbed at once, if somebody asked for more than the suite's rounds.
#[must_use]
pub fn soak() -> Duration {
    let minutes = std::env::var(SOAK).ok().and_then(|it| it.parse().ok());
    Duration::from_secs(60 * minutes.unwrap_or(0))
}
