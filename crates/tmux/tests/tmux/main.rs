//! The crate against the real tmux, on a private server for each test.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod attaching;
mod broken;
mod house;
mod names;
mod verbs;
