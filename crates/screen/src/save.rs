//! A screen's whole state, to bring it back elsewhere: as bytes any terminal understands (`dump`),
//! or exactly (`checkpoint`).

mod checkpoint;
mod dump;
mod paint;
mod restore;
#[cfg(test)]
mod tests;

/// How much of the history a dump has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Depth {
    /// Only the screen.
    #[default]
    Screen,
    /// This many of the newest lines, too.
    Lines(usize),
    /// All of it.
    All,
}

/// Why a checkpoint cannot be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// The bytes are not a checkpoint at all.
    #[error("not a checkpoint of a screen")]
    NotACheckpoint,
    /// A newer program made it.
    #[error("the checkpoint has version {0}, this program knows up to {VERSION}")]
    Version(u64),
    /// It is damaged.
    #[error("the checkpoint is damaged in its {0}")]
    Damaged(&'static str),
}

/// What a checkpoint begins with.
const MAGIC: &[u8; 4] = b"GRSC";

/// The version that is written. A reader knows all versions up to its own.
const VERSION: u64 = 1;
