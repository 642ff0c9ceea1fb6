//! What is remembered by the print of a secret, for a time and over the end of the daemon: logins and
//! links.
//!
//! All of a kind are in one file, which is written whole, beside the daemon's thread and never twice at
//! once; many changes in a row are one write. Who waits for one of them to end is told of every change.
//!
//! Not here: how many there may be and what happens then (`logins`, `shares`), and the file's mode (`kept`).

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tokio::sync::watch;

use crate::kept;
use crate::secret::Print;

/// One of those that are remembered.
pub(crate) trait Entry: Clone + Send + Sync + 'static {
    /// The print of its secret.
    fn print(&self) -> &Print;
    /// Until when it holds, in milliseconds since 1970.
    fn until_ms(&self) -> u64;
    /// As it is in the file.
    fn to_kept(&self) -> Value;
    /// One from the file; none if that is none.
    fn from_kept(value: &Value) -> Option<Self>;
}

/// All of a kind.
#[derive(Debug)]
pub(crate) struct Remembered<T>(Arc<Inner<T>>);

#[derive(Debug)]
struct Inner<T> {
    path: PathBuf,
    all: Mutex<Vec<T>>,
    changed: watch::Sender<u64>,
    /// Somebody will write what there is then.
    due: AtomicBool,
    /// Held while the file is written.
    writing: Mutex<()>,
}

impl<T: Entry> Remembered<T> {
    /// Takes up those that were kept. What cannot be read is as good as nothing: a person logs in
    /// again, or makes another link.
    pub(crate) fn load(path: PathBuf) -> Remembered<T> {
        let kept = kept::read(&path).ok();
        let kept: Value = kept.and_then(|it| serde_json::from_str(&it).ok()).unwrap_or_default();
        let all = kept.as_array().into_iter().flatten().filter_map(T::from_kept).collect();
        Remembered(Arc::new(Inner {
            path,
            all: Mutex::new(all),
            changed: watch::Sender::new(0),
            due: AtomicBool::new(false),
            writing: Mutex::new(()),
        }))
    }

    /// Those that hold.
    pub(crate) fn list(&self) -> Vec<T> {
        let now = now_ms();
        self.0.all().iter().filter(|it| it.until_ms() > now).cloned().collect()
    }

    /// The one somebody knows the secret of, if it holds. All are compared, each in constant time.
    pub(crate) fn find(&self, secret: &str) -> Option<T> {
        let (print, now) = (Print::of(secret), now_ms());
        let mut found = None;
        for entry in self.0.all().iter() {
            if entry.print().is(&print) && entry.until_ms() > now {
                found = Some(entry.clone());
            }
        }
        found
    }

    /// Changes what there is, of which those are gone that are late, and writes it down.
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut Vec<T>) -> R) -> R {
        let now = now_ms();
        let changed = {
            let mut all = self.0.all();
            all.retain(|it| it.until_ms() > now);
            change(&mut all)
        };
        self.0.changed.send_modify(|count| *count += 1);
        if !self.0.due.swap(true, Ordering::AcqRel) {
            let inner = Arc::clone(&self.0);
            tokio::task::spawn_blocking(move || inner.write());
        }
        changed
    }

    /// Keeps only some; gives how many went.
    pub(crate) fn retain(&self, keep: impl FnMut(&T) -> bool) -> usize {
        self.change(|all| {
            let before = all.len();
            all.retain(keep);
            before - all.len()
        })
    }

    /// Ends when one of them does not hold any more.
    pub(crate) async fn gone(&self, entry: &T) {
        let mut changed = self.0.changed.subscribe();
        let left = Duration::from_millis(entry.until_ms().saturating_sub(now_ms()));
        let removed = async {
            while self.0.all().iter().any(|it| it.print().is(entry.print())) {
                if changed.changed().await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = removed => {}
            () = tokio::time::sleep(left) => {}
        }
    }
}

impl<T: Entry> Inner<T> {
    fn all(&self) -> MutexGuard<'_, Vec<T>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what there is now.
    fn write(&self) {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        // First: what changes from here on is somebody else's to write.
        self.due.store(false, Ordering::Release);
        let all: Value = self.all().iter().map(T::to_kept).collect();
        if let Err(error) = kept::write(&self.path, &format!("{all}\n")) {
            tracing::warn!(path = %self.path.display(), %error, "logins or links were not written");
        }
    }
}

/// The time of the calendar: what is kept over a restart has no other.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
