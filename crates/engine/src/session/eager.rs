//! Staying awake for an echo.
//!
//! Whoever types waits for what comes back, mostly within a few dozen microseconds. To fall asleep
//! and be woken takes the system longer than that. So after a keystroke the session looks again
//! and again for a moment, letting everybody else run in between; and it stops doing so for
//! programs that do not echo.

use std::time::Duration;

/// How long to stay awake: an echo takes the way to the program and back through two processes.
const MOMENT: Duration = Duration::from_micros(150);

/// How often it may be in vain before it is not done any more.
const TRUST: u8 = 4;

/// How many keystrokes are let by before it is tried again.
const PROBE: u8 = 32;

/// Whether the session stays awake.
#[derive(Debug)]
pub(super) struct Eager {
    until: Option<std::time::Instant>,
    trust: u8,
    passed: u8,
}

impl Default for Eager {
    fn default() -> Eager {
        Eager { until: None, trust: TRUST, passed: 0 }
    }
}

impl Eager {
    /// Somebody typed.
    pub(super) fn typed(&mut self) {
        if self.trust == 0 {
            self.passed += 1;
            if self.passed < PROBE {
                return;
            }
            self.passed = 0;
            self.trust = 1;
        }
        self.until = Some(std::time::Instant::now() + MOMENT);
    }

    /// Something was printed: it was worth it.
    pub(super) fn printed(&mut self) {
        if self.until.take().is_some() {
            self.trust = TRUST;
        }
    }

    /// Whether to stay awake a little longer.
    fn is_awake(&self) -> bool {
        self.until.is_some_and(|until| std::time::Instant::now() < until)
    }

    /// Ends once the moment is over; never, if there is none.
    pub(super) async fn moment(&mut self) {
        if self.until.is_none() {
            return std::future::pending().await;
        }
        while self.is_awake() {
            // Other processes first, on whose answer this waits; then our own tasks.
            std::thread::yield_now();
            tokio::task::yield_now().await;
        }
        self.until = None;
        self.trust = self.trust.saturating_sub(1);
    }
}
