//! Where an escape sequence of a terminal's input ends, and what it is.

/// How long a string may be before it is taken for typed text after all: answers with colours and
/// capabilities have some hundred bytes.
const MAX_STRING: usize = 4096;

/// What stands at the beginning of some bytes, the first of which is ESC.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sequence<'a> {
    /// ESC and nothing that continues it: pass it alone.
    Escape,
    /// A control sequence: parameters, intermediates, final byte.
    Csi { params: &'a [u8], intermediates: &'a [u8], end: u8, length: usize },
    /// `ESC O` and a letter: a key.
    Ss3(u8),
    /// ESC and another byte: a key with alt.
    Alt(u8),
    /// A string, such as OSC or DCS, with its end.
    String { length: usize },
    /// More is to come.
    Incomplete,
}

/// Looks at the beginning of `bytes`, the first of which is ESC.
pub(super) fn at(bytes: &[u8]) -> Sequence<'_> {
    match bytes.get(1) {
        None => Sequence::Incomplete,
        Some(b'[') => control(bytes),
        Some(b'O') => match bytes.get(2) {
            None => Sequence::Incomplete,
            Some(letter @ 0x40..=0x7e) => Sequence::Ss3(*letter),
            Some(_) => Sequence::Alt(b'O'),
        },
        Some(kind @ (b']' | b'P' | b'_')) => string(bytes, *kind),
        // Two escapes: the second may begin a sequence of its own.
        Some(0x1b) => Sequence::Escape,
        Some(other) => Sequence::Alt(*other),
    }
}

fn control(bytes: &[u8]) -> Sequence<'_> {
    let body = &bytes[2..];
    let params = body.iter().take_while(|it| matches!(it, 0x30..=0x3f)).count();
    let rest = &body[params..];
    let intermediates = rest.iter().take_while(|it| matches!(it, 0x20..=0x2f)).count();
    match rest.get(intermediates) {
        None if body.len() < MAX_STRING => Sequence::Incomplete,
        Some(end @ 0x40..=0x7e) => Sequence::Csi {
            params: &body[..params],
            intermediates: &rest[..intermediates],
            end: *end,
            length: 2 + params + intermediates + 1,
        },
        _ => Sequence::Alt(b'['),
    }
}

/// A string begins as an answer does, or is alt with a letter and text behind it.
fn string(bytes: &[u8], kind: u8) -> Sequence<'_> {
    let body = &bytes[2..];
    let Some(first) = body.first() else { return Sequence::Incomplete };
    let begins_well = match kind {
        b']' => first.is_ascii_digit(),
        b'P' => matches!(first, b'0'..=b'9' | b'>' | b'!' | b'$' | b'+'),
        _ => *first == b'G',
    };
    if !begins_well {
        return Sequence::Alt(kind);
    }
    for (index, byte) in body.iter().enumerate().take(MAX_STRING) {
        match (byte, body.get(index + 1)) {
            (0x07, _) if kind == b']' => return Sequence::String { length: 2 + index + 1 },
            (0x1b, Some(b'\\')) => return Sequence::String { length: 2 + index + 2 },
            (0x1b, None) => return Sequence::Incomplete,
            (0x00..=0x1f, _) => return Sequence::Alt(kind),
            _ => {}
        }
    }
    if body.len() < MAX_STRING { Sequence::Incomplete } else { Sequence::Alt(kind) }
}
