//! carryOn's base folder: where its own clients look for the daemon, and for what it leaves there.
//!
//! The socket speaks the native protocol; the door knows carryOn's words. Here are the files: who
//! the daemon is, which sessions there are, what it logs. One folder at a time, from the start or
//! from the moment somebody asks for it.
//!
//! Not here: settings and sockets of sessions, which are in the same folder and the door's.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use greenroom_door::{Shutdown, bind, inner_folder, own_folder};
use greenroom_door_carryon::{Door, write_whole};
use greenroom_engine::{Engine, HouseEvent};
use tokio::sync::broadcast::error::RecvError;

/// The folder of the log.
pub(crate) const LOGS: &str = "logs";

/// The folder of the list of sessions.
const STATE: &str = "state";

/// How long after a change the list of sessions is written: several changes are one, and nobody
/// waits for more than a tenth of a second, which is what carryOn promises.
const SETTLE: Duration = Duration::from_millis(50);

/// The base folder, if one is served.
#[derive(Default)]
pub(crate) struct Carryon {
    door: OnceLock<Weak<Door>>,
    served: Mutex<Option<Served>>,
}

/// A base folder that is served.
struct Served {
    base: PathBuf,
    socket: PathBuf,
    /// Which file the socket is: somebody may put another in its place.
    file: (u64, u64),
}

impl Served {
    /// Whether the socket is still the one that is listened on.
    fn is_there(&self) -> bool {
        let found = fs::symlink_metadata(&self.socket);
        found.is_ok_and(|found| (found.dev(), found.ino()) == self.file)
    }
}

/// What is around the folder.
pub(crate) struct Around {
    pub(crate) engine: Engine,
    pub(crate) shutdown: Shutdown,
    pub(crate) connections: usize,
}

impl Carryon {
    /// The door that is spoken to in the folder.
    pub(crate) fn know(&self, door: &Arc<Door>) {
        // There is one door, made once.
        self.door.set(Arc::downgrade(door)).ok();
    }

    fn served(&self) -> MutexGuard<'_, Option<Served>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves a folder from now on; gives its socket.
    ///
    /// # Errors
    /// It is somebody else's, or another one is served.
    pub(crate) fn serve(&self, base: &Path, around: Around) -> Result<PathBuf> {
        let mut served = self.served();
        match &*served {
            Some(it) if it.base == base && it.is_there() => return Ok(it.socket.clone()),
            // Somebody removed it, as carryOn's clients do with one that does not answer at once.
            Some(it) if it.base == base => {}
            Some(it) => bail!("`{}` is served already, and only one can be", it.base.display()),
            None => {}
        }
        let again = served.is_some();
        let door = self.door.get().and_then(Weak::upgrade).context("the daemon is stopping")?;
        own_folder(base)?;
        // As another program may have made them.
        inner_folder(&base.join(STATE))?;
        inner_folder(&base.join(LOGS))?;
        let socket = base.join("daemon.sock");
        ensure!(
            std::os::unix::net::UnixStream::connect(&socket).is_err(),
            "`{}`: somebody listens there already",
            socket.display()
        );
        let listener = bind(&socket)?;
        let found = fs::symlink_metadata(&socket).context("looking at the socket")?;
        let pid = pid_file(base);
        if let Err(error) = write_whole(&pid, std::process::id().to_string().as_bytes()) {
            // Nobody is to find a socket that nobody serves.
            fs::remove_file(&socket).unwrap_or_default();
            return Err(error).with_context(|| format!("writing `{}`", pid.display()));
        }
        let Around { engine, shutdown, connections } = around;
        if !again {
            let list = base.join(STATE).join("sessions.json");
            tokio::spawn(save(engine, Arc::clone(&door), list));
        }
        tokio::spawn(async move {
            greenroom_door::serve(&listener, connections, shutdown.clone(), |stream, peer| {
                greenroom_door_carryon::serve(stream, peer, Arc::clone(&door), shutdown.clone())
            })
            .await;
        });
        tracing::info!(base = %base.display(), "carryOn's base folder is served");
        let file = (found.dev(), found.ino());
        *served = Some(Served { base: base.to_owned(), socket: socket.clone(), file });
        Ok(socket)
    }

    /// Removes what says that a daemon runs. What it knew stays.
    pub(crate) fn close(&self) {
        let Some(served) = self.served().take() else { return };
        if served.is_there() {
            fs::remove_file(&served.socket).unwrap_or_default();
        }
        let pid = pid_file(&served.base);
        if fs::read_to_string(&pid).is_ok_and(|text| text == std::process::id().to_string()) {
            fs::remove_file(&pid).unwrap_or_default();
        }
    }
}

/// Notes which folder is served, for the next daemon. Without the note it waits to be asked again.
pub(crate) fn remember(note: &Path, base: &Path) {
    let bytes = base.as_os_str().as_bytes();
    if fs::read(note).is_ok_and(|known| known == bytes) {
        return;
    }
    if let Err(error) = write_whole(note, bytes) {
        tracing::warn!(path = %note.display(), %error, "the base folder is not remembered");
    }
}

/// The folder an earlier daemon served.
pub(crate) fn remembered(note: &Path) -> Option<PathBuf> {
    let path = PathBuf::from(OsString::from_vec(fs::read(note).ok()?));
    // A folder that is gone is not made anew: nobody looks there.
    (path.is_absolute() && path.is_dir()).then_some(path)
}

fn pid_file(base: &Path) -> PathBuf {
    base.join("daemon.pid")
}

/// Writes which sessions there are, at the start and after every change. Nothing is written, and
/// nothing wakes up, while nothing changes.
async fn save(engine: Engine, door: Arc<Door>, path: PathBuf) {
    let mut events = engine.events();
    let mut written = String::new();
    loop {
        let text = serde_json::to_string_pretty(&door.saved_sessions()).unwrap_or_default() + "\n";
        if text != written {
            let (to, bytes) = (path.clone(), text.clone());
            let done = tokio::task::spawn_blocking(move || write_whole(&to, bytes.as_bytes()));
            match done.await {
                Ok(Ok(())) => written = text,
                Ok(Err(error)) => {
                    tracing::warn!(path = %path.display(), %error, "the list was not written");
                }
                // The daemon ends.
                Err(_) => return,
            }
        }
        loop {
            match events.recv().await {
                Ok(event) if concerns(&event) => break,
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => break,
                Err(RecvError::Closed) => return,
            }
        }
        tokio::time::sleep(SETTLE).await;
    }
}

/// Whether the list may be another after this.
fn concerns(event: &HouseEvent) -> bool {
    match event {
        HouseEvent::Created(_)
        | HouseEvent::Renamed { .. }
        | HouseEvent::Attached(..)
        | HouseEvent::Detached(..)
        | HouseEvent::Ended(..)
        | HouseEvent::Forgotten(_) => true,
        HouseEvent::Resized(..) | HouseEvent::Title(..) | HouseEvent::Bell(_) => false,
    }
}
