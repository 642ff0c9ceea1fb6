//! The bytes of a person's terminal, taken apart into events.
//!
//! A [`KeyDecoder`] is fed whatever was read and gives the events that are certain. Every event
//! comes with the bytes it was, so that they can be passed on as they are. `scan` finds where a
//! sequence ends, `csi` says what it means.
//!
//! Invariants: the same bytes give the same events whatever way they are cut; the bytes of all
//! events in order are the bytes fed; what is held back is bounded.

mod csi;
mod scan;

use greenroom_model::{Key, KeyEvent, Mods, MouseEvent};

use super::paste;
use scan::{Scan, StringEnd, scan, string_end};

/// How much of a paste or of a long answer one event carries: enough to be cheap, little enough
/// to hold back and to look through again with every read.
const CHUNK: usize = 1024;

/// What a person or their terminal did.
///
/// ```
/// use greenroom_model::{Key, KeyEvent};
/// use greenroom_screen::keys::{Input, KeyDecoder};
///
/// let events = KeyDecoder::default().feed(b"\x1b[A");
/// assert_eq!(events[0].input, Input::Key(KeyEvent::from(Key::Up)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A key.
    Key(KeyEvent),
    /// The pointer.
    Mouse(MouseEvent),
    /// A piece of a paste: a long one comes in several, the last of which has `end` set.
    Paste {
        /// The bytes pasted, without the brackets.
        text: Vec<u8>,
        /// Whether the paste ends here.
        end: bool,
    },
    /// The terminal gained the focus, or lost it.
    Focus(bool),
    /// An answer of the terminal to a query, or a piece of a long one; nobody typed it.
    Reply,
    /// Bytes that stand for nothing known.
    Raw,
}

/// An event and the bytes it was.
///
/// ```
/// use greenroom_screen::keys::{Input, KeyDecoder};
///
/// let events = KeyDecoder::default().feed(b"\x1b[?62;4c");
/// assert_eq!(events[0].input, Input::Reply);
/// assert_eq!(events[0].raw, b"\x1b[?62;4c");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// What it is.
    pub input: Input,
    /// The bytes it was.
    pub raw: Vec<u8>,
}

/// Takes the bytes of a person's terminal apart into events.
///
/// It knows legacy keys, modifyOtherKeys, the kitty keyboard protocol and the pointer in every
/// encoding but 1005, which cannot be told from the default one. Pixels of 1016 look like cells
/// and come as such: who asked for them knows.
///
/// ```
/// use greenroom_screen::keys::{Input, KeyDecoder};
///
/// let mut decoder = KeyDecoder::default();
/// assert!(decoder.feed(b"\x1b").is_empty(), "it may begin a sequence");
/// assert!(decoder.is_waiting());
/// let events = decoder.flush();
/// assert_eq!(events[0].input, Input::Key("escape".parse()?));
/// # Ok::<(), greenroom_model::KeyError>(())
/// ```
#[derive(Debug, Default)]
pub struct KeyDecoder {
    /// What was fed and not yet given out: something that goes on.
    held: Vec<u8>,
    state: State,
    /// How many cursor position reports are on their way.
    reports: u32,
}

/// What the bytes at the front of `held` belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Ground,
    /// A paste; whether a piece of it was given out already.
    Paste { begun: bool },
    /// A long answer of which a piece was given out already.
    Reply,
}

impl KeyDecoder {
    /// Takes what was read and gives the events that are complete.
    ///
    /// ```
    /// use greenroom_screen::keys::KeyDecoder;
    ///
    /// let mut decoder = KeyDecoder::default();
    /// assert_eq!(decoder.feed(b"a\x1b[1;").len(), 1);
    /// assert_eq!(decoder.feed(b"5A")[0].raw, b"\x1b[1;5A");
    /// ```
    #[must_use]
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Decoded> {
        let mut held = std::mem::take(&mut self.held);
        held.extend(bytes);
        let mut events = Vec::new();
        let mut rest = held.as_slice();
        while let Some((event, length)) = self.next(rest) {
            events.extend(event);
            rest = rest.get(length..).unwrap_or_default();
        }
        self.held = rest.to_vec();
        events
    }

