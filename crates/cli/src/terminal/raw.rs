//! Raw mode, and leaving it whatever happens.

use std::io;
use std::panic;
use std::sync::{Mutex, Once, PoisonError};

use rustix::stdio::{stdin, stdout};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use super::sequences;

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
    pub(crate) fn enter(drawn_on: bool) -> io::Result<Raw> {
        let modes = tcgetattr(stdin())?;
        restore_on_panic();
        *FOUND.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Found { modes: modes.clone(), drawn_on });
        let raw = Raw { modes };
        raw.again()?;
        Ok(raw)
    }

    /// Puts the terminal into raw mode once more, after a shell had it in between.
    pub(crate) fn again(&self) -> io::Result<()> {
        let mut raw = self.modes.clone();
        raw.make_raw();
        Ok(tcsetattr(stdin(), OptionalActions::Now, &raw)?)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        tcsetattr(stdin(), OptionalActions::Now, &self.modes).unwrap_or_default();
        *FOUND.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
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
