//! What of a program's output may reach a person's terminal.
//!
//! The daemon is the terminal and answers queries itself; a person who watches must not have
//! their own terminal answer too, nor have it do what a stranger's bytes say. A [`Filter`] takes
//! such sequences out of the stream and passes everything else on, byte for byte.

use crate::parser::{Actor, Csi, Params, Parser, StringKind, StringSequence, osc_number};

/// How many bytes of a sequence are held back until it can be judged: as much as the longest string
/// that is kept at all. A longer one is dropped, as the screen drops it.
const MAX_HELD: usize = crate::parser::MAX_STRING + 256;

/// How many controls inside a sequence that is not passed are passed on.
const MAX_CONTROLS: usize = 4096;

/// The mode that makes a terminal report its size as soon as it is set.
const REPORTING_MODE: u16 = 2048;

/// What a filter takes out.
///
/// ```
/// use greenroom_screen::{Filter, Policy};
///
/// let policy = Policy { graphics: true, ..Policy::default() };
/// let sixel = b"a\x1bPq#0~\x1b\\b";
/// assert_eq!(Filter::new(policy).feed(sixel), b"ab");
/// assert_eq!(Filter::new(Policy::default()).feed(sixel), sixel);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Questions to the terminal (DA, DSR, DECRQM, colours, capabilities…) are taken out, so
    /// that one terminal answers and not every viewer's.
    pub queries: bool,
    /// Writing the clipboard (OSC 52) is taken out. Reading it always is.
    pub clipboard: bool,
    /// What acts on the window or the world is taken out: moving and resizing windows, printing,
    /// notifications, file transfer (OSC 1337), and the answerback control.
    pub actions: bool,
    /// Pictures are taken out.
    pub graphics: bool,
}

impl Default for Policy {
    /// For a person who attaches: no queries, no clipboard, no actions; pictures pass.
    fn default() -> Policy {
        Policy { queries: true, clipboard: true, actions: true, graphics: false }
    }
}

/// Takes sequences out of a stream.
///
/// ```
/// use greenroom_screen::{Filter, Policy};
///
/// let mut filter = Filter::new(Policy::default());
/// assert_eq!(filter.feed(b"a\x1b[6nb\x1b[31mc"), b"ab\x1b[31mc");
/// // A sequence cut in two is judged when it is whole.
/// assert_eq!(filter.feed(b"d\x1b]52;c;"), b"d");
/// assert_eq!(filter.feed(b"?\x07e"), b"e");
/// ```
#[derive(Debug, Clone)]
pub struct Filter {
    policy: Policy,
    parser: Parser,
    /// The sequence being read.
    held: Vec<u8>,
    /// The sequence being read grew past what is held; it is dropped.
    overlong: bool,
    /// Controls inside the sequence being read: they pass even if it does not.
    controls: Vec<u8>,
}

/// Judges a sequence once it is whole.
struct Judge {
    policy: Policy,
    blocked: bool,
    /// A sequence came to its proper end. One that did not means nothing, and its beginning must
    /// not be completed by what follows.
    whole: bool,
    /// Controls met on the way; inside a sequence they act all the same.
    controls: Vec<u8>,
    /// What passes of a sequence that is taken out.
    instead: Vec<u8>,
}

impl Filter {
    /// Makes a filter.
    ///
    /// ```
    /// use greenroom_screen::{Filter, Policy};
    ///
    /// let off = Policy { queries: false, clipboard: false, actions: false, graphics: false };
    /// assert_eq!(Filter::new(off).feed(b"\x1b[c"), b"\x1b[c");
    /// assert_eq!(Filter::new(Policy::default()).feed(b"\x1b[c"), b"");
    /// ```
    #[must_use]
    pub fn new(policy: Policy) -> Filter {
        Filter {
            policy,
            parser: Parser::default(),
            held: Vec::new(),
            overlong: false,
            controls: Vec::new(),
        }
    }

