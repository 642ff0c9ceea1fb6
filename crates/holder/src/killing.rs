//! Ends a child and everything that came of it, also what left its group and session.
//!
//! The holder adopts orphans, so all of them are its descendants. First they are asked; those that
//! are left after the grace are killed, again and again until there is none.

use std::time::{Duration, Instant};

use greenroom_pty::{descendants, kill, kill_group};
use rustix::process::{Pid, Signal};

/// How long after killing to look again: a process that was being started while we looked.
const AGAIN: Duration = Duration::from_millis(10);

/// How often to look again before those that are left are taken for unkillable (stuck in the
/// kernel, or another user's): two seconds.
const ROUNDS: u32 = 200;

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
        for pid in descendants(std::process::id()) {
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
    pub(crate) fn go_on(&mut self, now: Instant) -> bool {
        if now < self.next {
            return true;
        }
        for pid in descendants(std::process::id()) {
            kill(pid, Signal::KILL.as_raw());
        }
        self.next = now + AGAIN;
        self.rounds -= 1;
        self.rounds > 0
    }
}

fn group(pid: u32) -> Option<u32> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    let group = rustix::process::getpgid(Some(pid)).ok()?;
    u32::try_from(group.as_raw_nonzero().get()).ok()
}
