//! Starting a plugin that fails, again and again.
//!
//! A VM is a thread and a millisecond's work. A file that fails at once would have as many of them made as
//! somebody asks for who does not give up, hundreds a second, and sessions would feel it. So who fails
//! several times in a row waits before the next time, each time a little longer. Nobody else does: every plugin has its own row.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Mutex as AsyncMutex;
use tokio::time::{Instant, sleep_until};

use crate::error::PluginError;
use crate::limits::{FAILED_PAUSE, FAILED_PAUSE_MAX, FAILURES_MAX, PLUGINS_MAX};

/// The starts of one plugin, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Starts(AsyncMutex<Row>);

/// How many of them failed without one between them that did not.
#[derive(Debug, Default)]
struct Row {
    failed: u32,
    last: Option<Instant>,
}

impl Row {
    /// How long after the last one the next is.
    fn pause(&self) -> Duration {
        let times = self.failed.saturating_add(1).saturating_sub(FAILURES_MAX);
        FAILED_PAUSE.saturating_mul(times).min(FAILED_PAUSE_MAX)
    }
}

impl Starts {
    /// Starts something, once it is its turn.
    pub(crate) async fn attempt<T>(
        &self,
        start: impl Future<Output = Result<T, PluginError>>,
    ) -> Result<T, PluginError> {
        let mut row = self.0.lock().await;
        if let Some(last) = row.last {
            sleep_until(last + row.pause()).await;
        }
        let before = row.failed;
        // Until it is known otherwise: who goes away meanwhile has had it tried as well.
        *row = Row { failed: before.saturating_add(1), last: Some(Instant::now()) };
        let started = start.await;
        match &started {
            Ok(_) => *row = Row::default(),
            // No fault of the plugin's, and nothing was made.
            Err(PluginError::NoRoom { .. }) => row.failed = before,
            Err(_) => row.last = Some(Instant::now()),
        }
        started
    }

    /// When it last failed; nothing while somebody starts it.
    fn last(&self) -> Option<Instant> {
        self.0.try_lock().ok().and_then(|row| row.last)
    }
}

/// The rows of what is on disk, by the manifest's path: what cannot be loaded has no other place.
#[derive(Debug, Default)]
pub(crate) struct Loads(Mutex<BTreeMap<PathBuf, Arc<Starts>>>);

impl Loads {
    /// The row of a manifest. Of more than there may be plugins, what failed longest ago is forgotten.
    pub(crate) fn of(&self, manifest: &Path) -> Arc<Starts> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(manifest) {
            return Arc::clone(known);
        }
        if all.len() >= PLUGINS_MAX {
            let idle = all.iter().filter(|(_, it)| Arc::strong_count(it) == 1);
            let oldest = idle.min_by_key(|(_, it)| it.last()).map(|(path, _)| path.clone());
            // If all are being started, as many more as requests may be under way.
            oldest.and_then(|path| all.remove(&path));
        }
        Arc::clone(all.entry(manifest.to_owned()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn fails(starts: &Starts) {
        let failed = async { Err::<(), _>(PluginError::Unknown("p".to_owned())) };
        starts.attempt(failed).await.unwrap_err();
    }

    #[tokio::test(start_paused = true)]
    async fn only_who_fails_again_and_again_waits() {
        let starts = Starts::default();
        let begin = Instant::now();
        for _ in 0..FAILURES_MAX {
            fails(&starts).await;
        }
        assert_eq!(begin.elapsed().as_millis(), 0, "who makes a few mistakes does not wait");
        fails(&starts).await;
        assert!(begin.elapsed() >= FAILED_PAUSE);
        fails(&starts).await;
        assert!(begin.elapsed() >= FAILED_PAUSE * 3, "each time longer");
        for _ in 0..100 {
            let last = Instant::now();
            fails(&starts).await;
            assert!(last.elapsed() <= FAILED_PAUSE_MAX * 2, "but not for ever");
        }
        starts.attempt(async { Ok(()) }).await.unwrap();
        let again = Instant::now();
        fails(&starts).await;
        assert_eq!(again.elapsed().as_millis(), 0, "one that succeeds ends the row");
    }

    #[tokio::test(start_paused = true)]
    async fn who_goes_away_before_it_failed_waits_as_well() {
        let starts = Starts::default();
        for _ in 0..FAILURES_MAX {
            let endless = starts.attempt(std::future::pending::<Result<(), PluginError>>());
            tokio::time::timeout(FAILED_PAUSE / 10, endless).await.unwrap_err();
        }
        let begin = Instant::now();
        fails(&starts).await;
        assert!(begin.elapsed() >= FAILED_PAUSE / 2);
    }

    #[tokio::test(start_paused = true)]
    async fn who_corrects_a_file_does_not_wait() {
        let starts = Starts::default();
        for _ in 0..=FAILURES_MAX {
            fails(&starts).await;
        }
        tokio::time::sleep(FAILED_PAUSE_MAX).await;
        let begin = Instant::now();
        starts.attempt(async { Ok(()) }).await.unwrap();
        assert_eq!(begin.elapsed().as_millis(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_remembered_is_bounded_and_the_oldest_goes_first() {
        let loads = Loads::default();
        for at in 0..PLUGINS_MAX * 2 {
            fails(&loads.of(Path::new(&at.to_string()))).await;
            tokio::time::sleep(FAILED_PAUSE).await;
        }
        let all = loads.0.lock().unwrap();
        assert_eq!(all.len(), PLUGINS_MAX);
        let last = (PLUGINS_MAX * 2 - 1).to_string();
        assert!(all.contains_key(Path::new(&last)) && !all.contains_key(Path::new("0")));
    }
}
