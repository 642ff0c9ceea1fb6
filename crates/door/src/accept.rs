//! The accept loop.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, watch};

/// How long to wait when the system is out of descriptors: long enough not to spin, short enough
/// that nobody notices once there are some.
const PAUSE: Duration = Duration::from_millis(100);

/// Who is at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// The user.
    pub uid: u32,
    /// The process, if the system tells.
    pub pid: Option<i32>,
}

/// Tells everybody that the daemon ends.
#[derive(Debug, Clone)]
pub struct Shutdown {
    sender: Arc<watch::Sender<bool>>,
}

impl Default for Shutdown {
    fn default() -> Shutdown {
        Shutdown { sender: Arc::new(watch::Sender::new(false)) }
    }
}

impl Shutdown {
    /// Begins the end.
    pub fn begin(&self) {
        self.sender.send_replace(true);
    }

    /// Waits for it.
    pub async fn begun(&self) {
        let mut receiver = self.sender.subscribe();
        // The sender lives as long as this.
        let _closed = receiver.wait_for(|ended| *ended).await;
    }
}

/// Accepts connections of our own user until the end, each in its own task.
pub async fn serve<Served>(
    listener: &UnixListener,
    max_connections: usize,
    shutdown: Shutdown,
    connected: impl Fn(UnixStream, Peer) -> Served,
) where
    Served: Future<Output = ()> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(max_connections));
    let us = rustix::process::getuid().as_raw();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shutdown.begun() => return,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                pause(&error).await;
                continue;
            }
        };
        let Ok(credentials) = stream.peer_cred() else { continue };
        let peer = Peer { uid: credentials.uid(), pid: credentials.pid() };
        if peer.uid != us {
            tracing::warn!(uid = peer.uid, pid = peer.pid, "a stranger was turned away");
            continue;
        }
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            tracing::warn!(max_connections, pid = peer.pid, "too many connections; one was closed");
            continue;
        };
        let served = connected(stream, peer);
        tokio::spawn(async move {
            served.await;
            drop(place);
        });
    }
}

/// Out of descriptors, every accept fails at once: without a pause the loop would spin.
async fn pause(error: &io::Error) {
    let out = [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE, rustix::io::Errno::NOMEM];
    if out.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error())) {
        tracing::warn!(%error, "cannot accept connections for the moment");
        tokio::time::sleep(PAUSE).await;
    }
}
