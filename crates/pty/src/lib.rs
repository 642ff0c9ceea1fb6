//! Pseudo-terminals and the processes on them: open, spawn, resize, signal, reap.
//!
//! The only crate with `unsafe`: what the system offers and no library offers safely ends here.
//! Everything is blocking or says `WouldBlock`; there is no thread, no loop and no state.
//!
//! Not here: what a session is, who reads a terminal and when, any message (`proto`).
//!
//! Invariant: every descriptor is made close-on-exec at once, and a child has 0, 1 and 2 alone.

mod family;
mod group;
mod limits;
mod page;
mod passing;
mod process;
mod signals;
mod spawn;
mod tally;
mod tap;
mod terminal;

pub use family::{descendants, descendants_but};
pub use group::Groups;
pub use limits::{GroupError, Limits, PREFIX as GROUP_PREFIX, Plan, leave_session};
pub use passing::{MAX_PASSED, recv_with_fds, send_with_fds};
pub use process::{
    Reaped, adopt_orphans, close_inherited, kill, kill_group, raise_open_files, reap,
    return_free_memory, return_memory_promptly, take_long_turns, take_short_turns,
};
pub use signals::{Signals, ignore_signal};
pub use spawn::{Program, SpawnError, spawn, spawn_in};
pub use tally::{Tally, Typist};
pub use tap::{Intake, KeyLock, Tap};
pub use terminal::{Master, open};
