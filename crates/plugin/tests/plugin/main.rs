//! Plugins as the daemon uses them: what they have, what stops them, how they come and go.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod builtin;
mod common;
mod document;
mod limits;
mod registry;
mod sandbox;
