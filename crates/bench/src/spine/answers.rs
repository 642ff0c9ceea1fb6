//! From a program printing a line until whoever waited for it knows.
//!
//! A shell in the session prints every line it is sent through a pipe; the clock starts with the
//! sending, for everybody. Ours waits with `session.wait` and asks for no screen with the answer, tmux's
//! client in control mode for `%output`, the bare reader for the bytes.

use std::cell::Cell;
use std::thread;
use std::time::Instant;

use anyhow::Result;
use greenroom_model::Size;
use serde_json::json;

use super::Spine;
use super::control::Control;
use super::fifo::Fifo;
use super::plain::Plain;
use super::row::{Bar, Row, Unit};
use super::scripts::repeat;
use super::terminal::Terminal;
use super::turns;
use super::wait::{PATIENCE, REST};

/// Lines in a turn: few, so that everybody meets the same moments of the machine.
pub(super) const LINES: usize = 5;

/// Turns, in a full run and in a quick one.
pub(super) const TURNS: (usize, usize) = (300, 40);

const NAME: &str = "answers";

pub(super) fn measure(spine: &Spine<'_>) -> Result<Vec<Row>> {
    let (ours, tmux) = (spine.ours("answers")?, spine.tmux("answers.tmux")?);
    let pipe = |name: &str| spine.place.fifo(&format!("answers.{name}.lines"));
    let (to_bare, to_ours, to_tmux) = (pipe("bare")?, pipe("ours")?, pipe("tmux")?);
    let size = Size::DEFAULT;
    let terminal = spine.place.terminal(size, &repeat(&to_bare))?;
    ours.create(&mut ours.connect()?, NAME, &repeat(&to_ours), size)?;
    let mut plain = Plain::connect(&ours.native())?;
    tmux.create(NAME, &repeat(&to_tmux), size)?;
    let mut control = tmux.control(NAME)?;
    let count = Cell::new(0);
    // Another line each time, so that nobody has it already.
    let next = |_| {
        count.set(count.get() + 1);
        format!("line-{:06}-end", count.get())
    };
    // Everybody's program has printed once before anything is timed.
    by_bare(&terminal, &to_bare, &next(0))?;
    by_ours(&mut plain, &to_ours, &next(0))?;
    by_tmux(&mut control, &to_tmux, &next(0))?;
    let mut bare = |it: String| by_bare(&terminal, &to_bare, &it);
    let mut ours = |it: String| by_ours(&mut plain, &to_ours, &it);
    let mut tmux = |it: String| by_tmux(&mut control, &to_tmux, &it);
    let samples = turns::take(
        spine.choose(TURNS.0, TURNS.1),
        [
            ("the bare reader", Box::new(|| (0..LINES).map(next).map(&mut bare).collect())),
            ("greenroom", Box::new(|| (0..LINES).map(next).map(&mut ours).collect())),
            ("tmux", Box::new(|| (0..LINES).map(next).map(&mut tmux).collect())),
        ],
    )?;
    let [bare, ours, tmux] = samples.map(|it| it.p50());
    Ok(vec![Row {
        what: "a line printed until the wait for it is answered, p50".to_owned(),
        unit: Unit::Seconds,
        ours,
        peers: vec![("tmux", tmux)],
        limit: Some(bare),
        bar: Bar::OfPeer(1.0, "tmux"),
    }])
}

fn by_bare(terminal: &Terminal, pipe: &Fifo, line: &str) -> Result<f64> {
    thread::sleep(REST);
    let begin = Instant::now();
    pipe.tell(line)?;
    let end = terminal.read_until(line)?;
    Ok(end.duration_since(begin).as_secs_f64())
}

fn by_ours(plain: &mut Plain, pipe: &Fifo, line: &str) -> Result<f64> {
    let timeout = PATIENCE.as_millis() as u64;
    let (matcher, screen) = (json!({"text": line}), false);
    let params = json!({
        "sessionId": NAME, "for": matcher, "screen": screen, "timeoutMs": timeout,
    });
    plain.start("session.wait", &params)?;
    thread::sleep(REST);
    let begin = Instant::now();
    pipe.tell(line)?;
    plain.answer()?;
    Ok(begin.elapsed().as_secs_f64())
}

pub(super) fn by_tmux(control: &mut Control, pipe: &Fifo, line: &str) -> Result<f64> {
    thread::sleep(REST);
    let begin = Instant::now();
    pipe.tell(line)?;
    control.wait_output(line)?;
    Ok(begin.elapsed().as_secs_f64())
}
