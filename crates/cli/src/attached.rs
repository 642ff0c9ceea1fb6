//! A session at this end: a person's terminal, or the standard streams of `run`.
//!
//! Each is one poll loop over standard input, the link to the daemon, signals and standard output;
//! no threads. One read gives one write, both ways: what a key costs is what the kernel asks for.

mod bridge;
mod direct;
mod manners;
mod notice;
mod poll;
mod watch;

pub(crate) use bridge::{Bridge, Typing, bridge};
pub(crate) use manners::Manners;
pub(crate) use poll::earliest;
pub(crate) use watch::{Watch, watch, watch_as};
