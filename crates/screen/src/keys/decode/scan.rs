//! Where the next event in a terminal's bytes ends.
//!
//! Everything is either one character, alt with one, or a sequence that ESC begins. `ESC [`,
//! `ESC O`, `ESC ]`, `ESC P` and `ESC _` are also alt with a key, so a sequence that turns out
//! not to be one falls apart into that key and what follows.

use greenroom_model::{Key, KeyEvent, Mods};

use super::super::{paste, table};
use super::{CHUNK, Input, csi};

/// The longest CSI sequence taken for one: a key has about 40 bytes, and 8 more for each further
/// character of its text, of which there are at most 32.
const CSI_MAX: usize = 512;

/// What stands at the front of some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Scan {
    /// Something that goes on.
    More,
    /// An event of this many bytes.
    Done(Input, usize),
    /// A CSI sequence of this many bytes, to be decoded.
    Csi(usize),
    /// What begins a paste, of this many bytes.
    PasteStart(usize),
    /// An answer that is longer than one event carries.
    LongReply,
}

/// Finds the first event in `bytes`.
pub(super) fn scan(bytes: &[u8]) -> Scan {
    match bytes {
        [] | [0x1b] => Scan::More,
        // Two ESC are the key and then something else, never alt with a sequence: terminals
        // that have alt with a cursor key send it as a parameter.
        [0x1b, 0x1b, ..] => Scan::Done(Input::Key(KeyEvent::from(Key::Escape)), 1),
        [0x1b, b'[', ..] => scan_csi(bytes),
        [0x1b, b'O', rest @ ..] => scan_ss3(rest),
        [0x1b, b']' | b'P' | b'_', ..] => scan_string(bytes),
        [0x1b, rest @ ..] => match scan_character(rest) {
            Scan::Done(Input::Key(event), length) => {
                let event = KeyEvent::new(event.key, event.mods | Mods::ALT);
                Scan::Done(Input::Key(event), length + 1)
            }
            // ESC before a byte that is no character is the key.
            Scan::Done(..) => Scan::Done(Input::Key(KeyEvent::from(Key::Escape)), 1),
            other => other,
        },
        _ => scan_character(bytes),
    }
}

/// One character or control at the front of `bytes`.
fn scan_character(bytes: &[u8]) -> Scan {
    let Some(first) = bytes.first().copied() else { return Scan::More };
    let (key, mods) = match first {
        0x00 => (Key::Char(' '), Mods::CTRL),
        b'\t' => (Key::Tab, Mods::NONE),
        b'\r' => (Key::Enter, Mods::NONE),
        0x01..=0x1a => (Key::Char(char::from(first | 0x60)), Mods::CTRL),
        0x1b => (Key::Escape, Mods::NONE),
        0x1c..=0x1f => (Key::Char(char::from(first | 0x40)), Mods::CTRL),
        0x20..=0x7e => (Key::Char(char::from(first)), Mods::NONE),
        0x7f => (Key::Backspace, Mods::NONE),
        0x80.. => return scan_utf8(bytes),
    };
    Scan::Done(Input::Key(KeyEvent::new(key, mods)), 1)
}

/// One character of several bytes at the front of `bytes`.
fn scan_utf8(bytes: &[u8]) -> Scan {
    let head = bytes.get(..bytes.len().min(4)).unwrap_or_default();
    let (valid, error) = match std::str::from_utf8(head) {
        Ok(text) => (text, None),
        Err(error) => {
            let valid = head.get(..error.valid_up_to()).unwrap_or_default();
            (std::str::from_utf8(valid).unwrap_or_default(), Some(error))
        }
    };
    match (valid.chars().next(), error) {
        (Some(c), _) if !c.is_control() => {
            Scan::Done(Input::Key(KeyEvent::from(Key::Char(c))), c.len_utf8())
        }
        (Some(c), _) => Scan::Done(Input::Raw, c.len_utf8()),
        (None, Some(error)) => match error.error_len() {
            Some(length) => Scan::Done(Input::Raw, length),
            None => Scan::More,
        },
        (None, None) => Scan::More,
    }
}

/// Alt with a printable key, after all.
fn alt(byte: u8) -> Scan {
    Scan::Done(Input::Key(KeyEvent::new(Key::Char(char::from(byte)), Mods::ALT)), 2)
}

