//! The daemon: store, engine and doors put together, on one thread.
//!
//! One thread, because what the daemon does is short and mostly waiting: a byte then goes from the
//! holder's socket to the client's without changing processors on the way. Only the store has a
//! thread of its own, for the disk may be slow, and a collector of metrics, if there is one, is told
//! from threads that may wait; a crowd of strangers is met on one that others go before.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use greenroom_cli::Compat;
use greenroom_door::{Shutdown, bind, own_folder};
use greenroom_door_carryon::{
    self as native, Audited, Daemon, Door, LogEntry, Relaying, Setup, Status,
};
use greenroom_door_ptywright as ptywright;
use greenroom_engine::points::{Point, reach};
use greenroom_engine::{Engine, HouseEvent, Options, Refused};
use greenroom_model::SessionId;
use greenroom_store::{Keeper, StoreError};
use tokio::net::UnixListener;
use tokio::process::Command;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, oneshot};
use tracing::level_filters::LevelFilter;

use crate::archive::{self, Stored};
use crate::calendar::Calendar;
use crate::carryon::{self, Around, Carryon};
use crate::config::{Config, Problem};
use crate::lock::Lock;
use crate::logs::{Entry, Keep, Logs};
use crate::paths::Paths;
use crate::telemetry::Telemetry;
use crate::web::Web;
use crate::{environment, host, plugins, serve as private};

/// How many tasks run before the daemon sees whether something came: a key is not to wait behind a crowd
/// of connections. Looking takes microseconds; so do tasks, but some take a hundred.
const TASKS_PER_LOOK: u32 = 5;

/// This very program, which relays run: one that lies in its place by then may speak another protocol, and
/// none may.
const SELF: &str = "/proc/self/exe";

/// How long connections have to take their last bytes.
const FAREWELL: Duration = Duration::from_millis(200);

/// When to look for late holders: a holder whose daemon is gone listens within milliseconds or
/// ends, unless the machine is on its knees.
const LATE_HOLDERS: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_millis(900), Duration::from_secs(3)];

/// How often holders that did not answer, or were not understood, are knocked at: somebody who let
/// one go on finds its session before they wonder, and it costs nothing.
const KNOCK_EVERY: Duration = Duration::from_secs(60);

/// What the daemon is, apart from the sessions.
struct Affairs {
    paths: Paths,
    config: Mutex<Config>,
    engine: Engine,
    keeper: Arc<Keeper>,
    logs: Logs,
    shutdown: Shutdown,
    started: Instant,
    calendar: Calendar,
    /// The limit on open files that sessions get back.
    open_files: u64,
    /// carryOn's base folder.
    carryon: Carryon,
    /// The browser's door.
    web: Arc<Web>,
}

/// Runs the daemon until it is told to stop. `ready` is called once it can be reached.
///
/// Nothing here changes the umask: holders hand it on to the programs in sessions, and those want
/// their user's. What must be private is made so by its mode.
pub(crate) fn run(paths: Paths, compat: &[Compat], ready: impl FnOnce()) -> Result<()> {
    #[cfg(debug_assertions)]
    environment::point()?.into_iter().for_each(greenroom_engine::points::arm);
    own_folder(&paths.run)?;
    own_folder(&paths.holders())?;
    own_folder(&paths.state)?;
    let _lock = Lock::take(&paths.lock(), &paths.socket())?;
    let mut config =
        Config::load(&paths.config).map_err(|problems| complaint(&paths, &problems))?;
    config.carryon_compat |= compat.contains(&Compat::Carryon);
    config.ptywright.compat |= compat.contains(&Compat::Ptywright);
    let logs = log(&paths, &config)?;
    for group in greenroom_pty::leave_session() {
        let group = group.display();
        tracing::warn!(%group, "the daemon shares the limits of the session it was started in");
    }
    // A daemon started in a folder must not keep it from being unmounted.
    let _stays = std::env::set_current_dir("/");
    let open_files = greenroom_pty::raise_open_files().unwrap_or(0);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .event_interval(TASKS_PER_LOOK)
        .build()
        .context("starting the runtime")?;
    runtime.block_on(serve(paths, config, logs, open_files, ready))
}

