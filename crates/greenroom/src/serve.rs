//! Private servers of the ptywright protocol: on standard streams, or at a socket of their own.
//!
//! A private server begins without sessions, shares none with the daemon, and takes all of its own with
//! it when it ends, however it ends: its holders are on a leash.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use greenroom_cli::{Framing, Serve, Transport};
use greenroom_door::{Peer, Shutdown, bind, halves, own_folder, takes_path};
use greenroom_door_ptywright::{self as ptywright, Client, Door};
use greenroom_engine::redact::Redaction;
use greenroom_engine::{
    Archive, AuditEntry, Caller, Done, EndedRecord, Engine, LivingRecord, Rights,
};
use greenroom_engine::{Options, State};
use greenroom_model::SessionId;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::net::UnixStream;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use crate::config::Config;
use crate::logs::{Logs, Private};
use crate::paths::Paths;
use crate::{daemon, environment, host, plugins};

/// How many clients a private server takes at once.
const MAX_CONNECTIONS: usize = 256;

/// How much of an answer may be under way; the system gives what it has.
const SEND_BUFFER: usize = 1 << 20;

/// How long sessions have to end when the server does.
const LAST_GRACE: Duration = Duration::from_millis(500);

/// The beginning of the folder of a private server's holders, before its process number.
const FOLDER: &str = "greenroom-serve";

/// How long the last lines of the log have to be written.
const FAREWELL: Duration = Duration::from_secs(1);

/// Serves until the client has no more to say, or a signal ends it; gives the code to exit with.
///
/// It logs below `home`, if there is one.
pub(crate) fn run(serve: &Serve, home: Option<&Path>) -> Result<u8> {
    let logs = home.and_then(log);
    let folder = Folder::make()?;
    let open_files = greenroom_pty::raise_open_files().unwrap_or(0);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let code = runtime.block_on(run_in(serve, &folder.0, open_files));
    // A client that keeps standard input open must not keep us.
    runtime.shutdown_background();
    match &code {
        Ok(code) => tracing::info!(code, "a private server ended"),
        Err(error) => {
            // It may quote what the server was started with.
            let about = format!("{error:#}");
            let about = Redaction::standard().apply(&about);
            tracing::error!("a private server failed: {about}");
        }
    }
    if let Some(logs) = logs {
        logs.flush(FAREWELL);
    }
    code
}

/// Begins to log; none if that is not wanted, or does not work: a server is of use without.
fn log(home: &Path) -> Option<Logs> {
    let filter = std::env::var("PTYWRIGHT_LOG").ok();
    let private = Private::read(home, filter.as_deref());
    for complaint in &private.complaints {
        // Also here: who made the mistake may not know of the logs. Nobody need hear it.
        let text = format!("ptywright: {complaint}\n");
        std::io::stderr().write_all(text.as_bytes()).unwrap_or_default();
    }
    let (logs, subscriber) = Logs::start_daily(private.folder.as_deref()?, &private).ok()?;
    tracing::subscriber::set_global_default(subscriber).ok()?;
    for complaint in &private.complaints {
        tracing::warn!("{complaint}");
    }
    Some(logs)
}

async fn run_in(serve: &Serve, folder: &Path, open_files: u64) -> Result<u8> {
    let options = options(folder, open_files)?;
    let engine = Engine::new(options, Arc::new(Memory::default()), SessionId(1));
    let registry = plugins::registry()?;
    for manifest in &serve.plugins {
        registry.load(manifest).await.with_context(|| format!("`{}`", manifest.display()))?;
    }
    let door = ptywright::Options {
        allow_plugin_load: serve.allow_plugin_load,
        private: true,
        version: host::VERSION,
    };
    let door = Arc::new(Door::new(engine.clone(), registry, door));
    let framing = match serve.framing {
        Framing::Lines => ptywright::Framing::Lines,
        Framing::Headers => ptywright::Framing::Headers,
    };
    let pid = std::process::id();
    tracing::info!(version = host::VERSION, pid, transport = ?serve.transport, "a private server began");
    let shutdown = Shutdown::default();
    let served = async {
        match &serve.transport {
            Transport::Stdio => {
                let client =
                    Client { framing, name: "stdio".to_owned(), finishes: true, socket: None };
                let streams = (tokio::io::stdin(), tokio::io::stdout());
                let served = ptywright::serve(streams, client, Arc::clone(&door), shutdown.clone());
                // What was asked for is seen to its end, unless nobody is there to hear of it.
                tokio::select! {
                    broken = served => if let Some(why) = broken {
                        bail!("{why}");
                    },
                    () = nobody_reads() => tracing::info!("nobody reads the answers any more"),
                }
                Ok(())
            }
            Transport::Socket(path) => {
                listen((path, serve.announce), framing, Arc::clone(&door), shutdown.clone()).await
            }
        }
    };
    let code = tokio::select! {
        served = served => served.map(|()| 0),
        ended = signalled() => ended,
        never = door.follow() => match never {},
    };
    end_all(&engine).await;
    door.transcripts_whole().await;
    code
}

