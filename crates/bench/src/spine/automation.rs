//! Driving programs through the ptywright door.
//!
//! How soon a wait is answered is in `waits`. A snapshot is asked for and read whole; the limit of throughput
//! is the same session with nobody waiting; what a plugin makes of a screen is asked by `adapter.state`.

mod waits;

use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::Spine;
use super::row::{Bar, Row, Unit};
use super::scripts::print_when_told;
use super::wait::PATIENCE;
use super::wright::Wright;
use crate::inputs;

/// The size of a large screen.
const LARGE: (u16, u16) = (200, 60);

/// A screen that Claude Code showed: it asks for a permission.
const DIALOG: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugins/claude-code/fixtures/permission_bash.txt");

/// How much is printed while somebody waits.
const FLOOD: usize = 100_000_000;
const QUICK_FLOOD: usize = 30_000_000;

pub(super) fn measure(spine: &Spine<'_>) -> Result<Vec<Row>> {
    let ours = spine.ours("automation")?;
    let mut wright = Wright::connect(&ours.ptywright())?;
    let mut rows = snapshots(spine, &mut wright)?;
    rows.push(flood(spine, &mut wright)?);
    let mut waits = waits::measure(spine, &mut wright)?;
    waits.append(&mut rows);
    Ok(waits)
}

pub(super) fn create(
    wright: &mut Wright,
    argv: &[String],
    (cols, rows): (u16, u16),
) -> Result<String> {
    let (program, args) = argv.split_first().context("no program")?;
    let params = json!({"program": program, "args": args, "rows": rows, "cols": cols, "cwd": "/"});
    let made = wright.call("session.create", &params)?;
    Ok(made["session"].as_str().context("no session")?.to_owned())
}

/// What is to come with the answer to a wait.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Evidence {
    Nothing,
    /// The screen's and the transcript's.
    Text,
    /// And every cell.
    Cells,
}

pub(super) fn wait(session: &str, matcher: &Value, evidence: Evidence) -> Value {
    let timeout = PATIENCE.as_millis() as u64;
    json!({
        "session": session, "matcher": matcher, "timeout_ms": timeout,
        "evidence": evidence != Evidence::Nothing, "cells": evidence == Evidence::Cells,
    })
}

pub(super) fn contains(text: &str) -> Value {
    json!({"type": "contains_text", "value": text})
}

/// Snapshots of a large screen full of colours.
fn snapshots(spine: &Spine<'_>, wright: &mut Wright) -> Result<Vec<Row>> {
    let (cols, rows) = LARGE;
    let line: String = (0..cols / 4).map(|it| format!("\\033[3{}mabc ", it % 8)).collect();
    let script = format!(
        "i=0; while [ $i -lt {} ]; do printf '{line}\\n'; i=$((i + 1)); done; printf FULL; exec sleep 86400",
        rows - 1
    );
    let session = create(wright, &["/bin/sh".to_owned(), "-c".to_owned(), script], LARGE)?;
    wright.call("session.wait", &wait(&session, &contains("FULL"), Evidence::Nothing))?;
    let ask = |wright: &mut Wright, cells: bool| -> Result<f64> {
        let params = json!({"session": session, "cells": cells});
        let begin = Instant::now();
        wright.start("session.snapshot", &params)?;
        wright.answer()?;
        Ok(begin.elapsed().as_secs_f64())
    };
    let mut taken = [Vec::new(), Vec::new()];
    for _ in 0..spine.choose(400, 100) {
        taken[0].push(ask(wright, true)?);
        taken[1].push(ask(wright, false)?);
    }
    let [with, without] = taken.map(|mut taken| {
        taken.sort_unstable_by(f64::total_cmp);
        taken.get(taken.len() / 2).copied().unwrap_or(f64::NAN)
    });
    let adapter = json!({"plugin": "claude-code", "program": "/bin/sh", "rows": rows, "cols": cols,
        "args": ["-c", format!("stty -onlcr; sed 's/$/\r/' '{DIALOG}'; exec sleep 86400")]});
    let started = wright.call("adapter.start", &adapter)?;
    let adapter = json!({"adapter": started["adapter"]});
    let mut wait = adapter.clone();
    wait["matcher"] = json!({"type": "contains_text", "value": "Do you want to proceed?"});
    let seen = wright.call("adapter.wait", &wait)?;
    ensure!(
        seen["state"]["state"] == "waiting_for_permission",
        "not recognised: {}",
        seen["state"]
    );
    let mut looks = Vec::new();
    for _ in 0..spine.choose(400, 100) {
        let begin = Instant::now();
        wright.start("adapter.state", &adapter)?;
        wright.answer()?;
        looks.push(begin.elapsed().as_secs_f64());
    }
    looks.sort_unstable_by(f64::total_cmp);
    let looked = looks.get(looks.len() / 2).copied().unwrap_or(f64::NAN);
    wright.call("adapter.close", &adapter)?;
    wright.call("session.close", &json!({"session": session}))?;
    let row = |what: &str, ours, most| Row {
        what: what.to_owned(),
        unit: Unit::Seconds,
        ours,
        peers: Vec::new(),
        limit: None,
        bar: Bar::AtMost(most),
    };
    Ok(vec![
        row("`session.snapshot` of 200x60 with cells, p50", with, 2e-3),
        row("`session.snapshot` of 200x60 without cells, p50", without, 0.3e-3),
        row("`adapter.state` of a screen of 200x60 by claude-code, p50", looked, 1e-3),
    ])
}

/// What a wait by pattern costs a session that prints as fast as it can.
fn flood(spine: &Spine<'_>, wright: &mut Wright) -> Result<Row> {
    let bytes = spine.choose(FLOOD, QUICK_FLOOD);
    let file = spine.place.path("automation.txt");
    std::fs::write(&file, inputs::log(bytes).bytes)?;
    let (go, done) = (spine.place.fifo("automation.go")?, spine.place.fifo("automation.done")?);
    let argv = print_when_told(&file.to_string_lossy(), &go, &done);
    let pattern =
        json!({"type": "screen_regex", "value": r"(?:never|nowhere) [A-Z]{3}-\d{9} seen"});
    let mut print = |waited: bool| -> Result<Vec<f64>> {
        let session = create(wright, &argv, (80, 24))?;
        done.hear(PATIENCE)?;
        if waited {
            wright.start("session.wait", &wait(&session, &pattern, Evidence::Nothing))?;
        }
        let begin = Instant::now();
        go.tell("the end")?;
        done.hear(PATIENCE)?;
        let taken = begin.elapsed().as_secs_f64();
        wright.call("session.close", &json!({"session": session}))?;
        Ok(vec![bytes as f64 / 1e6 / taken])
    };
    let mut taken = [Vec::new(), Vec::new()];
    for _ in 0..spine.choose(5, 3) {
        taken[0].append(&mut print(true)?);
        taken[1].append(&mut print(false)?);
    }
    let [waited, alone] = taken.map(|mut taken| {
        taken.sort_unstable_by(f64::total_cmp);
        taken.get(taken.len() / 2).copied().unwrap_or(f64::NAN)
    });
    Ok(Row {
        what: format!("{} MB printed while a pattern is waited for", bytes / 1_000_000),
        unit: Unit::Rate,
        ours: waited,
        peers: Vec::new(),
        limit: Some(alone),
        bar: Bar::OfLimit(0.9),
    })
}
