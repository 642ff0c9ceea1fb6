//! A screen's whole state, to bring it back elsewhere: as bytes any terminal understands (`dump`),
//! or exactly (`checkpoint`).

mod checkpoint;
mod dump;
mod paint;
mod redraw;
mod restore;
#[cfg(test)]
mod tests;

pub use redraw::RESET;

/// How much of the history a dump has.
///
/// ```
/// use greenroom_screen::{Depth, Options, Screen, Wrap};
///
/// let size = "20x1".parse().unwrap();
/// let mut screen = Screen::new(size, Options::default());
/// screen.feed(b"1\r\n2\r\n3\r\n4");
/// let history = |depth| {
///     let mut copy = Screen::new(size, Options::default());
///     copy.feed(&screen.dump(depth));
///     copy.history_text(Wrap::Joined)
/// };
/// assert_eq!(history(Depth::Screen), "");
/// assert_eq!(history(Depth::Lines(1)), "3\n");
/// assert_eq!(history(Depth::All), "1\n2\n3\n");
/// ```
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
///
/// ```
/// use greenroom_screen::{Options, RestoreError, Screen};
///
/// let screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// let checkpoint = screen.checkpoint();
/// let cut = &checkpoint[..checkpoint.len() / 2];
/// assert!(matches!(Screen::restore(cut), Err(RestoreError::Damaged(_))));
/// assert!(matches!(Screen::restore(b"GRSC\x63"), Err(RestoreError::Version(99))));
/// ```
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
