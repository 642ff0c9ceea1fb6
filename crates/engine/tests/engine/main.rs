//! The engine on a fake holder: attaching, waiting, lagging, coming back, recovering.
//!
//! The holder is played by the test, over a real socket in the real protocol; the terminal is one
//! end of a pair of sockets. So every byte and every message is directed, and nothing sleeps.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod attach;
mod counted;
mod fake;
mod input;
mod lag;
mod recovery;
mod waits;
