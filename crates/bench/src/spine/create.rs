//! From starting the command line until the program in a new session runs.
//!
//! The server runs already, as it does for all sessions but the first.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result};

use super::Spine;
use super::fifo::Fifo;
use super::row::{Bar, Row, Unit};
use super::scripts::tell;
use super::turns;
use super::wait::{PATIENCE, REST};

pub(super) fn measure(spine: &Spine<'_>) -> Result<Vec<Row>> {
    let (ours, tmux) = (spine.ours("create")?, spine.tmux("create.tmux")?);
    let runs = spine.place.fifo("create.runs")?;
    let argv = tell(&runs);
    let [by_ours, by_tmux] = turns::take(
        spine.choose(100, 20),
        [
            (
                "greenroom",
                Box::new(|| start(ours.command().args(["new", "-d", "--"]).args(&argv), &runs)),
            ),
            (
                "tmux",
                Box::new(|| start(tmux.command().args(["new-session", "-d"]).args(&argv), &runs)),
            ),
        ],
    )?;
    Ok(vec![Row {
        what: "create until the program runs, p50".to_owned(),
        unit: Unit::Seconds,
        ours: by_ours.p50(),
        peers: vec![("tmux", by_tmux.p50())],
        limit: None,
        bar: Bar::OfPeer(1.0, "tmux"),
    }])
}

fn start(command: &mut Command, runs: &Fifo) -> Result<Vec<f64>> {
    let begin = Instant::now();
    let mut child = command.spawn().context("starting the command line")?;
    let heard = runs.hear(PATIENCE);
    let seconds = begin.elapsed().as_secs_f64();
    child.wait().context("waiting for the command line")?;
    heard?;
    std::thread::sleep(REST);
    Ok(vec![seconds])
}
