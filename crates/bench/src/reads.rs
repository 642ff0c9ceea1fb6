//! How long our reads take: what a client, a search or an upgrade waits for.
//!
//! Ours alone; no peer has the same reads. One call a sample, the result dropped after the
//! clock stopped, and the median of many: a call is far longer than reading the clock.
//!
//! Invariant: a read whose result is not sound has no time, so that nothing is fast by failing.

use std::hint::black_box;
use std::time::{Duration, Instant};

use greenroom_model::Size;

use crate::engines::Engine as _;
use crate::engines::ours::Ours;
use crate::inputs;
use crate::measure::{median, warm_up};

/// Samples of a fast read; an odd number has a middle.
const SAMPLES: usize = 1_001;
/// Samples of a read of the whole history, which takes a thousand times as long.
const SLOW_SAMPLES: usize = 101;

/// What is searched for: two words of the log text that follow each other here and there.
const NEEDLE: &str = "refused peer";

/// How long one kind of read took.
#[derive(Debug, Clone)]
pub struct Read {
    /// What was read.
    pub name: &'static str,
    /// The median; nothing if the read did not give what it should.
    pub took: Option<Duration>,
    /// What we promise.
    pub at_most: Duration,
}

/// How long a line takes that pushes another out of the history.
#[derive(Debug, Clone, Copy)]
pub struct Push {
    /// How many lines the history holds.
    pub history: usize,
    /// Nanoseconds a line.
    pub ns: f64,
}

/// Times every read, of a screen whose history is full of log text.
#[must_use]
pub fn all(size: Size, history: usize) -> Vec<Read> {
    let mut ours = Ours::new(size, history);
    ours.feed(&warm_up(history));
    ours.feed(&inputs::coloured(64 << 10).bytes);
    let (micros, millis) = (Duration::from_micros, Duration::from_millis);
    let read = |name, took, at_most| Read { name, took, at_most };
    let checkpoint = ours.checkpoint();
    let cells = usize::from(size.rows());
    let same = |it: &Ours| it.rows() == ours.rows();
    let redraws = |dump: &Vec<u8>| {
        let mut copy = Ours::new(size, history);
        copy.feed(dump);
        same(&copy)
    };
    let text = time(SAMPLES, || ours.text(), |it| !it.is_empty());
    let snapshot = time(SAMPLES, || ours.cells(), |it| it.1 >= cells);
    let dump = time(SAMPLES, || ours.dump(), redraws);
    let lines = time(SLOW_SAMPLES, || ours.history(), |it| it.len() > history);
    let occurrences = ours.history().matches(NEEDLE).count();
    let found = time(SLOW_SAMPLES, || ours.search(NEEDLE), |it| it.len() >= occurrences.max(1));
    let saved = time(SLOW_SAMPLES, || ours.checkpoint(), |it| it.len() > history);
    let restored = time(
        SLOW_SAMPLES,
        || Ours::restore(&checkpoint),
        |it| it.as_ref().is_some_and(|it| same(it) && it.history() == ours.history()),
    );
    vec![
        read("text of the screen", text, micros(2)),
        read("cells of the screen", snapshot, micros(15)),
        read("dump of the screen", dump, micros(30)),
        read("history as text", lines, millis(1)),
        read("search through history", found, millis(1)),
        read("checkpoint with history", saved, millis(3)),
        read("restore with history", restored, millis(3)),
        read("diff after one changed row", time_diff(&mut ours), micros(1)),
    ]
}

/// Times a read, if what it gives is sound.
fn time<T>(
    samples: usize,
    read: impl Fn() -> T,
    sound: impl FnOnce(&T) -> bool,
) -> Option<Duration> {
    let mut seconds: Vec<f64> = Vec::with_capacity(samples);
    for _ in 0..samples {
        let start = Instant::now();
        let result = black_box(read());
        seconds.push(start.elapsed().as_secs_f64());
        drop(result);
    }
    sound(&read()).then(|| Duration::from_secs_f64(median(&mut seconds)))
}

/// A diff is of what changed, so each sample changes a row first, outside the clock.
fn time_diff(ours: &mut Ours) -> Option<Duration> {
    let mut seconds = Vec::with_capacity(SAMPLES);
    let mut sound = true;
    for number in 0..SAMPLES {
        let position = ours.position();
        ours.feed(format!("\x1b[5;1H{number} rows changed").as_bytes());
        let start = Instant::now();
        let diff = black_box(ours.diff(position));
        seconds.push(start.elapsed().as_secs_f64());
        sound &= diff.rows().count() == 1;
    }
    sound.then(|| Duration::from_secs_f64(median(&mut seconds)))
}

/// Times lines pushed through full histories of several lengths: the cost must not grow with
/// the length, or trimming is not one step a line.
#[must_use]
pub fn pushes(size: Size, histories: &[usize]) -> Vec<Push> {
    let log = inputs::log(inputs::BYTES);
    let lines = log.bytes.iter().filter(|byte| **byte == b'\n').count();
    let push = |history: usize| {
        let mut ours = Ours::new(size, history);
        ours.feed(&warm_up(history));
        let mut once = || {
            let start = Instant::now();
            log.pieces().for_each(|piece| ours.feed(piece));
            start.elapsed().as_nanos() as f64 / lines as f64
        };
        Push { history, ns: median(&mut [once(), once(), once()]) }
    };
    histories.iter().copied().map(push).collect()
}
