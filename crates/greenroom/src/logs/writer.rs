//! The thread that writes lines to the disk. It sleeps while there are none.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::thread;

use tracing::Level;

use super::file::RotatingFile;
use super::{Entry, Format, Shared, Wishes};

/// What the thread is sent.
#[derive(Debug)]
pub(super) enum Message {
    /// A line, with its end.
    Line(String),
    /// Everything before this is to be written; then say so.
    Flush(SyncSender<()>),
}

/// Where lines go.
pub(super) trait Sink: Send + 'static {
    /// Writes a line, or several, whole or not at all.
    fn write(&mut self, line: &str) -> io::Result<()>;

    /// Keeps so many files from now on, if it keeps files by number.
    fn keep(&mut self, _files: usize) {}
}

/// How many lines did not get into the file.
#[derive(Debug, Default)]
pub(super) struct Dropped {
    total: AtomicU64,
    /// How many of them the file has been told of.
    told: AtomicU64,
}

impl Dropped {
    pub(super) fn add(&self, lines: u64) {
        self.total.fetch_add(lines, Ordering::Relaxed);
    }

    pub(super) fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// How many the file has not been told of, and as many as it would then have been told of.
    fn untold(&self) -> (u64, u64) {
        let total = self.total();
        (total.saturating_sub(self.told.load(Ordering::Relaxed)), total)
    }
}

/// The thread's state.
pub(super) struct Writer<S> {
    file: S,
    also: Option<RotatingFile>,
    /// How many files were wished for.
    files: Option<usize>,
    format: Format,
    shared: Arc<Shared>,
}

impl<S: Sink> Writer<S> {
    /// Starts the thread. It ends when nobody can send it anything any more.
    pub(super) fn start(
        file: S,
        format: Format,
        shared: Arc<Shared>,
        inbox: Receiver<Message>,
    ) -> io::Result<()> {
        let mut writer = Writer { file, also: None, files: None, format, shared };
        let run = move || {
            for message in inbox {
                match message {
                    Message::Line(line) => writer.line(&line),
                    Message::Flush(done) => drop(done.try_send(())),
                }
            }
        };
        thread::Builder::new().name("logs".to_owned()).spawn(run).map(drop)
    }

    /// Does what was wished for meanwhile.
    fn heed(&mut self) {
        let Wishes { also, files } = self.shared.wishes();
        if also.is_none() && files.is_none() {
            return;
        }
        self.also = also.or(self.also.take());
        self.files = files.or(self.files);
        if let Some(files) = self.files {
            self.file.keep(files);
            if let Some(also) = &mut self.also {
                also.keep(files);
            }
        }
    }

    /// Writes a line; before it, and only together with it, that others are missing, if any are.
    fn line(&mut self, line: &str) {
        self.heed();
        if let Some(also) = &mut self.also {
            // A copy: what it misses is in the file.
            also.write(line).ok();
        }
        let (untold, total) = self.shared.dropped.untold();
        let written = if untold == 0 {
            self.file.write(line)
        } else {
            let text = format!("lines that could not be written before this one: {untold}");
            let confession = (self.format)(&Entry::new(Level::WARN, "logs", text));
            self.file.write(&(confession + line))
        };
        match written {
            Ok(()) => self.shared.dropped.told.store(total, Ordering::Relaxed),
            Err(_) => self.shared.dropped.add(1),
        }
    }
}
