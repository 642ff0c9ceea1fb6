//! What a screen may do and how much it may keep.

/// What a screen may do and how much it may keep.
///
/// ```
/// use greenroom_screen::{Options, Screen};
///
/// let options = Options { history_lines: 500, ..Options::default() };
/// let screen = Screen::new("80x24".parse().unwrap(), options);
/// assert_eq!(screen.history_len(), 0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How many lines of history to keep; at most a million.
    pub history_lines: usize,
    /// Whether pictures (sixel, kitty graphics) are kept and programs are told so.
    pub graphics: bool,
    /// Whether DECRQCRA is answered. A checksum lets a program read the screen back, which may
    /// hold what another program wrote; off unless asked for.
    pub checksums: bool,
    /// How large a cell is in pixels, for programs that ask and for pictures.
    pub cell_pixels: (u16, u16),
}

impl Options {
    /// The same with this many lines of history.
    ///
    /// ```
    /// use greenroom_screen::Options;
    ///
    /// assert_eq!(Options::default().with_history(0).history_lines, 0);
    /// ```
    #[must_use]
    pub fn with_history(self, history_lines: usize) -> Options {
        Options { history_lines, ..self }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options { history_lines: 10_000, graphics: false, checksums: false, cell_pixels: (8, 16) }
    }
}
