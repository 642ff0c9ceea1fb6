//! Waiting for something with a name and a bound.
//!
//! Nothing sleeps for a guessed time: a condition is looked at again and again until it holds, and
//! its name is printed when it never does.

use std::fmt::Display;
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use greenroom_client::{Connection, Event};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How long anything may take: far more than it does, on a machine with much else to do.
pub const BOUND: Duration = Duration::from_secs(30);

/// The pause between two looks: short against what is waited for, long enough not to be in its way.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Waits until something is true.
///
/// # Panics
/// It is not true within [`BOUND`]; the message has its name.
#[track_caller]
pub fn eventually(what: &str, mut is_true: impl FnMut() -> bool) {
    eventually_some(what, || is_true().then_some(()));
}

/// Waits until there is something.
///
/// # Panics
/// There is nothing within [`BOUND`]; the message has its name.
#[track_caller]
pub fn eventually_some<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    eventually_ok(what, || look().ok_or_else(String::new))
}

/// Waits until something succeeds.
///
/// # Panics
/// It does not within [`BOUND`]; the message has its name and the last reason why not.
#[track_caller]
pub fn eventually_ok<T, E: Display>(what: &str, mut look: impl FnMut() -> Result<T, E>) -> T {
    let deadline = Instant::now() + BOUND;
    loop {
        match look() {
            Ok(found) => return found,
            Err(why) if Instant::now() >= deadline => {
                panic!("not so after {BOUND:?}: {what} {why}")
            }
            Err(_) => thread::sleep(LOOK_EVERY),
        }
    }
}

/// Waits for the next thing a daemon says; none if the connection is lost.
///
/// # Panics
/// Nothing comes within [`BOUND`]; the message has the name of what was waited for.
#[track_caller]
pub fn next_event(connection: &mut Connection, what: &str) -> Option<Event> {
    let deadline = Instant::now() + BOUND;
    loop {
        match connection.next_event() {
            Ok(Some(event)) => return Some(event),
            Ok(None) => {}
            Err(error) => panic!("while waiting for {what}: {error}"),
        }
        let ready = readable(&*connection, deadline);
        assert!(ready, "not so after {BOUND:?}: {what}");
        if connection.flush().and_then(|()| connection.receive()).is_err() {
            // What came before the end is still there.
            return connection.next_event().ok().flatten();
        }
    }
}

/// Waits until there is something to read; false when the time is up.
pub(crate) fn readable(fd: impl AsFd, deadline: Instant) -> bool {
    let left = deadline.saturating_duration_since(Instant::now());
    let time = Timespec {
        tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: left.subsec_nanos().into(),
    };
    let mut fds = [PollFd::new(&fd, PollFlags::IN)];
    // Interrupted is as good as readable: the caller looks again.
    poll(&mut fds, Some(&time)).is_ok_and(|count| count > 0) || Instant::now() < deadline
}
