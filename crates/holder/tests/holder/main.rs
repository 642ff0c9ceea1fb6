//! A holder as a daemon sees it: real processes, real terminals, one file a subject.
#![expect(clippy::unwrap_used, reason = "whatever fails in a test's helper fails the test")]

mod abuse;
mod daemon;
mod end;
mod kill;
mod log;
mod reconnect;
mod start;
mod tally;
mod tap;
