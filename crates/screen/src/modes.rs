//! The modes a program can set and reset, in one table.
//!
//! Setting, resetting, DECRQM, XTSAVE, dumps and the documentation all read [`TABLE`].

use bitflags::bitflags;

bitflags! {
    /// Modes that are set.
    ///
    /// ```
    /// use greenroom_screen::{Modes, Options, Screen};
    ///
    /// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// assert!(screen.modes().contains(Modes::AUTOWRAP | Modes::CURSOR_VISIBLE));
    /// screen.feed(b"\x1b[?1003h\x1b[?25l");
    /// assert!(screen.modes().contains(Modes::MOUSE_ANY));
    /// assert!(!screen.modes().contains(Modes::CURSOR_VISIBLE));
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct Modes: u64 {
        /// IRM: printing inserts.
        const INSERT = 1;
        /// LNM: a line feed also returns.
        const NEWLINE = 1 << 1;
        /// DECCKM: cursor keys send application sequences.
        const APP_CURSOR = 1 << 2;
        /// DECSCNM: the whole screen is in reverse video.
        const REVERSE_SCREEN = 1 << 3;
        /// DECOM: the cursor is addressed within the margins.
        const ORIGIN = 1 << 4;
        /// DECAWM: printing past the last column goes on in the next row.
        const AUTOWRAP = 1 << 5;
        /// The cursor blinks.
        const CURSOR_BLINK = 1 << 6;
        /// DECTCEM: the cursor is shown.
        const CURSOR_VISIBLE = 1 << 7;
        /// Backspace at the first column goes back to a wrapped row.
        const REVERSE_WRAP = 1 << 8;
        /// DECNKM: the keypad sends application sequences.
        const APP_KEYPAD = 1 << 9;
        /// DECBKM: the backspace key sends BS.
        const BACKARROW = 1 << 10;
        /// Mouse presses are reported (X10).
        const MOUSE_X10 = 1 << 11;
        /// Mouse presses and releases are reported.
        const MOUSE_NORMAL = 1 << 12;
        /// Mouse motion with a button down is reported.
        const MOUSE_BUTTON = 1 << 13;
        /// All mouse motion is reported.
        const MOUSE_ANY = 1 << 14;
        /// Mouse positions are written in UTF-8.
        const MOUSE_UTF8 = 1 << 15;
        /// Mouse reports have the SGR form.
        const MOUSE_SGR = 1 << 16;
        /// Mouse reports have urxvt's form.
        const MOUSE_URXVT = 1 << 17;
        /// Mouse reports have the SGR form with pixels.
        const MOUSE_PIXELS = 1 << 18;
        /// The wheel sends cursor keys on the alternate screen.
        const ALTERNATE_SCROLL = 1 << 19;
        /// Focus changes are reported.
        const FOCUS = 1 << 20;
        /// Pastes are bracketed.
        const BRACKETED_PASTE = 1 << 21;
        /// Output is being drawn and should not be shown yet.
        const SYNCHRONIZED = 1 << 22;
        /// Grapheme clusters share a cell.
        const GRAPHEMES = 1 << 23;
        /// Changes of the colour scheme are reported.
        const COLOR_SCHEME = 1 << 24;
        /// Changes of the size are reported in band.
        const SIZE_REPORTS = 1 << 25;
        /// The alternate screen is shown.
        const ALTERNATE = 1 << 26;
        /// DECARM: keys repeat. Kept for programs that ask; the keyboard is not ours.
        const AUTO_REPEAT = 1 << 27;
        /// DECSCLM: smooth scrolling. Kept for programs that ask.
        const SMOOTH_SCROLL = 1 << 28;
    }
}

impl Modes {
    /// What is set when a terminal starts. Grapheme clusters are: the page, tmux and kitty show
    /// them so, and a program that wants one cell per code point can reset mode 2027.
    pub(crate) const INITIAL: Modes = Modes::AUTOWRAP
        .union(Modes::CURSOR_VISIBLE)
        .union(Modes::ALTERNATE_SCROLL)
        .union(Modes::AUTO_REPEAT)
        .union(Modes::GRAPHEMES);
}

/// A mode by its number, as programs name it.
///
/// ```
/// use greenroom_screen::{Event, Mode, Options, Screen};
///
/// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// let fed = screen.feed(b"\x1b[?2004h");
/// let paste = Mode { private: true, number: 2004 };
/// assert_eq!(fed.events(), [Event::Mode { mode: paste, set: true }]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mode {
    /// Whether it is a private one (`CSI ? n h`).
    pub private: bool,
    /// Its number.
    pub number: u16,
}

/// What setting or resetting a mode does besides changing its bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    Bit,
    /// Nothing but that only one of the mouse tracking modes is set.
    MouseTracking,
    /// Nothing but that only one of the mouse encodings is set.
    MouseEncoding,
    /// The cursor goes home.
    Home,
    /// To the alternate screen and back (47, 1047).
    Alternate,
    /// Saves and restores the cursor (1048).
    Cursor,
    /// Both, cleared when entered (1049).
    AlternateCursor,
    /// Reports the size at once when set (2048).
    SizeReport,
}

