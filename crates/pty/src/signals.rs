//! Signals as something to read, so that one `poll` waits for everything.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd as _, OwnedFd};

/// How long one record of a signalfd is; its first four bytes are the signal's number.
const RECORD: usize = size_of::<libc::signalfd_siginfo>();

/// Signals of this process that arrive here instead of interrupting it.
#[derive(Debug)]
pub struct Signals(OwnedFd);

impl Signals {
    /// Takes these signals from now on.
    ///
    /// Their disposition becomes the default: with an inherited "ignore" the kernel would reap
    /// children by itself and their status would be lost.
    ///
    /// # Errors
    /// A number is no signal, or no descriptor is left.
    pub fn take(signals: &[i32]) -> io::Result<Signals> {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: `sigemptyset` makes the set it is given; `sigaddset` changes that one.
        let set = unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for &signal in signals {
                check(libc::sigaddset(set.as_mut_ptr(), signal))?;
            }
            set.assume_init()
        };
        for &signal in signals {
            dispose(signal, libc::SIG_DFL)?;
        }
        // SAFETY: the set lives over the call, and the old mask is not asked for.
        check(unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) })?;
        let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
        // SAFETY: the set lives over the call, and -1 asks for a new descriptor.
        let fd = check(unsafe { libc::signalfd(-1, &raw const set, flags) })?;
        // SAFETY: the descriptor is new and nobody else's.
        Ok(Signals(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// The next signal that arrived, if one did.
    pub fn next(&self) -> Option<i32> {
        let mut record = [0; RECORD];
        let length = rustix::io::read(&self.0, &mut record).ok()?;
        let number = record[..length].first_chunk()?;
        i32::try_from(u32::from_ne_bytes(*number)).ok()
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Makes this process ignore a signal. Children started with [`spawn`](crate::spawn) do not.
///
/// # Errors
/// The number is no signal, or one that cannot be ignored.
pub fn ignore_signal(signal: i32) -> io::Result<()> {
    dispose(signal, libc::SIG_IGN)
}

/// Makes every signal what it is by default and empties the mask. For a child before its program.
///
/// Past the C library: it refuses the two signals it has for itself, and they can have been ignored
/// by whoever started us.
pub(crate) fn reset_all() {
    /// The kernel's own `sigaction` is three or four words, and all zero is the default.
    const DEFAULT: [u64; 8] = [0; 8];
    /// How long the kernel's set of signals is: a bit each.
    const SET: usize = 8;
    let none = std::ptr::null_mut::<u64>();
    for signal in 1..=64 {
        // SAFETY: the kernel reads less than it is given and writes nothing. KILL and STOP are
        // refused.
        unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, DEFAULT.as_ptr(), none, SET) };
    }
    let empty = DEFAULT.as_ptr();
    // SAFETY: the kernel reads one set, which is empty, and writes nothing.
    unsafe { libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, empty, none, SET) };
}

fn dispose(signal: i32, how: libc::sighandler_t) -> io::Result<()> {
    // SAFETY: `how` is ignore or default, so no code of ours runs in a handler.
    if unsafe { libc::signal(signal, how) } == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn check(returned: i32) -> io::Result<i32> {
    if returned == -1 { Err(io::Error::last_os_error()) } else { Ok(returned) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_read_and_not_suffered() {
        let signals = Signals::take(&[libc::SIGUSR1]).unwrap();
        assert_eq!(signals.next(), None);
        // SAFETY: to this thread, where it is blocked.
        unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGUSR1) };
        assert_eq!(signals.next(), Some(libc::SIGUSR1));
        assert_eq!(signals.next(), None);
        assert!(Signals::take(&[0]).is_err());
        assert!(ignore_signal(libc::SIGKILL).is_err());
    }
}
