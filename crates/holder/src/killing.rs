//! Ends a child and everything that came of it, also what left its group and session.
//!
//! The holder adopts orphans, so all of them are its descendants. First they are asked; those that
//! are left after the grace are killed, again and again until there is none.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use greenroom_pty::{Groups, descendants_but, kill, kill_group};
use rustix::process::{Pid, Signal};

/// How long after killing to look again: a process that was being started while we looked.
const AGAIN: Duration = Duration::from_millis(10);

/// How often to look again before those that are left are taken for unkillable (stuck in the
/// kernel, or another user's): two seconds.
const ROUNDS: u32 = 200;

/// How often to look for new ones while stopping: each time only those few can start others that
/// were started since the last.
const SWEEPS: u32 = 50;

/// The program of the daemon, which lies beside the holder's.
const DAEMON: &str = "greenroom";

/// Somebody wants everything ended, and it is under way.
#[derive(Debug)]
pub(crate) struct Killing {
    next: Instant,
    rounds: u32,
}

impl Killing {
    /// Asks everyone to end, and gives them until the grace is over.
    ///
    /// The leader is only to be named while it was not reaped: later its number can be another's.
    pub(crate) fn begin(leader: Option<u32>, grace: Duration) -> Killing {
        // A stopped process ends only when it continues, so that comes last.
        let signals = [Signal::HUP, Signal::TERM, Signal::CONT];
        if let Some(leader) = leader {
            for signal in signals {
                kill_group(leader, signal.as_raw());
            }
        }
        for pid in descendants() {
            if leader.is_none() || group(pid) != leader {
                for signal in signals {
                    kill(pid, signal.as_raw());
                }
            }
        }
        Killing { next: Instant::now() + grace, rounds: ROUNDS }
    }

    /// When there is something to do.
    pub(crate) fn deadline(&self) -> Instant {
        self.next
    }

    /// Shortens what is under way; a later end never replaces an earlier one.
    pub(crate) fn no_later_than(mut self, other: &Killing) -> Killing {
        if other.next < self.next {
            (self.next, self.rounds) = (other.next, other.rounds);
        }
        self
    }

    /// Kills who is left, if it is time. Says whether to go on.
    pub(crate) fn go_on(&mut self, now: Instant, groups: &Groups) -> bool {
        if now < self.next {
            return true;
        }
        groups.kill(is_greenroom);
        if self.rounds < ROUNDS {
            // Killing them once was not enough: they start others meanwhile.
            stop_all();
        }
        for pid in descendants() {
            kill(pid, Signal::KILL.as_raw());
        }
        self.next = now + AGAIN;
        self.rounds -= 1;
        self.rounds > 0
    }
}

/// Stops everyone, those last who were started meanwhile. What is stopped starts nobody, and unlike
/// what is killed it makes no room for others under a limit on processes.
fn stop_all() {
    let mut stopped = HashSet::new();
    for _ in 0..SWEEPS {
        let mut new = descendants();
        new.retain(|&pid| stopped.insert(pid));
        if new.is_empty() {
            return;
        }
        for pid in new {
            kill(pid, Signal::STOP.as_raw());
        }
    }
}

/// Whoever came of the child.
fn descendants() -> Vec<u32> {
    descendants_but(std::process::id(), is_greenroom)
}

/// Whether a process is a daemon or another holder: whoever starts the daemon in a session makes it,
/// and the holders it starts, descend from that session's holder. They are not the session's.
fn is_greenroom(pid: u32) -> bool {
    let leads = i32::try_from(pid)
        .ok()
        .and_then(Pid::from_raw)
        .is_some_and(|it| rustix::process::getsid(Some(it)).is_ok_and(|session| session == it));
    // Not `current_exe`: the file may have been replaced since.
    let (Some(theirs), Some(ours)) = (program(&pid.to_string()), program("self")) else {
        return false;
    };
    let name = theirs.file_name();
    leads
        && theirs.parent() == ours.parent()
        && (name == ours.file_name() || name.is_some_and(|name| name == DAEMON))
}

/// The file a process runs, whether it is still there or not.
fn program(pid: &str) -> Option<PathBuf> {
    let path = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?.into_os_string();
    let path = path.as_bytes();
    Some(OsStr::from_bytes(path.strip_suffix(b" (deleted)").unwrap_or(path)).into())
}

fn group(pid: u32) -> Option<u32> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    let group = rustix::process::getpgid(Some(pid)).ok()?;
    u32::try_from(group.as_raw_nonzero().get()).ok()
}
