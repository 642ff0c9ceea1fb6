//! The parser's state in the middle of a sequence: as bytes to replay, and exactly.

use super::{Csi, MAX_STRING, Parser, State, StringKind, params::Params, utf8};
use crate::codec::{Reader, Writer};

impl Parser {
    /// Bytes that bring another parser into the middle of the sequence this one is in. A string
    /// too long to be kept becomes one that nobody listens to.
    pub(crate) fn unfinished(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self.state {
            State::Ground => {}
            State::Escape => {
                out.push(0x1b);
                push_byte(&mut out, self.csi.intermediate);
            }
            State::Csi | State::CsiIntermediate => self.push_introducer(&mut out, b'['),
            State::CsiIgnore => out.extend_from_slice(b"\x1b[1?"),
            State::Dcs | State::DcsIntermediate => self.push_introducer(&mut out, b'P'),
            State::String(kind) => {
                match kind {
                    StringKind::Osc => out.extend_from_slice(b"\x1b]"),
                    StringKind::Apc => out.extend_from_slice(b"\x1b_"),
                    StringKind::Other => out.extend_from_slice(b"\x1bX"),
                    StringKind::Dcs => {
                        self.push_introducer(&mut out, b'P');
                        out.push(self.csi.last);
                    }
                }
                out.extend_from_slice(&self.payload);
            }
            State::Skip(StringKind::Osc) => out.extend_from_slice(b"\x1b]9999;"),
            State::Skip(StringKind::Dcs) => out.extend_from_slice(b"\x1bP!z"),
            State::Skip(StringKind::Apc | StringKind::Other) => out.extend_from_slice(b"\x1bX"),
        }
        out.extend_from_slice(self.partial.bytes());
        if self.ending {
            out.push(0x1b);
        }
        out
    }

    fn push_introducer(&self, out: &mut Vec<u8>, second: u8) {
        out.extend_from_slice(&[0x1b, second]);
        push_byte(out, self.csi.prefix);
        self.csi.params.write(out);
        if matches!(self.state, State::Csi | State::Dcs) {
            if !self.csi.params.is_empty() {
                out.push(if self.csi.params.after_colon() { b':' } else { b';' });
            }
            if self.number > 0 {
                out.extend_from_slice(self.number.to_string().as_bytes());
            }
        }
        push_byte(out, self.csi.intermediate & 0x7f);
    }

    /// Writes the whole state.
    pub(crate) fn write(&self, out: &mut Writer) {
        let (state, kind) = match self.state {
            State::Ground => (0, StringKind::Osc),
            State::Escape => (1, StringKind::Osc),
            State::Csi => (2, StringKind::Osc),
            State::CsiIntermediate => (3, StringKind::Osc),
            State::CsiIgnore => (4, StringKind::Osc),
            State::Dcs => (5, StringKind::Osc),
            State::DcsIntermediate => (6, StringKind::Osc),
            State::String(kind) => (7, kind),
            State::Skip(kind) => (8, kind),
        };
        // What an earlier sequence left behind says nothing and is not written.
        let introducer = !matches!(self.state, State::Ground | State::Escape);
        let csi = if introducer { &self.csi } else { &Csi::EMPTY };
        let escape = if self.state == State::Escape { self.csi.intermediate } else { 0 };
        let ended = matches!(self.state, State::String(StringKind::Dcs));
        out.byte(state);
        out.byte(kind as u8);
        out.byte(csi.prefix);
        out.byte(csi.intermediate | escape);
        out.byte(if ended { csi.last } else { 0 });
        csi.params.save(out);
        let reading = matches!(self.state, State::Csi | State::Dcs);
        out.number(if reading { u64::from(self.number) } else { 0 });
        out.bytes(&self.payload);
        out.flag(self.ending);
        out.bytes(self.partial.bytes());
        out.number(self.taken);
        out.number(if self.is_ground() { 0 } else { self.start });
    }

    /// Reads what [`Parser::write`] wrote.
    pub(crate) fn read(input: &mut Reader<'_>) -> Option<Parser> {
        let (state, kind) = (input.byte()?, input.byte()?);
        let kind = match kind {
            0 => StringKind::Osc,
            1 => StringKind::Dcs,
            2 => StringKind::Apc,
            3 => StringKind::Other,
            _ => return None,
        };
        let state = match state {
            0 => State::Ground,
            1 => State::Escape,
            2 => State::Csi,
            3 => State::CsiIntermediate,
            4 => State::CsiIgnore,
            5 => State::Dcs,
            6 => State::DcsIntermediate,
            7 => State::String(kind),
            8 => State::Skip(kind),
            _ => return None,
        };
        let (prefix, intermediate, last) = (input.byte()?, input.byte()?, input.byte()?);
        let params = Params::load(input)?;
        let number = u32::try_from(input.number()?).ok().filter(|&it| it <= u32::from(u16::MAX))?;
        let payload = input.bytes()?;
        let ending = input.flag()?;
        let in_string = matches!(state, State::String(_) | State::Skip(_));
        let partial = input.bytes()?;
        if payload.len() > MAX_STRING || partial.len() > 3 || (ending && !in_string) {
            return None;
        }
        Some(Parser {
            state,
            csi: Csi { prefix, intermediate, last, params },
            number,
            payload: payload.to_vec(),
            ending,
            partial: utf8::Partial::new(partial),
            taken: input.number().filter(|&taken| taken < u64::MAX / 2)?,
            start: input.number()?,
        })
    }
}

fn push_byte(out: &mut Vec<u8>, byte: u8) {
    if byte != 0 {
        out.push(byte);
    }
}

impl Params {
    fn save(&self, out: &mut Writer) {
        out.number(self.len() as u64);
        for (index, value) in self.values().iter().enumerate() {
            out.number(u64::from(*value) << 1 | u64::from(self.is_sub(index)));
        }
        out.byte(u8::from(self.after_colon()));
    }

    fn load(input: &mut Reader<'_>) -> Option<Params> {
        let mut params = Params::EMPTY;
        for _ in 0..input.count(super::params::MAX_PARAMS)? {
            let packed = input.number()?;
            let value = u16::try_from(packed >> 1).ok()?;
            params.restore(value, packed & 1 == 1);
        }
        params.set_after_colon(input.flag()?);
        Some(params)
    }
}
