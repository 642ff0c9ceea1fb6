//! The face of the crate: a screen that is fed and read.
//!
//! Everything that acts is in `terminal`, everything that reads in `read`; here is what ties them
//! to the outside: feeding, what a feed tells, and the simple questions.

use greenroom_model::{Offset, Size};

use crate::event::Mark;
use crate::fed::Fed;
use crate::links::Link;
use crate::modes::Modes;
use crate::options::Options;
use crate::palette::Slot;
use crate::parser::Parser;
use crate::style::{Attrs, Color, LinkId, Style};
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
///
/// ```
/// use greenroom_screen::{CursorShape, Options, Screen};
///
/// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// screen.feed(b"abc\x1b[4 q\x1b[?25l");
/// let cursor = screen.cursor();
/// assert_eq!((cursor.row, cursor.col), (0, 3));
/// assert_eq!(cursor.shape, CursorShape::Underline);
/// assert!(!cursor.visible && !cursor.blinking && !cursor.pending_wrap);
/// ```
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
///
/// ```
/// use greenroom_screen::{CursorShape, Options, Screen};
///
/// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// assert_eq!(screen.cursor().shape, CursorShape::Default);
/// screen.feed(b"\x1b[5 q"); // DECSCUSR: a bar that blinks, as editors insert with
/// assert_eq!(screen.cursor().shape, CursorShape::Bar);
/// ```
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

impl Screen {
    /// Makes an empty screen.
    ///
    /// Rows are at least two cells wide, whatever the size says: one could not hold a wide
    /// character.
    ///
    /// ```
    /// use greenroom_model::Size;
    /// use greenroom_screen::{Options, Screen};
    ///
    /// let screen = Screen::new(Size::DEFAULT, Options::default().with_history(500));
    /// assert_eq!(screen.text(), "");
    /// assert_eq!(screen.history_len(), 0);
    /// ```
    #[must_use]
    pub fn new(size: Size, options: Options) -> Screen {
        Screen { parser: Parser::default(), terminal: Terminal::new(size, options) }
    }

