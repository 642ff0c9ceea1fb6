//! The face of the crate: a screen that is fed and read.
//!
//! Everything that acts is in `terminal`, everything that reads in `read`; here is what ties them
//! to the outside: feeding, what a feed tells, and the simple questions.

use greenroom_model::{Offset, Size};

use crate::event::{Event, Mark};
use crate::keys::{KeyModes, KittyFlags, MouseEncoding, MouseModes, MouseTracking};
use crate::links::Link;
use crate::modes::Modes;
use crate::options::Options;
use crate::parser::Parser;
use crate::style::LinkId;
use crate::terminal::{Graphic, Terminal};

/// A terminal's screen, history and state.
///
/// ```
/// use greenroom_screen::{Options, Screen};
///
/// let mut screen = Screen::new("10x3".parse().unwrap(), Options::default());
/// screen.feed(b"one\r\ntwo\r\nthree\r\nfour");
/// assert_eq!(screen.text(), "two\nthree\nfour");
/// assert_eq!(screen.history_len(), 1);
/// ```
#[derive(Debug, Clone)]
pub struct Screen {
    pub(crate) parser: Parser,
    pub(crate) terminal: Terminal,
}

/// Where the cursor is and what it looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The row, from the top of the screen.
    pub row: u16,
    /// The column.
    pub col: u16,
    /// Whether the last column was just written, so that the next character wraps.
    pub pending_wrap: bool,
    /// Whether the program shows it.
    pub visible: bool,
    /// What it looks like.
    pub shape: CursorShape,
    /// Whether it blinks, as far as the program said.
    pub blinking: bool,
}

/// What a cursor looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CursorShape {
    /// As the person's terminal has it.
    #[default]
    Default,
    /// A whole cell.
    Block,
    /// A line under the cell.
    Underline,
    /// A line before the cell.
    Bar,
}

/// What a feed made happen. Gone with the next feed.
#[derive(Debug)]
pub struct Fed<'a> {
    terminal: &'a Terminal,
}

impl<'a> Fed<'a> {
    /// What the terminal answers: to be written to the program, once, whoever watches.
    #[must_use]
    pub fn replies(&self) -> &'a [u8] {
        &self.terminal.happened.replies
    }

    /// What the program said, in order.
    #[must_use]
    pub fn events(&self) -> &'a [Event] {
        &self.terminal.happened.events
    }

    /// How many events there was no room for.
    #[must_use]
    pub fn events_lost(&self) -> u64 {
        self.terminal.happened.events_lost
    }

    /// The rows whose cells changed, from the top. Rows that only moved because lines left at the
    /// top are not among them: see [`Fed::scrolled`].
    pub fn damaged(&self) -> impl Iterator<Item = u16> + use<'a> {
        let terminal: &'a Terminal = self.terminal;
        let generation = terminal.generation;
        let all = terminal.all_changed == generation;
        let rows = terminal.grid.rows().enumerate();
        rows.filter(move |(_, row)| all || row.stamp == generation).map(|(y, _)| y as u16)
    }

    /// How many lines left the screen for the history.
    #[must_use]
    pub fn scrolled(&self) -> u64 {
        self.terminal.happened.scrolled
    }

    /// Whether the program erased the history (ED 3).
    #[must_use]
    pub fn history_cleared(&self) -> bool {
        self.terminal.happened.history_cleared
    }
}

impl Screen {
    /// Makes an empty screen.
    #[must_use]
    pub fn new(size: Size, options: Options) -> Screen {
        Screen { parser: Parser::default(), terminal: Terminal::new(size, options) }
    }