    /// Takes bytes and gives those that may pass.
    ///
    /// What may become a sequence is held back until it is one.
    ///
    /// ```
    /// use greenroom_screen::{Filter, Policy};
    ///
    /// let mut filter = Filter::new(Policy::default());
    /// assert_eq!(filter.feed(b"red: \x1b[3"), b"red: ");
    /// assert_eq!(filter.feed(b"1mtext"), b"\x1b[31mtext");
    /// ```
    #[must_use]
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        let mut rest = bytes;
        while !rest.is_empty() {
            let before = self.parser.taken();
            let was_ground = self.parser.is_ground();
            let was_ending = self.parser.is_ending_string();
            let mut judge = Judge::new(self.policy);
            let used = self.parser.step(&mut judge, rest);
            let (now, later) = rest.split_at(used);
            rest = later;
            if !was_ground {
                self.controls.extend_from_slice(&judge.controls);
                self.controls.extend_from_slice(&judge.instead);
            }
            let blocked = judge.blocked || !judge.whole;
            if was_ending && used == 0 {
                self.cut_string(blocked, &mut out);
            } else {
                self.sort(now, before, was_ground, blocked, &mut out);
            }
        }
        out
    }

    /// How many of the bytes it took are not decided yet: the beginning of a sequence or character.
    ///
    /// Who reads on from there with a new filter misses nothing and repeats nothing.
    ///
    /// ```
    /// use greenroom_screen::{Filter, Policy};
    ///
    /// let mut filter = Filter::new(Policy::default());
    /// assert_eq!(filter.feed(b"text\x1b[3"), b"text");
    /// assert_eq!(filter.undecided(), 3);
    /// ```
    #[must_use]
    pub fn undecided(&self) -> u64 {
        if self.parser.is_ground() { 0 } else { self.parser.taken() - self.parser.start() }
    }

    /// Passes, holds or drops the bytes of one step.
    fn sort(
        &mut self,
        now: &[u8],
        before: u64,
        was_ground: bool,
        blocked: bool,
        out: &mut Vec<u8>,
    ) {
        let ground = self.parser.is_ground();
        // Where in these bytes a sequence (or half a character) begins that is not over yet.
        let begins = match self.parser.start().checked_sub(before) {
            Some(at) if !ground => Some(at as usize),
            _ => None,
        };
        let (head, tail) = now.split_at(begins.unwrap_or(now.len()).min(now.len()));
        if was_ground {
            self.pass_text(head, out);
        } else {
            self.hold(head);
            if ground {
                self.judge(blocked, out);
            } else if begins.is_some() {
                // Broken off by the ESC of the next sequence.
                self.judge(true, out);
            }
        }
        self.hold(tail);
    }

    /// A string ended at an ESC that is not its terminator's: it gets one, and the ESC is held as
    /// the beginning of the next sequence.
    fn cut_string(&mut self, blocked: bool, out: &mut Vec<u8>) {
        if !self.overlong {
            self.held.extend_from_slice(b"\\");
        }
        self.judge(blocked, out);
        self.hold(b"\x1b");
    }

    /// Passes text and the controls in it. Bytes that are not UTF-8 show nothing here, but could
    /// become a character with what follows once something between is taken out.
    fn pass_text(&self, text: &[u8], out: &mut Vec<u8>) {
        if text.is_ascii() && memchr::memchr(b'\x05', text).is_none() {
            return out.extend_from_slice(text);
        }
        for valid in text.utf8_chunks().map(|chunk| chunk.valid()) {
            // ENQ asks for the answerback, U+009A is DECID in one character, and a string's end
            // means nothing by itself.
            let asks = |c| matches!(c, '\x05' | '\u{9a}') && self.policy.queries;
            if valid.contains(|c| asks(c) || c == '\u{9c}') {
                out.extend_from_slice(valid.replace(|c| asks(c) || c == '\u{9c}', "").as_bytes());
            } else {
                out.extend_from_slice(valid.as_bytes());
            }
        }
    }

    /// Passes or drops the sequence held, which is over.
    fn judge(&mut self, blocked: bool, out: &mut Vec<u8>) {
        let held = std::mem::take(&mut self.held);
        let overlong = std::mem::take(&mut self.overlong);
        let controls = std::mem::take(&mut self.controls);
        let c1 = matches!(held[..], [0xc2, 0x80..=0x9f, ..]);
        if !c1 && held.first().is_some_and(|&byte| byte >= 0x80) {
            // Half a character that got its other half, or did not.
            self.pass_text(&held, out);
        } else if overlong || blocked {
            self.pass_text(&controls, out);
        } else if let Some(picture) = held.strip_prefix(b"\x1b_G")
            && self.policy.queries
            && is_answered(picture)
        {
            out.extend_from_slice(b"\x1b_Gq=2,");
            out.extend_from_slice(picture);
        } else {
            out.extend_from_slice(&held);
        }
    }

    fn hold(&mut self, bytes: &[u8]) {
        if self.held.len() + bytes.len() > MAX_HELD {
            self.overlong = true;
            self.held.clear();
            // Nobody puts thousands of controls into one sequence; a bound all the same.
            self.controls.truncate(MAX_CONTROLS);
        }
        if !self.overlong {
            self.held.extend_from_slice(bytes);
        }
    }
}

impl Judge {
    fn new(policy: Policy) -> Judge {
        Judge { policy, blocked: false, whole: false, controls: Vec::new(), instead: Vec::new() }
    }
}