fn log(paths: &Paths, config: &Config) -> Result<Logs> {
    let (logs, subscriber) = Logs::start(&paths.state, keep_logs(config), config.logs.level)
        .with_context(|| format!("opening the log in `{}`", paths.state.display()))?;
    tracing::subscriber::set_global_default(subscriber).context("starting the log")?;
    Ok(logs)
}

fn keep_logs(config: &Config) -> Keep {
    Keep { files: config.logs.max_files, bytes: config.logs.max_bytes }
}

async fn serve(
    paths: Paths,
    config: Config,
    logs: Logs,
    open_files: u64,
    ready: impl FnOnce(),
) -> Result<()> {
    let told = |health: &greenroom_store::Health| match &health.error {
        Some(error) => tracing::error!(%error, "the store is ill; sessions go on"),
        None => tracing::info!("the store is well again"),
    };
    let (keeper, opened) = Keeper::start(&paths.store(), told)?;
    if let greenroom_store::Opened::SetAside(aside) = opened {
        tracing::error!(aside = %aside.display(), "the store was damaged and is set aside");
    }
    let keeper = Arc::new(keeper);
    let next = asked(|answer| keeper.next_id(answer)).await?;
    let options = options(&paths, &config, open_files)?;
    let calendar = Calendar::new();
    let archive = Stored { keeper: Arc::clone(&keeper), calendar };
    let engine = Engine::new(options, Arc::new(archive), next);
    let signals = Signals::new()?;
    recover(&engine, &keeper).await?;
    let listener = bind(&paths.socket())?;
    let taps = bind(&paths.tap())?;
    let ptywright = bind_ptywright(&paths, &config)?;
    reach(Point::StartBound);
    let shutdown = Shutdown::default();
    let web = Web::new(&engine, &paths, &config, shutdown.clone());
    let affairs = Arc::new(Affairs {
        paths,
        config: Mutex::new(config),
        engine,
        keeper,
        logs,
        shutdown,
        started: Instant::now(),
        calendar,
        open_files,
        carryon: Carryon::default(),
        web,
    });
    let telemetry = Telemetry::start(&affairs.engine, &affairs.web);
    let door = open_native(&affairs)?;
    affairs.web.begin(&door).await?;
    serve_remembered(&affairs, &door).await;
    tracing::info!(version = host::VERSION, pid = std::process::id(), "the daemon listens");
    ready();
    tokio::select! {
        () = listen(&affairs, &door, listener) => {}
        () = lend(&affairs, &door, taps) => {}
        () = Arc::clone(&door).tend() => {}
        () = listen_ptywright(&affairs, &ptywright) => {}
        () = watch(&affairs, signals) => {}
        () = retain(&affairs) => {}
        () = look_again(&affairs) => {}
        () = telemetry.follow(&affairs.engine) => {}
    }
    // The next daemon makes its own; until then a client sees at once that there is none.
    let _removed = std::fs::remove_file(affairs.paths.socket());
    let _removed = std::fs::remove_file(affairs.paths.tap());
    door.close();
    affairs.carryon.close();
    affairs.web.end();
    for (path, _) in &ptywright {
        let _removed = std::fs::remove_file(path);
    }
    tokio::join!(tokio::time::sleep(FAREWELL), telemetry.end());
    let lines_lost = affairs.logs.dropped();
    tracing::info!(lines_lost, "the daemon ends; sessions live on");
    affairs.logs.flush(FAREWELL);
    Ok(())
}

/// Takes up the sessions that live, and remembers those that do not.
async fn recover(engine: &Engine, keeper: &Keeper) -> Result<()> {
    let found = engine.recover().await.context("looking for holders")?;
    let ended = asked(|answer| keeper.list_ended(answer)).await?;
    engine.remember(ended.into_iter().map(archive::ended));
    reach(Point::StartRemembered);
    record(engine, keeper, &found.sessions).await?;
    let refused = |id: &SessionId| found.refused.iter().any(|it| it.session == Some(*id));
    let gone = |id: &SessionId| !found.sessions.contains(id) && !refused(id);
    lose(engine, keeper, gone).await?;
    reach(Point::StartLost);
    tracing::info!(sessions = found.sessions.len(), "sessions were taken up");
    Ok(())
}

