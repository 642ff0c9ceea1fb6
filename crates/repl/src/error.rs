//! Why a console could not go on.

use std::io;
use std::path::PathBuf;

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
