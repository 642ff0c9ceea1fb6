//! How fast a session takes what its program prints: log text through a cooked terminal.
//!
//! The clock runs from the word that lets the program print until the end is on the session's
//! screen, and on every terminal that is attached and looks. Ours says so by a wait that is
//! answered, a peer by answering the question behind the text (`scripts`). The history is as long as
//! ours for everybody.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use greenroom_model::Size;

use super::fifo::Fifo;
use super::others::{create_screen, end as end_processes};
use super::ours::{Ours, answer, begin_wait, kill};
use super::row::{Bar, Row, Unit};
use super::scripts::{READY, print_when_told};
use super::terminal::Terminal;
use super::tmux::Tmux;
use super::turns::{self, Turn};
use super::wait::PATIENCE;
use super::{Spine, place::Place};
use crate::inputs;
use crate::screen::HISTORY;

/// How much is printed.
const BYTES: usize = 200_000_000;
const QUICK_BYTES: usize = 40_000_000;

/// Of how much log text it is made: the words repeat, and longer would only take longer to make.
const PERIOD: usize = 20_000_000;

/// The session's name, whoever's it is.
const NAME: &str = "printing";

/// Who is attached.
#[derive(Debug, Clone, Copy)]
struct Audience {
    /// Terminals that show all they get.
    looking: usize,
    /// Terminals whose client is stopped.
    stopped: usize,
}

const NOBODY: Audience = Audience { looking: 0, stopped: 0 };
const ONE: Audience = Audience { looking: 1, stopped: 0 };
const TEN: Audience = Audience { looking: 9, stopped: 1 };

/// The text, and the pipes to the program that prints it.
struct Job<'a> {
    place: &'a Place,
    file: PathBuf,
    bytes: usize,
    go: Fifo,
    done: Fifo,
}

pub(super) fn measure(spine: &Spine<'_>) -> Result<Vec<Row>> {
    let (ours, tmux) = (spine.ours("output")?, spine.tmux("output.tmux")?);
    let job = Job::new(spine)?;
    let (job, at_ours, at_tmux) = (&job, &ours, &tmux);
    let by_ours = |audience| -> Turn<'_> { Box::new(move || job.ours(at_ours, audience)) };
    let by_tmux = |audience| -> Turn<'_> { Box::new(move || job.tmux(at_tmux, audience)) };
    let [bare, alone, one, ten, tmux_alone, tmux_one, tmux_ten, screen] = turns::take(
        spine.choose(5, 3),
        [
            ("the bare reader", Box::new(|| job.bare())),
            ("greenroom", by_ours(NOBODY)),
            ("greenroom with one client", by_ours(ONE)),
            ("greenroom with ten clients", by_ours(TEN)),
            ("tmux", by_tmux(NOBODY)),
            ("tmux with one client", by_tmux(ONE)),
            ("tmux with ten clients", by_tmux(TEN)),
            ("screen", Box::new(|| job.screen())),
        ],
    )?
    .map(|samples| samples.p50());
    let row = |what: &str, ours, peers, share| Row {
        what: format!("{} MB of log text printed, {what}", job.bytes / 1_000_000),
        unit: Unit::Rate,
        ours,
        peers,
        limit: Some(bare),
        bar: Bar::OfLimit(share),
    };
    Ok(vec![
        row("detached", alone, vec![("tmux", tmux_alone), ("screen", screen)], 0.9),
        row("one client", one, vec![("tmux", tmux_one)], 0.9),
        row("ten clients, one stopped", ten, vec![("tmux", tmux_ten)], 0.6),
    ])
}

