//! greenroom: terminal sessions that stay alive. Composition only.
//!
//! `host` gives the command line what it needs of the whole program; `daemon` puts engine, store
//! and doors together; `paths`, `config` and `logs` are where, how and what. This crate alone
//! reads the environment.

mod archive;
mod assets;
mod calendar;
mod carryon;
mod config;
mod daemon;
mod doctor;
mod environment;
mod host;
mod lock;
mod logs;
mod paths;
mod plugins;
mod serve;
mod start;
#[cfg(feature = "otel")]
mod telemetry;
#[cfg(not(feature = "otel"))]
#[path = "telemetry/off.rs"]
mod telemetry;
mod web;

use std::process::ExitCode;

fn main() -> ExitCode {
    greenroom_cli::main(&host::Program)
}