    /// Takes what the program wrote and says what that made happen.
    ///
    /// The bytes may be cut anywhere, within a sequence or a character too.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"caf\xc3");
    /// screen.feed(b"\xa9 \x1b[3");
    /// screen.feed(b"2mgreen");
    /// assert_eq!(screen.text(), "café green");
    /// ```
    pub fn feed(&mut self, bytes: &[u8]) -> Fed<'_> {
        let terminal = &mut self.terminal;
        terminal.happened.clear();
        terminal.generation += 1;
        terminal.expect_lines();
        self.parser.advance(terminal, bytes);
        self.fed()
    }

    /// What the last feed or resize made happen.
    pub(crate) fn fed(&self) -> Fed<'_> {
        Fed::new(&self.terminal)
    }

    /// How many bytes it was fed since the session began.
    ///
    /// A restored screen goes on counting, so this is where to go on reading the journal.
    ///
    /// ```
    /// # use greenroom_model::Offset;
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"\x1b[1mbold");
    /// assert_eq!(screen.offset(), Offset(8));
    /// assert_eq!(Screen::restore(&screen.checkpoint()).unwrap().offset(), Offset(8));
    /// ```
    #[must_use]
    pub fn offset(&self) -> Offset {
        Offset(self.parser.taken())
    }

    /// Whether the bytes so far end between sequences and characters.
    ///
    /// Only then may somebody else's bytes be put into the stream without being taken for a part of
    /// it.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"ok \x1b[3");
    /// assert!(!screen.is_between_sequences());
    /// screen.feed(b"1m");
    /// assert!(screen.is_between_sequences());
    /// ```
    #[must_use]
    pub fn is_between_sequences(&self) -> bool {
        self.parser.is_ground()
    }

    /// The size in cells.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.resize("132x43".parse().unwrap());
    /// assert_eq!((screen.size().cols(), screen.size().rows()), (132, 43));
    /// ```
    #[must_use]
    pub fn size(&self) -> Size {
        self.terminal.size
    }

    /// What it was made with.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// let options = Options { checksums: true, ..Options::default() };
    /// let screen = Screen::new("20x4".parse().unwrap(), options);
    /// assert_eq!(screen.options(), options);
    /// ```
    #[must_use]
    pub fn options(&self) -> Options {
        self.terminal.options
    }

    /// Where the cursor is.
    ///
    /// After the last column was written it stays there, and the next character wraps.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// let mut screen = Screen::new("4x2".parse().unwrap(), Options::default());
    /// screen.feed(b"full");
    /// assert_eq!(screen.cursor().col, 3);
    /// assert!(screen.cursor().pending_wrap);
    /// ```
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
            // A shape that was set says whether it blinks; else the mode does.
            blinking: match style {
                0 => terminal.modes.contains(Modes::CURSOR_BLINK),
                _ => style % 2 == 1,
            },
        }
    }

    /// The modes that are set.
    ///
    /// ```
    /// # use greenroom_screen::{Modes, Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// assert!(!screen.modes().contains(Modes::BRACKETED_PASTE));
    /// screen.feed(b"\x1b[?2004h");
    /// assert!(screen.modes().contains(Modes::BRACKETED_PASTE));
    /// ```
    #[must_use]
    pub fn modes(&self) -> Modes {
        self.terminal.modes
    }

    /// Whether the alternate screen is shown.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"$ vi\x1b[?1049h~");
    /// assert!(screen.is_alternate());
    /// screen.feed(b"\x1b[?1049l");
    /// assert!(!screen.is_alternate());
    /// assert_eq!(screen.text(), "$ vi");
    /// ```
    #[must_use]
    pub fn is_alternate(&self) -> bool {
        self.terminal.is_alternate()
    }

    /// Whether the program is in the middle of a synchronized update (mode 2026).
    ///
    /// What the screen shows now is half drawn. The caller bounds the time: a program may die in
    /// between.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"\x1b[?2026h\x1b[2Jhalf");
    /// assert!(screen.is_synchronized());
    /// screen.feed(b" and half\x1b[?2026l");
    /// assert!(!screen.is_synchronized());
    /// ```
    #[must_use]
    pub fn is_synchronized(&self) -> bool {
        self.terminal.modes.contains(Modes::SYNCHRONIZED)
    }

    /// The window's title; empty if the program gave none.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// assert_eq!(screen.title(), "");
    /// screen.feed(b"\x1b]2;make: 3 of 9\x07");
    /// assert_eq!(screen.title(), "make: 3 of 9");
    /// ```
    #[must_use]
    pub fn title(&self) -> &str {
        &self.terminal.titles.current
    }

    /// The host and the working folder the program told (OSC 7).
    ///
    /// Both are only what it says: the folder need not exist, and the host may be another one.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"\x1b]7;file://box/srv/my%20app\x07");
    /// assert_eq!(screen.cwd(), Some(("box", "/srv/my app")));
    /// ```
    #[must_use]
    pub fn cwd(&self) -> Option<(&str, &str)> {
        self.terminal.cwd.as_ref().map(|(host, path)| (host.as_str(), path.as_str()))
    }

    /// How many lines the history has.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// let options = Options::default().with_history(2);
    /// let mut screen = Screen::new("20x1".parse().unwrap(), options);
    /// screen.feed(b"1\r\n2");
    /// assert_eq!(screen.history_len(), 1);
    /// screen.feed(b"\r\n3\r\n4\r\n5"); // the oldest go
    /// assert_eq!(screen.history_len(), 2);
    /// ```
    #[must_use]
    pub fn history_len(&self) -> usize {
        self.terminal.history.len()
    }

    /// The number of the oldest row that is kept.
    ///
    /// Rows are counted from the beginning of the session; trimming the history does not change the
    /// numbers of the rows that stay. A resize to another width wraps anew and counts anew.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// let options = Options::default().with_history(2);
    /// let mut screen = Screen::new("20x1".parse().unwrap(), options);
    /// screen.feed(b"1\r\n2\r\n3\r\n4\r\n5");
    /// assert_eq!(screen.first_row(), 2);
    /// assert_eq!(screen.line(2).unwrap().text(), "3");
    /// assert!(screen.line(1).is_none());
    /// ```
    #[must_use]
    pub fn first_row(&self) -> u64 {
        self.terminal.history.first()
    }

    /// The number of the screen's top row.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// let mut screen = Screen::new("20x2".parse().unwrap(), Options::default());
    /// screen.feed(b"1\r\n2\r\n3");
    /// assert_eq!(screen.top_row(), 1);
    /// assert_eq!(screen.line(screen.top_row()).unwrap().text(), "2");
    /// ```
    #[must_use]
    pub fn top_row(&self) -> u64 {
        self.terminal.history.end()
    }

    /// The marks whose rows are kept, in the order they came.
    ///
    /// ```
    /// # use greenroom_screen::{MarkKind, Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"\x1b]133;A\x07$ \x1b]133;B\x07");
    /// assert_eq!(screen.marks().len(), 2);
    /// let typed = screen.marks().next_back().unwrap();
    /// assert_eq!((typed.kind, typed.col), (MarkKind::CommandStart, 2));
    /// ```
    pub fn marks(&self) -> impl DoubleEndedIterator<Item = &Mark> + ExactSizeIterator {
        self.terminal.marks.iter()
    }

    /// The pictures on the screen and in the history.
    ///
    /// There are none unless [`Options::graphics`] is set.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// let options = Options { graphics: true, ..Options::default() };
    /// let mut screen = Screen::new("20x4".parse().unwrap(), options);
    /// screen.feed(b"\r\n\x1bPq#0~~\x1b\\");
    /// let picture = screen.graphics().next().unwrap();
    /// assert_eq!((picture.row, picture.rows), (1, 1));
    /// ```
    pub fn graphics(&self) -> impl Iterator<Item = &Graphic> {
        self.terminal.graphics.iter()
    }

    /// Where a link leads.
    ///
    /// A number is free to be used again once no cell has it: ask while the cell is at hand.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"\x1b]8;;https://example.org\x07here\x1b]8;;\x07");
    /// let id = screen.line(0).unwrap().cells().next().unwrap().style.link.unwrap();
    /// assert_eq!(screen.link(id).unwrap().uri, "https://example.org");
    /// ```
    #[must_use]
    pub fn link(&self, link: LinkId) -> Option<&Link> {
        self.terminal.links.get(link.0)
    }

    /// Whether a person looking at this screen cannot see text in this style: as
    /// [`Style::is_invisible`], with the colours as the program changed them.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x2".parse().unwrap(), Options::default());
    /// screen.feed(b"\x1b]4;1;#102030\x07\x1b[31;48;2;16;32;48mhidden");
    /// let style = screen.line(0).unwrap().cell(0).unwrap().style;
    /// assert!(screen.hides(&style) && !style.is_invisible());
    /// ```
    #[must_use]
    pub fn hides(&self, style: &Style) -> bool {
        let palette = &self.terminal.palette;
        // What the default colours are is the viewer's, unless the program set them.
        let looks = |color, default| match color {
            Color::Default => palette.changed(default),
            Color::Indexed(index) => Some(palette.get(Slot::Indexed(index))),
            Color::Rgb(r, g, b) => Some((r, g, b)),
        };
        let (fg, bg) = (looks(style.fg, Slot::Foreground), looks(style.bg, Slot::Background));
        style.attrs.contains(Attrs::HIDDEN) || (fg.is_some() && fg == bg)
    }

    /// How many bytes it holds, itself included.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// let empty = screen.memory();
    /// screen.feed("a line of a long log\r\n".repeat(5_000).as_bytes());
    /// assert!(screen.memory() > empty);
    /// assert!(screen.memory() < empty + 1024 * 1024);
    /// ```
    #[must_use]
    pub fn memory(&self) -> usize {
        size_of::<Screen>() + self.terminal.heap() + self.parser.heap()
    }
}
