//! The whole program in its own processes: what survives, what is refused, what is left behind.
//!
//! One file a subject; the letters in the comments (K1, B2, …) are the rows of the fault table.
//! Every test has a home of its own. `GREENROOM_FULL=1` asks for the numbers of that table instead
//! of the smaller ones of the suite.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "whatever fails in a test's helper fails the test"
)]

mod access;
mod attach;
mod carryon;
mod carryon_cli;
mod claude;
mod cli;
mod clock;
mod daemon_killed;
mod direct;
mod disk;
mod echoes;
mod endings;
mod exhausted;
mod family;
mod groups;
mod holder_killed;
mod hosts;
mod idle;
mod input;
mod json;
mod leftovers;
mod limits;
mod lines;
mod malformed;
mod names;
#[cfg(debug_assertions)]
mod points;
mod ptywright;
mod ptywright_cli;
mod reader;
mod repl;
mod replay;
mod run;
mod service;
mod slow;
mod soak;
mod sshd;
mod stalled;
mod steps;
mod strace;
mod support;
mod syscalls;
#[cfg(feature = "otel")]
mod telemetry;
mod terminal;
mod two_daemons;
mod typed_over;
mod upgrade;
mod vanishing;
mod web;
