//! The browser's door: the WebSocket contracts, the page, logins and share links.
//!
//! The contract is docs/protocol/websocket.md, what is guarded against is in docs/security.md. `listen`
//! accepts and bounds connections, `guard` looks at `Host` and `Origin` before anything else, `auth`
//! says who is there, `strangers` keeps who guesses waiting, the `porch` a crowd of them off the daemon's
//! thread, `routes` is the table of what there is. `pty` is the terminal of foreign front
//! ends, `native` the way of our own page, `raw` that of carryOn's, `chat` a conversation with an agent; `hub` shows one session to
//! all of them. Everything that is done to a session is a verb of the engine.
//!
//! Not here: what a session is (`engine`), the native protocol (whoever supplies [`Native`]), the
//! files of the page (whoever supplies [`Assets`]).
//!
//! **Invariant:** no route is reached with a foreign `Host`, and no socket opened with a foreign `Origin`.

mod api;
mod arrivals;
mod auth;
mod beat;
mod chat;
mod door;
mod fault;
mod guard;
mod history;
mod hub;
mod kept;
mod listen;
mod logins;
mod look;
mod made;
mod metrics;
mod native;
mod pace;
mod pages;
mod porch;
mod pty;
mod raw;
mod remembered;
mod routes;
mod scope;
mod secret;
mod shares;
mod sockets;
mod strangers;
mod tls;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::net::UnixStream;

pub use auth::{Grant, Who};
pub use door::Door;
pub use greenroom_agents::is_passed;
pub use listen::{ListenError, Listening, Proof};
pub use metrics::{Kind, NUMBERS, Number};
pub use shares::Share;

/// How somebody proves who they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Auth {
    /// By the token.
    Token,
    /// By a password, of which this is the bcrypt hash; the token does as well.
    Password(String),
    /// Not at all: somebody asked for that. `Host` and `Origin` are checked all the same.
    None,
}

/// A program that a terminal of `/ws/pty` may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// What clients call it.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
}

/// What the configuration says of this door, whatever it listens on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How many bytes of what was printed a terminal begins with.
    pub history_bytes: usize,
    /// How long a session made here lives with nobody there and nothing happening.
    pub idle_ttl: Duration,
    /// How many sessions made here may live.
    pub max_sessions: usize,
    /// The same for conversations.
    pub chat_idle_ttl: Duration,
    /// The program and arguments of a conversation.
    pub claude_command: Vec<String>,
    /// The variables it gets.
    pub chat_environment: Vec<(OsString, OsString)>,
    /// What a terminal may run; the first is the default.
    pub providers: Vec<Provider>,
    /// Whether `/metrics` is there.
    pub metrics: bool,
    /// The program's version.
    pub version: &'static str,
}

/// Where and how to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The port; zero for any that is free.
    pub port: u16,
    /// Whether other machines may reach it.
    pub expose: bool,
    /// How somebody proves who they are.
    pub auth: Auth,
    /// Whether it is TLS only.
    pub tls: bool,
    /// A certificate and its key, in files; else one of our own is made.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// Names this machine has for browsers, beside its addresses.
    pub hosts: Vec<String>,
    /// Whose shapes `/api/sessions` and the login have.
    pub flavour: Flavour,
}

/// Whose shapes a listener has where two contracts disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// The WebSocket contract's.
    Contract,
    /// carryOn's.
    Carryon,
}

/// A file of the page.
#[derive(Debug, Clone)]
pub struct Asset {
    /// What is in it.
    pub bytes: Cow<'static, [u8]>,
    /// Its media type.
    pub kind: &'static str,
    /// Whether its name changes with what is in it.
    pub lasting: bool,
}

/// The files of the page, which the program supplies.
pub trait Assets: Send + Sync {
    /// A file by its path without the first slash.
    fn get(&self, path: &str) -> Option<Asset>;
}

/// The native protocol, which the program supplies.
pub trait Native: Send + Sync {
    /// A connection that is served as a local client's, with these rights.
    ///
    /// # Errors
    /// The system is out of something.
    fn open(&self, name: &str, rights: greenroom_engine::Rights) -> io::Result<UnixStream>;
    /// A living session as carryOn's lists show it.
    fn carryon_sessions(&self) -> Vec<serde_json::Value>;
}

/// A request that was answered.
#[derive(Debug, Clone, Copy)]
pub struct Served<'a> {
    /// Its method.
    pub method: &'a str,
    /// The route it went to, as the table of routes has it: no id, no query, nobody's secret.
    pub route: Option<&'a str>,
    /// What was answered.
    pub status: u16,
    /// When it came.
    pub began: SystemTime,
    /// How long the answer took to begin.
    pub took: Duration,
}

/// Somebody who wants to know of every request.
pub trait Watch: Send + Sync {
    /// A request was answered. Called on the daemon's thread, or the porch's: it must not wait.
    fn served(&self, served: &Served<'_>);
}

/// What the program supplies.
#[derive(Clone)]
pub struct Around {
    /// The files of the page.
    pub assets: Arc<dyn Assets>,
    /// The native protocol.
    pub native: Arc<dyn Native>,
    /// The folder for the token, logins, links and certificates.
    pub state: PathBuf,
    /// Who wants to know of every request, if anybody does.
    pub watch: Option<Arc<dyn Watch>>,
    /// When the daemon ends.
    pub shutdown: greenroom_door::Shutdown,
}