/// Has the store know the sessions that were taken up, and by the names they have: the last daemon may have
/// been killed before it said so.
async fn record(engine: &Engine, keeper: &Keeper, sessions: &[SessionId]) -> Result<()> {
    let known: BTreeMap<SessionId, String> = asked(|answer| keeper.living(answer))
        .await?
        .into_iter()
        .map(|it| (it.id, it.name))
        .collect();
    for info in engine.list().iter().filter(|info| sessions.contains(&info.id)) {
        if known.get(&info.id) != Some(&info.name) {
            engine.record(info.id);
        }
    }
    Ok(())
}

/// Remembers living sessions of the store as lost: their holders are gone.
async fn lose(engine: &Engine, keeper: &Keeper, gone: impl Fn(&SessionId) -> bool) -> Result<()> {
    let living = asked(|answer| keeper.living(answer)).await?;
    for session in living.into_iter().filter(|session| gone(&session.id)) {
        let record = archive::lost(session);
        tracing::warn!(session = %record.living.id, "its holder is gone: the session is lost");
        engine.remember([record.clone()]);
        reach(Point::StartLosing);
        let stored = greenroom_store::Ended {
            session: store_session(&record),
            ended_ms: record.ended_ms,
            end: greenroom_store::End::Lost("the holder is gone".to_owned()),
        };
        keeper.ended(stored, None, |_| {});
    }
    Ok(())
}

fn store_session(record: &greenroom_engine::EndedRecord) -> greenroom_store::Session {
    let living = &record.living;
    greenroom_store::Session {
        id: living.id,
        uuid: living.uuid,
        name: living.name.clone(),
        created_ms: living.created_ms,
        attached_ms: record.attached_ms,
        cwd: living.cwd.clone(),
        command: living.command.clone(),
        size: living.size,
        title: record.title.clone(),
        offset: record.offset,
        resizes: living.resizes,
        notes: living.notes.clone(),
    }
}

/// Makes the native door, and serves carryOn's base folder if the configuration wants it.
fn open_native(affairs: &Arc<Affairs>) -> Result<Arc<Door>> {
    let paths = &affairs.paths;
    let base = affairs.config().carryon_compat.then(environment::carryon_base).transpose()?;
    let (settings, sockets) = match &base {
        Some(base) => (base.join(native::SETTINGS), base.join(native::SOCKETS)),
        None => (paths.carryon_settings(), paths.carryon()),
    };
    let shutdown = affairs.shutdown.clone();
    let tmux = Box::new(environment::tmux);
    let (local, web) = (Arc::clone(&affairs.web) as _, Arc::clone(&affairs.web) as _);
    let setup = Setup { settings, sockets, local, web, tmux, shutdown };
    let daemon = Arc::clone(affairs) as Arc<dyn Daemon>;
    let door = Arc::new(Door::new(affairs.engine.clone(), daemon, setup));
    affairs.carryon.know(&door);
    if let Some(base) = base {
        affairs
            .serve_base(&base)
            .map_err(|text| anyhow::anyhow!("{text}; end it, or turn `compat.carryon` off"))?;
    }
    Ok(door)
}

/// Serves the base folder that somebody asked an earlier daemon for: its clients look there for this one.
async fn serve_remembered(affairs: &Arc<Affairs>, door: &Arc<Door>) {
    if affairs.config().carryon_compat {
        return;
    }
    let Some(base) = carryon::remembered(&affairs.paths.carryon_base()) else { return };
    match affairs.serve_base(&base) {
        Ok(_) => door.use_base(base.join(native::SETTINGS), base.join(native::SOCKETS)).await,
        Err(error) => tracing::warn!(%error, "carryOn's base folder is not served any more"),
    }
}

async fn listen(affairs: &Arc<Affairs>, door: &Arc<Door>, listener: UnixListener) {
    let connections = affairs.config().limits.connections;
    let shutdown = affairs.shutdown.clone();
    greenroom_door::serve(&listener, connections, shutdown.clone(), |stream, peer| {
        native::serve(stream, peer, Arc::clone(door), shutdown.clone())
    })
    .await;
}

