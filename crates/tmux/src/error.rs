//! Why tmux did not do what was asked.

use std::io;
use std::path::PathBuf;

/// Why tmux did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server has no session of exactly that name, or there is no server.
    #[error("tmux has no session `{0}`")]
    NoSession(String),
    /// There is no server to ask, or it was just ending.
    #[error("no tmux server is running")]
    NoServer,
    /// Another session has the name.
    #[error("tmux has a session `{0}` already")]
    Taken(String),
    /// tmux would take the name for something else, or silently give another.
    #[error("`{name}` cannot be the name of a tmux session: {why}")]
    Name {
        /// The name, with what is not to be printed escaped.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The session's folder is not there, or no folder.
    #[error("cannot start a session in `{}`", .0.display())]
    Cwd(PathBuf, #[source] io::Error),
    /// The program does not run at all.
    #[error("cannot start tmux")]
    Start(#[source] io::Error),
    /// There is no terminal for a client, or it could not be given to it.
    #[error("cannot attach a terminal to tmux")]
    Terminal(#[source] io::Error),
    /// tmux did not answer in time. What was asked may have been done.
    #[error("tmux did not answer `{0}` in time")]
    TimedOut(&'static str),
    /// tmux said more than any answer has.
    #[error("tmux answered `{0}` with more than is read")]
    TooMuch(&'static str),
    /// What tmux said is not an answer.
    #[error("tmux answered `{0}` with something else")]
    Garbage(&'static str),
    /// tmux refused, in its own words.
    #[error("tmux refused `{command}`: {text}")]
    Refused {
        /// What was asked.
        command: &'static str,
        /// What tmux said.
        text: String,
    },
}
