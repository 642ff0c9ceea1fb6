//! How often a plugin is asked because something happened, and not because a client wants to know.
//!
//! A program may print a hundred thousand lines a second, and as many waits as clients like may be
//! for what a plugin says. The plugin could answer all day, and the daemon would do nothing else than ask.

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

use crate::limits::{ASK_EVERY, ASKS_AT_ONCE};

/// Turns to ask one VM: some at once, then one every so often, in the order in which they came.
#[derive(Debug)]
pub(crate) struct Pace {
    /// When all that was asked until now would have been, one every so often.
    due: Mutex<Instant>,
}

impl Default for Pace {
    fn default() -> Self {
        Self { due: Mutex::new(Instant::now()) }
    }
}

impl Pace {
    /// Waits for a turn.
    pub(crate) async fn turn(&self) {
        // Held while it waits: who goes away meanwhile takes no turn.
        let mut due = self.due.lock().await;
        let ahead = due.saturating_duration_since(Instant::now());
        let room = ASK_EVERY * ASKS_AT_ONCE;
        if ahead >= room {
            sleep_until(Instant::now() + (ahead - room) + ASK_EVERY).await;
        }
        *due = (*due).max(Instant::now()) + ASK_EVERY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn some_ask_at_once_and_then_one_every_so_often() {
        let pace = Pace::default();
        let begin = Instant::now();
        for _ in 0..ASKS_AT_ONCE {
            pace.turn().await;
        }
        assert!(begin.elapsed().is_zero());
        for _ in 0..100 {
            pace.turn().await;
        }
        assert!(begin.elapsed() >= ASK_EVERY * 100, "{:?}", begin.elapsed());
        tokio::time::sleep(ASK_EVERY * ASKS_AT_ONCE * 2).await;
        let rested = Instant::now();
        for _ in 0..ASKS_AT_ONCE {
            pace.turn().await;
        }
        assert!(rested.elapsed().is_zero(), "who has rested may ask at once again");
    }

    #[tokio::test(start_paused = true)]
    async fn who_goes_away_takes_no_turn() {
        let pace = Pace::default();
        for _ in 0..=ASKS_AT_ONCE {
            pace.turn().await;
        }
        for _ in 0..1_000 {
            let gone = tokio::time::timeout(std::time::Duration::ZERO, pace.turn()).await;
            gone.unwrap_err();
        }
        let begin = Instant::now();
        pace.turn().await;
        assert!(begin.elapsed() <= ASK_EVERY * 2, "{:?}", begin.elapsed());
    }
}