    /// Whether [`flush`](KeyDecoder::flush) would give something: time to start a clock.
    ///
    /// ```
    /// assert!(!greenroom_screen::keys::KeyDecoder::default().is_waiting());
    /// ```
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        match self.state {
            State::Ground => alone(&self.held).is_some(),
            State::Paste { .. } | State::Reply => false,
        }
    }

    /// Says that nothing followed in time: an ESC that is held was the key, or alt with a key.
    ///
    /// Sequences with more to them stay held, because a keyboard never stops in the middle of
    /// one, while the answer of a far terminal can.
    ///
    /// ```
    /// use greenroom_screen::keys::{Input, KeyDecoder};
    ///
    /// let mut decoder = KeyDecoder::default();
    /// assert!(decoder.feed(b"\x1b[").is_empty());
    /// assert_eq!(decoder.flush()[0].input, Input::Key("alt+[".parse()?));
    /// # Ok::<(), greenroom_model::KeyError>(())
    /// ```
    #[must_use]
    pub fn flush(&mut self) -> Vec<Decoded> {
        if !self.is_waiting() {
            return Vec::new();
        }
        let raw = std::mem::take(&mut self.held);
        alone(&raw).map(|event| Decoded { input: Input::Key(event), raw }).into_iter().collect()
    }

    /// Says that the terminal was asked for its cursor's position.
    ///
    /// The report of a cursor in the first row is the same bytes as F3 with modifiers; only who
    /// asked can tell them apart.
    ///
    /// ```
    /// use greenroom_screen::keys::{Input, KeyDecoder};
    ///
    /// let mut decoder = KeyDecoder::default();
    /// assert_eq!(decoder.feed(b"\x1b[1;2R")[0].input, Input::Key("shift+f3".parse()?));
    /// decoder.expect_position_report();
    /// assert_eq!(decoder.feed(b"\x1b[1;2R")[0].input, Input::Reply);
    /// # Ok::<(), greenroom_model::KeyError>(())
    /// ```
    pub fn expect_position_report(&mut self) {
        self.reports = self.reports.saturating_add(1);
    }

    /// The next event at the front of `bytes` and how many bytes it took, if it is complete.
    ///
    /// Some bytes only change the state and give no event of their own.
    fn next(&mut self, bytes: &[u8]) -> Option<(Option<Decoded>, usize)> {
        match self.state {
            State::Paste { begun } => self.next_of_paste(bytes, begun),
            State::Reply => {
                let (length, ended) = match string_end(bytes, CHUNK) {
                    StringEnd::At(end) => (end, true),
                    StringEnd::Beyond => (CHUNK, false),
                    StringEnd::More => return None,
                };
                if ended {
                    self.state = State::Ground;
                }
                // A control that cuts the answer short may stand where this piece would begin.
                let event = (length > 0).then(|| decoded(Input::Reply, bytes, length));
                Some((event, length))
            }
            State::Ground => {
                let (input, length) = match scan(bytes) {
                    Scan::More => return None,
                    Scan::PasteStart(length) => {
                        self.state = State::Paste { begun: false };
                        return Some((None, length));
                    }
                    Scan::LongReply => {
                        self.state = State::Reply;
                        (Input::Reply, CHUNK)
                    }
                    Scan::Csi(length) => (self.csi(bytes.get(..length)?), length),
                    Scan::Done(input, length) => (input, length),
                };
                Some((Some(decoded(input, bytes, length)), length))
            }
        }
    }

    fn csi(&mut self, bytes: &[u8]) -> Input {
        let input = csi::decode(bytes, self.reports > 0);
        if input == Input::Reply && bytes.ends_with(b"R") {
            self.reports = self.reports.saturating_sub(1);
        }
        input
    }

    /// The next piece of a paste: always a full one, until the end is in sight.
    fn next_of_paste(&mut self, bytes: &[u8], begun: bool) -> Option<(Option<Decoded>, usize)> {
        let content = content_length(bytes);
        let (length, end) = match content {
            Content::UpTo(length) | Content::AtLeast(length) if length >= CHUNK => (CHUNK, false),
            Content::UpTo(length) => (length, true),
            Content::AtLeast(_) => return None,
        };
        let text = bytes.get(..length)?.to_vec();
        let mut raw = if begun { Vec::new() } else { paste::START.to_vec() };
        raw.extend(&text);
        if end {
            raw.extend(paste::END);
        }
        self.state = if end { State::Ground } else { State::Paste { begun: true } };
        let taken = if end { length + paste::END.len() } else { length };
        Some((Some(Decoded { input: Input::Paste { text, end }, raw }), taken))
    }
}

/// How much of what was read is certain to be the content of a paste.
enum Content {
    /// So much, and then the end.
    UpTo(usize),
    /// So much, and the end is not in sight.
    AtLeast(usize),
}

fn content_length(bytes: &[u8]) -> Content {
    // Only as far as one piece reaches: a large paste would be searched once for every piece.
    let bytes = bytes.get(..CHUNK + paste::END.len()).unwrap_or(bytes);
    let mut from = 0;
    while let Some(offset) = bytes.iter().skip(from).position(|byte| *byte == 0x1b) {
        let at = from + offset;
        let rest = bytes.get(at..).unwrap_or_default();
        if rest.starts_with(paste::END) {
            return Content::UpTo(at);
        }
        if paste::END.starts_with(rest) {
            return Content::AtLeast(at);
        }
        from = at + 1;
    }
    Content::AtLeast(bytes.len())
}

fn decoded(input: Input, bytes: &[u8], length: usize) -> Decoded {
    Decoded { input, raw: bytes.get(..length).unwrap_or_default().to_vec() }
}

/// The key that held bytes are if nothing follows them.
fn alone(held: &[u8]) -> Option<KeyEvent> {
    match held {
        [0x1b] => Some(KeyEvent::from(Key::Escape)),
        [0x1b, byte] if byte.is_ascii_graphic() => {
            Some(KeyEvent::new(Key::Char(char::from(*byte)), Mods::ALT))
        }
        _ => None,
    }
}
