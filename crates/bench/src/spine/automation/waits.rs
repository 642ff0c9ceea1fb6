//! A line printed until `session.wait` is answered.
//!
//! Taken as for the native door (`answers`), beside tmux's control mode, which brings the line: without
//! evidence, with the text of a screen and 4096 characters of transcript, and with all 1,920 cells of the
//! screen as well, a third of a megabyte, which is what clients get that ask for nothing else; the first also
//! while 200 sessions print and somebody waits on each. The limit is a `bearer` of the same bytes.

use std::cell::{Cell, RefCell};
use std::thread;
use std::time::Instant;

use anyhow::{Result, ensure};
use greenroom_model::Size;
use serde_json::json;

use super::{Evidence, contains, create, wait};
use crate::spine::Spine;
use crate::spine::answers::{LINES, TURNS, by_tmux};
use crate::spine::bearer;
use crate::spine::fifo::Fifo;
use crate::spine::row::{Bar, Row, Unit};
use crate::spine::scripts::repeat;
use crate::spine::turns::{self, Turn};
use crate::spine::wait::REST;
use crate::spine::wright::Wright;

/// How many lines fill the transcript that is evidence.
const FILL: usize = 300;

/// How many sessions print while one is waited on.
const CROWD: usize = 200;

/// What one of them prints, and how often: as a build or a test run does.
const MURMUR: &str = "while :; do echo $((n += 1)) of many; sleep 0.2; done";

/// A session that prints what it is told to, and who waits for that.
struct Waited<'a> {
    wright: &'a mut Wright,
    session: String,
    pipe: Fifo,
}

/// Something else that prints what it is told to, and what carries an answer then.
struct Borne {
    bearer: Wright,
    pipe: Fifo,
}

pub(super) fn measure(spine: &Spine<'_>, wright: &mut Wright) -> Result<Vec<Row>> {
    let tmux = spine.tmux("automation.tmux")?;
    let pipe = |name: &str| spine.place.fifo(&format!("automation.{name}.lines"));
    let (to_ours, to_tmux) = (pipe("ours")?, pipe("tmux")?);
    let session = create(wright, &repeat(&to_ours), (80, 24))?;
    let mut waited = Waited { wright, session, pipe: to_ours };
    tmux.create("automation", &repeat(&to_tmux), Size::DEFAULT)?;
    let mut control = tmux.control("automation")?;
    let count = Cell::new(0);
    let next = |_| {
        count.set(count.get() + 1);
        format!("line-{:06}-end", count.get())
    };
    // Everybody's transcript is full before anything is timed.
    for line in (0..FILL).map(next) {
        waited.line(&line, Evidence::Text)?;
    }
    by_tmux(&mut control, &to_tmux, &next(0))?;
    let mut borne = |evidence: Evidence, name: &str| -> Result<Borne> {
        waited.line(&next(0), evidence)?;
        let mut borne = Borne::start(spine, waited.wright.line(), pipe(name)?)?;
        borne.line(&next(0))?;
        Ok(borne)
    };
    let (mut nothing, mut text, mut cells) = (
        borne(Evidence::Nothing, "nothing")?,
        borne(Evidence::Text, "text")?,
        borne(Evidence::Cells, "cells")?,
    );
    let (waited, control) = (RefCell::new(waited), RefCell::new(control));
    let ours = |evidence: Evidence| -> Turn<'_> {
        let (waited, next) = (&waited, &next);
        let line = move |line: String| waited.borrow_mut().line(&line, evidence);
        Box::new(move || (0..LINES).map(next).map(line).collect())
    };
    let tmux = || -> Turn<'_> {
        let line = |line: String| by_tmux(&mut control.borrow_mut(), &to_tmux, &line);
        Box::new(move || (0..LINES).map(next).map(line).collect())
    };
    let bare = |borne: &mut Borne| (0..LINES).map(next).map(|line| borne.line(&line)).collect();
    let turns = spine.choose(TURNS.0, TURNS.1);
    let samples = turns::take(
        turns,
        [
            ("greenroom", ours(Evidence::Nothing)),
            ("greenroom with evidence", ours(Evidence::Text)),
            ("tmux", tmux()),
            ("a bearer", Box::new(|| bare(&mut nothing))),
            ("a bearer of evidence", Box::new(|| bare(&mut text))),
        ],
    )?;
    let [alone, evident, peer, limit, limit_of_text] = samples.map(|it| it.p50());
    // Apart: so much data drives everybody else out of the caches.
    let samples = turns::take(
        turns,
        [
            ("greenroom with cells", ours(Evidence::Cells)),
            ("tmux", tmux()),
            ("a bearer of cells", Box::new(|| bare(&mut cells))),
        ],
    )?;
    let [whole, peer_of_whole, limit_of_cells] = samples.map(|it| it.p50());
    let crowd = crowd(&mut waited.borrow_mut(), spine.choose(400, 100), &next)?;
    Ok(vec![
        beside_tmux(" without evidence", alone, peer, limit),
        beside_tmux("", evident, peer, limit_of_text),
        beside_tmux(" with every cell", whole, peer_of_whole, limit_of_cells),
        Row {
            what: "the same without evidence while 200 sessions print and are waited on, p50"
                .to_owned(),
            unit: Unit::Seconds,
            ours: crowd,
            peers: vec![("alone", alone)],
            limit: None,
            bar: Bar::OfPeer(3.0, "alone"),
        },
    ])
}

