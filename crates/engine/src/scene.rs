//! What can be seen of a session at one moment.

use std::time::Duration;

use greenroom_screen::Screen;

use crate::{End, Transcript};

/// What can be seen of a session between two of its turns.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// What it shows.
    pub screen: &'a Screen,
    /// The last of what it printed, if that is kept.
    pub transcript: Option<&'a Transcript>,
    /// Grows whenever something is printed or the size changes.
    pub sequence: u64,
    /// How long nothing was printed or typed.
    pub quiet: Duration,
    /// How it ended, if it has.
    pub end: Option<End>,
}
