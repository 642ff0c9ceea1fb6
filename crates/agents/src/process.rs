//! One agent process on pipes: its lines, its complaints, its end; and what is written to it.
//!
//! Not here: what the lines mean (`session`).
//!
//! Invariant: the end is told last and once, after everything the process printed.
//!
//! Invariant: when the process is gone, so is everything it started in its group.

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use greenroom_frame::lines::LineDecoder;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// The longest line taken, in bytes. A tool's result with a picture in it has some megabytes.
const LINE_MAX: usize = 16 << 20;

/// How much of a complaint is kept, in bytes: a line of text, or a stack of calls in one.
const COMPLAINT_MAX: usize = 8 << 10;

/// How much may wait for a process that does not read, in bytes: a few messages with pictures.
const UNSENT_MAX: usize = 64 << 20;

/// How many lines wait to be looked at before the process has to wait.
const HEARD_MAX: usize = 64;

/// How long a process that was asked to end may take. Claude Code takes some milliseconds.
const TERM_TIME: Duration = Duration::from_secs(1);

/// How long the rest of the output is waited for when the process has ended but something it
/// started still has the pipe.
const REST_TIME: Duration = Duration::from_secs(1);

/// How long the system may take to end a process that was killed.
const KILL_TIME: Duration = Duration::from_secs(5);

/// What a process let hear.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// A line of its output.
    Line(String),
    /// A line of more than [`LINE_MAX`] bytes was left out.
    TooLong,
    /// A line of what it complained of.
    Complaint(String),
    /// It has ended: with a code, or by a signal.
    Ended(Option<i32>),
}

/// Why a line was not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    /// Too much waits to be read already.
    #[error("Claude does not take what is sent to it; try again later")]
    Full,
    /// Nobody reads any more.
    #[error("the Claude process is ending")]
    Gone,
}

/// How a process is started.
pub(crate) struct Start<'a> {
    pub(crate) command: &'a [OsString],
    pub(crate) arguments: &'a [String],
    pub(crate) folder: &'a Path,
    pub(crate) environment: &'a [(OsString, OsString)],
}

/// A process. Dropping it ends it and its group at once.
#[derive(Debug)]
pub(crate) struct Process {
    group: Group,
    input: Option<mpsc::UnboundedSender<Vec<u8>>>,
    unsent: Arc<AtomicUsize>,
    heard: mpsc::Receiver<Heard>,
}

impl Process {
    /// Starts it in a group of its own, with nothing of our environment.
    pub(crate) fn start(start: &Start<'_>) -> io::Result<Process> {
        let Some((program, before)) = start.command.split_first() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no command is configured"));
        };
        let mut command = Command::new(program);
        command.args(before).args(start.arguments).current_dir(start.folder).env_clear();
        command.envs(start.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        let mut child = command.spawn()?;
        let group = Group::of(&child);
        let (tell, heard) = mpsc::channel(HEARD_MAX);
        let unsent = Arc::new(AtomicUsize::new(0));
        let input = child.stdin.take().map(|pipe| write(pipe, Arc::clone(&unsent)));
        tokio::spawn(watch(child, group.clone(), tell));
        Ok(Process { group, input, unsent, heard })
    }

    /// What it let hear next; nothing after its end.
    pub(crate) async fn heard(&mut self) -> Option<Heard> {
        self.heard.recv().await
    }

    /// Queues a line for it.
    pub(crate) fn write(&self, line: &str) -> Result<(), WriteError> {
        let Some(input) = &self.input else { return Err(WriteError::Gone) };
        if self.unsent.load(Ordering::Relaxed) > UNSENT_MAX {
            return Err(WriteError::Full);
        }
        let mut bytes = Vec::with_capacity(line.len() + 1);
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        self.unsent.fetch_add(bytes.len(), Ordering::Relaxed);
        input.send(bytes).map_err(|_| WriteError::Gone)
    }

