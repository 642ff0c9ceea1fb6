//! Ctrl+c while something runs: the line editor has it while something is typed.
//!
//! The first is about what is under way: it cancels a wait, or is an error that Lua may catch. The
//! second is about the whole line, whatever Lua catches. What is still there a while after it is inside a
//! function of C, where nothing reaches it: then the next one ends the console.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::SIGINT;
use signal_hook::low_level::pipe;

use crate::Error;
use crate::server::Event;

/// How often it is pressed until nothing may catch it.
const STOPS: u32 = 2;

/// How long what is to stop may take: Lua needs a millisecond, and a person begins to wonder.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a person is told who waits longer.
const TOLD: &[u8] = b"\nthis does not stop; ctrl+c once more ends the console\n";

/// How often ctrl+c was pressed while something runs, and what was done about it.
#[derive(Debug, Default)]
pub(crate) struct Presses {
    is_running: AtomicBool,
    count: AtomicU32,
    /// How many of them somebody did something about.
    heeded: AtomicU32,
}

impl Presses {
    /// Something begins: what was pressed before is not about it.
    pub(crate) fn begin(&self) {
        self.count.store(0, Ordering::SeqCst);
        self.heeded.store(0, Ordering::SeqCst);
        self.is_running.store(true, Ordering::SeqCst);
    }

    /// Nothing runs any more.
    pub(crate) fn end(&self) {
        self.is_running.store(false, Ordering::SeqCst);
    }

    /// Whether it was pressed and nobody did anything about it yet; the caller does.
    pub(crate) fn take(&self) -> bool {
        let count = self.count.load(Ordering::SeqCst);
        self.heeded.swap(count, Ordering::SeqCst) < count
    }

    /// Whether it was pressed since something began.
    pub(crate) fn is_any(&self) -> bool {
        self.count.load(Ordering::SeqCst) > 0
    }

    /// Whether all that runs is to stop.
    pub(crate) fn is_stop(&self) -> bool {
        self.count.load(Ordering::SeqCst) >= STOPS
    }

    /// Whether something runs.
    pub(crate) fn is_running(&self) -> bool {
        self.is_running.load(Ordering::SeqCst)
    }

    fn is_in_vain(&self) -> bool {
        self.is_stop() && self.is_running()
    }

    fn press(&self) {
        if self.is_running() {
            self.count.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Catches ctrl+c from now on: counts it, tells whoever waits for an answer, and gives up on what
/// does not stop.
pub(crate) fn catch(
    presses: Arc<Presses>,
    events: Sender<Event>,
    give_up: impl FnOnce() + Send + 'static,
) -> Result<(), Error> {
    let failed = Error::system("catching ctrl+c");
    let (ours, theirs) = UnixStream::pair().map_err(&failed)?;
    pipe::register(SIGINT, theirs).map_err(&failed)?;
    let run = move || {
        if watch(ours, &presses, &events) == Watched::InVain {
            give_up();
        }
    };
    thread::Builder::new().name("interrupt".to_owned()).spawn(run).map(drop).map_err(failed)
}

/// How watching ended.
#[derive(Debug, PartialEq, Eq)]
enum Watched {
    /// There is nothing to watch any more.
    Over,
    /// It was pressed once more than something that does not stop was given.
    InVain,
}

fn watch(mut pressed: UnixStream, presses: &Presses, events: &Sender<Event>) -> Watched {
    let mut stops_since: Option<Instant> = None;
    loop {
        let mut left = None;
        match pressed.read(&mut [0]) {
            Ok(0) => return Watched::Over,
            Ok(_) => {
                let is_late = stops_since.is_some_and(|since| since.elapsed() >= PATIENCE);
                if is_late && presses.is_in_vain() {
                    return Watched::InVain;
                }
                presses.press();
                if events.send(Event::Interrupt).is_err() {
                    return Watched::Over;
                }
                stops_since = match presses.is_in_vain() {
                    true => stops_since.or_else(|| Some(Instant::now())),
                    false => None,
                };
                left = stops_since.map(|since| PATIENCE.saturating_sub(since.elapsed()));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if presses.is_in_vain() {
                    // Who cannot be told need not be.
                    io::stderr().write_all(TOLD).unwrap_or_default();
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Watched::Over,
        }
        if pressed.set_read_timeout(left.filter(|it| !it.is_zero())).is_err() {
            return Watched::Over;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn each_press_is_heeded_once() {
        let presses = Presses::default();
        presses.press();
        assert!(!presses.is_any(), "nothing runs yet");
        presses.begin();
        presses.press();
        assert!(presses.take() && !presses.take());
        assert!(presses.is_any() && !presses.is_stop());
        presses.press();
        assert!(presses.take() && presses.is_stop());
        presses.begin();
        assert!(!presses.take() && !presses.is_any() && !presses.is_stop());
    }

    #[test]
    fn what_does_not_stop_is_given_up_at_a_press_after_some_time() {
        let presses = Arc::new(Presses::default());
        let (pressed, mut key) = UnixStream::pair().unwrap();
        let (events, heard) = mpsc::channel();
        presses.begin();
        let counted = Arc::clone(&presses);
        let watching = thread::spawn(move || watch(pressed, &counted, &events));
        let mut press = || key.write_all(b"x").unwrap();
        // Pressed quickly, as often as one likes: it may stop yet.
        for _ in 0..3 {
            press();
            heard.recv().unwrap();
        }
        thread::sleep(PATIENCE);
        press();
        assert_eq!(watching.join().unwrap(), Watched::InVain);
    }
}
