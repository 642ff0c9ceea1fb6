//! A program on a terminal of ours: the bare reader, and what stands in for a person's terminal.

use std::io::ErrorKind;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use greenroom_model::Size;
use greenroom_pty::{Master, Program};
use memchr::memmem::Finder;
use rustix::event::PollFlags;
use rustix::process::{Pid, Signal, WaitOptions, waitpid};

use super::place::Environment;
use super::wait::{PATIENCE, ready_within};

/// How much is read at once; a terminal's kernel buffer never gives more.
const READ: usize = 64 << 10;

/// A program on its own terminal; it is killed when this is dropped.
pub(crate) struct Terminal {
    master: Arc<Master>,
    pid: u32,
}

impl Terminal {
    pub(crate) fn start(
        size: Size,
        argv: &[String],
        environment: &Environment,
    ) -> Result<Terminal> {
        let (program, args) = argv.split_first().context("no program")?;
        let args: Vec<Vec<u8>> = args.iter().map(|it| it.as_bytes().to_vec()).collect();
        let bytes = |it: &String| it.as_bytes().to_vec();
        let env: Vec<_> = environment.iter().map(|it| (bytes(&it.0), bytes(&it.1))).collect();
        let (master, slave) = greenroom_pty::open(size).context("opening a terminal")?;
        let program = Program {
            program: program.as_bytes(),
            arg0: program.as_bytes(),
            args: &args,
            env: &env,
            cwd: b"/",
            open_files: None,
            umask: None,
        };
        let pid = greenroom_pty::spawn(&program, &slave)
            .with_context(|| format!("starting `{}`", argv.join(" ")))?;
        Ok(Terminal { master: Arc::new(master), pid })
    }

    /// The terminal itself.
    pub(crate) fn master(&self) -> Arc<Master> {
        Arc::clone(&self.master)
    }

    /// Types.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<()> {
        let count = rustix::io::write(&self.master, bytes).context("typing")?;
        ensure!(count == bytes.len(), "the terminal took {count} bytes of {}", bytes.len());
        Ok(())
    }

    /// Appends what was written to the terminal, waiting for it; false at the end.
    pub(crate) fn read(&self, buffer: &mut Vec<u8>, patience: Duration) -> Result<bool> {
        read(&self.master, buffer, patience)
    }

    /// Throws away what is there.
    pub(crate) fn skip(&self, buffer: &mut Vec<u8>) -> Result<()> {
        while ready_within(&self.master, PollFlags::IN, Duration::ZERO)? {
            buffer.clear();
            if !self.read(buffer, Duration::ZERO)? {
                bail!("the program has ended");
            }
        }
        buffer.clear();
        Ok(())
    }

    /// Reads until some text has come, and says when; what follows it in the same read is lost.
    pub(crate) fn read_until(&self, text: &str) -> Result<Instant> {
        read_until(&self.master, text)
    }

    /// Reads in another thread until some text has come; gives when it did.
    pub(crate) fn drain_until(&self, text: String) -> Drain {
        let master = Arc::clone(&self.master);
        Drain(thread::spawn(move || read_until(&master, &text)))
    }

    /// Stops the program where it is, as ctrl+z would; only a KILL ends it then.
    pub(crate) fn stop(&self) {
        greenroom_pty::kill(self.pid, Signal::STOP.as_raw());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        greenroom_pty::kill(self.pid, Signal::KILL.as_raw());
        if let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) {
            // Whoever reaped it before us did what we wanted.
            waitpid(Some(pid), WaitOptions::empty()).map(drop).unwrap_or_default();
        }
    }
}

/// A thread that reads a terminal.
pub(crate) struct Drain(JoinHandle<Result<Instant>>);

impl Drain {
    /// When the text came.
    pub(crate) fn seen(self) -> Result<Instant> {
        self.0.join().map_err(|_| anyhow!("the reader of a terminal panicked"))?
    }
}

fn read(master: &Master, buffer: &mut Vec<u8>, patience: Duration) -> Result<bool> {
    buffer.reserve(READ);
    loop {
        match master.read(buffer) {
            Ok(count) => return Ok(count > 0),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let came = ready_within(master, PollFlags::IN, patience)?;
                ensure!(came, "a terminal was silent for {patience:?}");
            }
            Err(error) => return Err(error).context("reading a terminal"),
        }
    }
}

fn read_until(master: &Master, text: &str) -> Result<Instant> {
    let finder = Finder::new(text.as_bytes());
    let mut buffer = Vec::with_capacity(2 * READ);
    while read(master, &mut buffer, PATIENCE)? {
        if finder.find(&buffer).is_some() {
            return Ok(Instant::now());
        }
        // The text may be cut in two: its beginning is kept.
        let kept = buffer.len().min(text.len());
        buffer.drain(..buffer.len() - kept);
    }
    bail!("the program ended before it wrote `{text}`")
}
