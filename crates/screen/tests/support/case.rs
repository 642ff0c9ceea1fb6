//! One input for a terminal, and what a terminal shows for it.
//!
//! Neighbours: `xterm` and `tmux` answer a [`Case`] with a [`Shown`], [`Case::ours`] answers it with
//! our screen. Not here: styles (`styles`), and any opinion on who is right (`references/known.rs`).

use std::fmt;

use greenroom_model::Size;
use greenroom_screen::{Options, Screen};

/// A named input: bytes for a fresh terminal, then perhaps sizes and more bytes.
pub(crate) struct Case {
    /// What the tables of known differences call it.
    pub(crate) name: String,
    /// At least one; the first size is the one the terminal starts with.
    pub(crate) steps: Vec<Step>,
}

/// Bytes a terminal gets once it has this size.
pub(crate) struct Step {
    pub(crate) size: Size,
    pub(crate) bytes: Vec<u8>,
}

/// The part of a terminal that all references can tell us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The rows without trailing blanks, without trailing empty rows.
    pub(crate) text: String,
    /// Row and column from 0; the column is the width of the screen while a wrap is pending.
    pub(crate) cursor: (u16, u16),
}

impl Case {
    /// Feeds the case to our own screen.
    pub(crate) fn ours(&self) -> Screen {
        let mut screen = Screen::new(self.steps[0].size, Options::default());
        for (index, step) in self.steps.iter().enumerate() {
            if index > 0 {
                screen.resize(step.size);
            }
            screen.feed(&step.bytes);
        }
        screen
    }
}

impl Shown {
    /// What a reference shows, whatever blanks it pads its rows with.
    pub(crate) fn new<'a>(rows: impl Iterator<Item = &'a str>, cursor: (u16, u16)) -> Shown {
        let rows: Vec<&str> = rows.map(|row| row.trim_end_matches(' ')).collect();
        Shown { text: rows.join("\n").trim_end_matches('\n').to_owned(), cursor }
    }

    /// What our screen shows.
    pub(crate) fn of(screen: &Screen) -> Shown {
        let pending = u16::from(screen.cursor().pending_wrap);
        let shown = Shown::within(screen);
        Shown { cursor: (shown.cursor.0, shown.cursor.1 + pending), ..shown }
    }

    /// What our screen shows, with the cursor always within it.
    pub(crate) fn within(screen: &Screen) -> Shown {
        let cursor = screen.cursor();
        Shown::new(screen.text().split('\n'), (cursor.row, cursor.col))
    }
}

/// The case as one line of `inputs.txt`, so that a disagreement can be pasted there.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for Step { size, bytes } in &self.steps {
            let bytes = bytes.escape_ascii().to_string().replace("\\x1b", "\\e");
            write!(f, " | {}x{} | {bytes}", size.cols(), size.rows())?;
        }
        Ok(())
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} cursor {:?}", self.text, self.cursor)
    }
}