    /// Does to it what Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        self.group.signal(Signal::INT);
    }

    /// Ends it: no more input and a request, and if that does not help, by force. What it still
    /// prints is not heard.
    pub(crate) async fn end(mut self) {
        self.input = None;
        self.group.signal(Signal::TERM);
        if tokio::time::timeout(TERM_TIME, self.until_ended()).await.is_err() {
            self.group.signal(Signal::KILL);
            let killed = tokio::time::timeout(KILL_TIME, self.until_ended()).await;
            if killed.is_err() {
                tracing::warn!("an agent process did not end when it was killed");
            }
        }
    }

    async fn until_ended(&mut self) {
        while let Some(heard) = self.heard.recv().await {
            if matches!(heard, Heard::Ended(_)) {
                return;
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.group.signal(Signal::KILL);
    }
}

/// A process group, as long as the system cannot have given its number to another.
#[derive(Debug, Clone)]
struct Group {
    leader: Option<Pid>,
    is_gone: Arc<AtomicBool>,
}

impl Group {
    fn of(child: &Child) -> Group {
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Group { leader, is_gone: Arc::default() }
    }

    fn signal(&self, signal: Signal) {
        let Some(leader) = self.leader.filter(|_| !self.is_gone.load(Ordering::Relaxed)) else {
            return;
        };
        // All of it may have ended just now, and then there is nothing to do.
        kill_process_group(leader, signal).unwrap_or_default();
    }
}

fn write(mut pipe: ChildStdin, unsent: Arc<AtomicUsize>) -> mpsc::UnboundedSender<Vec<u8>> {
    let (sender, mut lines) = mpsc::unbounded_channel::<Vec<u8>>();
    tokio::spawn(async move {
        while let Some(line) = lines.recv().await {
            if pipe.write_all(&line).await.is_err() {
                return;
            }
            unsent.fetch_sub(line.len(), Ordering::Relaxed);
        }
    });
    sender
}

/// Follows a process to its end and tells all of it.
async fn watch(mut child: Child, group: Group, tell: mpsc::Sender<Heard>) {
    let output = child.stdout.take().map(|pipe| tokio::spawn(read_output(pipe, tell.clone())));
    let complaints = child.stderr.take().map(|pipe| tokio::spawn(read_errors(pipe, tell.clone())));
    let mut readers: Vec<JoinHandle<()>> = output.into_iter().chain(complaints).collect();
    let status = child.wait().await;
    let rest = async {
        for reader in &mut readers {
            reader.await.unwrap_or_default();
        }
    };
    let is_whole = tokio::time::timeout(REST_TIME, rest).await.is_ok();
    // Whatever else it started in its group would be nobody's.
    group.signal(Signal::KILL);
    group.is_gone.store(true, Ordering::Relaxed);
    if !is_whole {
        for reader in readers {
            reader.abort();
        }
    }
    // Who asked no longer listens: then nobody needs to know.
    tell.send(Heard::Ended(code(status))).await.unwrap_or_default();
}

fn code(status: io::Result<ExitStatus>) -> Option<i32> {
    let status = status.ok()?;
    if let Some(signal) = status.signal() {
        tracing::info!(signal, "an agent process was ended by a signal");
    }
    status.code()
}

async fn read_output(pipe: impl AsyncRead + Unpin, tell: mpsc::Sender<Heard>) {
    read(pipe, LINE_MAX, &tell, |line| line.map_or(Heard::TooLong, Heard::Line)).await;
}

async fn read_errors(pipe: impl AsyncRead + Unpin, tell: mpsc::Sender<Heard>) {
    let cut = || "(a long line was left out)".to_owned();
    read(pipe, COMPLAINT_MAX, &tell, |line| Heard::Complaint(line.unwrap_or_else(cut))).await;
}

/// Reads lines to the end, an unfinished last one included.
async fn read(
    mut pipe: impl AsyncRead + Unpin,
    bound: usize,
    tell: &mpsc::Sender<Heard>,
    shape: impl Fn(Option<String>) -> Heard,
) {
    let mut lines = LineDecoder::new(bound);
    let mut is_over = false;
    while !is_over {
        match pipe.read_buf(lines.buffer()).await {
            Ok(0) | Err(_) => {
                is_over = true;
                lines.feed(b"\n");
            }
            Ok(_) => {}
        }
        loop {
            let line = match lines.next() {
                Ok(Some(line)) if line.trim_ascii().is_empty() => continue,
                Ok(Some(line)) => Some(text(&line)),
                Ok(None) => break,
                Err(_) => None,
            };
            if tell.send(shape(line)).await.is_err() {
                return;
            }
        }
    }
}

fn text(line: &Bytes) -> String {
    String::from_utf8_lossy(line).into_owned()
}
