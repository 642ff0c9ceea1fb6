//! 300 sessions in which nothing happens: what they hold, whether anybody wakes up, and how fast a
//! new daemon takes them over.
//!
//! A session's memory is that of its own process and its share of what the server grew by, without
//! the program in it. tmux has all in one process, screen and dtach have no server.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use greenroom_client::Connection;
use greenroom_model::Size;
use serde_json::{Value, json};

use super::Spine;
use super::others::{SCREEN_HISTORY, create_dtach, create_screen, end, processes};
use super::ours::{Ours, daemon};
use super::processes::{memory, switches};
use super::row::{Bar, Row, Unit};
use super::scripts::idle;
use super::turns::{self, Turn};
use super::wait::PATIENCE;

/// How many sessions there are.
pub(super) const SESSIONS: usize = 300;

/// How long nothing may happen.
const QUIET: Duration = Duration::from_secs(10);
const QUICK_QUIET: Duration = Duration::from_secs(3);

/// How long everybody gets to finish what the making of sessions began: more than any delay after
/// which a checkpoint or a record is written.
pub(super) const SETTLE: Duration = Duration::from_secs(5);

/// What a crowd of sessions holds and does.
struct Crowd {
    /// KiB of memory a session.
    held: f64,
    /// Wake-ups of all processes.
    woken: f64,
}

pub(super) fn measure(spine: &Spine<'_>) -> Result<Vec<Row>> {
    let quiet = spine.choose(QUIET, QUICK_QUIET);
    let home = spine.ours("crowd")?;
    let (ours, takeover) = by_ours(spine, &home, quiet)?;
    let tmux = by_tmux(spine, quiet)?;
    let screen = by_process("screen", quiet, |name, argv| {
        create_screen(spine.place, name, SCREEN_HISTORY, argv)
    })?;
    let dtach = by_process("dtach", quiet, |name, argv| create_dtach(spine.place, name, argv))?;
    let peers = |number: fn(&Crowd) -> f64| {
        vec![("tmux", number(&tmux)), ("screen", number(&screen)), ("dtach", number(&dtach))]
    };
    Ok(vec![
        Row {
            what: format!("memory of an idle session, one of {SESSIONS}"),
            unit: Unit::Kib,
            ours: ours.held,
            peers: peers(|it| it.held),
            limit: None,
            bar: Bar::AtMost(200.0),
        },
        Row {
            what: format!("wake-ups of {SESSIONS} idle sessions in {} s", quiet.as_secs()),
            unit: Unit::Count,
            ours: ours.woken,
            peers: peers(|it| it.woken),
            limit: None,
            bar: Bar::AtMost(0.0),
        },
        Row {
            what: format!("`kill -9` of the daemon until {SESSIONS} right screens are read"),
            unit: Unit::Seconds,
            ours: takeover,
            peers: vec![],
            limit: None,
            bar: Bar::AtMost(1.0),
        },
    ])
}

fn by_ours(spine: &Spine<'_>, ours: &Ours<'_>, quiet: Duration) -> Result<(Crowd, f64)> {
    let mut connection = ours.connect()?;
    thread::sleep(SETTLE);
    let server = daemon(&connection)?;
    let before = memory(&[server])?;
    for number in 0..SESSIONS {
        let argv = idle(&line(number));
        ours.create(&mut connection, &format!("idle-{number}"), &argv, Size::DEFAULT)?;
    }
    let mut pids = holders(&mut connection)?;
    connection.close();
    thread::sleep(SETTLE);
    let held = (memory(&pids)? + memory(&[server])? - before) / SESSIONS as f64;
    pids.push(server);
    let crowd = Crowd { held, woken: wake_ups(&pids, quiet)? };
    let turn: Turn<'_> = Box::new(|| Ok(vec![take_over(ours)?]));
    let [takeover] = turns::take(spine.choose(5, 3), [("takeover", turn)])?;
    end_sessions(&mut ours.connect()?)?;
    Ok((crowd, takeover.p50()))
}

/// What a session shows.
fn line(number: usize) -> String {
    format!("the screen of session {number}.")
}

fn list(connection: &mut Connection) -> Result<Vec<Value>> {
    let list = connection.call("session.list", &json!({}))?;
    Ok(list.as_array().context("the list of sessions is none")?.clone())
}

pub(super) fn holders(connection: &mut Connection) -> Result<Vec<u32>> {
    let pid = |session: &Value| {
        let pid = session["holderPid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
        pid.context("a session does not say its holder's process")
    };
    list(connection)?.iter().map(pid).collect()
}

/// Ends all sessions at once.
fn end_sessions(connection: &mut Connection) -> Result<()> {
    for session in list(connection)? {
        let params = json!({"sessionId": session["id"], "graceMs": 0});
        connection.tell("session.kill", &params)?;
    }
    let deadline = Instant::now() + PATIENCE;
    while !list(connection)?.is_empty() {
        ensure!(Instant::now() < deadline, "sessions do not end");
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Kills the daemon, starts another, and reads every screen.
fn take_over(ours: &Ours<'_>) -> Result<f64> {
    let connection = ours.connect()?;
    let begin = Instant::now();
    ours.kill_daemon(&connection)?;
    ours.start_daemon()?;
    let mut connection = ours.connect()?;
    let sessions = list(&mut connection)?;
    ensure!(sessions.len() == SESSIONS, "{} sessions listed of {SESSIONS}", sessions.len());
    for session in sessions {
        let answer = connection.call("session.read", &json!({"sessionId": session["id"]}))?;
        let number = session["name"].as_str().and_then(|it| it.strip_prefix("idle-"));
        let number = number.and_then(|it| it.parse().ok()).context("a session has another name")?;
        let text = answer["text"].as_str().unwrap_or_default();
        ensure!(text.trim_end() == line(number), "session {number} shows `{text}`");
    }
    Ok(begin.elapsed().as_secs_f64())
}

fn by_tmux(spine: &Spine<'_>, quiet: Duration) -> Result<Crowd> {
    let tmux = spine.tmux("crowd.tmux")?;
    let server = [tmux.server()?];
    let before = memory(&server)?;
    for number in 0..SESSIONS {
        tmux.create(&format!("idle-{number}"), &idle(&line(number)), Size::DEFAULT)?;
    }
    thread::sleep(SETTLE);
    let held = (memory(&server)? - before) / SESSIONS as f64;
    Ok(Crowd { held, woken: wake_ups(&server, quiet)? })
}

/// A peer with a process for each session and none for all.
fn by_process(
    program: &str,
    quiet: Duration,
    create: impl Fn(&str, &[String]) -> Result<()>,
) -> Result<Crowd> {
    // What is there already, waiting for another measurement, would be counted.
    end(program);
    for number in 0..SESSIONS {
        create(&format!("{program}-{number}"), &idle(&line(number)))?;
    }
    thread::sleep(SETTLE);
    let pids = processes(program);
    ensure!(pids.len() == SESSIONS, "{} processes of {SESSIONS} {program} sessions", pids.len());
    let crowd = Crowd { held: memory(&pids)? / SESSIONS as f64, woken: wake_ups(&pids, quiet)? };
    end(program);
    Ok(crowd)
}

fn wake_ups(pids: &[u32], quiet: Duration) -> Result<f64> {
    let before = switches(pids)?;
    thread::sleep(quiet);
    Ok(switches(pids)? - before)
}
