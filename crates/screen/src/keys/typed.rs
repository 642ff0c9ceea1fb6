//! What an event types, where its sender did not say.
//!
//! Events made from a name know a key and modifiers only. With shift, a letter becomes a capital
//! and any other key gives what it gives on a US keyboard: some layout has to be assumed, and
//! this is the one the names of chords assume.

use greenroom_model::{Key, KeyEvent, Mods};

use super::table;

/// What the keys that are not letters give with shift on a US keyboard.
const US_SHIFTED: &[(char, char)] = &[
    ('`', '~'),
    ('1', '!'),
    ('2', '@'),
    ('3', '#'),
    ('4', '$'),
    ('5', '%'),
    ('6', '^'),
    ('7', '&'),
    ('8', '*'),
    ('9', '('),
    ('0', ')'),
    ('-', '_'),
    ('=', '+'),
    ('[', '{'),
    (']', '}'),
    ('\\', '|'),
    (';', ':'),
    ('\'', '"'),
    (',', '<'),
    ('.', '>'),
    ('/', '?'),
];

/// The text an event types, if it types any.
pub(super) fn text(event: &KeyEvent) -> Option<String> {
    let c = match event.key {
        Key::Char(c) => character(event, c),
        Key::Keypad(key) => table::keypad(key)?.0,
        _ => return None,
    };
    if let Some(text) = given(event) {
        return Some(text.to_owned());
    }
    let types = (event.mods - Mods::SHIFT - Mods::LOCKS).is_empty() && !c.is_control();
    types.then(|| c.to_string())
}

/// The text the sender gave, unless it is empty or could act as a control.
pub(super) fn given(event: &KeyEvent) -> Option<&str> {
    event.text.as_deref().filter(|it| !it.is_empty() && !it.contains(char::is_control))
}

/// What the key of the character `c` gives with the event's shift and caps lock.
pub(super) fn character(event: &KeyEvent, c: char) -> char {
    let shift = event.mods.contains(Mods::SHIFT);
    if event.mods.contains(Mods::CAPS_LOCK) && c.is_lowercase() {
        return if shift { c } else { capital(c).unwrap_or(c) };
    }
    if shift { shifted(event, c) } else { c }
}

/// What the key of the character `c` gives with shift.
pub(super) fn shifted(event: &KeyEvent, c: char) -> char {
    let us = || US_SHIFTED.iter().find(|it| it.0 == c).map(|it| it.1);
    event.shifted.or_else(us).or_else(|| capital(c)).unwrap_or(c)
}

/// The capital of a letter, where that is one other character.
fn capital(c: char) -> Option<char> {
    let mut upper = c.to_uppercase();
    upper.next().filter(|it| upper.next().is_none() && *it != c)
}

/// The small letter of a capital, where that is one other character.
pub(super) fn small(c: char) -> Option<char> {
    let mut lower = c.to_lowercase();
    lower.next().filter(|it| lower.next().is_none() && *it != c)
}
