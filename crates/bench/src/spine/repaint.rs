//! From starting the client until the whole screen of a session with a full history is on its
//! terminal.

use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use greenroom_model::Size;
use memchr::memmem;

use super::Spine;
use super::row::{Bar, Row, Unit};
use super::scripts::print;
use super::terminal::Terminal;
use super::turns;
use super::wait::{PATIENCE, REST};
use crate::inputs;
use crate::measure::warm_up;
use crate::screen::HISTORY;

/// The sizes of a small terminal and a large one.
const SIZES: [(u16, u16); 2] = [(80, 24), (200, 60)];

const NAME: &str = "painting";

pub(super) fn measure(spine: &Spine<'_>) -> Result<Vec<Row>> {
    SIZES.iter().map(|(cols, rows)| at_size(spine, Size::clamped(*cols, *rows))).collect()
}

fn at_size(spine: &Spine<'_>, size: Size) -> Result<Row> {
    let home = format!("paint{size}");
    let (ours, tmux) = (spine.ours(&home)?, spine.tmux(&format!("{home}.tmux"))?);
    let rows = rows(size);
    let mut printed = warm_up(HISTORY);
    printed.retain(|byte| *byte != b'\r');
    printed.truncate(memchr::memrchr(b'\n', &printed).map_or(0, |end| end + 1));
    printed.extend_from_slice(rows.join("\n").as_bytes());
    let file = spine.place.write(&format!("{home}.rows"), &printed)?;
    let done = spine.place.fifo(&format!("{home}.done"))?;
    let argv = print(&file.to_string_lossy(), &done);
    ours.create(&mut ours.connect()?, NAME, &argv, size)?;
    done.hear(PATIENCE)?;
    tmux.create(NAME, &argv, size)?;
    done.hear(PATIENCE)?;
    let [by_ours, by_tmux] = turns::take(
        spine.choose(100, 20),
        [
            ("greenroom", Box::new(|| time(&rows, || ours.attach(NAME, size)))),
            ("tmux", Box::new(|| time(&rows, || tmux.attach(NAME, size)))),
        ],
    )?;
    Ok(Row {
        what: format!(
            "attach until the screen of {size} is painted, {HISTORY} lines above it, p50"
        ),
        unit: Unit::Seconds,
        ours: by_ours.p50(),
        peers: vec![("tmux", by_tmux.p50())],
        limit: None,
        bar: Bar::OfPeer(1.0, "tmux"),
    })
}

/// A screen full of text: every row filled to its last column but one, so that none wraps, and none
/// the same as another.
fn rows(size: Size) -> Vec<String> {
    let text = inputs::log(1 << 16).bytes;
    let text: String =
        text.iter().filter(|byte| byte.is_ascii_graphic()).map(|it| char::from(*it)).collect();
    let width = usize::from(size.cols()) - "row 00 ".len() - 1;
    let row = |number: usize| {
        let begin = number * width;
        format!("row {number:02} {}", text.get(begin..begin + width).unwrap_or_default())
    };
    (0..usize::from(size.rows())).map(row).collect()
}

fn time(rows: &[String], attach: impl Fn() -> Result<Terminal>) -> Result<Vec<f64>> {
    let begin = Instant::now();
    let terminal = attach()?;
    let mut buffer = Vec::new();
    // The last row says that it may be complete, and is cheap to look for.
    let last = rows.last().context("a screen without rows")?;
    let seen = loop {
        ensure!(terminal.read(&mut buffer, PATIENCE)?, "the client has ended: {}", shown(&buffer));
        if memmem::rfind(&buffer, last.as_bytes()).is_some() {
            break begin.elapsed().as_secs_f64();
        }
    };
    for row in rows {
        ensure!(memmem::find(&buffer, row.as_bytes()).is_some(), "`{row}` was not painted");
    }
    drop(terminal);
    // The server notices that the client is gone outside of the next one's time.
    thread::sleep(REST);
    Ok(vec![seen])
}

fn shown(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_fill_the_screen_and_differ() {
        let rows = rows(Size::clamped(200, 60));
        assert_eq!(rows.len(), 60);
        assert!(rows.iter().all(|row| row.len() == 199), "{rows:?}");
        assert_ne!(rows[1][7..], rows[2][7..]);
    }
}
