//! Why a console could not go on.

use std::io;
use std::path::PathBuf;

use crate::Framing;

/// Why a console could not go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody listens at the socket.
    #[error("connecting to `{path}`")]
    Connect {
        /// The socket.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The server's program does not run.
    #[error("starting the server `{program}`")]
    Start {
        /// Its file.
        program: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The server ended, or ended the connection, before it answered.
    #[error(
        "the server ended before it answered{}; if its framing is another one, say `--framing {other}`",
        quoted(.said.as_deref())
    )]
    NoServer {
        /// What it said instead.
        said: Option<String>,
        /// The framing that was not tried.
        other: Framing,
    },
    /// The server is there and does not answer.
    #[error(
        "the server has not answered in {seconds} s{}; if its framing is another one, say `--framing {other}`",
        quoted(.said.as_deref())
    )]
    NoAnswer {
        /// How long it had.
        seconds: u64,
        /// What it said instead.
        said: Option<String>,
        /// The framing that was not tried.
        other: Framing,
    },
    /// The server frames its messages in the other way.
    #[error("the server has another framing; say `--framing {other}`")]
    OtherFraming {
        /// Which it has.
        other: Framing,
    },
    /// A person did not want to wait for the server.
    #[error("interrupted before the server answered")]
    Interrupted,
    /// What the console needs of the system is not to be had.
    #[error("{doing}")]
    System {
        /// What was done.
        doing: &'static str,
        /// Why it did not work.
        source: io::Error,
    },
    /// Lua itself does not work.
    #[error("starting Lua: {0}")]
    Lua(String),
    /// What runs does not stop although a person wants it to.
    #[error("the console was ended: what ran did not stop")]
    Stuck,
    /// A line of a script failed.
    #[error("line {line}: {text}")]
    Script {
        /// Which.
        line: usize,
        /// Why.
        text: String,
    },
}

impl Error {
    pub(crate) fn system(doing: &'static str) -> impl Fn(io::Error) -> Error {
        move |source| Error::System { doing, source }
    }
}

fn quoted(said: Option<&str>) -> String {
    said.map(|said| format!(", but said `{said}`")).unwrap_or_default()
}
