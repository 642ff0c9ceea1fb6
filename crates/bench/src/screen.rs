//! The run behind `bench screen`: what is measured, in which order.

use greenroom_model::Size;

use crate::machine::Machine;
use crate::memory::{self, LiveBytes};
use crate::report::Report;
use crate::{guard, inputs, measure, reads};

/// How many lines that scrolled off a terminal keeps: what we ship with.
pub const HISTORY: usize = 10_000;

/// Lengths of history at which pushing a line is timed.
const HISTORIES: [usize; 3] = [1_000, 10_000, 100_000];

/// How a run is made.
pub struct Options {
    /// Fewer repetitions: for a look while working, not for the repository.
    pub quick: bool,
    /// Reads the counter of the allocator the binary installed.
    pub live: LiveBytes,
    /// Is told what comes next; a run takes minutes.
    pub progress: fn(&str),
}

/// Measures everything.
#[must_use]
pub fn run(options: &Options) -> Report {
    // Odd, so that a median is one of them; seven is where it stopped moving.
    let repetitions = if options.quick { 3 } else { 7 };
    let mut report = Report {
        machine: Machine::this(),
        repetitions,
        throughput: Vec::new(),
        differences: Vec::new(),
        held: Vec::new(),
        reads: Vec::new(),
        pushes: Vec::new(),
    };
    // Memory first: before anything else fills the process.
    (options.progress)("memory");
    report.held = memory::held(Size::DEFAULT, HISTORY, options.live);
    for size in [Size::DEFAULT, Size::clamped(200, 50)] {
        let mut lines = Vec::new();
        for input in inputs::all(size, inputs::BYTES) {
            (options.progress)(&format!("{} at {size}", input.name));
            report.differences.extend(guard::compare(&input, size, HISTORY));
            lines.push(measure::input(&input, size, HISTORY, repetitions));
        }
        report.throughput.push(measure::Throughput { size, lines });
    }
    (options.progress)("reads");
    report.reads = reads::all(Size::DEFAULT, HISTORY);
    report.pushes = reads::pushes(Size::DEFAULT, &HISTORIES);
    report
}