fn scan_csi(bytes: &[u8]) -> Scan {
    let body = bytes.get(2..).unwrap_or_default();
    match body {
        // Three bytes follow, whatever they are; the Linux console has `CSI [ A` for F1.
        [b'M', rest @ ..] if rest.len() < 3 => return Scan::More,
        [b'M', ..] => return Scan::Csi(6),
        [b'['] => return Scan::More,
        [b'[', b'A'..=b'E', ..] => return Scan::Csi(4),
        _ => {}
    }
    let Some(end) = body.iter().position(|byte| !matches!(byte, 0x20..=0x3f)) else {
        return if bytes.len() < CSI_MAX { Scan::More } else { Scan::Done(Input::Raw, CSI_MAX) };
    };
    let length = end + 3;
    match body.get(end) {
        _ if length > CSI_MAX => Scan::Done(Input::Raw, CSI_MAX),
        Some(0x40..=0x7e) if bytes.starts_with(paste::START) => Scan::PasteStart(length),
        Some(0x40..=0x7e) => Scan::Csi(length),
        _ if end == 0 => alt(b'['),
        // Cut short: what came is no key, and what cut it short stands for itself.
        _ => Scan::Done(Input::Raw, length - 1),
    }
}

/// What follows `ESC O`: a letter, after a digit if there are modifiers.
fn scan_ss3(rest: &[u8]) -> Scan {
    let (mods, letter, length) = match rest {
        [] | [b'1'..=b'9'] => return Scan::More,
        [digit @ b'1'..=b'9', letter, ..] => (csi::mods(u32::from(digit - b'0')), *letter, 4),
        [letter, ..] => (Some(Mods::NONE), *letter, 3),
    };
    let keypad = || table::from_keypad_letter(letter).map(Key::Keypad);
    match (table::from_letter(letter).or_else(keypad), mods) {
        (Some(key), Some(mods)) => Scan::Done(Input::Key(KeyEvent::new(key, mods)), length),
        _ => alt(b'O'),
    }
}

fn scan_string(bytes: &[u8]) -> Scan {
    let (Some(kind), Some(body)) = (bytes.get(1).copied(), bytes.get(2..)) else {
        return Scan::More;
    };
    let content = body.iter().take(CHUNK).take_while(|byte| **byte >= 0x20).count();
    if !begins_reply(kind, body.get(..content).unwrap_or_default()) {
        return alt(kind);
    }
    match string_end(body, CHUNK - 2) {
        StringEnd::At(end) if ends_reply(body.get(..end)) => Scan::Done(Input::Reply, end + 2),
        StringEnd::At(0) => alt(kind),
        // Cut short, by an ESC that begins something else or by a key.
        StringEnd::At(end) => Scan::Done(Input::Raw, end + 2),
        StringEnd::Beyond => Scan::LongReply,
        StringEnd::More => Scan::More,
    }
}

/// Where a string ends.
pub(super) enum StringEnd {
    /// After this many bytes, its terminator included.
    At(usize),
    /// Somewhere beyond what was looked at.
    Beyond,
    /// It is not to be seen yet.
    More,
}

/// Finds the end of a string of which the terminator begins in the first `most` bytes.
///
/// A control character other than the terminator ends it as well, before that character, so that
/// a string somebody began by typing does not swallow what they type next.
pub(super) fn string_end(bytes: &[u8], most: usize) -> StringEnd {
    let Some(at) = bytes.iter().take(most).position(|byte| *byte < 0x20) else {
        return if bytes.len() < most { StringEnd::More } else { StringEnd::Beyond };
    };
    match bytes.get(at..).unwrap_or_default() {
        [0x07, ..] => StringEnd::At(at + 1),
        [0x1b, b'\\', ..] => StringEnd::At(at + 2),
        [0x1b] => StringEnd::More,
        _ => StringEnd::At(at),
    }
}

fn ends_reply(body: Option<&[u8]>) -> bool {
    body.is_some_and(|it| it.ends_with(b"\x07") || it.ends_with(b"\x1b\\"))
}

/// Whether an answer of a terminal can begin with `content`, as far as it is there.
///
/// Only known shapes: `ESC P h` is far more likely somebody's alt and two keys.
fn begins_reply(kind: u8, content: &[u8]) -> bool {
    let digits = content.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let after = content.get(digits);
    match kind {
        // `OSC 11 ; rgb:…`, and `OSC l` and `OSC L` for titles.
        b']' => match after {
            None => true,
            Some(b';') => digits > 0,
            Some(b'l' | b'L') => digits == 0,
            Some(_) => false,
        },
        // `DCS 1 $ r …`, `DCS 1 + r …`, `DCS > | …`, `DCS ! | …`, `DCS 1 ! ~ …`
        b'P' => match (after, content.get(digits + 1)) {
            (None, _) => true,
            (Some(b'$'), next) => matches!(next, None | Some(b'r' | b'u' | b's')),
            (Some(b'+'), next) => matches!(next, None | Some(b'r')),
            (Some(b'>'), next) => matches!(next, None | Some(b'|')),
            (Some(b'!'), next) => matches!(next, None | Some(b'|' | b'~')),
            (Some(_), _) => false,
        },
        // `APC G i=1;OK`
        _ => match content {
            [] | [b'G'] => true,
            [b'G', key] | [b'G', key, b'=', ..] => key.is_ascii_alphabetic(),
            _ => false,
        },
    }
}
