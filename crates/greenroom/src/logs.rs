//! What the daemon has to say: in memory for who asks, and in a file that does not grow for ever.
//!
//! Events of `tracing` become [`Entry`]s. The latest are kept in a ring (`logs/ring.rs`); all go to
//! a thread of their own (`logs/writer.rs`), so that a slow or full disk costs lines, never time:
//! a line that cannot be written is dropped and counted, and the file says so once it can.
//!
//! Not here: what is logged. Secrets must not get this far; what looks like one is hidden all the same.

mod daily;
mod entry;
mod file;
mod layer;
mod private;
mod ring;
#[cfg(test)]
mod tests;
mod writer;

use std::io;
use std::path::Path;
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use greenroom_door_carryon::LogEntry;
use tokio::sync::broadcast;
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Registry, reload};

use daily::DailyFile;
pub(crate) use entry::Entry;
use file::RotatingFile;
use layer::Collect;
pub(crate) use private::Private;
use ring::Ring;
use writer::{Message, Sink, Writer};

/// The file's name in the folder it is given.
const FILE_NAME: &str = "daemon.log";

/// What our crates' targets begin with. Others are heard only when something is wrong: at a low
/// level the libraries below us say more than we do.
const OURS: &str = "greenroom";

/// How many entries may wait for the disk: a burst, at most 8 MiB, and no more.
const QUEUE_MAX: usize = 1024;

/// How many entries a follower may be behind before it misses some: a burst, at most 2 MiB.
const FOLLOWED_MAX: usize = 256;

/// How an entry becomes a line.
pub(crate) type Format = fn(&Entry) -> String;

/// How much of the log is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Keep {
    /// How many files, with the one being written.
    pub(crate) files: usize,
    /// How large one may become.
    pub(crate) bytes: u64,
}

/// The way to what was logged.
#[derive(Debug)]
pub(crate) struct Logs {
    shared: Arc<Shared>,
    queue: SyncSender<Message>,
    level: reload::Handle<Targets, Registry>,
}

/// What the daemon's threads and the writer both know.
#[derive(Debug)]
struct Shared {
    ring: Mutex<Ring>,
    dropped: writer::Dropped,
    followed: broadcast::Sender<LogEntry>,
    wishes: Mutex<Wishes>,
}

/// What the writer is to do before its next line. Not sent to it: its queue may be full.
#[derive(Debug, Default)]
struct Wishes {
    /// Write to this file as well.
    also: Option<RotatingFile>,
    /// Keep so many files.
    files: Option<usize>,
}

impl Shared {
    fn wish(&self) -> MutexGuard<'_, Wishes> {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wishes(&self) -> Wishes {
        std::mem::take(&mut *self.wish())
    }
}

impl Default for Shared {
    fn default() -> Shared {
        Shared {
            ring: Mutex::default(),
            dropped: writer::Dropped::default(),
            followed: broadcast::Sender::new(FOLLOWED_MAX),
            wishes: Mutex::default(),
        }
    }
}

impl Logs {
    /// Begins to write to `folder/daemon.log`. Returns what is to be the program's subscriber.
    ///
    /// A file that cannot be opened is no error: lines are dropped until it can be.
    ///
    /// # Errors
    /// No thread could be started.
    pub(crate) fn start(
        folder: &Path,
        keep: Keep,
        level: LevelFilter,
    ) -> io::Result<(Logs, impl Subscriber + Send + Sync + 'static)> {
        let file = RotatingFile::new(folder.join(FILE_NAME), keep);
        Logs::start_with(file, Entry::to_json, targets(level))
    }

    /// Begins to write a file a day to a folder.
    ///
    /// # Errors
    /// No thread could be started.
    pub(crate) fn start_daily(
        folder: &Path,
        private: &Private,
    ) -> io::Result<(Logs, impl Subscriber + Send + Sync + 'static)> {
        let file = DailyFile::new(folder.to_owned(), private.days);
        Logs::start_with(file, private.format, private.targets.clone())
    }

    fn start_with(
        file: impl Sink,
        format: Format,
        targets: Targets,
    ) -> io::Result<(Logs, impl Subscriber + Send + Sync + 'static)> {
        let shared = Arc::new(Shared::default());
        let (queue, inbox) = mpsc::sync_channel(QUEUE_MAX);
        Writer::start(file, format, Arc::clone(&shared), inbox)?;
        let (filter, level) = reload::Layer::new(targets);
        let collect = Collect::new(Arc::clone(&shared), queue.clone(), format);
        let subscriber = tracing_subscriber::registry().with(filter).with(collect);
        Ok((Logs { shared, queue, level }, subscriber))
    }

    /// Reads the latest `last` entries that are at least as grave as `level`, oldest first.
    pub(crate) fn tail(&self, last: usize, level: LevelFilter) -> Vec<Entry> {
        self.shared.ring.lock().unwrap_or_else(PoisonError::into_inner).tail(last, level)
    }

    /// What is said from now on.
    pub(crate) fn follow(&self) -> broadcast::Receiver<LogEntry> {
        self.shared.followed.subscribe()
    }

    /// Writes to `folder/daemon.log` as well, from now on.
    pub(crate) fn also(&self, folder: &Path, keep: Keep) {
        let file = RotatingFile::new(folder.join(FILE_NAME), keep);
        self.shared.wish().also = Some(file);
    }

    /// Keeps so many files from now on, with the one being written.
    pub(crate) fn set_files(&self, files: usize) {
        self.shared.wish().files = Some(files);
    }

    /// Changes how much is said from now on.
    pub(crate) fn set_level(&self, level: LevelFilter) {
        // Fails only when the subscriber is gone, and then nothing is said anyway.
        self.level.reload(targets(level)).ok();
    }

    /// How many lines did not get into the file so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.shared.dropped.total()
    }

    /// Waits until what was said so far is in the file; false if that takes too long.
    pub(crate) fn flush(&self, patience: Duration) -> bool {
        let (done, waiting) = mpsc::sync_channel(1);
        self.queue.try_send(Message::Flush(done)).is_ok() && waiting.recv_timeout(patience).is_ok()
    }
}

fn targets(level: LevelFilter) -> Targets {
    Targets::new().with_default(level.min(LevelFilter::WARN)).with_target(OURS, level)
}
