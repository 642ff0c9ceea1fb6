//! The process of an attached client: told apart, waited for, and reaped by its own descriptor.
//!
//! Nobody else's child is touched, and no signal of this process is used.

use std::convert::Infallible;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::{oneshot, watch};

/// How long a client has to leave once its terminal is gone. It tells its server and waits for
/// the answer, which takes milliseconds, or for ever if the server hangs.
const MAX_LEAVING: Duration = Duration::from_secs(2);

/// A child that is killed and reaped if nobody waits for its end.
pub(crate) struct Client {
    ended: AsyncFd<OwnedFd>,
    reaped: bool,
}

impl Client {
    /// Takes charge of a child of ours.
    pub(crate) fn of(child: u32) -> io::Result<Client> {
        let pid = i32::try_from(child).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or(io::ErrorKind::InvalidInput)?;
        watch(pid).inspect_err(|_| {
            // A killed process is gone at once, so that this does not wait for long.
            let _ended = rustix::process::kill_process(pid, Signal::KILL);
            let _reaped =
                rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
        })
    }

    /// Waits for its end, and helps it to end once it is let go. That it is gone is told by the
    /// end of `lives`, which also a panic and the runtime's end would bring about.
    pub(crate) async fn mind(
        mut self,
        let_go: oneshot::Receiver<Infallible>,
        lives: watch::Sender<()>,
    ) {
        tokio::select! {
            () = self.ended() => {}
            _ = let_go => {
                if tokio::time::timeout(MAX_LEAVING, self.ended()).await.is_err() {
                    self.kill();
                    self.ended().await;
                }
            }
        }
        drop(lives);
    }

    async fn ended(&mut self) {
        while !self.reaped {
            // That a descriptor cannot be waited for means that the runtime is at its end.
            let Ok(mut ready) = self.ended.readable().await else {
                return std::future::pending().await;
            };
            ready.clear_ready();
            drop(ready);
            self.reap();
        }
    }

    fn reap(&mut self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let found = rustix::process::waitid(WaitId::PidFd(self.ended.get_ref().as_fd()), options);
        // An error is that it is nobody's child any more.
        self.reaped = !matches!(found, Ok(None) | Err(rustix::io::Errno::INTR));
    }

    fn kill(&self) {
        let _gone = rustix::process::pidfd_send_signal(self.ended.get_ref(), Signal::KILL);
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            // Whoever inherits our children reaps it if it is not gone yet.
            self.reap();
        }
    }
}

fn watch(pid: Pid) -> io::Result<Client> {
    let descriptor = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
    #[expect(
        deprecated,
        reason = "the other way is unsafe; an owned descriptor makes this one sound"
    )]
    let ended = AsyncFd::with_interest(descriptor, Interest::READABLE)?;
    Ok(Client { ended, reaped: false })
}
