//! The carryOn protocol, which is also our native one: frames, methods, notifications.
//!
//! The contract is docs/protocol/native.md, and docs/protocol/carryon.md where carryOn's own clients
//! depend on more. `connection` reads frames and starts requests, `methods` is the table of what can
//! be asked, `streams` carries attached sessions, `holders` has them carried on a socket of each session,
//! `notes` tells everybody what happened, `wire` has the shapes. Everything a method does to a session
//! is one verb of the engine; here it is only renamed, reshaped and framed. What carryOn has beside
//! sessions is here: `settings`, `project`, and `tmux`, its other backend.
//!
//! Not here: sockets and peers (`door`), what a session is (`engine`), the daemon's own affairs
//! (the [`Daemon`] the program supplies).

mod clients;
mod connection;
mod error;
mod follows;
mod hands;
mod holders;
mod local;
mod methods;
mod notes;
mod params;
mod project;
mod settings;
mod sizers;
mod streams;
mod tap;
mod tmux;
mod web;
mod wire;

use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use greenroom_door::Shutdown;
use greenroom_engine::{Engine, State};
use serde_json::Value;
use tokio::sync::broadcast;

pub use connection::{serve, serve_as};
pub use local::{Applied, Local, NoPage, Page};
pub use methods::names as method_names;
pub use settings::write_whole;
pub use tap::serve_tap;
pub use tmux::FindTmux;
pub use web::{NoWeb, Opening, Told, Web};

use crate::clients::Clients;
use crate::holders::Holders;
use crate::project::Associations;
use crate::settings::Settings;
use crate::sizers::Sizers;

/// How many notes a connection may be behind before it misses some: many more than anybody causes
/// between two turns.
const ANNOUNCED: usize = 256;

/// The settings of a base folder.
pub const SETTINGS: &str = "config.json";

/// The folder for sockets of sessions, in a base folder.
pub const SOCKETS: &str = "holders";

/// The version of the native protocol, for the handshake.
pub const PROTOCOL: u64 = 1;

/// What this door can do beyond carryOn, for the handshake.
pub const CAPABILITIES: &[&str] =
    &["offsets", "read", "send", "search", "wait", "ended", "observe", "cancel", "limits", "once"];

/// A line of the daemon's log.
#[derive(Debug, Clone)]
pub struct LogEntry {
    /// When, in milliseconds since 1970.
    pub timestamp_ms: u64,
    /// `error`, `warn`, `info` or `debug`.
    pub level: &'static str,
    /// Who says it.
    pub component: String,
    /// What.
    pub message: String,
}

/// A line of the audit trail.
#[derive(Debug, Clone)]
pub struct AuditEntry {
    /// When, in milliseconds since 1970.
    pub timestamp_ms: u64,
    /// Who asked.
    pub who: String,
    /// For what.
    pub what: String,
    /// The number of the session it was about, if about one.
    pub session: Option<u64>,
    /// Whether it was allowed.
    pub allowed: bool,
}

/// What the audit trail has; else why it cannot be read, for people.
pub type Audited = Pin<Box<dyn Future<Output = Result<Vec<AuditEntry>, String>> + Send>>;

/// Ends when the process that carries a session to a client has.
pub type Relaying = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What the daemon says of itself.
#[derive(Debug, Clone)]
pub struct Status {
    /// How long it runs, in seconds.
    pub uptime: f64,
    /// The program's version.
    pub version: &'static str,
    /// The folder that holds everything.
    pub home: String,
    /// Where it listens.
    pub socket: String,
    /// What is wrong with the archive, if something is.
    pub storage_error: Option<String>,
}

