//! The person's own terminal: raw mode, its size, what is written to it and when that has room.
//!
//! **Invariant:** whatever way the program ends, short of being killed, the terminal is left as it
//! was found: by [`Raw`]'s drop, by its panic hook, and by signals being events of the loops.

mod alternate;
mod raw;
pub(crate) mod sequences;
mod signals;
mod writer;

use std::os::fd::BorrowedFd;
use std::time::Duration;

use greenroom_model::Size;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::stdio::{stderr, stdin, stdout};
use rustix::termios::{isatty, tcgetwinsize};

pub(crate) use raw::Raw;
pub(crate) use signals::{Caught, Signals};
pub(crate) use writer::Writer;

/// Whether a person sits here: input and output are a terminal.
pub(crate) fn is_there() -> bool {
    isatty(stdin()) && isatty(stdout())
}

/// Whether a person can be asked something, whatever the output is for.
pub(crate) fn has_person() -> bool {
    isatty(stdin()) || isatty(stderr())
}

/// The size of the terminal, if there is one that knows.
pub(crate) fn size() -> Option<Size> {
    [stdout(), stdin()].into_iter().find_map(size_of)
}

fn size_of(fd: BorrowedFd<'_>) -> Option<Size> {
    let size = tcgetwinsize(fd).ok()?;
    match (size.ws_col, size.ws_row) {
        (0, _) | (_, 0) => None,
        (cols, rows) => Some(Size::clamped(cols, rows)),
    }
}

/// Whether a descriptor that was polled wants to be looked at: it has something, or is broken.
pub(crate) fn is_ready(polled: &PollFd<'_>) -> bool {
    polled.revents().intersects(
        PollFlags::IN | PollFlags::OUT | PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL,
    )
}

/// A duration as the system wants it.
pub(crate) fn timespec(left: Duration) -> Timespec {
    let tv_sec = i64::try_from(left.as_secs()).unwrap_or(i64::MAX);
    Timespec { tv_sec, tv_nsec: left.subsec_nanos().into() }
}
