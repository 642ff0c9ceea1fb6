//! Every process a run starts, and the promise that none is left when it ends.
//!
//! Servers and holders leave whoever started them. While a [`Family`] lives, this process adopts
//! such orphans, so all of them are its descendants and can be ended by id, whatever went wrong.

use std::path::{Path, PathBuf};
use std::process::exit;
use std::time::Duration;
use std::{fs, thread};

use anyhow::{Context as _, Result};
use greenroom_pty::{Reaped, Signals};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Signal, getpid};

/// How often the descendants are looked for again: one may have been started meanwhile.
const SWEEPS: usize = 200;

/// How long they have between two looks. A killed process is gone within microseconds, a session of
/// 10,000 lines within milliseconds.
const BETWEEN: Duration = Duration::from_millis(10);

/// What a shell adds to a signal's number when it tells how a program ended.
const ENDED_BY_SIGNAL: i32 = 128;

/// Ends every descendant of this process when it is dropped, and when a person interrupts it.
pub(crate) struct Family(());

impl Family {
    /// Adopts orphans from now on. To be called before any thread is started. `folder` is removed
    /// when a person interrupts the run: nobody else gets to do it then.
    pub(crate) fn adopt(folder: PathBuf) -> Result<Family> {
        greenroom_pty::adopt_orphans().context("adopting orphans")?;
        let wanted = [Signal::INT, Signal::TERM, Signal::HUP].map(Signal::as_raw);
        let signals = Signals::take(&wanted).context("taking signals")?;
        thread::spawn(move || end_when_told(&signals, &folder));
        Ok(Family(()))
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        end_all();
    }
}

fn end_when_told(signals: &Signals, folder: &Path) {
    loop {
        let mut fds = [PollFd::new(signals, PollFlags::IN)];
        // An error is one of the next read as well.
        poll(&mut fds, None).unwrap_or_default();
        if let Some(signal) = signals.next() {
            end_all();
            // What is left of it is the system's to clean up.
            fs::remove_dir_all(folder).unwrap_or_default();
            exit(ENDED_BY_SIGNAL + signal);
        }
    }
}

/// Ends every process that came of this one, and waits until they are gone.
pub(crate) fn end_all() {
    for _ in 0..SWEEPS {
        for pid in descendants() {
            greenroom_pty::kill(pid, Signal::KILL.as_raw());
        }
        thread::sleep(BETWEEN);
        loop {
            match greenroom_pty::reap() {
                Reaped::Ended(..) => {}
                Reaped::None => break,
                Reaped::NoChildren => return,
            }
        }
    }
}

/// All processes that came of this one.
pub(crate) fn descendants() -> Vec<u32> {
    greenroom_pty::descendants(getpid().as_raw_nonzero().get().unsigned_abs())
}