/// One row of the table of modes.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) mode: Mode,
    pub(crate) bit: Modes,
    pub(crate) effect: Effect,
    pub(crate) name: &'static str,
}

const fn ansi(number: u16, bit: Modes, name: &'static str) -> Entry {
    Entry { mode: Mode { private: false, number }, bit, effect: Effect::Bit, name }
}

const fn dec(number: u16, bit: Modes, effect: Effect, name: &'static str) -> Entry {
    Entry { mode: Mode { private: true, number }, bit, effect, name }
}

/// Every mode we know.
pub(crate) const TABLE: &[Entry] = &[
    ansi(4, Modes::INSERT, "insert (IRM)"),
    ansi(20, Modes::NEWLINE, "line feed returns (LNM)"),
    dec(1, Modes::APP_CURSOR, Effect::Bit, "application cursor keys (DECCKM)"),
    dec(4, Modes::SMOOTH_SCROLL, Effect::Bit, "smooth scrolling (DECSCLM), kept only"),
    dec(5, Modes::REVERSE_SCREEN, Effect::Bit, "reverse video (DECSCNM)"),
    dec(6, Modes::ORIGIN, Effect::Home, "origin (DECOM)"),
    dec(7, Modes::AUTOWRAP, Effect::Bit, "autowrap (DECAWM)"),
    dec(8, Modes::AUTO_REPEAT, Effect::Bit, "auto-repeat (DECARM), kept only"),
    dec(9, Modes::MOUSE_X10, Effect::MouseTracking, "mouse presses (X10)"),
    dec(12, Modes::CURSOR_BLINK, Effect::Bit, "blinking cursor"),
    dec(25, Modes::CURSOR_VISIBLE, Effect::Bit, "cursor shown (DECTCEM)"),
    dec(45, Modes::REVERSE_WRAP, Effect::Bit, "reverse wraparound"),
    dec(47, Modes::ALTERNATE, Effect::Alternate, "alternate screen"),
    dec(66, Modes::APP_KEYPAD, Effect::Bit, "application keypad (DECNKM)"),
    dec(67, Modes::BACKARROW, Effect::Bit, "backspace key sends BS (DECBKM)"),
    dec(1000, Modes::MOUSE_NORMAL, Effect::MouseTracking, "mouse presses and releases"),
    dec(1002, Modes::MOUSE_BUTTON, Effect::MouseTracking, "mouse drags"),
    dec(1003, Modes::MOUSE_ANY, Effect::MouseTracking, "all mouse motion"),
    dec(1004, Modes::FOCUS, Effect::Bit, "focus reports"),
    dec(1005, Modes::MOUSE_UTF8, Effect::MouseEncoding, "mouse reports in UTF-8"),
    dec(1006, Modes::MOUSE_SGR, Effect::MouseEncoding, "mouse reports, SGR form"),
    dec(1007, Modes::ALTERNATE_SCROLL, Effect::Bit, "wheel sends cursor keys"),
    dec(1015, Modes::MOUSE_URXVT, Effect::MouseEncoding, "mouse reports, urxvt form"),
    dec(1016, Modes::MOUSE_PIXELS, Effect::MouseEncoding, "mouse reports in pixels"),
    dec(1047, Modes::ALTERNATE, Effect::Alternate, "alternate screen"),
    dec(1048, Modes::empty(), Effect::Cursor, "save cursor"),
    dec(1049, Modes::ALTERNATE, Effect::AlternateCursor, "save cursor, cleared alternate screen"),
    dec(2004, Modes::BRACKETED_PASTE, Effect::Bit, "bracketed paste"),
    dec(2026, Modes::SYNCHRONIZED, Effect::Bit, "synchronized output"),
    dec(2027, Modes::GRAPHEMES, Effect::Bit, "grapheme clusters"),
    dec(2031, Modes::COLOR_SCHEME, Effect::Bit, "colour scheme reports"),
    dec(2048, Modes::SIZE_REPORTS, Effect::SizeReport, "in-band size reports"),
];

/// The row of the table for a mode.
pub(crate) fn entry(private: bool, number: u16) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.mode == Mode { private, number })
}

/// The modes of mouse tracking, of which one at most is set.
pub(crate) const MOUSE_TRACKING: Modes =
    Modes::MOUSE_X10.union(Modes::MOUSE_NORMAL).union(Modes::MOUSE_BUTTON).union(Modes::MOUSE_ANY);

/// The mouse encodings, of which one at most is set.
pub(crate) const MOUSE_ENCODING: Modes =
    Modes::MOUSE_UTF8.union(Modes::MOUSE_SGR).union(Modes::MOUSE_URXVT).union(Modes::MOUSE_PIXELS);
