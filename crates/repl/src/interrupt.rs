//! Ctrl+c while something runs: the line editor has it while something is typed.
//!
//! The first is about what is under way: it cancels a wait, or is an error that Lua may catch. The
//! second is about the whole line, whatever Lua catches. What has done nothing about one for a while, or is
//! still there a while after the second, is inside a function of C, where nothing reaches it: then the next
//! one ends the console.

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

    /// Whether what runs was to do something about it and has not.
    fn is_in_vain(&self) -> bool {
        let is_unheeded = self.count.load(Ordering::SeqCst) > self.heeded.load(Ordering::SeqCst);
        self.is_running() && (is_unheeded || self.is_stop())
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
    let mut in_vain_since: Option<Instant> = None;
    loop {
        let mut left = None;
        match pressed.read(&mut [0]) {
            Ok(0) => return Watched::Over,
            Ok(_) => {
                // What has heeded those before has its time anew.
                let since = in_vain_since.filter(|_| presses.is_in_vain());
                if since.is_some_and(|since| since.elapsed() >= PATIENCE) {
                    return Watched::InVain;
                }
                presses.press();
                // Before it is told: who hears of it may heed it at once.
                let since = presses.is_in_vain().then(|| since.unwrap_or_else(Instant::now));
                if events.send(Event::Interrupt).is_err() {
                    return Watched::Over;
                }
                in_vain_since = since;
                left = since.map(|since| PATIENCE.saturating_sub(since.elapsed()));
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

    /// Somebody who watches, and the key.
    struct Watching {
        presses: Arc<Presses>,
        watching: thread::JoinHandle<Watched>,
        key: UnixStream,
        heard: mpsc::Receiver<Event>,
    }

    impl Watching {
        fn start() -> Watching {
            let presses = Arc::new(Presses::default());
            let (pressed, key) = UnixStream::pair().unwrap();
            let (events, heard) = mpsc::channel();
            presses.begin();
            let counted = Arc::clone(&presses);
            let watching = thread::spawn(move || watch(pressed, &counted, &events));
            Watching { presses, watching, key, heard }
        }

        /// Presses it, and sees that it goes on.
        fn press(&mut self) {
            self.key.write_all(b"x").unwrap();
            self.heard.recv().unwrap();
        }

        /// Presses it, and sees that it is given up.
        fn ends(mut self) {
            self.key.write_all(b"x").unwrap();
            assert!(self.heard.recv().is_err(), "it is given up");
            assert_eq!(self.watching.join().unwrap(), Watched::InVain);
        }
    }

    #[test]
    fn what_does_not_stop_is_given_up_at_a_press_after_some_time() {
        // Pressed quickly, as often as one likes: it may stop yet.
        for count in [1, 3] {
            let mut watching = Watching::start();
            (0..count).for_each(|_| watching.press());
            thread::sleep(PATIENCE);
            watching.ends();
        }
    }

    #[test]
    fn what_heeds_a_press_late_is_not_given_up_at_the_next() {
        let mut watching = Watching::start();
        watching.press();
        thread::sleep(PATIENCE);
        assert!(watching.presses.take());
        watching.press();
        assert!(watching.presses.take());
        watching.press();
        thread::sleep(PATIENCE);
        watching.ends();
    }
}
