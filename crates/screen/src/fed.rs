//! What a feed made happen: replies, events and damage.

use crate::event::Event;
use crate::terminal::Terminal;

/// What a feed made happen.
///
/// It borrows the screen, so it is gone with the next feed: take what is needed out of it first.
///
/// ```
/// use greenroom_screen::{Event, Options, Screen};
///
/// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// let fed = screen.feed(b"ready\x07\x1b[5n");
/// assert_eq!(fed.events(), [Event::Bell]);
/// assert_eq!(fed.replies(), b"\x1b[0n");
/// ```
#[derive(Debug)]
pub struct Fed<'a> {
    terminal: &'a Terminal,
}

impl<'a> Fed<'a> {
    pub(crate) fn new(terminal: &'a Terminal) -> Fed<'a> {
        Fed { terminal }
    }

    /// What the terminal answers: to be written to the program, once, whoever watches.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// let fed = screen.feed(b"\x1b[2;3H\x1b[6n"); // where is the cursor?
    /// assert_eq!(fed.replies(), b"\x1b[2;3R");
    /// assert!(screen.feed(b"text").replies().is_empty());
    /// ```
    #[must_use]
    pub fn replies(&self) -> &'a [u8] {
        &self.terminal.happened.replies
    }

    /// What the program said, in order.
    ///
    /// ```
    /// # use greenroom_screen::{Event, Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// let fed = screen.feed(b"\x1b]2;vi\x07\x07");
    /// assert_eq!(fed.events(), [Event::Title("vi".into()), Event::Bell]);
    /// ```
    #[must_use]
    pub fn events(&self) -> &'a [Event] {
        &self.terminal.happened.events
    }

    /// How many events there was no room for.
    ///
    /// Marks among them are not lost to [`Screen::marks`](crate::Screen::marks).
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// let fed = screen.feed(&[0x07; 5000]); // a flood of bells
    /// assert_eq!(fed.events().len() as u64 + fed.events_lost(), 5000);
    /// assert!(fed.events_lost() > 0);
    /// ```
    #[must_use]
    pub fn events_lost(&self) -> u64 {
        self.terminal.happened.events_lost
    }

    /// The rows whose cells changed, from the top.
    ///
    /// Rows that only moved because lines left at the top are not among them: see
    /// [`Fed::scrolled`].
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// let fed = screen.feed(b"one\x1b[3;1Hthree");
    /// assert_eq!(fed.damaged().collect::<Vec<_>>(), [0, 2]);
    /// ```
    pub fn damaged(&self) -> impl Iterator<Item = u16> + use<'a> {
        let terminal: &'a Terminal = self.terminal;
        let generation = terminal.generation;
        let all = terminal.all_changed == generation;
        let rows = terminal.grid.rows().enumerate();
        rows.filter(move |(_, row)| all || row.stamp == generation).map(|(y, _)| y as u16)
    }

    /// How many lines left the screen for the history.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// assert_eq!(screen.feed(b"1\r\n2\r\n3\r\n4").scrolled(), 0);
    /// assert_eq!(screen.feed(b"\r\n5\r\n6").scrolled(), 2);
    /// ```
    #[must_use]
    pub fn scrolled(&self) -> u64 {
        self.terminal.happened.scrolled
    }

    /// Whether the program erased the history (ED 3).
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// assert!(screen.feed(b"\x1b[H\x1b[2J\x1b[3J").history_cleared()); // what `clear` writes
    /// assert!(!screen.feed(b"$ ").history_cleared());
    /// ```
    #[must_use]
    pub fn history_cleared(&self) -> bool {
        self.terminal.happened.history_cleared
    }
}
