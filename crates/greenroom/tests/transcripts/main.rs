//! Golden transcripts of the doors: what a client sends and what it gets, from a real server.
//!
//! The files are `crates/door-*/tests/transcripts/*.txt`, one a method; how they are read is said in
//! `testkit`. Every one has a server of its own.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod native;
mod ptywright;
mod websocket;

use std::path::{Path, PathBuf};

use greenroom_testkit::Home;

fn home() -> Home {
    Home::with_programs(env!("CARGO_BIN_EXE_greenroom"))
}

/// Where the transcripts of a door are.
fn folder(door: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(door).join("tests/transcripts")
}