/// Lends terminals to attached clients.
async fn lend(affairs: &Arc<Affairs>, door: &Arc<Door>, listener: UnixListener) {
    let connections = affairs.config().limits.connections;
    greenroom_door::serve(&listener, connections, affairs.shutdown.clone(), |stream, peer| {
        native::serve_tap(stream, peer, Arc::clone(door))
    })
    .await;
}

/// Listens for clients of the ptywright protocol, wherever the configuration wants it.
fn bind_ptywright(paths: &Paths, config: &Config) -> Result<Vec<(PathBuf, Arc<UnixListener>)>> {
    let mut listeners = Vec::new();
    if config.ptywright.enabled {
        listeners.push(paths.ptywright());
    }
    if config.ptywright.compat {
        let path = environment::ptywright_home()?.join("socket");
        own_folder(path.parent().unwrap_or(&path))?;
        ensure!(
            std::os::unix::net::UnixStream::connect(&path).is_err(),
            "`{}`: somebody listens there already; end it, or turn `compat.ptywright` off",
            path.display()
        );
        listeners.push(path);
    }
    let bound = listeners.into_iter().map(|path| {
        let listener = bind(&path)?;
        Ok((path, Arc::new(listener)))
    });
    bound.collect()
}

async fn listen_ptywright(affairs: &Arc<Affairs>, listeners: &[(PathBuf, Arc<UnixListener>)]) {
    if listeners.is_empty() {
        return std::future::pending().await;
    }
    let plugins = match plugins::registry() {
        Ok(plugins) => plugins,
        Err(error) => {
            tracing::error!(%error, "the plugins that come along are not usable");
            return std::future::pending().await;
        }
    };
    let options = ptywright::Options {
        allow_plugin_load: affairs.config().ptywright.allow_load,
        private: false,
        version: host::VERSION,
    };
    let door = Arc::new(ptywright::Door::new(affairs.engine.clone(), plugins, options));
    door.take_up().await;
    let connections = affairs.config().limits.connections;
    let shutdown = affairs.shutdown.clone();
    let mut serving = tokio::task::JoinSet::new();
    for (_, listener) in listeners {
        let (door, shutdown) = (Arc::clone(&door), shutdown.clone());
        let listener = Arc::clone(listener);
        serving.spawn(async move {
            greenroom_door::serve(&listener, connections, shutdown.clone(), |stream, peer| {
                let name = format!("ptywright, pid {}", peer.pid.unwrap_or(0));
                let framing = ptywright::Framing::Guess;
                private::serve_one(stream, framing, name, Arc::clone(&door), shutdown.clone())
            })
            .await;
        });
    }
    serving.join_all().await;
}

/// Lets go of ended sessions as the configuration says: at the start, and whenever one ends.
async fn retain(affairs: &Arc<Affairs>) {
    let mut events = affairs.engine.events();
    loop {
        let keep = affairs.config().retention;
        let kept =
            asked(|answer| affairs.keeper.retain(keep, affairs.calendar.today(), answer)).await;
        match kept {
            Ok(gone) => affairs.engine.expired(&gone),
            Err(error) => tracing::warn!(%error, "old sessions could not be let go of"),
        }
        loop {
            match events.recv().await {
                Ok(HouseEvent::Ended(..)) | Err(RecvError::Lagged(_)) => break,
                Ok(_) => {}
                Err(RecvError::Closed) => return std::future::pending().await,
            }
        }
    }
}

/// Looks for holders that an earlier daemon started and that were not listening yet when this one
/// came, and knocks again at those that did not answer. Without such nothing wakes up here after
/// the last look.
async fn look_again(affairs: &Arc<Affairs>) {
    let engine = &affairs.engine;
    let pauses = LATE_HOLDERS.into_iter().map(|it| (it, true));
    for (pause, early) in pauses.chain(std::iter::repeat((KNOCK_EVERY, false))) {
        let refused = engine.refused();
        if !early && refused.is_empty() {
            break;
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = engine.recovery_wanted() => {}
        }
        if let Err(error) = look(affairs, &refused).await {
            tracing::warn!(%error, "late holders could not be looked for");
        }
    }
    std::future::pending().await
}

