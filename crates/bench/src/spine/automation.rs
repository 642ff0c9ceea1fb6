//! Driving programs through the ptywright door.
//!
//! A line printed until `session.wait` is answered is taken as for the native door (`answers`), beside
//! tmux's control mode, which brings the line: without evidence, with the text of a screen and 4096 characters
//! of transcript, and with all 1,920 cells of the screen as well, a third of a megabyte, which is what clients get
//! that ask for nothing else; the first also while 200 sessions print and somebody waits on each. A snapshot is
//! asked for and read whole; the limit of throughput is the same session with nobody waiting; what a plugin
//! makes of a screen is asked by `adapter.state`.

use std::cell::{Cell, RefCell};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use greenroom_model::Size;
use serde_json::{Value, json};

use super::Spine;
use super::answers::{LINES, TURNS, by_tmux};
use super::fifo::Fifo;
use super::row::{Bar, Row, Unit};
use super::scripts::{print_when_told, repeat};
use super::turns::{self, Turn};
use super::wait::{PATIENCE, REST};
use super::wright::Wright;
use crate::inputs;

/// How many lines fill the transcript that is evidence.
const FILL: usize = 300;

/// How many sessions print while one is waited on.
const CROWD: usize = 200;

/// What one of them prints, and how often: as a build or a test run does.
const MURMUR: &str = "while :; do echo $((n += 1)) of many; sleep 0.2; done";

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
    let mut waits = waits(spine, &mut wright)?;
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

/// A line printed until the wait for it is answered, alone and in a crowd.
fn waits(spine: &Spine<'_>, wright: &mut Wright) -> Result<Vec<Row>> {
    let tmux = spine.tmux("automation.tmux")?;
    let pipe = |name: &str| spine.place.fifo(&format!("automation.{name}.lines"));
    let (to_ours, to_tmux) = (pipe("ours")?, pipe("tmux")?);
    let session = create(wright, &repeat(&to_ours), (80, 24))?;
    tmux.create("automation", &repeat(&to_tmux), Size::DEFAULT)?;
    let mut control = tmux.control("automation")?;
    let count = Cell::new(0);
    let next = |_| {
        count.set(count.get() + 1);
        format!("line-{:06}-end", count.get())
    };
    // Everybody's transcript is full before anything is timed.
    for line in (0..FILL).map(next) {
        by_ours(wright, &session, &to_ours, &line, Evidence::Text)?;
    }
    by_tmux(&mut control, &to_tmux, &next(0))?;
    let wright = RefCell::new(wright);
    let ours = |evidence: Evidence| -> Turn<'_> {
        let (wright, session, to_ours, next) = (&wright, &session, &to_ours, &next);
        let line = move |line: String| {
            by_ours(&mut wright.borrow_mut(), session, to_ours, &line, evidence)
        };
        Box::new(move || (0..LINES).map(next).map(line).collect())
    };
    let control = RefCell::new(control);
    let tmux = |line: String| by_tmux(&mut control.borrow_mut(), &to_tmux, &line);
    let tmux = || -> Turn<'_> { Box::new(|| (0..LINES).map(next).map(tmux).collect()) };
    let turns = spine.choose(TURNS.0, TURNS.1);
    let samples = turns::take(
        turns,
        [
            ("greenroom", ours(Evidence::Nothing)),
            ("greenroom with evidence", ours(Evidence::Text)),
            ("tmux", tmux()),
        ],
    )?;
    let [alone, evident, peer] = samples.map(|it| it.p50());
    // Apart: so much data drives everybody else out of the caches.
    let samples =
        turns::take(turns, [("greenroom with cells", ours(Evidence::Cells)), ("tmux", tmux())])?;
    let [whole, peer_of_whole] = samples.map(|it| it.p50());
    let crowd = crowd(&mut wright.borrow_mut(), &session, &to_ours, spine.choose(400, 100), &next)?;
    let row = |what: &str, ours, peer, bar| Row {
        what: what.to_owned(),
        unit: Unit::Seconds,
        ours,
        peers: vec![peer],
        limit: None,
        bar,
    };
    Ok(vec![
        row(
            "a line printed until `session.wait` is answered without evidence, p50",
            alone,
            ("tmux", peer),
            Bar::OfPeer(1.0, "tmux"),
        ),
        row(
            "a line printed until `session.wait` is answered, p50",
            evident,
            ("tmux", peer),
            Bar::OfPeer(1.0, "tmux"),
        ),
        row(
            "a line printed until `session.wait` is answered with every cell, p50",
            whole,
            ("tmux", peer_of_whole),
            Bar::OfPeer(1.0, "tmux"),
        ),
        row(
            "the same without evidence while 200 sessions print and are waited on, p50",
            crowd,
            ("alone", alone),
            Bar::OfPeer(3.0, "alone"),
        ),
    ])
}

fn by_ours(
    wright: &mut Wright,
    session: &str,
    pipe: &Fifo,
    line: &str,
    evidence: Evidence,
) -> Result<f64> {
    wright.start("session.wait", &wait(session, &contains(line), evidence))?;
    thread::sleep(REST);
    let begin = Instant::now();
    pipe.tell(line)?;
    wright.answer()?;
    Ok(begin.elapsed().as_secs_f64())
}

/// The same, while many sessions print and somebody waits on each for what never comes.
fn crowd(
    wright: &mut Wright,
    session: &str,
    pipe: &Fifo,
    lines: usize,
    next: &dyn Fn(usize) -> String,
) -> Result<f64> {
    let murmur = ["/bin/sh", "-c", MURMUR].map(str::to_owned);
    let mut others = Vec::new();
    for _ in 0..CROWD {
        let other = create(wright, &murmur, (80, 24))?;
        wright.start(
            "session.wait",
            &wait(&other, &contains("what never comes"), Evidence::Nothing),
        )?;
        others.push(other);
    }
    let taken: Result<Vec<f64>> =
        (0..lines).map(|it| by_ours(wright, session, pipe, &next(it), Evidence::Nothing)).collect();
    for other in others {
        wright.call("session.close", &json!({"session": other}))?;
    }
    let mut taken = taken?;
    taken.sort_unstable_by(f64::total_cmp);
    Ok(taken.get(taken.len() / 2).copied().unwrap_or(f64::NAN))
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