/// The daemon's own affairs, which the program supplies.
pub trait Daemon: Send + Sync {
    /// What it says of itself.
    fn status(&self) -> Status;
    /// Ends the daemon; sessions live on.
    fn stop(&self);
    /// The last lines of its log, the newest last.
    fn logs(&self, last: usize) -> Vec<LogEntry>;
    /// The last entries of the audit trail, the newest last.
    fn audit(&self, last: u64) -> Audited;
    /// What it says from now on.
    fn follow_logs(&self) -> broadcast::Receiver<LogEntry>;
    /// Says as much as this from now on: `error`, `warn`, `info` or `debug`.
    fn set_log_level(&self, level: &str);
    /// Keeps so many files of its log from now on.
    fn set_log_files(&self, files: usize);
    /// Reads its configuration again.
    ///
    /// # Errors
    /// What is wrong with the file; the old one stays in force.
    fn reload(&self) -> Result<(), String>;
    /// Serves a base folder of carryOn's too, from now on; gives the socket there.
    ///
    /// # Errors
    /// Somebody else does, or the daemon serves another one already.
    fn serve_base(&self, base: &Path) -> Result<PathBuf, String>;
    /// Has a process of its own, which outlives this one, carry a session to the client at this end of a
    /// connection.
    ///
    /// # Errors
    /// The system is out of something.
    fn relay(&self, client: OwnedFd, session: &str) -> io::Result<Relaying>;
}

/// How a door is set up.
pub struct Setup {
    /// The file of the settings.
    pub settings: PathBuf,
    /// The folder for sockets of sessions.
    pub sockets: PathBuf,
    /// The page in a browser.
    pub local: Arc<dyn Local>,
    /// How the user's tmux is found.
    pub tmux: FindTmux,
    /// The browser's door.
    pub web: Arc<dyn Web>,
    /// When the daemon ends.
    pub shutdown: Shutdown,
}

/// The door: what all its connections share.
pub struct Door {
    engine: Engine,
    daemon: Arc<dyn Daemon>,
    clients: Clients,
    settings: Settings,
    local: Arc<dyn Local>,
    web: Arc<dyn Web>,
    /// What happened that is not the engine's, as frames.
    announced: broadcast::Sender<Bytes>,
    sizers: Sizers,
    holders: Holders,
    tmux: tmux::Backend,
    associations: Associations,
    /// Held while a project's terminals are started: nobody starts them twice.
    starting: tokio::sync::Mutex<()>,
}

impl Door {
    /// Makes a door, and puts into force what is set.
    #[must_use]
    pub fn new(engine: Engine, daemon: Arc<dyn Daemon>, setup: Setup) -> Door {
        let settings = Settings::load(setup.settings);
        if let Some(Value::String(level)) = settings.given("logs.level") {
            daemon.set_log_level(&level);
        }
        if settings.given("logs.maxFiles").is_some() {
            daemon.set_log_files(usize::try_from(settings.number("logs.maxFiles")).unwrap_or(1));
        }
        Door {
            engine,
            daemon,
            clients: Clients::default(),
            settings,
            local: setup.local,
            web: setup.web,
            announced: broadcast::Sender::new(ANNOUNCED),
            sizers: Sizers::default(),
            holders: Holders::new(setup.sockets, setup.shutdown),
            tmux: tmux::Backend::new(setup.tmux),
            associations: Associations::default(),
            starting: tokio::sync::Mutex::default(),
        }
    }

    /// Tells every connection something that is not the engine's to tell.
    fn announce(&self, method: &str, params: &Value) {
        // Nobody may be connected.
        let _nobody = self.announced.send(notes::frame(method, params));
    }

    /// Keeps settings and the sockets of sessions in a base folder from now on.
    pub async fn use_base(self: &Arc<Self>, settings: PathBuf, sockets: PathBuf) {
        let door = Arc::clone(self);
        let moved = tokio::task::spawn_blocking(move || door.settings.move_to(settings)).await;
        self.holders.move_to(sockets);
        for warning in methods::config::put_in_force(self, &moved.unwrap_or_default()).await {
            tracing::warn!(%warning, "a setting of the base folder is not in force");
        }
    }

    /// Does what must be done while the daemon runs: sockets of sessions that end are removed, and
    /// the user's tmux is looked at while somebody wants to know.
    pub async fn tend(self: Arc<Self>) {
        methods::config::begin(&self).await;
        tokio::join!(holders::tend(&self), tmux::tend(&self));
    }

    /// Removes the sockets of sessions; the daemon ends.
    pub fn close(&self) {
        self.holders.close();
    }

    /// The living sessions, as `state/sessions.json` of a base folder has them.
    #[must_use]
    pub fn saved_sessions(&self) -> Vec<Value> {
        let mut sessions = self.engine.list();
        sessions.retain(|info| info.state == State::Running);
        sessions.iter().map(|info| wire::saved(self, info)).collect()
    }
}
