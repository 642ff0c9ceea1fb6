//! The limit for an answer: something that does nothing but send the same bytes when a line was printed.
//!
//! A thread reads a program's terminal and knows the answer beforehand; nothing is looked for, kept, drawn,
//! hidden or written. What it takes is the kernel's, and the reader's. It is a thread of the process that
//! measures: everybody else's answer takes a switch from the server's process to the client's, this one none.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::thread;

use anyhow::{Context as _, Result, ensure};
use memchr::memchr;

use super::terminal::Terminal;
use super::wait::PATIENCE;
use super::wright::Wright;

/// Serves one client, until that or the program is gone.
pub(super) fn start(terminal: Terminal, answer: &[u8]) -> Result<Wright> {
    ensure!(answer.ends_with(b"\n"), "an answer that is no line");
    let (mut ours, theirs) = UnixStream::pair().context("making a pair of sockets")?;
    let answer = answer.to_vec();
    let mut bear = move || -> Result<()> {
        let mut printed = Vec::new();
        loop {
            printed.clear();
            if !terminal.read(&mut printed, PATIENCE)? {
                return Ok(());
            }
            if memchr(b'\n', &printed).is_some() {
                ours.write_all(&answer)?;
            }
        }
    };
    // Whoever measures sees that nothing comes.
    let work = move || bear().unwrap_or_default();
    thread::Builder::new().name("bearer".to_owned()).spawn(work)?;
    Wright::over(theirs)
}
