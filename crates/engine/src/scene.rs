//! What can be seen of a session at one moment.

use std::cell::OnceCell;
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
    /// What it shows as text, as far as somebody wanted that.
    pub texts: &'a Texts,
}

/// The texts of one moment, made when the first wants them and shared by all.
#[derive(Debug, Default)]
pub struct Texts {
    text: OnceCell<String>,
    contents: OnceCell<String>,
}

impl<'a> Scene<'a> {
    /// What the screen shows, one line a row.
    #[must_use]
    pub fn text(self) -> &'a str {
        self.texts.text.get_or_init(|| self.screen.text())
    }

    /// What the screen shows, as the program wrote it.
    #[must_use]
    pub fn contents(self) -> &'a str {
        self.texts.contents.get_or_init(|| self.screen.contents())
    }
}
