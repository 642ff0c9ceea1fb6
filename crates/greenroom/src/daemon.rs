//! The daemon: store, engine and doors put together, on one thread.
//!
//! One thread, because what the daemon does is short and mostly waiting: a byte then goes from the
//! holder's socket to the client's without changing processors on the way. Only the store has a
//! thread of its own, for the disk may be slow, and a collector of metrics, if there is one, is told
//! from threads that may wait; a crowd of strangers is met on one that others go before.
//!
//! `recovery` finds the sessions there are, `doors` lets clients in, `affairs` answers what they ask of the
//! daemon itself. Here: the order in which all of that begins and ends.

mod affairs;
mod doors;
mod recovery;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use greenroom_cli::Compat;
use greenroom_door::{Shutdown, bind, own_folder};
use greenroom_door_carryon::Daemon as _;
use greenroom_engine::points::{Point, reach};
use greenroom_engine::{Engine, HouseEvent, Options};
use greenroom_store::{Keeper, StoreError};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::oneshot;

use self::affairs::Affairs;
use self::doors::{bind_ptywright, lend, listen, listen_ptywright, open_native, serve_remembered};
use self::recovery::{look_again, recover};
use crate::archive::Stored;
use crate::calendar::Calendar;
use crate::carryon::Carryon;
use crate::config::{Config, Problem};
use crate::lock::Lock;
use crate::logs::{Keep, Logs};
use crate::paths::Paths;
use crate::telemetry::Telemetry;
use crate::web::Web;
use crate::{environment, host};

/// What the log calls all of the daemon's rooms.
const LOG: &str = module_path!();

/// How many tasks run before the daemon sees whether something came: a key is not to wait behind a crowd
/// of connections. Looking takes microseconds; so do tasks, but some take a hundred.
const TASKS_PER_LOOK: u32 = 5;

/// How long connections have to take their last bytes.
const FAREWELL: Duration = Duration::from_millis(200);

/// How long work beside the daemon's thread has to come to its end: a file is written in that time, and what a client's
/// expressions take nobody waits for any more.
const LAST_WORK: Duration = Duration::from_secs(1);

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
    let served = runtime.block_on(serve(paths, config, logs, open_files, ready));
    runtime.shutdown_timeout(LAST_WORK);
    served
}

fn log(paths: &Paths, config: &Config) -> Result<Logs> {
    let (logs, subscriber) = Logs::start(&paths.state, keep_logs(config), config.logs.level)
        .with_context(|| format!("opening the log in `{}`", paths.state.display()))?;
    tracing::subscriber::set_global_default(subscriber).context("starting the log")?;
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |about| {
        tracing::error!(target: LOG, %about, "a mistake of ours");
        hook(about);
    }));
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
