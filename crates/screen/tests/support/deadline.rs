//! Waiting for other programs with a hard end: every wait has a name, printed when it times out.
//!
//! Not here: what the programs say (`xterm`, `tmux`).

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The lines of a child's output, each waited for by name.
pub(crate) struct Lines {
    received: Receiver<Vec<u8>>,
    timeout: Duration,
}

impl Lines {
    /// Reads on a thread of its own, which ends with the output.
    pub(crate) fn of(output: impl Read + Send + 'static, timeout: Duration) -> Lines {
        let (sender, received) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Lines { received, timeout }
    }

    /// Waits for the next line; `awaited` says what for.
    ///
    /// Lossy, because tmux shows a cut UTF-8 sequence as it came and a test wants to print it.
    pub(crate) fn next(&self, awaited: &str) -> String {
        match self.received.recv_timeout(self.timeout) {
            Ok(line) => String::from_utf8_lossy(&line).into_owned(),
            Err(RecvTimeoutError::Timeout) => {
                panic!("timed out after {:?} waiting for {awaited}", self.timeout)
            }
            Err(RecvTimeoutError::Disconnected) => {
                panic!("the output ended while waiting for {awaited}")
            }
        }
    }
}

/// A child that is killed, by its id, when the test is done with it or panics.
pub(crate) struct Killed(pub(crate) Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // Both fail only if the child has ended already, which is what is wanted.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Starts a program; `hint` says what to do when it is not there.
pub(crate) fn spawn(command: &mut Command, hint: &str) -> Child {
    command.spawn().unwrap_or_else(|error| {
        panic!("cannot start `{}`: {error}; {hint}", command.get_program().display())
    })
}
