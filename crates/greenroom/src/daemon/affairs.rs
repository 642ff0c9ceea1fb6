//! What the daemon is apart from its sessions, and what its clients may ask of it.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use greenroom_door::Shutdown;
use greenroom_door_carryon::{Audited, Daemon, LogEntry, Relaying, Status};
use greenroom_engine::Engine;
use greenroom_store::Keeper;
use tokio::process::Command;
use tokio::sync::broadcast;
use tracing::level_filters::LevelFilter;

use super::{LOG, asked, complaint, keep_logs, options};
use crate::calendar::Calendar;
use crate::carryon::{self, Around, Carryon};
use crate::config::Config;
use crate::logs::{Entry, Logs};
use crate::paths::Paths;
use crate::web::Web;
use crate::{archive, host};

/// This very program, which relays run: one that lies in its place by then may speak another protocol, and
/// none may.
const SELF: &str = "/proc/self/exe";

/// What the daemon is, apart from the sessions.
pub(super) struct Affairs {
    pub(super) paths: Paths,
    pub(super) config: Mutex<Config>,
    pub(super) engine: Engine,
    pub(super) keeper: Arc<Keeper>,
    pub(super) logs: Logs,
    pub(super) shutdown: Shutdown,
    pub(super) started: Instant,
    pub(super) calendar: Calendar,
    /// The limit on open files that sessions get back.
    pub(super) open_files: u64,
    /// carryOn's base folder.
    pub(super) carryon: Carryon,
    /// The browser's door.
    pub(super) web: Arc<Web>,
}

impl Affairs {
    pub(super) fn config(&self) -> Config {
        self.config.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Daemon for Affairs {
    fn status(&self) -> Status {
        let health = self.keeper.health();
        Status {
            uptime: self.started.elapsed().as_secs_f64(),
            version: host::VERSION,
            home: self.paths.home().display().to_string(),
            socket: self.paths.socket().display().to_string(),
            storage_error: health.error,
        }
    }

    fn stop(&self) {
        self.shutdown.begin();
    }

    fn logs(&self, last: usize) -> Vec<LogEntry> {
        self.logs.tail(last, LevelFilter::TRACE).iter().map(Entry::to_wire).collect()
    }

    fn audit(&self, last: u64) -> Audited {
        let keeper = Arc::clone(&self.keeper);
        Box::pin(async move {
            let read = asked(|answer| keeper.audit_tail(last, answer)).await;
            let entries =
                read.map_err(|error| format!("the audit trail cannot be read: {error:#}"))?;
            Ok(entries.into_iter().map(archive::audited).collect())
        })
    }

    fn follow_logs(&self) -> broadcast::Receiver<LogEntry> {
        self.logs.follow()
    }

    fn set_log_level(&self, level: &str) {
        if let Ok(level) = level.parse() {
            self.logs.set_level(level);
        }
    }

    fn set_log_files(&self, files: usize) {
        self.logs.set_files(files);
    }

    fn serve_base(&self, base: &Path) -> Result<PathBuf, String> {
        let connections = self.config().limits.connections;
        let (engine, shutdown) = (self.engine.clone(), self.shutdown.clone());
        let around = Around { engine, shutdown, connections };
        let socket = self.carryon.serve(base, around).map_err(|error| format!("{error:#}"))?;
        self.logs.also(&base.join(carryon::LOGS), keep_logs(&self.config()));
        carryon::remember(&self.paths.carryon_base(), base);
        Ok(socket)
    }

    fn relay(&self, client: OwnedFd, session: &str) -> io::Result<Relaying> {
        // Nothing but the connection and where the daemon is: it is to be as if it had always been there.
        let mut relay = Command::new(SELF)
            .arg0("greenroom")
            .args(["relay", session])
            .arg(self.paths.socket())
            .env_clear()
            .stdin(Stdio::from(client))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Box::pin(async move { relay.wait().await.map(drop).unwrap_or_default() }))
    }

    fn reload(&self) -> Result<(), String> {
        let loaded = Config::load(&self.paths.config);
        let new = loaded.map_err(|problems| complaint(&self.paths, &problems).to_string())?;
        let restart = self.config().needs_restart(&new);
        if !restart.is_empty() {
            tracing::warn!(target: LOG, keys = restart.join(", "), "these wait for the next daemon");
        }
        let options = options(&self.paths, &new, self.open_files).map_err(|it| it.to_string())?;
        // First, for it alone can say no.
        self.web.reload(&new).map_err(|error| format!("{error:#}"))?;
        self.engine.set_options(options);
        self.logs.set_level(new.logs.level);
        *self.config.lock().unwrap_or_else(PoisonError::into_inner) = new;
        tracing::info!(target: LOG, "the configuration was read again");
        Ok(())
    }
}