impl Actor for Judge {
    fn ascii(&mut self, _: &[u8]) {}

    fn scalar(&mut self, _: char) {}

    fn control(&mut self, byte: u8) {
        if self.controls.len() < MAX_CONTROLS {
            self.controls.push(byte);
        }
    }

    fn escape(&mut self, _: u8, last: u8) {
        self.whole = true;
        // DECID.
        self.blocked |= last == b'Z' && self.policy.queries;
    }

    fn csi(&mut self, csi: &Csi) {
        self.whole = true;
        let Policy { queries, actions, .. } = self.policy;
        let params = &csi.params;
        self.blocked |= match (csi.prefix, csi.intermediate, csi.last) {
            (_, 0, b'c' | b'n') if csi.prefix != b'>' || csi.last == b'c' => queries,
            (_, b'$', b'p' | b'u') => queries,
            (_, b'#', b'R' | b'|') | (_, b'\'', b'|') | (_, b'"', b'v') | (b'?', 0, b'g') => {
                queries
            }
            (b'>', 0, b'q') | (b'?', 0, b'u') | (b'?', 0, b'm') => queries,
            (0, 0, b'x') | (0, b'*', b'y') | (0, b'$', b'w') | (0, b'&', b'u') => queries,
            (b'?', 0, b'S') => queries,
            (0, 0, b't') => match params.get(0) {
                11 | 13..=16 | 18..=21 => queries,
                22 | 23 => false,
                _ => actions,
            },
            (0 | b'?', 0, b'i') => actions,
            // Setting the mode reports the size at once.
            (b'?', 0, b'h') if queries && params.values().contains(&REPORTING_MODE) => {
                self.pass_other_modes(params);
                true
            }
            _ => false,
        };
    }

    fn string(&mut self, string: &StringSequence<'_>) {
        self.whole = true;
        let Policy { queries, clipboard, actions, graphics } = self.policy;
        // Some terminals would end the string there and read on as if it were a sequence.
        let has_c1 = string.payload.windows(2).any(|it| matches!(it, [0xc2, 0x80..=0x9f]));
        self.blocked |= has_c1;
        self.blocked |= match string.kind {
            StringKind::Osc => self.blocks_osc(string.payload),
            StringKind::Dcs => match (string.csi.intermediate, string.csi.last) {
                (b'$' | b'+', b'q') => queries,
                (0, b'q') => graphics,
                _ => actions || clipboard,
            },
            // Kitty graphics answer unless told to be quiet.
            StringKind::Apc if string.payload.starts_with(b"G") => {
                graphics || (queries && string.payload.windows(3).any(|it| it == b"a=q"))
            }
            StringKind::Apc | StringKind::Other => actions,
        };
    }
}

impl Judge {
    /// Of a list of modes to set, all but the one that makes the terminal report.
    fn pass_other_modes(&mut self, params: &Params) {
        let others = params.values().iter().filter(|&&number| number != REPORTING_MODE);
        for number in others {
            self.instead.extend_from_slice(format!("\x1b[?{number}h").as_bytes());
        }
    }

    fn blocks_osc(&self, payload: &[u8]) -> bool {
        let Policy { queries, clipboard, actions, .. } = self.policy;
        let Some((number, rest)) = osc_number(payload) else { return actions };
        let asks = || rest.split(|&byte| byte == b';').any(|part| part == b"?");
        match number {
            4 | 5 | 10..=19 => queries && asks(),
            // Terminals that know these take a question mark anywhere for a question.
            21 | 22 | 99 => queries && rest.contains(&b'?') || number == 99 && actions,
            52 => clipboard || asks(),
            9 => actions && !rest.starts_with(b"4;"),
            3 | 50 | 60 | 61 | 777 | 1337 | 5522 => actions,
            _ => false,
        }
    }
}

/// Whether kitty answers this picture command: it has a number and does not say to be quiet.
fn is_answered(picture: &[u8]) -> bool {
    let control = picture.split(|&byte| byte == b';').next().unwrap_or_default();
    let mut pairs = control.split(|&byte| byte == b',');
    let has = |key: &[u8]| pairs.clone().any(|pair| pair.starts_with(key));
    let numbered = has(b"i=") || has(b"I=");
    numbered && !pairs.any(|pair| pair == b"q=2")
}

/// A text that may stand in a list or a title.
///
/// Without control characters, and without the invisible ones that turn text around or hide it.
///
/// ```
/// assert_eq!(greenroom_screen::sanitize("a\x1b[31mb\u{202e}c\u{200b}d"), "a[31mbcd");
/// ```
#[must_use]
pub fn sanitize(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c,
                '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
                | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
                | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
    };
    text.chars().filter(|&c| !hidden(c)).collect()
}
