//! Whether the other end of a WebSocket is still there.
//!
//! It is asked by a ping now and then, and whatever comes from it is a sign of life. So is it when
//! something could be sent only after a while: somebody has taken what was before it. Who leaves too
//! many pings without one is let go of.
//!
//! Pings are counted, and not the time since the last sign: while we ourselves are stopped, nobody is
//! asked, and what came meanwhile is not read yet when the clock is looked at.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// How often the other end is asked.
const PING_EVERY: Duration = Duration::from_secs(8);

/// How many pings it may leave unanswered: it has time enough, and what it holds is free within half a
/// minute.
const UNANSWERED: u32 = 2;

/// What takes longer to be sent than this has waited for the other end.
const WAITED: Duration = Duration::from_millis(5);

/// Signs of life of one WebSocket.
#[derive(Debug)]
pub(crate) struct Beat {
    begin: Instant,
    /// When it was asked last, in milliseconds since the beginning.
    asked: AtomicU64,
    /// How often it was asked since the last sign.
    unanswered: AtomicU32,
    /// We are not listening, so its silence means nothing.
    deaf: AtomicBool,
}

impl Beat {
    pub(crate) fn new() -> Beat {
        Beat {
            begin: Instant::now(),
            asked: AtomicU64::new(0),
            unanswered: AtomicU32::new(0),
            deaf: AtomicBool::new(false),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Something came.
    pub(crate) fn sign(&self) {
        self.unanswered.store(0, Ordering::Relaxed);
    }

    /// Something was sent, from that moment on.
    pub(crate) fn sent(&self, since: Instant) {
        if since.elapsed() > WAITED {
            self.sign();
        }
    }

    /// Does something with what came, during which nothing more is heard.
    pub(crate) async fn deaf<T>(&self, doing: impl Future<Output = T>) -> T {
        self.deaf.store(true, Ordering::Relaxed);
        let done = doing.await;
        self.deaf.store(false, Ordering::Relaxed);
        self.sign();
        done
    }

    /// When to ask next; false if the other end is gone instead. It may be dropped and called again:
    /// a session that prints all the time does not put it off.
    pub(crate) async fn ask(&self) -> bool {
        let asked = Duration::from_millis(self.asked.load(Ordering::Relaxed));
        tokio::time::sleep_until(self.begin + asked + PING_EVERY).await;
        self.asked.store(self.now(), Ordering::Relaxed);
        let unanswered = self.unanswered.fetch_add(1, Ordering::Relaxed);
        unanswered < UNANSWERED || self.deaf.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_busy_session_does_not_put_it_off() {
        let beat = Beat::new();
        let mut asked = 0;
        let alive = loop {
            tokio::select! {
                alive = beat.ask() => {
                    asked += 1;
                    if !alive {
                        break alive;
                    }
                }
                () = tokio::time::sleep(Duration::from_millis(100)) => {}
            }
            assert!(beat.begin.elapsed() < Duration::from_secs(30));
        };
        assert!(!alive && asked == 3, "{asked}");
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_nobody_was_asked_does_not_count() {
        let beat = Beat::new();
        for _ in 0..5 {
            // We were stopped, right after it was asked; its answer is read after the next ping.
            tokio::time::advance(10 * PING_EVERY).await;
            assert!(beat.ask().await);
            beat.sign();
        }
        assert!(beat.ask().await && beat.ask().await);
        assert!(!beat.ask().await);
    }
}
