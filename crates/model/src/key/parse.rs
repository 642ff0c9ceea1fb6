//! Reading and writing chords as people write them.
//!
//! A chord is modifiers and a key with `+` or `-` between them. Both are also keys, so the rest
//! of the text is tried as a key before it is cut at the next separator: `C--` and `ctrl++` work.

use std::fmt;
use std::str::FromStr;

use super::error::shown;
use super::names::{KEYS, MODS, function_key, named_key, named_mod, write_mods};
use super::{Key, KeyError, KeyEvent, Mods};

/// How many letters may differ for a name to be suggested: one in three, so that short names
/// are not suggested for anything of their length.
const LETTERS_PER_SLIP: usize = 3;

impl FromStr for KeyEvent {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<KeyEvent, KeyError> {
        if text.is_empty() {
            return Err(KeyError::Empty);
        }
        if text.len() > KeyEvent::MAX_NAME {
            return Err(KeyError::TooLong(text.len()));
        }
        let mut mods = Mods::NONE;
        let mut rest = text;
        loop {
            if let Some((key, caret)) = key(rest) {
                return Ok(KeyEvent::new(key, mods | caret));
            }
            let Some((part, after)) = rest.split_once(['+', '-']) else {
                return Err(unknown_key(rest, text));
            };
            let Some(one) = named_mod(part) else { return Err(unknown_part(part, rest)) };
            mods |= one;
            rest = after;
        }
    }
}

/// The key that `text` as a whole names, with ctrl if it is written as `^X`.
fn key(text: &str) -> Option<(Key, Mods)> {
    if let Some(c) = only_char(text) {
        return (!c.is_control()).then_some((Key::Char(c), Mods::NONE));
    }
    if let Some(c) = text.strip_prefix('^').and_then(only_char) {
        return c.is_ascii_graphic().then_some((Key::Char(c), Mods::CTRL));
    }
    let key = named_key(text).or_else(|| function_key(text)).or_else(|| code_point(text))?;
    Some((key, Mods::NONE))
}

fn only_char(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.as_str().is_empty())
}

/// The character written as `U+20AC`.
fn code_point(text: &str) -> Option<Key> {
    let digits = text.strip_prefix("U+").or_else(|| text.strip_prefix("u+"))?;
    let plain = (4..=6).contains(&digits.len()) && digits.bytes().all(|it| it.is_ascii_hexdigit());
    if !plain {
        return None;
    }
    char::from_u32(u32::from_str_radix(digits, 16).ok()?).map(Key::Char)
}

/// The error for the last part, `rest`, of the chord `text`.
fn unknown_key(rest: &str, text: &str) -> KeyError {
    if rest.is_empty() {
        return KeyError::NoKey { after: shown(text) };
    }
    let names = KEYS.iter().flat_map(|(_, names)| names.iter().copied());
    KeyError::UnknownKey { part: shown(rest), nearest: nearest(rest, names) }
}

/// The error for `part`, which stands first in `rest` and is no modifier.
fn unknown_part(part: &str, rest: &str) -> KeyError {
    // `page-upp` is a key with a slip in it rather than a modifier called `page`, and `U+D800` a
    // character that does not exist.
    let number = rest.get(..2).is_some_and(|it| it.eq_ignore_ascii_case("u+"));
    match unknown_key(rest, rest) {
        error if number => error,
        error @ KeyError::UnknownKey { nearest: Some(_), .. } => error,
        _ => {
            let names = MODS.iter().flat_map(|(_, names)| names.iter().copied());
            KeyError::UnknownModifier { part: shown(part), nearest: nearest(part, names) }
        }
    }
}

/// The name that differs least from `text`, if it is near enough to have been meant.
fn nearest(text: &str, names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let lower = text.to_lowercase().replace('-', "_");
    names
        .filter(|name| name.len() > 1)
        .map(|name| (distance(&lower, name), name))
        .filter(|(slips, name)| slips * LETTERS_PER_SLIP <= name.len().max(LETTERS_PER_SLIP))
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, name)| name)
}

/// How many letters have to be added, removed or changed to make `left` into `right`.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (count, letter) in left.chars().enumerate() {
        let mut diagonal = count;
        let mut previous = count + 1;
        for (cell, other) in row.iter_mut().skip(1).zip(&right) {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = *cell;
            *cell = changed.min(diagonal + 1).min(previous + 1);
            previous = *cell;
        }
        if let Some(first) = row.first_mut() {
            *first = count + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

impl fmt::Display for KeyEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.mods.is_empty() {
            write_mods(f, self.mods)?;
            f.write_str("+")?;
        }
        write!(f, "{}", self.key)
    }
}