    /// Takes what the program wrote and says what that made happen.
    pub fn feed(&mut self, bytes: &[u8]) -> Fed<'_> {
        let terminal = &mut self.terminal;
        terminal.happened.clear();
        terminal.generation += 1;
        if !bytes.is_empty() {
            // The program draws again: what a series of resizes kept to be undone is past.
            terminal.series = None;
            if !terminal.below.is_empty() {
                terminal.below = Vec::new();
            }
        }
        terminal.expect_lines();
        self.parser.advance(terminal, bytes);
        self.fed()
    }

    /// What the last feed or resize made happen.
    pub(crate) fn fed(&self) -> Fed<'_> {
        Fed { terminal: &self.terminal }
    }

    /// How many bytes it was fed since the session began.
    #[must_use]
    pub fn offset(&self) -> Offset {
        Offset(self.parser.taken())
    }

    /// Whether the bytes so far end between sequences and characters.
    #[must_use]
    pub fn is_between_sequences(&self) -> bool {
        self.parser.is_ground()
    }

    /// The size in cells.
    #[must_use]
    pub fn size(&self) -> Size {
        self.terminal.size
    }

    /// What it was made with.
    #[must_use]
    pub fn options(&self) -> Options {
        self.terminal.options
    }

    /// Where the cursor is.
    #[must_use]
    pub fn cursor(&self) -> Cursor {
        let terminal = &self.terminal;
        let style = terminal.cursor_style;
        Cursor {
            row: terminal.cursor.y as u16,
            col: terminal.cursor.x as u16,
            pending_wrap: terminal.cursor.pending && terminal.modes.contains(Modes::AUTOWRAP),
            visible: terminal.modes.contains(Modes::CURSOR_VISIBLE),
            shape: match style {
                1 | 2 => CursorShape::Block,
                3 | 4 => CursorShape::Underline,
                5 | 6 => CursorShape::Bar,
                _ => CursorShape::Default,
            },
            blinking: style % 2 == 1 || terminal.modes.contains(Modes::CURSOR_BLINK),
        }
    }

    /// The modes that are set.
    #[must_use]
    pub fn modes(&self) -> Modes {
        self.terminal.modes
    }

    /// Whether the alternate screen is shown.
    #[must_use]
    pub fn is_alternate(&self) -> bool {
        self.terminal.is_alternate()
    }

    /// Whether the program is in the middle of a synchronized update: what the screen shows now
    /// is half drawn. The caller bounds the time.
    #[must_use]
    pub fn is_synchronized(&self) -> bool {
        self.terminal.modes.contains(Modes::SYNCHRONIZED)
    }

    /// The window's title.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.terminal.titles.current
    }

    /// The working folder the program told (OSC 7), with the host it told.
    #[must_use]
    pub fn cwd(&self) -> Option<(&str, &str)> {
        self.terminal.cwd.as_ref().map(|(host, path)| (host.as_str(), path.as_str()))
    }

    /// How many lines the history has.
    #[must_use]
    pub fn history_len(&self) -> usize {
        self.terminal.history.len()
    }

    /// The number of the oldest row that is kept.
    ///
    /// Rows are counted from the beginning of the session; trimming the history does not change
    /// the numbers of the rows that stay. A resize to another width wraps anew and counts anew.
    #[must_use]
    pub fn first_row(&self) -> u64 {
        self.terminal.history.first()
    }

    /// The number of the screen's top row.
    #[must_use]
    pub fn top_row(&self) -> u64 {
        self.terminal.history.end()
    }

    /// The marks whose rows are kept, in the order they came.
    pub fn marks(&self) -> impl DoubleEndedIterator<Item = &Mark> + ExactSizeIterator {
        self.terminal.marks.iter()
    }

    /// The pictures on the screen and in the history.
    pub fn graphics(&self) -> impl Iterator<Item = &Graphic> {
        self.terminal.graphics.iter()
    }

    /// Where a link leads.
    #[must_use]
    pub fn link(&self, link: LinkId) -> Option<&Link> {
        self.terminal.links.get(link.0)
    }

    /// How keys are to be encoded for the program now.
    #[must_use]
    pub fn key_modes(&self) -> KeyModes {
        let modes = self.terminal.modes;
        KeyModes {
            app_cursor: modes.contains(Modes::APP_CURSOR),
            app_keypad: modes.contains(Modes::APP_KEYPAD),
            newline: modes.contains(Modes::NEWLINE),
            backarrow: modes.contains(Modes::BACKARROW),
            modify_other_keys: self.terminal.other_keys,
            kitty: KittyFlags::from_bits(self.terminal.grid.keyboard.flags()),
            ..KeyModes::default()
        }
    }

    /// How mouse events are to be encoded for the program now.
    #[must_use]
    pub fn mouse_modes(&self) -> MouseModes {
        let modes = self.terminal.modes;
        let tracking = [
            (Modes::MOUSE_X10, MouseTracking::X10),
            (Modes::MOUSE_NORMAL, MouseTracking::Normal),
            (Modes::MOUSE_BUTTON, MouseTracking::Button),
            (Modes::MOUSE_ANY, MouseTracking::Any),
        ];
        let encoding = [
            (Modes::MOUSE_UTF8, MouseEncoding::Utf8),
            (Modes::MOUSE_SGR, MouseEncoding::Sgr),
            (Modes::MOUSE_URXVT, MouseEncoding::Urxvt),
            (Modes::MOUSE_PIXELS, MouseEncoding::SgrPixels),
        ];
        let tracking = tracking.into_iter().find(|(bit, _)| modes.contains(*bit));
        let encoding = encoding.into_iter().find(|(bit, _)| modes.contains(*bit));
        MouseModes {
            tracking: tracking.map_or(MouseTracking::Off, |(_, it)| it),
            encoding: encoding.map_or(MouseEncoding::Default, |(_, it)| it),
        }
    }

    /// How many bytes it holds, itself included.
    #[must_use]
    pub fn memory(&self) -> usize {
        size_of::<Screen>() + self.terminal.heap() + self.parser.heap()
    }
}
