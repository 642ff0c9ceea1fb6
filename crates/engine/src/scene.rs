//! What can be seen of a session at one moment.

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;

use greenroom_screen::{Screen, Snapshot};

use crate::redact::Excerpt;
use crate::{End, Transcript};

/// How much of a line that has scrolled away is looked at, to know a secret in the rest of it: as long as
/// command lines get.
const ABOVE: usize = 16 << 10;

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
    /// What it shows, as far as somebody wanted that.
    pub texts: &'a Texts,
}

/// What is to be seen at one moment, made when the first wants it and shared by all.
#[derive(Debug, Default)]
pub struct Texts {
    text: OnceCell<String>,
    contents: OnceCell<Excerpt>,
    snapshot: OnceCell<Arc<Snapshot>>,
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
        self.excerpt().text()
    }

    /// The same, with the beginning of its first line if that has scrolled away.
    #[must_use]
    pub fn excerpt(self) -> &'a Excerpt {
        self.texts.contents.get_or_init(|| {
            let (text, from) = self.screen.contents_in_context(ABOVE);
            Excerpt::new(text, from)
        })
    }

    /// The last characters it printed, with what came before them; nothing, if that is not kept.
    #[must_use]
    pub fn printed(self, chars: usize) -> Excerpt {
        let (text, from) = self.transcript.map_or(("", 0), |it| it.tail_in_context(chars));
        Excerpt::new(text, from)
    }

    /// Its cells.
    #[must_use]
    pub fn snapshot(self) -> Arc<Snapshot> {
        Arc::clone(self.texts.snapshot.get_or_init(|| Arc::new(self.screen.snapshot())))
    }
}
