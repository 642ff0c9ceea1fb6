//! Sequences with a payload: OSC, DCS, APC and those nobody listens to.

use super::{
    Actor, CAN, ESC, KEEP_STRING, MAX_OSC, MAX_STRING, Parser, SUB, State, StringKind,
    StringSequence, params, scan, utf8,
};

const BEL: u8 = 0x07;

impl Parser {
    /// The introducer of a DCS: as a control sequence, but nothing acts inside.
    pub(super) fn dcs(&mut self, bytes: &[u8]) -> usize {
        for (at, &byte) in bytes.iter().enumerate() {
            match byte {
                b'0'..=b'9' if self.state == State::Dcs => {
                    self.number = params::digit(self.number, byte);
                }
                b';' | b':' if self.state == State::Dcs => {
                    self.csi.params.push(self.number, byte == b':');
                    self.number = 0;
                }
                b'<'..=b'?' if self.state == State::Dcs && self.csi.prefix == 0 => {
                    self.csi.prefix = byte;
                }
                0x20..=0x2f => {
                    self.csi.intermediate = byte;
                    self.state = State::DcsIntermediate;
                }
                0x40..=0x7e => {
                    self.csi.params.finish(self.number);
                    self.csi.last = byte;
                    self.begin_string(StringKind::Dcs);
                    return at + 1;
                }
                ESC => {
                    self.start = self.taken + at as u64;
                    self.csi.intermediate = 0;
                    self.state = State::Escape;
                    return at + 1;
                }
                CAN | SUB => return self.end(at),
                0x30..=0x3f => {
                    self.payload.clear();
                    self.state = State::Skip(StringKind::Dcs);
                    return at + 1;
                }
                _ => {}
            }
        }
        bytes.len()
    }

    pub(super) fn begin_string(&mut self, kind: StringKind) {
        self.payload.clear();
        self.state = match kind {
            StringKind::Other => State::Skip(kind),
            StringKind::Osc | StringKind::Dcs | StringKind::Apc => State::String(kind),
        };
    }

    /// A string's payload, up to its terminator.
    pub(super) fn string<A: Actor>(
        &mut self,
        actor: &mut A,
        bytes: &[u8],
        kind: StringKind,
        keep: bool,
    ) -> usize {
        if std::mem::take(&mut self.ending) {
            return self.end_string(actor, bytes, kind, keep);
        }
        if !self.partial.is_empty() {
            // A first byte 0xC2 ended the last slice: with 0x9C it is the one-character ST.
            self.partial = utf8::Partial::default();
            if bytes.first() == Some(&0x9c) {
                self.finish_string(actor, kind, keep, false, 1);
                return 1;
            }
            self.keep(&[0xc2], kind);
        }
        let stop = scan::string_end(bytes, kind == StringKind::Osc);
        self.keep(&bytes[..stop], kind);
        let Some(&byte) = bytes.get(stop) else { return bytes.len() };
        match byte {
            ESC => self.ending = true,
            BEL if kind == StringKind::Osc => {
                self.finish_string(actor, kind, keep, true, stop + 1);
            }
            CAN | SUB => {
                self.end(stop);
                self.release();
            }
            0xc2 => match bytes.get(stop + 1) {
                Some(0x9c) => {
                    self.finish_string(actor, kind, keep, false, stop + 2);
                    return stop + 2;
                }
                Some(_) => self.keep(&[0xc2], kind),
                None => self.partial = utf8::Partial::new(&[0xc2]),
            },
            // Other controls are no part of a string.
            _ => {}
        }
        stop + 1
    }

    /// After an ESC in a string: with `\` it is the terminator. Anything else ends the string too,
    /// and the ESC begins the next sequence.
    fn end_string<A: Actor>(
        &mut self,
        actor: &mut A,
        bytes: &[u8],
        kind: StringKind,
        keep: bool,
    ) -> usize {
        if bytes.first() == Some(&b'\\') {
            self.finish_string(actor, kind, keep, false, 1);
            return 1;
        }
        let escape = self.taken.saturating_sub(1);
        self.taken = escape;
        self.finish_string(actor, kind, keep, false, 0);
        self.taken = escape + 1;
        self.start = escape;
        self.state = State::Escape;
        0
    }

    /// Appends to the payload, or gives the whole string up if it grows past its bound.
    fn keep(&mut self, bytes: &[u8], kind: StringKind) {
        if !matches!(self.state, State::String(_)) {
            return;
        }
        let most = if kind == StringKind::Osc { MAX_OSC } else { MAX_STRING };
        if self.payload.len() + bytes.len() > most {
            self.payload = Vec::new();
            self.state = State::Skip(kind);
            return;
        }
        self.payload.extend_from_slice(bytes);
    }

    fn finish_string<A: Actor>(
        &mut self,
        actor: &mut A,
        kind: StringKind,
        keep: bool,
        bell: bool,
        used: usize,
    ) {
        // The last piece may have been the one too many.
        let whole = keep && matches!(self.state, State::String(_));
        self.state = State::Ground;
        if whole {
            actor.string(&StringSequence {
                kind,
                csi: &self.csi,
                payload: &self.payload,
                bell,
                start: self.start,
                end: self.taken + used as u64,
            });
        }
        self.csi.intermediate = 0;
        self.release();
    }

    fn release(&mut self) {
        self.payload.clear();
        if self.payload.capacity() > KEEP_STRING {
            self.payload = Vec::new();
        }
    }
}

/// The number an OSC begins with and what follows it: digits up to a semicolon or the end, leading
/// zeros allowed, as terminals read it.
pub(crate) fn osc_number(payload: &[u8]) -> Option<(u16, &[u8])> {
    let end = payload.iter().position(|&byte| byte == b';').unwrap_or(payload.len());
    let (digits, rest) = payload.split_at(end);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = digits.iter().fold(0_u32, |number, &digit| params::digit(number, digit));
    Some((number as u16, rest.strip_prefix(b";").unwrap_or(rest)))
}
