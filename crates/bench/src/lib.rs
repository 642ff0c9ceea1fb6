//! Measures our screen side by side with the terminal libraries of the field.
//!
//! The way of a run: [`inputs`] makes the bytes, [`engines`] puts every library behind one
//! trait, [`measure`], [`memory`] and [`reads`] take the numbers, [`targets`] judges them and
//! [`report`] puts them into words. Only ratios within one run mean anything: machines differ, and
//! so does one machine from hour to hour.
//!
//! Not here: PTYs, the daemon, latency. This is bytes to cells and back.
//!
//! Invariant: nothing is timed before [`guard`] compared its screen with ours.

pub mod engines;
pub mod guard;
pub mod inputs;
pub mod machine;
pub mod measure;
pub mod memory;
pub mod reads;
pub mod report;
pub mod screen;
pub mod targets;
