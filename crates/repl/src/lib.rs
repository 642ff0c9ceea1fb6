//! A Lua console on a server of the ptywright protocol.
//!
//! - `server` starts or connects to a server; `link` calls it, and cancels a wait on ctrl+c;
//! - `console` is what can be done, by name; `lua` gives those names to a VM, whose prelude makes
//!   functions and tabs of them; `value` and `show` are JSON to Lua and Lua to text;
//! - `meta` has the commands that begin with a colon, `catalog`, `names` and `complete` what Tab
//!   offers;
//! - `interactive` is a person at a terminal, with a `history`; `script` is anything else.
//!
//! Not here: the environment and where files are; whoever calls [`run`] says so.
//!
//! **Invariant:** what a session prints never reaches the person's terminal as a control sequence.

mod catalog;
mod complete;
mod console;
mod error;
mod history;
mod interactive;
mod interrupt;
mod link;
mod lua;
mod meta;
mod names;
mod notes;
mod plain;
mod script;
mod server;
mod show;
mod value;

use std::ffi::OsString;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::thread;

pub use error::Error;
use interrupt::Presses;
use link::Link;

/// The stack Lua has: as large as that of a program's first thread, which recursion is bounded for.
const STACK_BYTES: usize = 8 << 20;

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

/// How messages are framed; shown as it is called on command lines.
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
/// There is no server, the input cannot be read, a script failed, or something that a person wants to
/// stop does not.
pub fn run(options: &Options) -> Result<(), Error> {
    let (ended, end) = mpsc::channel();
    let (options, given_up) = (options.clone(), ended.clone());
    // A thread of its own can be left behind when Lua does not come back.
    let console = move || {
        let give_up = move || given_up.send(Ok(Err(Error::Stuck))).unwrap_or_default();
        let done = panic::catch_unwind(AssertUnwindSafe(|| talk(&options, give_up)));
        ended.send(done).unwrap_or_default();
    };
    let thread = thread::Builder::new().name("console".to_owned()).stack_size(STACK_BYTES);
    thread.spawn(console).map_err(Error::system("starting a thread"))?;
    match end.recv() {
        Ok(Ok(done)) => done,
        Ok(Err(panicked)) => panic::resume_unwind(panicked),
        Err(_) => Err(Error::Stuck),
    }
}

fn talk(options: &Options, give_up: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    let presses = Arc::new(Presses::default());
    let (link, notes) = Link::open(&options.server, options.framing, Arc::clone(&presses))?;
    presses.begin();
    if options.is_interactive {
        interrupt::catch(Arc::clone(&presses), link.events(), give_up)?;
    }
    let greeted = link.greet(|| interactive::wait_for_server(options));
    let capabilities = greeted.inspect_err(|_| link.abandon())?;
    let console = lua::Console::new(link, Arc::clone(&presses))?;
    console.house.catalog.borrow_mut().learn_methods(&capabilities);
    let done = match options.is_interactive {
        true => interactive::run(&console, options, notes),
        false => script::run(&console, notes),
    };
    // That the server goes is no news now.
    presses.begin();
    console.close();
    done
}

impl Framing {
    /// The other one.
    fn other(self) -> Framing {
        match self {
            Framing::Lines => Framing::Headers,
            Framing::Headers => Framing::Lines,
        }
    }
}

impl fmt::Display for Framing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Framing::Lines => "ndjson",
            Framing::Headers => "lsp",
        })
    }
}
