//! The bytes every engine is fed: nine kinds of terminal output, made by us.
//!
//! They imitate what a PTY delivers (lines end in CR LF) and are the same on every machine, so
//! two runs differ in the machine alone. Recordings would be more real and cannot be made to
//! fit two sizes; what programs write is in `lines` (scrolls by) and `frames` (redraws).
//!
//! Invariant: every input is valid UTF-8, and as long as [`BYTES`] and its last line or frame.

use std::slice::Chunks;

use greenroom_model::Size;

mod frames;
mod lines;
mod random;
mod words;

pub use random::Random;

/// How long an input is: long enough that 10,000 lines of history turn over, short enough
/// that the slowest peer takes a tenth of a second.
pub const BYTES: usize = 4 << 20;

/// How much a reader takes from a PTY at once when the child is ahead of it.
const READ: usize = 64 << 10;

/// The piece a child that writes without buffering makes.
const SMALL_WRITE: usize = 64;

/// One kind of terminal output.
pub struct Input {
    /// What the report calls it.
    pub name: &'static str,
    /// All of it.
    pub bytes: Vec<u8>,
    /// How many bytes an engine gets at once.
    pub piece: usize,
}

impl Input {
    /// The bytes as an engine gets them.
    pub fn pieces(&self) -> Chunks<'_, u8> {
        self.bytes.chunks(self.piece)
    }
}

/// Makes every input for terminals of one size, each at least `bytes` long.
#[must_use]
pub fn all(size: Size, bytes: usize) -> Vec<Input> {
    let read = |name, bytes| Input { name, bytes, piece: READ };
    vec![
        log(bytes),
        coloured(bytes),
        read("Unicode", lines::unicode(bytes)),
        read("TUI redraw", frames::tui(size, bytes)),
        read("scroll region", frames::scroll_region(size, bytes)),
        read("long lines", lines::long(bytes)),
        Input { piece: SMALL_WRITE, ..read("64-byte writes", lines::mixed(bytes)) },
        read("synchronized", frames::synchronized(size, bytes)),
        read("`yes`", lines::yes(bytes)),
    ]
}

/// Makes log text, the plainest input: also what fills a history before anything is timed.
#[must_use]
pub fn log(bytes: usize) -> Input {
    Input { name: "log text", bytes: lines::log(bytes), piece: READ }
}

/// Makes heavily coloured text: the one memory is measured with besides log text.
#[must_use]
pub fn coloured(bytes: usize) -> Input {
    Input { name: "heavy SGR", bytes: lines::coloured(bytes), piece: READ }
}

#[cfg(test)]
mod tests;
