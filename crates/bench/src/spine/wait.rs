//! Waiting for a descriptor, and pauses that every contender gets alike.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// How long anything may take before a run gives it up: far more than the slowest peer needs for
/// its largest piece of work.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The pause before a latency is taken: everybody has gone to sleep by then, as between two keys of
/// a person.
pub(crate) const REST: Duration = Duration::from_millis(2);

/// Waits until a descriptor is ready; false when the time is up first.
pub(crate) fn ready_within(fd: &impl AsFd, flags: PollFlags, patience: Duration) -> Result<bool> {
    let deadline = Instant::now() + patience;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let tv_sec = i64::try_from(left.as_secs()).unwrap_or(i64::MAX);
        let timeout = Timespec { tv_sec, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(fd, flags)], Some(&timeout)) {
            Ok(0) if left.is_zero() => return Ok(false),
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error).context("waiting for a descriptor"),
        }
    }
}