/// Ends when whoever reads standard output is gone.
async fn nobody_reads() {
    let (gone, is_gone) = oneshot::channel();
    let watch = move || {
        let stdout = rustix::stdio::stdout();
        loop {
            // Without flags only an error or the end of the other side is told; a file has neither.
            let mut polled = [PollFd::new(&stdout, PollFlags::empty())];
            match poll(&mut polled, None) {
                Err(Errno::INTR) => {}
                Ok(_) if polled[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) => break,
                // It cannot be watched: the server ends with its input, as it would have.
                _ => return,
            }
        }
        let _ended = gone.send(());
    };
    let started = std::thread::Builder::new().name("stdout".to_owned()).spawn(watch);
    if started.is_err() || is_gone.await.is_err() {
        std::future::pending::<()>().await;
    }
}

async fn listen(
    (path, announce): (&Path, bool),
    framing: ptywright::Framing,
    door: Arc<Door>,
    shutdown: Shutdown,
) -> Result<()> {
    // Of a name alone it is empty, and where we are.
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent.filter(|parent| !parent.exists()) {
        own_folder(parent)?;
    }
    if UnixStream::connect(path).await.is_ok() {
        bail!("`{}`: somebody listens there already", path.display());
    }
    let listener = bind(path)?;
    // Only from here on is what is at the path ours to remove.
    let _bound = Bound::at(path);
    if announce {
        let text = format!("listening at {}\n", path.display());
        // Nobody need hear it.
        std::io::stderr().write_all(text.as_bytes()).unwrap_or_default();
    }
    greenroom_door::serve(&listener, MAX_CONNECTIONS, shutdown.clone(), |stream, peer: Peer| {
        let name = format!("pid {}", peer.pid.unwrap_or(0));
        serve_one(stream, framing, name, Arc::clone(&door), shutdown.clone())
    })
    .await;
    Ok(())
}

/// A socket's file, gone when this is dropped, unless another is in its place.
///
/// Dropped before its listener: until then its number is given to no other file.
struct Bound<'a> {
    path: &'a Path,
    file: Option<(u64, u64)>,
}

impl Bound<'_> {
    fn at(path: &Path) -> Bound<'_> {
        Bound { path, file: file_at(path) }
    }
}

impl Drop for Bound<'_> {
    fn drop(&mut self) {
        if self.file.is_some() && file_at(self.path) == self.file {
            let _gone = fs::remove_file(self.path);
        }
    }
}

/// Which file is there: its device and its number.
fn file_at(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|it| (it.dev(), it.ino()))
}

/// Serves one client at a socket. What was wrong with its stream is in the log; nobody else is concerned.
pub(crate) async fn serve_one(
    stream: UnixStream,
    framing: ptywright::Framing,
    name: String,
    door: Arc<Door>,
    shutdown: Shutdown,
) {
    // A snapshot has megabytes, and every time the buffer is full both processes switch.
    let _as_it_is = rustix::net::sockopt::set_socket_send_buffer_size(&stream, SEND_BUFFER);
    let halves = match halves(stream) {
        Ok(halves) => halves,
        Err(error) => return tracing::warn!(%error, "a connection was closed"),
    };
    let client = Client { framing, name, finishes: false, socket: Some(halves.1.socket()) };
    let _broken = ptywright::serve(halves, client, door, shutdown).await;
}

