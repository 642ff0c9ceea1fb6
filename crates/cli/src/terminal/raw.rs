//! Raw mode, and leaving it whatever happens.

use std::io;
use std::panic;
use std::sync::{Mutex, Once, PoisonError};

use rustix::process::{Signal, getpgrp, kill_current_process_group};
use rustix::stdio::{stdin, stdout};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

use super::sequences;
use super::signals::Signals;

/// How the terminal was found, for a panic, which knows nothing of who is running.
static FOUND: Mutex<Option<Found>> = Mutex::new(None);

struct Found {
    modes: Termios,
    /// Whether a session draws on it, so that it has modes to be taken back.
    drawn_on: bool,
}

/// The terminal in raw mode, until dropped.
pub(crate) struct Raw {
    modes: Termios,
}

impl Raw {
    /// Puts the terminal into raw mode; `drawn_on` says whether a session will draw on it.
    ///
    /// # Errors
    /// `Interrupted` if the process is to end before it has the terminal.
    pub(crate) fn enter(drawn_on: bool, signals: &Signals) -> io::Result<Raw> {
        let modes = tcgetattr(stdin())?;
        restore_on_panic();
        *FOUND.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Found { modes: modes.clone(), drawn_on });
        let raw = Raw { modes };
        raw.again(signals)?;
        Ok(raw)
    }

    /// Puts the terminal into raw mode once more, after a shell had it in between.
    pub(crate) fn again(&self, signals: &Signals) -> io::Result<()> {
        await_foreground(signals)?;
        let mut raw = self.modes.clone();
        raw.make_raw();
        Ok(tcsetattr(stdin(), OptionalActions::Now, &raw)?)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing, and that of somebody else is theirs.
        if is_in_foreground() {
            tcsetattr(stdin(), OptionalActions::Now, &self.modes).unwrap_or_default();
        }
        *FOUND.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Stops until a shell gives the terminal to this process, as the system would have who changes the modes of
/// somebody else's terminal; but that would not let it see that it is to end.
fn await_foreground(signals: &Signals) -> io::Result<()> {
    while !is_in_foreground() {
        kill_current_process_group(Signal::TTOU)?;
        if signals.wants_end() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if !signals.take_continued() {
            // There is no shell that could.
            return Ok(());
        }
    }
    Ok(())
}

/// Whether nobody else has the terminal. One that is not the terminal of this session of processes is nobody's: the
/// system does not say who has it, and stops nobody.
fn is_in_foreground() -> bool {
    tcgetpgrp(stdin()).map_or(true, |group| group == getpgrp())
}

/// Has a panic restore the terminal before it tells of itself.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let tell = panic::take_hook();
        panic::set_hook(Box::new(move |about| {
            let found = FOUND.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(found) = found {
                if found.drawn_on {
                    rustix::io::write(stdout(), &sequences::leave(true)).unwrap_or_default();
                }
                tcsetattr(stdin(), OptionalActions::Now, &found.modes).unwrap_or_default();
            }
            tell(about);
        }));
    });
}
