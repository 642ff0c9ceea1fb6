//! Signals as a descriptor that becomes readable.

use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::SigId;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};
use signal_hook::{flag, low_level};

/// The signals that are events, until dropped.
pub(crate) struct Signals {
    pipe: UnixStream,
    flags: Vec<(i32, Arc<AtomicBool>)>,
    registered: Vec<SigId>,
}

/// A signal that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caught {
    /// The terminal has another size.
    Resized,
    /// The process goes on after it was stopped.
    Continued,
    /// The process is to end, with this signal.
    End(i32),
}

impl Signals {
    /// Catches what an attached terminal must know of.
    pub(crate) fn catch() -> io::Result<Signals> {
        let (pipe, writer) = UnixStream::pair()?;
        pipe.set_nonblocking(true)?;
        writer.set_nonblocking(true)?;
        let mut signals = Signals { pipe, flags: Vec::new(), registered: Vec::new() };
        for signal in [SIGWINCH, SIGCONT, SIGTERM, SIGHUP, SIGINT, SIGQUIT] {
            let caught = Arc::new(AtomicBool::new(false));
            // The flag first: it is to be there when the pipe wakes.
            signals.registered.push(flag::register(signal, Arc::clone(&caught))?);
            signals.registered.push(low_level::pipe::register(signal, writer.try_clone()?)?);
            signals.flags.push((signal, caught));
        }
        Ok(signals)
    }

    /// Those that came since it was last asked.
    pub(crate) fn take(&mut self) -> Vec<Caught> {
        let mut bytes = [0; 64];
        while matches!(self.pipe.read(&mut bytes), Ok(count) if count > 0) {}
        let came = self.flags.iter().filter(|(_, flag)| flag.swap(false, Ordering::Relaxed));
        came.map(|(signal, _)| match *signal {
            SIGWINCH => Caught::Resized,
            SIGCONT => Caught::Continued,
            other => Caught::End(other),
        })
        .collect()
    }
}

impl Signals {
    /// Whether the process is to end, which is still to be taken.
    pub(super) fn wants_end(&self) -> bool {
        let mut ends = self.flags.iter().filter(|it| !matches!(it.0, SIGWINCH | SIGCONT));
        ends.any(|(_, flag)| flag.load(Ordering::Relaxed))
    }

    /// Whether the process went on after it was stopped, since it was last asked.
    pub(super) fn take_continued(&self) -> bool {
        let mut continued = self.flags.iter().filter(|it| it.0 == SIGCONT);
        continued.any(|(_, flag)| flag.swap(false, Ordering::Relaxed))
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for id in self.registered.drain(..) {
            low_level::unregister(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_told_once() {
        let mut signals = Signals::catch().unwrap();
        low_level::raise(SIGWINCH).unwrap();
        low_level::raise(SIGTERM).unwrap();
        assert_eq!(signals.take(), [Caught::Resized, Caught::End(SIGTERM)]);
        assert_eq!(signals.take(), []);
    }
}
