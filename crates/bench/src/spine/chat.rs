//! A conversation in a browser: from a line of the agent's until the browser has it as a message.
//!
//! The agent is a shell that prints every line it is sent through a pipe, each one as Claude Code writes
//! a piece of text. The clock starts with the sending; bare is the same shell with its output read
//! directly. What is added is reading the line, understanding it, numbering it, and the WebSocket.

use std::cell::Cell;
use std::io::Read as _;
use std::process::{ChildStdout, Stdio};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use memchr::memmem;
use rustix::event::PollFlags;
use serde_json::json;

use super::Spine;
use super::browser::{Client, Site};
use super::fifo::Fifo;
use super::row::{Bar, Row, Unit};
use super::scripts::repeat_exactly;
use super::turns;
use super::wait::{PATIENCE, REST, ready_within};

/// Lines in a turn.
const LINES: usize = 20;

/// How much a conversation may add to a message: less than a screen takes to show it.
const ADDED: f64 = 0.001;

/// How much is read at once: a line, and more.
const READ: usize = 4096;

pub(super) fn measure(spine: &Spine<'_>) -> Result<Vec<Row>> {
    let ours = spine.ours("chat")?;
    let pipe = |name: &str| spine.place.fifo(&format!("chat.{name}.lines"));
    let (to_bare, to_ours) = (pipe("bare")?, pipe("ours")?);
    let mut argv = repeat_exactly(&to_ours);
    // What a daemon adds for Claude Code goes to the shell's script, which does not look at it.
    argv.push("agent".to_owned());
    let site = Site::open(&ours, &format!("[websocket]\nclaude_command = {}\n", json!(argv)))?;
    let mut browser = site.socket("/ws/claude-stream")?;
    browser.read_until("connected", |_| Ok(()))?;
    let bare = repeat_exactly(&to_bare);
    let mut command = spine.place.command(&bare[0]);
    let mut child = command.args(&bare[1..]).stdout(Stdio::piped()).spawn()?;
    let mut output = child.stdout.take().context("no output")?;
    let count = Cell::new(0);
    let next = |_| {
        count.set(count.get() + 1);
        format!("frame-{:06}-end", count.get())
    };
    // Both have printed once before anything is timed.
    by_bare(&mut output, &to_bare, &next(0))?;
    by_ours(&mut browser, &to_ours, &next(0))?;
    let mut bare = |it: String| by_bare(&mut output, &to_bare, &it);
    let mut ours = |it: String| by_ours(&mut browser, &to_ours, &it);
    let samples = turns::take(
        spine.choose(50, 10),
        [
            ("the bare pipe", Box::new(|| (0..LINES).map(next).map(&mut bare).collect())),
            ("greenroom", Box::new(|| (0..LINES).map(next).map(&mut ours).collect())),
        ],
    );
    // It would wait for the next line for ever; one that has ended cannot be killed.
    child.kill().unwrap_or_default();
    child.wait().context("waiting for the bare agent")?;
    let [bare, ours] = samples?.map(|it| it.p50());
    Ok(vec![Row {
        what:
            "chat: a frame of claude's until it is at the browser, added to a bare pipe relay, p50"
                .to_owned(),
        unit: Unit::Seconds,
        ours: ours - bare,
        peers: Vec::new(),
        limit: Some(bare),
        bar: Bar::AtMost(ADDED),
    }])
}

/// A piece of text, as Claude Code writes it.
fn frame(text: &str) -> String {
    json!({"type": "stream_event", "session_id": "00000000-0000-4000-8000-000000000000",
        "parent_tool_use_id": null, "uuid": "00000000-0000-4000-8000-000000000001",
        "event": {"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": text}}})
    .to_string()
}

fn by_bare(output: &mut ChildStdout, pipe: &Fifo, text: &str) -> Result<f64> {
    let line = frame(text);
    thread::sleep(REST);
    let begin = Instant::now();
    pipe.tell(&line)?;
    let (mut all, mut piece) = (Vec::new(), [0; READ]);
    while memmem::find(&all, text.as_bytes()).is_none() {
        ensure!(ready_within(output, PollFlags::IN, PATIENCE)?, "nothing came");
        let read = output.read(&mut piece)?;
        ensure!(read > 0, "the agent has ended");
        all.extend_from_slice(&piece[..read]);
    }
    Ok(begin.elapsed().as_secs_f64())
}

fn by_ours(browser: &mut Client, pipe: &Fifo, text: &str) -> Result<f64> {
    let line = frame(text);
    thread::sleep(REST);
    let begin = Instant::now();
    pipe.tell(&line)?;
    let end = browser.read_until(text, |_| Ok(()))?;
    Ok(end.duration_since(begin).as_secs_f64())
}
