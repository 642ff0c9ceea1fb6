//! What a session holds whose history is full: 10,000 lines of log text.
//!
//! The same sum as of an idle session (`crowd`), over fewer sessions: they are large.

use std::thread;

use anyhow::{Result, ensure};
use greenroom_model::Size;

use super::Spine;
use super::crowd::{SETTLE, holders};
use super::fifo::Fifo;
use super::others::{create_screen, end, processes};
use super::ours::daemon;
use super::processes::memory;
use super::row::{Bar, Row, Unit};
use super::scripts::print;
use super::wait::PATIENCE;
use crate::measure::warm_up;
use crate::screen::HISTORY;

/// How many sessions: enough that what all share is little.
const SESSIONS: usize = 20;

/// The most a session may hold, in KiB.
const AT_MOST: f64 = 1.6 * 1024.0;

pub(super) fn measure(spine: &Spine<'_>) -> Result<Vec<Row>> {
    let mut text = warm_up(HISTORY);
    text.retain(|byte| *byte != b'\r');
    let file = spine.place.write("full.log", &text)?;
    let done = spine.place.fifo("full.done")?;
    let argv = print(&file.to_string_lossy(), &done);
    Ok(vec![Row {
        what: format!("memory of a session with {HISTORY} lines of history, one of {SESSIONS}"),
        unit: Unit::Kib,
        ours: by_ours(spine, &argv, &done)?,
        peers: vec![
            ("tmux", by_tmux(spine, &argv, &done)?),
            ("screen", by_screen(spine, &argv, &done)?),
        ],
        limit: None,
        bar: Bar::AtMost(AT_MOST),
    }])
}

fn by_ours(spine: &Spine<'_>, argv: &[String], done: &Fifo) -> Result<f64> {
    let ours = spine.ours("full")?;
    let mut connection = ours.connect()?;
    thread::sleep(SETTLE);
    let server = daemon(&connection)?;
    let before = memory(&[server])?;
    for number in 0..SESSIONS {
        ours.create(&mut connection, &format!("full-{number}"), argv, Size::DEFAULT)?;
        done.hear(PATIENCE)?;
    }
    let pids = holders(&mut connection)?;
    connection.close();
    thread::sleep(SETTLE);
    Ok((memory(&pids)? + memory(&[server])? - before) / SESSIONS as f64)
}

fn by_tmux(spine: &Spine<'_>, argv: &[String], done: &Fifo) -> Result<f64> {
    let tmux = spine.tmux("full.tmux")?;
    let server = [tmux.server()?];
    let before = memory(&server)?;
    for number in 0..SESSIONS {
        tmux.create(&format!("full-{number}"), argv, Size::DEFAULT)?;
        done.hear(PATIENCE)?;
    }
    thread::sleep(SETTLE);
    Ok((memory(&server)? - before) / SESSIONS as f64)
}

fn by_screen(spine: &Spine<'_>, argv: &[String], done: &Fifo) -> Result<f64> {
    end("screen");
    for number in 0..SESSIONS {
        create_screen(spine.place, &format!("full-{number}"), HISTORY, argv)?;
        done.hear(PATIENCE)?;
    }
    thread::sleep(SETTLE);
    let pids = processes("screen");
    ensure!(pids.len() == SESSIONS, "{} processes of {SESSIONS} screen sessions", pids.len());
    let held = memory(&pids)? / SESSIONS as f64;
    end("screen");
    Ok(held)
}
