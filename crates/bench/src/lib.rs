//! Measures ours side by side with its peers: the screen with the terminal libraries of the field,
//! and whole sessions with tmux, screen and dtach ([`spine`]).
//!
//! The way of a run of [`screen`]: [`inputs`] makes the bytes, [`engines`] puts every library behind one
//! trait, [`measure`], [`memory`] and [`reads`] take the numbers, [`targets`] judges them and
//! [`report`] puts them into words. Only ratios within one run mean anything: machines differ, and
//! so does one machine from hour to hour.
//!
//! Invariant: no screen is timed before [`guard`] compared its screen with ours.

pub mod engines;
pub mod guard;
pub mod inputs;
pub mod machine;
pub mod measure;
pub mod memory;
pub mod reads;
pub mod report;
pub mod screen;
pub mod spine;
pub mod targets;
