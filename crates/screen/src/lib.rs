//! A terminal model made for many headless sessions.
//!
//! Bytes a program wrote go in; the grid, the history, modes, marks, replies, snapshots, diffs
//! and dumps come out. No I/O, no clock, no thread: the caller owns the PTY and the time.
//!
//! ```
//! use greenroom_screen::{Event, Options, Screen};
//!
//! let mut screen = Screen::new("80x24".parse().unwrap(), Options::default());
//! let fed = screen.feed(b"\x1b]0;build\x07$ make\r\n\x1b[32mok\x1b[m \x1b[6n");
//! assert_eq!(fed.replies(), b"\x1b[2;4R");
//! assert_eq!(fed.events(), [Event::Title("build".into())]);
//! assert_eq!(screen.text(), "$ make\nok");
//! ```
//!
//! What it is made for: hundreds of sessions in one process, each with thousands of lines of
//! history that are searched as they lie; restored exactly after a restart ([`Screen::checkpoint`],
//! [`Screen::restore`]) or on somebody's own terminal ([`Screen::dump`]).
//!
//! **Invariants.** Any way of cutting the input gives the same state. No input panics, hangs, or
//! grows a screen past the bounds its constants name. A reply never holds text a program chose.

mod charset;
mod codec;
mod event;
mod fed;
mod filter;
mod grid;
mod history;
mod input;
mod keyboard;
pub mod keys;
mod links;
mod marks;
mod modes;
mod options;
mod palette;
mod parser;
mod read;
mod reference;
mod resize;
mod row;
mod save;
mod screen;
mod style;
mod tabs;
mod terminal;
mod title;
mod unicode;

pub use event::{Clipboard, Event, Mark, MarkKind, Progress};
pub use fed::Fed;
pub use filter::{Filter, Policy, sanitize};
pub use links::Link;
pub use modes::{Mode, Modes};
pub use options::Options;
pub use read::{
    Belongs, Cell, CellText, Command, Diff, Line, Match, Pos, Position, Query, QueryError, Run,
    Search, Snapshot, Wrap,
};
pub use reference::reference;
pub use save::{Depth, RESET, RestoreError};
pub use screen::{Cursor, CursorShape, Screen};
pub use style::{Attrs, Color, LinkId, Style, Underline};
pub use terminal::{Graphic, GraphicKind};