fn beside_tmux(how: &str, ours: f64, tmux: f64, limit: f64) -> Row {
    Row {
        what: format!("a line printed until `session.wait` is answered{how}, p50"),
        unit: Unit::Seconds,
        ours,
        peers: vec![("tmux", tmux)],
        limit: Some(limit),
        bar: Bar::OfPeer(1.0, "tmux"),
    }
}

impl Waited<'_> {
    /// What a line takes until whoever waits for it knows.
    fn line(&mut self, line: &str, evidence: Evidence) -> Result<f64> {
        let Waited { wright, session, pipe } = self;
        wright.start("session.wait", &wait(session, &contains(line), evidence))?;
        thread::sleep(REST);
        let begin = Instant::now();
        pipe.tell(line)?;
        wright.answer()?;
        Ok(begin.elapsed().as_secs_f64())
    }
}

impl Borne {
    fn start(spine: &Spine<'_>, answer: &[u8], pipe: Fifo) -> Result<Borne> {
        let terminal = spine.place.terminal(Size::DEFAULT, &repeat(&pipe))?;
        Ok(Borne { bearer: bearer::start(terminal, answer)?, pipe })
    }

    /// What a line takes until its answer is here.
    fn line(&mut self, line: &str) -> Result<f64> {
        thread::sleep(REST);
        // Any line is an answer: one too many would be taken for the next, before that is printed.
        ensure!(self.bearer.is_quiet()?, "a bearer answered what nobody told it to print");
        let begin = Instant::now();
        self.pipe.tell(line)?;
        self.bearer.next()?;
        Ok(begin.elapsed().as_secs_f64())
    }
}

/// What a line takes while many sessions print and somebody waits on each for what never comes.
fn crowd(waited: &mut Waited<'_>, lines: usize, next: &dyn Fn(usize) -> String) -> Result<f64> {
    let murmur = ["/bin/sh", "-c", MURMUR].map(str::to_owned);
    let mut others = Vec::new();
    for _ in 0..CROWD {
        let other = create(waited.wright, &murmur, (80, 24))?;
        let never = wait(&other, &contains("what never comes"), Evidence::Nothing);
        waited.wright.start("session.wait", &never)?;
        others.push(other);
    }
    let taken: Result<Vec<f64>> =
        (0..lines).map(|it| waited.line(&next(it), Evidence::Nothing)).collect();
    for other in others {
        waited.wright.call("session.close", &json!({"session": other}))?;
    }
    let mut taken = taken?;
    taken.sort_unstable_by(f64::total_cmp);
    Ok(taken.get(taken.len() / 2).copied().unwrap_or(f64::NAN))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_line_too_many_is_no_answer() {
        let folder = tempfile::tempdir().unwrap();
        let borne = |answers: &str| {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            theirs.write_all(answers.as_bytes()).unwrap();
            let pipe = Fifo::make(&folder.path().join(answers.trim())).unwrap();
            (Borne { bearer: Wright::over(ours).unwrap(), pipe }, theirs)
        };
        let (mut unread, _theirs) = borne("early\n");
        assert!(unread.line("a line").is_err());
        let (mut buffered, _theirs) = borne("one\nand one more\n");
        buffered.bearer.next().unwrap();
        assert!(buffered.line("a line").is_err());
    }
}
