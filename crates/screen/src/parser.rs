//! Bytes to text, controls and sequences; the same whatever way the bytes are cut.
//!
//! Each state takes as much of the slice as it can in one tight loop, so a sequence that lies
//! whole in the slice never leaves the processor's registers for long, and one that does not is
//! resumed from the few fields below. The states are those of the VT500 parser as xterm.js reads
//! them: controls inside a sequence act at once, CAN and SUB abort, ESC starts anew, a string
//! ends with ST (or BEL for OSC), C1 controls are taken in their UTF-8 form only.
//!
//! Neighbours: [`Actor`] is `terminal` (which acts) or `filter` (which judges). Not here: what
//! any sequence means.
//!
//! Invariant: memory is bounded by [`MAX_STRING`], whatever the stream.

mod params;
mod saved;
mod scan;
mod strings;
#[cfg(test)]
mod tests;
mod utf8;

pub(crate) use params::Params;
pub(crate) use scan::printable;
pub(crate) use strings::osc_number;
use utf8::Decoded;

/// The longest OSC payload kept: far above any title, path or link, and room for a screenful of
/// text sent to the clipboard. A longer one is dropped whole, never cut.
pub(crate) const MAX_OSC: usize = 128 * 1024;

/// The longest DCS or APC payload kept: one picture. A longer one is dropped whole.
pub(crate) const MAX_STRING: usize = 1024 * 1024;

/// What a buffer may keep allocated between strings; a picture's buffer is given back.
const KEEP_STRING: usize = 1024;

const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;

/// Receives what the parser finds, in stream order.
pub(crate) trait Actor {
    /// Printable ASCII, at least one byte.
    fn ascii(&mut self, run: &[u8]);
    /// One printable character past ASCII.
    fn scalar(&mut self, c: char);
    /// A C0 control other than ESC, CAN and SUB.
    fn control(&mut self, byte: u8);
    /// CR and LF together, which end nearly every line.
    #[inline]
    fn new_line(&mut self) {
        self.control(b'\r');
        self.control(b'\n');
    }
    /// What follows a line's end. An actor may take whole lines of printable ASCII, each with its
    /// CR and LF, at once; it says how many bytes that were.
    #[inline]
    fn lines(&mut self, _: &[u8]) -> usize {
        0
    }
    /// `ESC`, intermediates, final.
    fn escape(&mut self, intermediate: u8, last: u8);
    /// A control sequence.
    fn csi(&mut self, sequence: &Csi);
    /// A whole string sequence.
    fn string(&mut self, string: &StringSequence<'_>);
}

/// A control sequence: `CSI prefix params intermediates final`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Csi {
    /// One of `<`, `=`, `>`, `?`, or zero.
    pub(crate) prefix: u8,
    /// The last intermediate byte, or zero.
    pub(crate) intermediate: u8,
    /// The byte that ended it.
    pub(crate) last: u8,
    /// Its numbers.
    pub(crate) params: Params,
}

impl Csi {
    const EMPTY: Csi = Csi { prefix: 0, intermediate: 0, last: 0, params: Params::EMPTY };
}

/// Which kind of string a sequence carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StringKind {
    /// Operating system command: titles, colours, links, marks.
    Osc,
    /// Device control string; its introducer is in [`StringSequence::csi`].
    Dcs,
    /// Application program command: kitty graphics.
    Apc,
    /// Start of string or privacy message: nothing listens to those.
    Other,
}

/// A string sequence with its payload.
#[derive(Debug)]
pub(crate) struct StringSequence<'a> {
    pub(crate) kind: StringKind,
    /// For a DCS what stands before the payload.
    pub(crate) csi: &'a Csi,
    pub(crate) payload: &'a [u8],
    /// Whether BEL ended it, so that a reply can end alike.
    pub(crate) bell: bool,
    /// How many bytes the stream had before the sequence's first.
    pub(crate) start: u64,
    /// How many bytes the stream had after its terminator.
    pub(crate) end: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ground,
    Escape,
    Csi,
    CsiIntermediate,
    CsiIgnore,
    /// The introducer of a DCS, up to its final byte.
    Dcs,
    DcsIntermediate,
    String(StringKind),
    /// A string that cannot be kept: skipped to its end.
    Skip(StringKind),
}

/// The resumable state between two slices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parser {
    state: State,
    csi: Csi,
    /// The current parameter, while its digits are read.
    number: u32,
    payload: Vec<u8>,
    /// An ESC was read in a string: its terminator, or the beginning of another sequence.
    ending: bool,
    partial: utf8::Partial,
    /// Bytes taken before the current slice.
    taken: u64,
    /// Where the current sequence started.
    start: u64,
}

impl Default for Parser {
    fn default() -> Parser {
        Parser {
            state: State::Ground,
            csi: Csi::EMPTY,
            number: 0,
            payload: Vec::new(),
            ending: false,
            partial: utf8::Partial::default(),
            taken: 0,
            start: 0,
        }
    }
}

impl Parser {
    /// How many bytes it has been fed.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Whether no sequence and no character is half read.
    pub(crate) fn is_ground(&self) -> bool {
        self.state == State::Ground && self.partial.is_empty()
    }

