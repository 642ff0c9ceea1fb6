//! A Lua console on a server of the ptywright protocol.
//!
//! - `server` starts or connects to a server; `link` calls it, and cancels a wait on ctrl+c;
//! - `console` is what can be done, by name; `lua` gives those names to a VM, whose prelude makes
//!   functions and tabs of them; `value` and `show` are JSON to Lua and Lua to text;
//! - `meta` has the commands that begin with a colon, `catalog` and `complete` what Tab offers;
//! - `interactive` is a person at a terminal, `script` is anything else.
//!
//! Not here: the environment and where files are; whoever calls [`run`] says so.
//!
//! **Invariant:** what a session prints never reaches the person's terminal as a control sequence.

mod catalog;
mod complete;
mod console;
mod error;
mod interactive;
mod interrupt;
mod link;
mod lua;
mod meta;
mod notes;
mod plain;
mod script;
mod server;
mod show;
mod value;

use std::ffi::OsString;
use std::path::PathBuf;

pub use error::Error;

/// How to open a console.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the server is.
    pub server: Server,
    /// How messages are framed.
    pub framing: Framing,
    /// Where what was typed is kept; a person's console only.
    pub history: Option<PathBuf>,
    /// Whether a person types; else standard input is a script.
    pub is_interactive: bool,
}

/// Where the server is.
#[derive(Debug, Clone)]
pub enum Server {
    /// At this socket.
    Socket(PathBuf),
    /// A program, which speaks on its standard streams and ends with the console.
    Program {
        /// Its file.
        file: PathBuf,
        /// The name it is to see, if not that of its file.
        name: Option<OsString>,
        /// Its arguments.
        arguments: Vec<OsString>,
    },
}

/// How messages are framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// A line each.
    Lines,
    /// Behind `Content-Length`.
    Headers,
}

/// Runs a console until its end.
///
/// # Errors
/// There is no server, the input cannot be read, or a script failed.
pub fn run(options: &Options) -> Result<(), Error> {
    let (connection, notes) = server::open(&options.server, options.framing)?;
    let (link, events) = link::Link::new(connection);
    let console = lua::Console::new(link)?;
    let done = match options.is_interactive {
        true => interactive::run(&console, options, events, notes),
        false => script::run(&console, notes),
    };
    console.close();
    done
}