/// Takes up holders that answer by now, and gives up on those of the refused that are gone.
async fn look(affairs: &Affairs, refused: &[Refused]) -> Result<()> {
    let found = affairs.engine.recover().await?;
    if !found.sessions.is_empty() {
        tracing::warn!(sessions = found.sessions.len(), "late holders were taken up");
        record(&affairs.engine, &affairs.keeper, &found.sessions).await?;
    }
    let is_in = |id: &SessionId, all: &[Refused]| all.iter().any(|it| it.session == Some(*id));
    let gone = |id: &SessionId| {
        is_in(id, refused) && !is_in(id, &found.refused) && !found.sessions.contains(id)
    };
    if refused.iter().filter_map(|it| it.session).any(|id| gone(&id)) {
        lose(&affairs.engine, &affairs.keeper, gone).await?;
    }
    Ok(())
}

/// The signals the daemon minds.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    reload: Signal,
}

impl Signals {
    fn new() -> Result<Signals> {
        let on = |kind| signal(kind).context("listening for signals");
        Ok(Signals {
            terminate: on(SignalKind::terminate())?,
            interrupt: on(SignalKind::interrupt())?,
            reload: on(SignalKind::hangup())?,
        })
    }
}

/// Minds signals until one of them, or somebody, ends the daemon.
async fn watch(affairs: &Affairs, mut signals: Signals) {
    loop {
        tokio::select! {
            _ = signals.terminate.recv() => return affairs.shutdown.begin(),
            _ = signals.interrupt.recv() => return affairs.shutdown.begin(),
            _ = signals.reload.recv() => if let Err(text) = affairs.reload() {
                tracing::error!(%text, "the configuration was not read");
            },
            () = affairs.shutdown.begun() => return,
        }
    }
}

impl Affairs {
    fn config(&self) -> Config {
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
            tracing::warn!(keys = restart.join(", "), "these wait for the next daemon");
        }
        let options = options(&self.paths, &new, self.open_files).map_err(|it| it.to_string())?;
        // First, for it alone can say no.
        self.web.reload(&new).map_err(|error| format!("{error:#}"))?;
        self.engine.set_options(options);
        self.logs.set_level(new.logs.level);
        *self.config.lock().unwrap_or_else(PoisonError::into_inner) = new;
        tracing::info!("the configuration was read again");
        Ok(())
    }
}

pub(crate) fn complaint(paths: &Paths, problems: &[Problem]) -> anyhow::Error {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    anyhow::anyhow!("`{}`: {}", paths.config.display(), lines.join("\n  "))
}

pub(crate) fn options(paths: &Paths, config: &Config, open_files: u64) -> Result<Options> {
    Ok(Options {
        holder: holder()?,
        holders: paths.holders(),
        socket: paths.socket(),
        environment: environment::passed(&config.environment_pass),
        shell: config.shell_or(environment::shell()),
        cwd: environment::home(),
        size: config.size,
        history_lines: config.scrollback_lines,
        size_policy: config.size_policy,
        lag_bytes: config.lag_bytes,
        clipboard_write: config.clipboard_write,
        input_bytes: config.limits.input_bytes,
        max_sessions: config.limits.sessions,
        limits: config.session_limits,
        grace: config.kill_grace,
        keep_bytes: config.holder_keep_bytes,
        open_files,
        leashed: false,
    })
}

/// The holder's program: beside this one, where both were installed.
pub(crate) fn holder() -> Result<PathBuf> {
    let us = std::env::current_exe().context("finding this program")?;
    Ok(us.with_file_name("greenroom-holder"))
}

/// Asks the store and waits for the answer.
async fn asked<T: Send + 'static>(
    ask: impl FnOnce(Box<dyn FnOnce(Result<T, StoreError>) + Send>),
) -> Result<T> {
    let (answer, answered) = oneshot::channel();
    ask(Box::new(|result| drop(answer.send(result))));
    Ok(answered.await.context("the store does not answer")??)
}