impl<'a> Job<'a> {
    fn new(spine: &Spine<'a>) -> Result<Job<'a>> {
        let bytes = spine.choose(BYTES, QUICK_BYTES);
        // The terminal adds the CR of every line; what is counted is what the program writes.
        let mut text = inputs::log(PERIOD).bytes;
        text.retain(|byte| *byte != b'\r');
        let text: Vec<u8> = text.into_iter().cycle().take(bytes).collect();
        Ok(Job {
            place: spine.place,
            file: spine.place.write("log", &text)?,
            bytes,
            go: spine.place.fifo("output.go")?,
            done: spine.place.fifo("output.done")?,
        })
    }

    fn script(&self) -> Vec<String> {
        print_when_told(&self.file.to_string_lossy(), &self.go, &self.done)
    }

    /// The last line: another one each time, so that no screen has it before.
    fn marker() -> String {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        format!("THE-END-{}", now.map_or(0, |it| it.as_micros() % 1_000_000_000))
    }

    fn rate(&self, begin: Instant, end: Instant) -> Vec<f64> {
        vec![self.bytes as f64 / end.duration_since(begin).as_secs_f64() / 1e6]
    }

    fn bare(&self) -> Result<Vec<f64>> {
        let terminal = self.place.terminal(Size::DEFAULT, &self.script())?;
        self.done.hear(PATIENCE)?;
        terminal.read_until(READY)?;
        let marker = Self::marker();
        let begin = Instant::now();
        self.go.tell(&marker)?;
        let end = terminal.read_until(&marker)?;
        Ok(self.rate(begin, end))
    }

    fn ours(&self, ours: &Ours<'_>, audience: Audience) -> Result<Vec<f64>> {
        let mut connection = ours.connect()?;
        ours.create(&mut connection, NAME, &self.script(), Size::DEFAULT)?;
        self.done.hear(PATIENCE)?;
        let marker = Self::marker();
        let wait = begin_wait(&mut connection, NAME, &marker)?;
        let attach = || ours.attach(NAME, Size::DEFAULT);
        let (begin, end) = self.print(&marker, audience, attach, || {
            answer(&mut connection, wait).map(drop)?;
            Ok(Instant::now())
        })?;
        // So that the pipe is empty for the next one.
        self.done.hear(PATIENCE)?;
        kill(&mut connection, NAME)?;
        Ok(self.rate(begin, end))
    }

    fn tmux(&self, tmux: &Tmux<'_>, audience: Audience) -> Result<Vec<f64>> {
        tmux.create(NAME, &self.script(), Size::DEFAULT)?;
        self.done.hear(PATIENCE)?;
        let attach = || tmux.attach(NAME, Size::DEFAULT);
        let (begin, end) = self.print(&Self::marker(), audience, attach, || self.answered())?;
        tmux.kill(NAME)?;
        Ok(self.rate(begin, end))
    }

    fn screen(&self) -> Result<Vec<f64>> {
        create_screen(self.place, NAME, HISTORY, &self.script())?;
        self.done.hear(PATIENCE)?;
        let nobody = || anyhow::bail!("nobody attaches to screen");
        let (begin, end) = self.print(&Self::marker(), NOBODY, nobody, || self.answered())?;
        end_processes("screen");
        Ok(self.rate(begin, end))
    }

    /// When the terminal has processed everything.
    fn answered(&self) -> Result<Instant> {
        self.done.hear(PATIENCE)?;
        Ok(Instant::now())
    }

    /// Attaches the audience, lets the program print, and says when that began and when the last
    /// of those who look had seen the end.
    fn print(
        &self,
        marker: &str,
        audience: Audience,
        attach: impl Fn() -> Result<Terminal>,
        wait: impl FnOnce() -> Result<Instant>,
    ) -> Result<(Instant, Instant)> {
        let attached = |count: usize| -> Result<Vec<Terminal>> {
            let shown = |terminal: Terminal| terminal.read_until(READY).map(|_| terminal);
            (0..count).map(|_| attach().and_then(shown)).collect()
        };
        let (looking, stopped) = (attached(audience.looking)?, attached(audience.stopped)?);
        stopped.iter().for_each(Terminal::stop);
        let drain = |terminal: &Terminal| terminal.drain_until(marker.to_owned());
        let drains: Vec<_> = looking.iter().map(drain).collect();
        let begin = Instant::now();
        self.go.tell(marker)?;
        let mut end = wait()?;
        for drain in drains {
            end = end.max(drain.seen()?);
        }
        Ok((begin, end))
    }
}
