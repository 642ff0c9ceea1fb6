//! Conversations with scripted agents and with the real Claude Code.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod claude;
mod faults;
mod house;
mod support;
mod transcripts;
