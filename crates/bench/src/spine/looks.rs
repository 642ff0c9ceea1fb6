//! Reading a session over a connection that is open: the screen, and 10,000 lines of history.
//!
//! Until the client has the text: ours is taken out of its JSON, tmux's is counted in lines.

use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use greenroom_client::Connection;
use greenroom_model::Size;
use serde_json::{Value, json};

use super::Spine;
use super::control::Control;
use super::row::{Bar, Row, Unit};
use super::scripts::print;
use super::turns;
use super::wait::{PATIENCE, REST};
use crate::measure::warm_up;
use crate::screen::HISTORY;

/// Reads in a turn.
const READS: usize = 20;

const NAME: &str = "read";

pub(super) fn measure(spine: &Spine<'_>) -> Result<Vec<Row>> {
    let (ours, tmux) = (spine.ours("looks")?, spine.tmux("looks.tmux")?);
    let mut text = warm_up(HISTORY);
    text.retain(|byte| *byte != b'\r');
    let file = spine.place.write("looks.log", &text)?;
    let done = spine.place.fifo("looks.done")?;
    let argv = print(&file.to_string_lossy(), &done);
    let mut connection = ours.connect()?;
    ours.create(&mut connection, NAME, &argv, Size::DEFAULT)?;
    done.hear(PATIENCE)?;
    tmux.create(NAME, &argv, Size::DEFAULT)?;
    done.hear(PATIENCE)?;
    let mut control = tmux.control(NAME)?;
    let screen = Look {
        reads: READS,
        what: "screen",
        lines: usize::from(Size::DEFAULT.rows()),
        capture: "capture-pane -p",
    };
    let history =
        Look { reads: 1, what: "history", lines: HISTORY, capture: "capture-pane -p -S - -E -1" };
    Ok(vec![
        screen.row(&mut connection, &mut control, spine.choose(100, 20), 100e-6)?,
        history.row(&mut connection, &mut control, spine.choose(50, 10), 5e-3)?,
    ])
}

/// What is read, and how.
struct Look {
    /// How often in a turn.
    reads: usize,
    /// What our method calls it.
    what: &'static str,
    /// How many lines it has.
    lines: usize,
    /// What tmux calls it.
    capture: &'static str,
}

impl Look {
    fn row(
        &self,
        connection: &mut Connection,
        control: &mut Control,
        rounds: usize,
        at_most: f64,
    ) -> Result<Row> {
        let [by_ours, by_tmux] = turns::take(
            rounds,
            [
                ("greenroom", Box::new(|| self.times(|| self.ours(connection)))),
                ("tmux", Box::new(|| self.times(|| Ok(control.run(self.capture)?.0)))),
            ],
        )?;
        Ok(Row {
            what: format!("{} of {} lines read by a connected client, p50", self.what, self.lines),
            unit: Unit::Seconds,
            ours: by_ours.p50(),
            peers: vec![("tmux", by_tmux.p50())],
            limit: None,
            bar: Bar::AtMost(at_most),
        })
    }

    fn times(&self, mut read: impl FnMut() -> Result<usize>) -> Result<Vec<f64>> {
        let mut once = || {
            thread::sleep(REST);
            let begin = Instant::now();
            let lines = read()?;
            let seconds = begin.elapsed().as_secs_f64();
            // tmux drops a tenth of a full history at once.
            ensure!(lines * 10 >= self.lines * 9, "{lines} lines read of {}", self.lines);
            Ok(seconds)
        };
        (0..self.reads).map(|_| once()).collect()
    }

    fn ours(&self, connection: &mut Connection) -> Result<usize> {
        let params = json!({"sessionId": NAME, "what": self.what, "wrap": "rows"});
        let answer = connection.call("session.read", &params)?;
        let text = answer.get("text").and_then(Value::as_str).context("no text in the answer")?;
        Ok(memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1)
    }
}