/// Minds signals until one of them ends the server.
async fn signalled() -> Result<u8> {
    let on = |kind| signal(kind).context("listening for signals");
    let mut ends: [Signal; 3] =
        [on(SignalKind::interrupt())?, on(SignalKind::terminate())?, on(SignalKind::hangup())?];
    let [interrupt, terminate, hangup] = &mut ends;
    let kind = tokio::select! {
        _ = interrupt.recv() => SignalKind::interrupt(),
        _ = terminate.recv() => SignalKind::terminate(),
        _ = hangup.recv() => SignalKind::hangup(),
    };
    Ok(u8::try_from(128 + kind.as_raw_value()).unwrap_or(u8::MAX))
}

/// Ends every session: nobody could find it again.
async fn end_all(engine: &Engine) {
    let caller = Caller { id: engine.next_client(), rights: Rights::ALL, name: "serve".into() };
    let mut ends = tokio::task::JoinSet::new();
    for info in engine.list().into_iter().filter(|info| info.state == State::Running) {
        let (engine, caller) = (engine.clone(), caller.clone());
        ends.spawn(async move { engine.kill(&caller, info.id, Some(LAST_GRACE)).await });
    }
    while ends.join_next().await.is_some() {}
}

fn options(folder: &Path, open_files: u64) -> Result<Options> {
    let paths = Paths::from_environment()?;
    // Limits on sessions are in it, too: who means to have them is not to be without.
    let config =
        Config::load(&paths.config).map_err(|problems| daemon::complaint(&paths, &problems))?;
    let options = daemon::options(&paths, &config, open_files)?;
    let all = std::env::vars_os().map(|(name, value)| (name.into_vec(), value.into_vec()));
    Ok(Options {
        holders: folder.to_owned(),
        environment: all.collect(),
        cwd: std::env::current_dir().unwrap_or_else(|_| environment::home()),
        leashed: true,
        ..options
    })
}

/// The folder of the holders, gone when this is dropped.
struct Folder(PathBuf);

impl Folder {
    fn make() -> Result<Folder> {
        let us = rustix::process::getuid().as_raw();
        let begin = format!("{FOLDER}-{us}-");
        let name = format!("{begin}{}", std::process::id());
        let place = place(&name);
        sweep(&place, &begin);
        let path = place.join(name);
        own_folder(&path)?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Holders remove their own sockets; one that is still at it needs the folder no more.
        let _gone = fs::remove_dir_all(&self.0);
    }
}

/// Where a folder of holders' sockets can be: the folder for what is temporary may have a path that leaves no room for
/// theirs, as those of test runners and builders do.
fn place(name: &str) -> PathBuf {
    let has_room =
        |place: &PathBuf| takes_path(&place.join(name).join(format!("{}.sock", u64::MAX)));
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let places = [Some(std::env::temp_dir()), runtime.filter(|it| it.is_absolute())];
    places.into_iter().flatten().find(has_room).unwrap_or_else(|| "/tmp".into())
}

/// Removes the folders of private servers that were killed.
fn sweep(place: &Path, begin: &str) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(begin)?.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _gone = fs::remove_dir_all(entry.path());
        }
    }
}

/// An archive in memory: what a private server keeps dies with it.
#[derive(Default)]
struct Memory(Mutex<BTreeMap<SessionId, Vec<u8>>>);

impl Archive for Memory {
    fn created(&self, _: LivingRecord) {}

    fn renamed(&self, _: SessionId, _: String) {}

    fn ended(&self, record: EndedRecord, done: Done<()>) {
        if let Some(checkpoint) = record.checkpoint {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.insert(record.living.id, checkpoint);
        }
        done(Ok(()));
    }

    fn checkpoint(&self, id: SessionId, done: Done<Option<Vec<u8>>>) {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned();
        done(Ok(kept));
    }

    fn forget(&self, id: SessionId, done: Done<()>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        done(Ok(()));
    }

    fn audit(&self, _: AuditEntry) {}
}
