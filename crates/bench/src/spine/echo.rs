//! From a key to its echo on the terminal of an attached client.
//!
//! A program in raw mode sends every key back. What a bare terminal takes for that is the kernel's
//! and the program's; what a contender adds to it is compared.

use std::time::Instant;

use anyhow::{Result, ensure};
use greenroom_model::Size;

use super::Spine;
use super::others::attach_dtach;
use super::row::{Bar, Row, Unit};
use super::scripts::{READY, echo};
use super::terminal::Terminal;
use super::turns::{self, Turn};
use super::wait::{PATIENCE, REST};

/// Keys in a turn: about what a person types in ten seconds.
pub(super) const KEYS: usize = 50;

/// Letters that end no escape sequence: none is mistaken for a part of a redraw.
const LETTERS: &[u8] = b"jovwxyz";

const NAME: &str = "echo";

pub(super) fn measure(spine: &Spine<'_>) -> Result<Vec<Row>> {
    let (ours, tmux) = (spine.ours("echo")?, spine.tmux("echo.tmux")?);
    let (argv, size) = (echo(), Size::DEFAULT);
    ours.create(&mut ours.connect()?, NAME, &argv, size)?;
    tmux.create(NAME, &argv, size)?;
    let terminals = [
        spine.place.terminal(size, &argv)?,
        ours.attach(NAME, size)?,
        tmux.attach(NAME, size)?,
        attach_dtach(spine.place, "echo.dtach", &argv)?,
    ];
    for terminal in &terminals {
        terminal.read_until(READY)?;
    }
    let [bare, ours, tmux, dtach] = terminals.each_ref().map(|terminal| -> Turn<'_> {
        let mut buffer = Vec::new();
        Box::new(move || (0..KEYS).map(|number| key(terminal, number, &mut buffer)).collect())
    });
    let turns =
        [("the bare terminal", bare), ("greenroom", ours), ("tmux", tmux), ("dtach", dtach)];
    let samples = turns::take(spine.choose(40, 10), turns)?;
    let [bare, ours, tmux, dtach] = samples.each_ref().map(|it| it.p50());
    let added = Row {
        what: "key to echo through an attached client, added to a bare terminal, p50".to_owned(),
        unit: Unit::Seconds,
        ours: ours - bare,
        peers: vec![("tmux", tmux - bare), ("dtach", dtach - bare)],
        limit: Some(bare),
        bar: Bar::OfPeer(0.75, "tmux"),
    };
    let [bare, ours, tmux, dtach] = samples.each_ref().map(|it| it.p99());
    let p99 = Row {
        what: "key to echo through an attached client, p99".to_owned(),
        unit: Unit::Seconds,
        ours,
        peers: vec![("tmux", tmux), ("dtach", dtach)],
        limit: Some(bare),
        bar: Bar::OfPeer(1.0, "tmux"),
    };
    Ok(vec![added, p99])
}

/// Types a key and waits for its echo.
pub(super) fn key(terminal: &Terminal, number: usize, buffer: &mut Vec<u8>) -> Result<f64> {
    let letter = LETTERS[number % LETTERS.len()];
    std::thread::sleep(REST);
    terminal.skip(buffer)?;
    let begin = Instant::now();
    terminal.write(&[letter])?;
    loop {
        buffer.clear();
        ensure!(terminal.read(buffer, PATIENCE)?, "the client has ended");
        if buffer.contains(&letter) {
            return Ok(begin.elapsed().as_secs_f64());
        }
    }
}
