//! What a feed made happen, apart from the cells.

use greenroom_model::Offset;

use crate::modes::Mode;

/// How many events one feed reports. A stream that rings a million bells in one slice is heard
/// this often; the count of the rest is [`Fed::events_lost`](crate::Fed::events_lost). Marks are
/// kept by the screen whatever happens here.
pub(crate) const MAX_EVENTS: usize = 4096;

/// Something a program said, apart from text.
///
/// Every text in here is data from a stranger: bounded in length and free of control characters,
/// but not to be trusted.
///
/// ```
/// use greenroom_screen::{Event, Options, Screen};
///
/// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// let fed = screen.feed(b"\x1b]777;notify;make;all done\x07");
/// let Event::Notification { title, body } = &fed.events()[0] else { panic!() };
/// assert_eq!((title.as_str(), body.as_str()), ("make", "all done"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// BEL.
    Bell,
    /// The window's title changed (OSC 0, 2, or a title popped off the stack).
    Title(String),
    /// The working folder changed (OSC 7).
    Cwd {
        /// The host the program says it is on; empty for this one.
        host: String,
        /// The folder, percent-decoded.
        path: String,
    },
    /// Progress of a long task (OSC 9 ; 4).
    Progress(Progress),
    /// The program wants the person's attention (OSC 9, OSC 777).
    Notification {
        /// A heading, which may be empty.
        title: String,
        /// The text.
        body: String,
    },
    /// The program wants to write or read the clipboard (OSC 52). Nothing is done about it here.
    Clipboard(Clipboard),
    /// A shell integration mark (OSC 133).
    Mark(Mark),
    /// A hyperlink was opened (OSC 8).
    Link(String),
    /// A mode was set or reset.
    Mode {
        /// Which mode.
        mode: Mode,
        /// Whether it is set now.
        set: bool,
    },
    /// The program asked for another size in cells (XTWINOPS 8). Nothing is done about it here.
    SizeRequest {
        /// Columns asked for; zero to keep.
        cols: u16,
        /// Rows asked for; zero to keep.
        rows: u16,
    },
    /// A picture was placed (sixel or kitty graphics).
    Graphic,
}

impl Event {
    /// How many bytes of text it carries.
    pub(crate) fn text_len(&self) -> usize {
        match self {
            Event::Title(text) | Event::Link(text) => text.len(),
            Event::Cwd { host: one, path: two } | Event::Notification { title: one, body: two } => {
                one.len() + two.len()
            }
            Event::Clipboard(Clipboard::Set { base64, selection }) => {
                base64.len() + selection.len()
            }
            Event::Clipboard(Clipboard::Query { selection }) => selection.len(),
            Event::Bell
            | Event::Progress(_)
            | Event::Mark(_)
            | Event::Mode { .. }
            | Event::SizeRequest { .. }
            | Event::Graphic => 0,
        }
    }
}

/// A clipboard request.
///
/// Whether to grant it is for whoever owns a clipboard: the screen only tells.
///
/// ```
/// use greenroom_screen::{Clipboard, Event, Options, Screen};
///
/// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// let fed = screen.feed(b"\x1b]52;c;aGk=\x07");
/// let wanted = Clipboard::Set { selection: "c".into(), base64: "aGk=".into() };
/// assert_eq!(fed.events(), [Event::Clipboard(wanted)]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clipboard {
    /// The program asks what the clipboard holds. It gets no answer from the screen.
    Query {
        /// Which selections, as xterm's letters: `c`, `p`, `s`…
        selection: String,
    },
    /// The program offers text.
    Set {
        /// Which selections.
        selection: String,
        /// The text in base64, unverified.
        base64: String,
    },
}

/// How far a task says it is (OSC 9 ; 4).
///
/// ```
/// use greenroom_screen::{Event, Options, Progress, Screen};
///
/// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// let fed = screen.feed(b"\x1b]9;4;1;40\x07\x1b]9;4;0\x07");
/// let (running, done) = (Progress::Running(40), Progress::None);
/// assert_eq!(fed.events(), [Event::Progress(running), Event::Progress(done)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// No task, or it is done.
    None,
    /// Percent done, at most 100.
    Running(u8),
    /// It failed, at this percentage.
    Failed(u8),
    /// Busy without a number.
    Busy,
    /// Waiting, at this percentage.
    Paused(u8),
}

/// What a mark says (OSC 133).
///
/// ```
/// use greenroom_screen::{MarkKind, Options, Screen};
///
/// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// screen.feed(b"\x1b]133;C\x07out\r\n\x1b]133;D;1\x07");
/// let kinds: Vec<_> = screen.marks().map(|mark| mark.kind).collect();
/// assert_eq!(kinds, [MarkKind::OutputStart, MarkKind::CommandEnd(Some(1))]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkKind {
    /// `A`: a prompt begins.
    PromptStart,
    /// `B`: the prompt ends, what is typed begins.
    CommandStart,
    /// `C`: the command runs, its output begins.
    OutputStart,
    /// `D`: the command ended, with its exit code if the shell told.
    CommandEnd(Option<i32>),
}

/// A place in the output that the shell marked.
///
/// It has both addresses: [`start`](Mark::start) and [`end`](Mark::end) lead to the bytes in the
/// journal, [`row`](Mark::row) and [`col`](Mark::col) to the cell on the screen.
///
/// ```
/// use greenroom_model::Offset;
/// use greenroom_screen::{Options, Screen};
///
/// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// screen.feed(b"$ ls\r\n\x1b]133;C\x07file");
/// let mark = screen.marks().next().unwrap();
/// assert_eq!((mark.start, mark.end), (Offset(6), Offset(14)));
/// assert_eq!((mark.row, mark.col), (1, 0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// What it says.
    pub kind: MarkKind,
    /// Where the mark's sequence begins in the output.
    pub start: Offset,
    /// Where it ends: the first byte after the mark.
    pub end: Offset,
    /// The row, counted from the beginning of the session.
    pub row: u64,
    /// The column.
    pub col: u16,
}
