//! A socket of its own for each session that a client of carryOn's attaches to.
//!
//! carryOn's command line does not take output from the daemon: it connects to the holder of a
//! session, at the path the attach answered, and takes the end of that connection for the session's.
//! Here the daemon listens at such paths, and hands each connection to a relay: a process that carries
//! the session to it, attaches as our own clients do, and goes on over daemons (`relay` in `cli`). It
//! says whom it attaches for (`holders/behalf.rs`).
//!
//! A socket is made when somebody attaches and goes when the session ends; who was told of it and
//! has not come yet is waited for, for they still want the last bytes and the exit code.

mod behalf;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use greenroom_door::{Shutdown, bind, inner_folder};
use greenroom_engine::{HouseEvent, Info, State};
use greenroom_model::SessionId;
use tokio::net::{UnixListener, UnixStream as Stream};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::tmux::PREFIX;
use crate::{Door, Relaying};

pub(crate) use behalf::Behalf;

/// How many connections one session's socket takes, each with a process: people with terminals, and
/// then some.
const MAX_CLIENTS: usize = 256;

/// How long who was told of a socket has to come for the end of its session. carryOn's clients
/// connect at once.
const LINGER: Duration = Duration::from_secs(10);

/// The sockets of sessions.
#[derive(Debug)]
pub(crate) struct Holders {
    folder: Mutex<PathBuf>,
    /// By the id of the session.
    open: Mutex<BTreeMap<String, Open>>,
    shutdown: Shutdown,
}

/// A socket somebody may connect to.
#[derive(Debug)]
struct Open {
    path: PathBuf,
    accepting: AbortHandle,
    /// How many were told of it and have not come yet.
    promised: Arc<watch::Sender<usize>>,
}

impl Holders {
    pub(crate) fn new(folder: PathBuf, shutdown: Shutdown) -> Holders {
        remove_stale(&folder);
        Holders { folder: Mutex::new(folder), open: Mutex::default(), shutdown }
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<String, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes sockets in another folder from now on. Those that are there stay.
    pub(crate) fn move_to(&self, folder: PathBuf) {
        if folder == self.folder() {
            return;
        }
        remove_stale(&folder);
        *self.folder.lock().unwrap_or_else(PoisonError::into_inner) = folder;
    }

    fn folder(&self) -> PathBuf {
        self.folder.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Removes a socket; who is connected stays.
    fn remove(&self, id: &str) {
        if let Some(open) = self.open().remove(id) {
            open.remove();
        }
    }

    /// Removes all; the daemon ends.
    pub(crate) fn close(&self) {
        std::mem::take(&mut *self.open()).into_values().for_each(|open| open.remove());
    }
}

impl Open {
    fn remove(self) {
        self.accepting.abort();
        // The folder may be gone.
        fs::remove_file(&self.path).unwrap_or_default();
    }
}

/// Where a session's socket is, made if need be. None if there can be none: the path is too long,
/// or the folder is not fit. The client then has the frames of its own connection.
pub(crate) fn offer(door: &Arc<Door>, info: &Info) -> Option<PathBuf> {
    let (id, native) = (info.id, info.native_id());
    let path = open(door, &native)?;
    if door.engine.get(id).is_none_or(|info| info.state != State::Running) {
        // It ended meanwhile, and nobody will say so again.
        end(door, &native);
    }
    Some(path)
}

/// The same for a session of tmux.
pub(crate) fn offer_tmux(door: &Arc<Door>, name: &str) -> Option<PathBuf> {
    // Such a name has a folder in it.
    let fits = !name.contains('/');
    fits.then(|| open(door, &format!("{PREFIX}{name}"))).flatten()
}

fn open(door: &Arc<Door>, id: &str) -> Option<PathBuf> {
    if let Some(open) = door.holders.open().get(id) {
        open.promised.send_modify(|count| *count += 1);
        return Some(open.path.clone());
    }
    let folder = door.holders.folder();
    let path = folder.join(format!("{id}.sock"));
    let listening = inner_folder(&folder).map_err(io::Error::other);
    let listener = match listening.and_then(|()| bind(&path).map_err(io::Error::other)) {
        Ok(listener) => listener,
        Err(error) => {
            tracing::info!(session = %id, %error, "a session gets no socket of its own");
            return None;
        }
    };
    let promised = Arc::new(watch::Sender::new(1_usize));
    let accepting = accept(Arc::clone(door), listener, Arc::clone(&promised), id.to_owned());
    let accepting = tokio::spawn(accepting).abort_handle();
    let opened = Open { path: path.clone(), accepting, promised };
    door.holders.open().insert(id.to_owned(), opened);
    Some(path)
}

async fn accept(
    door: Arc<Door>,
    listener: UnixListener,
    promised: Arc<watch::Sender<usize>>,
    id: String,
) {
    let shutdown = door.holders.shutdown.clone();
    greenroom_door::serve(&listener, MAX_CLIENTS, shutdown, |stream, _| {
        promised.send_modify(|count| *count = count.saturating_sub(1));
        let relaying = hand_over(&door, stream, &id);
        async move {
            match relaying {
                // For as long as its place is taken.
                Ok(relaying) => relaying.await,
                Err(error) => tracing::warn!(%error, "a session could not be carried to a client"),
            }
        }
    })
    .await;
}

/// Hands a connection to a process of its own.
fn hand_over(door: &Door, stream: Stream, id: &str) -> io::Result<Relaying> {
    door.daemon.relay(OwnedFd::from(stream.into_std()?), id)
}

/// Removes sockets of sessions that end, for as long as the daemon runs.
pub(crate) async fn tend(door: &Arc<Door>) {
    let mut events = door.engine.events();
    loop {
        match events.recv().await {
            Ok(HouseEvent::Ended(id, _)) => ended(door, id),
            Ok(_) => {}
            Err(RecvError::Lagged(_)) => {
                let all = door.engine.list();
                let gone = all.iter().filter(|info| info.state != State::Running);
                gone.for_each(|info| ended(door, info.id));
            }
            Err(RecvError::Closed) => return,
        }
    }
}

fn ended(door: &Arc<Door>, id: SessionId) {
    door.sizers.ended(id);
    door.associations.ended(id);
    if let Some(info) = door.engine.get(id) {
        end(door, &info.native_id());
    }
}

/// A session has ended: its socket goes, at the latest when nobody is expected there any more.
pub(crate) fn end(door: &Arc<Door>, id: &str) {
    let Some(mut promised) = door.holders.open().get(id).map(|it| it.promised.subscribe()) else {
        return;
    };
    if *promised.borrow() == 0 {
        return door.holders.remove(id);
    }
    let (door, id) = (Arc::clone(door), id.to_owned());
    tokio::spawn(async move {
        let come = promised.wait_for(|&count| count == 0);
        // Late or gone: either way nobody comes.
        drop(tokio::time::timeout(LINGER, come).await.map(drop));
        door.holders.remove(&id);
    });
}

/// Removes sockets that an earlier daemon left. One that somebody listens on is not ours to remove.
fn remove_stale(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name());
        let ours = name.to_str().is_some_and(|name| name.ends_with(".sock"));
        let is_socket = entry.file_type().is_ok_and(|it| it.is_socket());
        if ours && is_socket && UnixStream::connect(&path).is_err() {
            fs::remove_file(&path).unwrap_or_default();
        }
    }
}
