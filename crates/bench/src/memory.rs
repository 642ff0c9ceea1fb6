//! Bytes a session holds: empty, and with its history full.
//!
//! Counted at the allocator, so that it is what was asked for and no page the system happened
//! to give. Only a binary can install an allocator: the caller says how to read its counter.

use greenroom_model::Size;

use crate::engines::{Contender, Engine};
use crate::inputs::{self, Input};

/// Reads how many bytes are allocated right now, by the whole process.
pub type LiveBytes = fn() -> usize;

/// What one contender holds, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    /// Whose.
    pub contender: Contender,
    /// A screen nothing was written to.
    pub empty: usize,
    /// History full of log text.
    pub log: usize,
    /// History full of coloured text.
    pub coloured: usize,
}

/// Measures all terminals at one size.
#[must_use]
pub fn held(size: Size, history: usize, live: LiveBytes) -> Vec<Held> {
    let nothing = Input { name: "nothing", bytes: Vec::new(), piece: 1 };
    // Several histories long: what is held in the long run, not after the first filling.
    let (log, coloured) = (inputs::log(inputs::BYTES), inputs::coloured(inputs::BYTES));
    let measure = |contender: Contender| {
        let after = |input: &Input| grown(live, || filled(contender, input, size, history));
        // Once uncounted: tables a library makes on first use belong to the process.
        after(&coloured);
        Held { contender, empty: after(&nothing), log: after(&log), coloured: after(&coloured) }
    };
    Contender::terminals().map(measure).collect()
}

fn filled(contender: Contender, input: &Input, size: Size, history: usize) -> Box<dyn Engine> {
    let mut engine = contender.start(size, history);
    for piece in input.pieces() {
        engine.feed(piece);
    }
    engine
}

/// How many more bytes are allocated while what `make` makes is alive.
fn grown<T>(live: LiveBytes, make: impl FnOnce() -> T) -> usize {
    let before = live();
    let made = make();
    let after = live();
    drop(made);
    after.saturating_sub(before)
}