    /// Where the sequence being read began; only of use while not [`Parser::is_ground`].
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Whether the next byte decides if a string's terminator is whole.
    pub(crate) fn is_ending_string(&self) -> bool {
        self.ending
    }

    /// Heap bytes held.
    pub(crate) fn heap(&self) -> usize {
        self.payload.capacity()
    }

    /// Takes the whole slice.
    #[inline]
    pub(crate) fn advance<A: Actor>(&mut self, actor: &mut A, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let used = match self.state {
                State::Ground => self.ground::<A, true>(actor, rest),
                _ => self.step(actor, rest),
            };
            rest = &rest[used..];
        }
    }

    /// Takes text up to a sequence, or one (piece of a) sequence, and says how many bytes that
    /// was: at least one, unless a half-read character turned out broken.
    #[inline]
    pub(crate) fn step<A: Actor>(&mut self, actor: &mut A, bytes: &[u8]) -> usize {
        let used = match self.state {
            State::Ground => return self.ground::<A, false>(actor, bytes),
            State::Escape => self.escape(actor, bytes),
            State::Csi => self.csi(actor, bytes),
            State::CsiIntermediate | State::CsiIgnore => self.csi_tail(actor, bytes),
            State::Dcs | State::DcsIntermediate => self.dcs(bytes),
            State::String(kind) => self.string(actor, bytes, kind, true),
            State::Skip(kind) => self.string(actor, bytes, kind, false),
        };
        self.taken += used as u64;
        used
    }

    /// Takes text and controls up to a sequence, and if `ON` is set also the control sequences
    /// between them, without going back to [`Parser::step`] for each.
    #[inline]
    fn ground<A: Actor, const ON: bool>(&mut self, actor: &mut A, bytes: &[u8]) -> usize {
        if !self.partial.is_empty() {
            let used = self.resume_scalar(actor, bytes);
            self.taken += used as u64;
            return used;
        }
        let mut at = 0;
        // How much of the slice `taken` counts already.
        let mut counted = 0;
        while self.state == State::Ground {
            let run = scan::printable(&bytes[at..]);
            if run > 0 {
                actor.ascii(&bytes[at..at + run]);
                at += run;
            }
            match bytes[at..] {
                [] => break,
                [b'\r', b'\n', ..] => {
                    actor.new_line();
                    at += 2;
                    at += actor.lines(&bytes[at..]);
                }
                [ESC, b'[', ..] => {
                    self.start = self.taken + (at - counted) as u64;
                    self.begin_csi(State::Csi);
                    at += 2;
                    if ON {
                        self.taken += (at - counted) as u64;
                        let used = self.csi(actor, &bytes[at..]);
                        self.taken += used as u64;
                        at += used;
                        counted = at;
                    }
                }
                [ESC, ..] => {
                    self.start = self.taken + (at - counted) as u64;
                    self.csi.intermediate = 0;
                    self.state = State::Escape;
                    at += 1;
                }
                [CAN | SUB | 0x7f, ..] => at += 1,
                [byte @ 0x00..=0x1f, ..] => {
                    actor.control(byte);
                    at += 1;
                }
                [_, ..] => at += self.scalars(actor, &bytes[at..], at - counted),
            }
        }
        self.taken += (at - counted) as u64;
        at
    }

    /// Takes characters past ASCII for as long as they follow one another.
    #[inline]
    fn scalars<A: Actor>(&mut self, actor: &mut A, bytes: &[u8], before: usize) -> usize {
        let mut at = 0;
        while let Some(&lead) = bytes.get(at) {
            if lead < 0x80 {
                break;
            }
            match utf8::decode(&bytes[at..]) {
                Decoded::Scalar(c, len) => {
                    if c < '\u{a0}' {
                        self.start = self.taken + (before + at) as u64;
                        self.c1(actor, c);
                        return at + len;
                    }
                    actor.scalar(c);
                    at += len;
                }
                // xterm.js and tmux show nothing for bytes that are not UTF-8; so do we.
                Decoded::Invalid(len) => at += len,
                Decoded::Incomplete => {
                    self.partial = utf8::Partial::new(&bytes[at..]);
                    self.start = self.taken + (before + at) as u64;
                    return bytes.len();
                }
            }
        }
        at
    }

    /// Goes on with a character whose first bytes came in an earlier slice.
    fn resume_scalar<A: Actor>(&mut self, actor: &mut A, bytes: &[u8]) -> usize {
        let (decoded, held) = self.partial.resume(bytes);
        match decoded {
            Decoded::Scalar(c, len) => {
                self.partial = utf8::Partial::default();
                if c < '\u{a0}' {
                    self.c1(actor, c);
                } else {
                    actor.scalar(c);
                }
                len - held
            }
            Decoded::Invalid(len) => {
                self.partial = utf8::Partial::default();
                len.saturating_sub(held)
            }
            Decoded::Incomplete => {
                self.partial.extend(bytes);
                bytes.len()
            }
        }
    }

    /// A C1 control, which is `ESC` and a byte of the upper columns in one.
    fn c1<A: Actor>(&mut self, actor: &mut A, c: char) {
        let byte = (c as u32 as u8).wrapping_sub(0x40);
        self.dispatch_escape(actor, 0, byte);
    }

    fn begin_csi(&mut self, state: State) {
        self.csi.prefix = 0;
        self.csi.intermediate = 0;
        self.csi.params.clear();
        self.number = 0;
        self.state = state;
    }

    /// After ESC, up to the final byte.
    fn escape<A: Actor>(&mut self, actor: &mut A, bytes: &[u8]) -> usize {
        for (at, &byte) in bytes.iter().enumerate() {
            match byte {
                ESC => {
                    self.start = self.taken + at as u64;
                    self.csi.intermediate = 0;
                }
                CAN | SUB => return self.end(at),
                0x00..=0x1f => actor.control(byte),
                0x20..=0x2f => self.csi.intermediate = byte,
                0x30..=0x7e => {
                    let intermediate = std::mem::take(&mut self.csi.intermediate);
                    self.state = State::Ground;
                    self.dispatch_escape(actor, intermediate, byte);
                    return at + 1;
                }
                0x7f => {}
                // Not part of any sequence: give it back to the ground state as text.
                0x80.. => {
                    self.csi.intermediate = 0;
                    self.state = State::Ground;
                    return at;
                }
            }
        }
        bytes.len()
    }

    fn dispatch_escape<A: Actor>(&mut self, actor: &mut A, intermediate: u8, last: u8) {
        self.state = State::Ground;
        match (intermediate, last) {
            (0, b'[') => self.begin_csi(State::Csi),
            (0, b'P') => self.begin_csi(State::Dcs),
            (0, b']') => self.begin_string(StringKind::Osc),
            (0, b'_') => self.begin_string(StringKind::Apc),
            (0, b'X' | b'^') => self.begin_string(StringKind::Other),
            (0, b'\\') => {}
            _ => actor.escape(intermediate, last),
        }
    }

    fn end(&mut self, at: usize) -> usize {
        self.state = State::Ground;
        self.csi.intermediate = 0;
        at + 1
    }

    /// Parameters, up to the final byte or the first intermediate.
    #[inline]
    fn csi<A: Actor>(&mut self, actor: &mut A, bytes: &[u8]) -> usize {
        let mut number = self.number;
        for (at, &byte) in bytes.iter().enumerate() {
            match byte {
                b'0'..=b'9' => number = params::digit(number, byte),
                b';' | b':' => {
                    self.csi.params.push(number, byte == b':');
                    number = 0;
                }
                0x40..=0x7e => {
                    self.csi.params.finish(number);
                    self.csi.last = byte;
                    self.state = State::Ground;
                    actor.csi(&self.csi);
                    return at + 1;
                }
                0x20..=0x2f => {
                    self.csi.params.finish(number);
                    self.csi.intermediate = byte;
                    self.state = State::CsiIntermediate;
                    return at + 1;
                }
                b'<'..=b'?' => {
                    let first = self.csi.prefix == 0 && self.csi.params.is_empty() && number == 0;
                    if !first {
                        self.state = State::CsiIgnore;
                        return at + 1;
                    }
                    self.csi.prefix = byte;
                }
                _ => {
                    self.number = number;
                    if let Some(used) = self.inside(actor, byte, at) {
                        return used;
                    }
                }
            }
        }
        self.number = number;
        bytes.len()
    }

    /// After the parameters: more intermediates and the final byte, or a malformed rest.
    fn csi_tail<A: Actor>(&mut self, actor: &mut A, bytes: &[u8]) -> usize {
        for (at, &byte) in bytes.iter().enumerate() {
            match byte {
                0x20..=0x2f if self.state == State::CsiIntermediate => {
                    // No sequence in use has two; keep the last so that it matches nothing.
                    self.csi.intermediate = byte | 0x80;
                }
                0x40..=0x7e => {
                    let whole = self.state == State::CsiIntermediate;
                    self.state = State::Ground;
                    self.csi.last = byte;
                    if whole {
                        actor.csi(&self.csi);
                    }
                    return at + 1;
                }
                0x20..=0x3f => self.state = State::CsiIgnore,
                _ => {
                    if let Some(used) = self.inside(actor, byte, at) {
                        return used;
                    }
                }
            }
        }
        bytes.len()
    }

    /// A byte that is no part of the control sequence around it. Says where to go on if that
    /// ended the sequence.
    fn inside<A: Actor>(&mut self, actor: &mut A, byte: u8, at: usize) -> Option<usize> {
        match byte {
            ESC => {
                self.start = self.taken + at as u64;
                self.csi.intermediate = 0;
                self.state = State::Escape;
                Some(at + 1)
            }
            CAN | SUB => Some(self.end(at)),
            0x80.. => {
                self.csi.intermediate = 0;
                self.state = State::Ground;
                Some(at)
            }
            0x7f => None,
            _ => {
                actor.control(byte);
                None
            }
        }
    }
}
