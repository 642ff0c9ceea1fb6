//! Waiting for any of the ends of a loop.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, read};
use rustix::stdio::stdin;

use crate::link::Link;
use crate::terminal::{Signals, Writer, is_ready, timespec};

/// How much is read from standard input at once: more than a person types, and a good part of a
/// paste.
pub(super) const TYPED: usize = 16 << 10;

/// Which ends want to be looked at. That the output has room only ends the waiting: it is flushed
/// on every turn.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Ready {
    pub(super) stdin: bool,
    pub(super) link: bool,
    /// The daemon is gone, and what it said last is not wanted yet.
    pub(super) cut: bool,
    pub(super) signals: bool,
    pub(super) tap: bool,
}

impl Ready {
    pub(super) fn is_any(self) -> bool {
        self.stdin || self.link || self.cut || self.signals || self.tap
    }
}

/// Waits until an end is ready or the deadline passed.
///
/// Nothing but its end is read from the daemon while the terminal has no room, nor from standard input while the
/// daemon has none: whoever is slow is waited for, and nothing piles up here.
pub(super) fn wait(
    reads_stdin: bool,
    (link, tap): (&Link<'_>, Option<BorrowedFd<'_>>),
    signals: &Signals,
    writer: &Writer,
    deadline: Option<Instant>,
) -> io::Result<Ready> {
    let is_watched = link.polled(!writer.has_waiting()).is_none();
    // What is not wanted is left out: polled without flags, it would still report that it is closed.
    let wanted = [
        (reads_stdin && link.has_room()).then(|| (stdin(), PollFlags::IN)),
        // That the daemon is gone is noticed though nothing is read: the next one waits for us only if we come.
        link.polled(!writer.has_waiting()).or_else(|| link.watched()),
        Some((signals.as_fd(), PollFlags::IN)),
        tap.filter(|_| !writer.has_waiting()).map(|it| (it, PollFlags::IN)),
        writer.has_waiting().then(|| (writer.as_fd(), PollFlags::OUT)),
    ];
    let polled = wanted.iter().flatten().map(|(fd, flags)| PollFd::from_borrowed_fd(*fd, *flags));
    let mut polled: Vec<PollFd<'_>> = polled.collect();
    let timeout = deadline.map(|it| timespec(it.saturating_duration_since(Instant::now())));
    match poll(&mut polled, timeout.as_ref()) {
        Ok(_) => {}
        // The signal is found on the next turn.
        Err(Errno::INTR) => return Ok(Ready::default()),
        Err(error) => return Err(error.into()),
    }
    let mut answers = polled.iter().map(is_ready);
    let [stdin, link, signals, tap, _] =
        wanted.map(|it| it.is_some() && answers.next().unwrap_or_default());
    let (link, cut) = if is_watched { (false, link) } else { (link, false) };
    Ok(Ready { stdin, link, cut, signals, tap })
}

/// Reads what was typed; nothing more will come if that is empty.
pub(super) fn read_stdin(buffer: &mut [u8]) -> Option<usize> {
    loop {
        match read(stdin(), &mut *buffer) {
            Ok(count) => return Some(count),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return None,
            // A terminal that is gone has no more to say.
            Err(_) => return Some(0),
        }
    }
}

/// The earliest of several times.
pub(crate) fn earliest(times: &[Option<Instant>]) -> Option<Instant> {
    times.iter().flatten().min().copied()
}
