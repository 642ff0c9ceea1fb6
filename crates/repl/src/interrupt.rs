//! Ctrl+c while something runs: the line editor has it while something is typed.

use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;

use signal_hook::consts::SIGINT;
use signal_hook::low_level::pipe;

use crate::Error;
use crate::server::Event;

/// Catches ctrl+c from now on: raises the flags, and tells whoever waits for an answer.
pub(crate) fn catch(flags: [Arc<AtomicBool>; 2], events: Sender<Event>) -> Result<(), Error> {
    let failed = Error::system("catching ctrl+c");
    let (mut ours, theirs) = UnixStream::pair().map_err(&failed)?;
    pipe::register(SIGINT, theirs).map_err(&failed)?;
    let run = move || {
        let mut byte = [0];
        while ours.read_exact(&mut byte).is_ok() {
            flags.iter().for_each(|flag| flag.store(true, Ordering::Relaxed));
            if events.send(Event::Interrupt).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("interrupt".to_owned()).spawn(run).map(drop).map_err(failed)
}
