//! The numbers and letters that stand for keys in escape sequences, both ways.

use greenroom_model::{FKey, Key, Keypad, Media, Modifier};

/// The keys that are a letter, as in `CSI A` and `SS3 A`; F1 to F4 follow as `P` to `S`.
const LETTERS: &[(Key, u8)] = &[
    (Key::Up, b'A'),
    (Key::Down, b'B'),
    (Key::Right, b'C'),
    (Key::Left, b'D'),
    (Key::Keypad(Keypad::Begin), b'E'),
    (Key::End, b'F'),
    (Key::Home, b'H'),
];

/// The keys that are a number, as in `CSI 2 ~`, apart from function keys.
const NUMBERS: &[(Key, u16)] =
    &[(Key::Insert, 2), (Key::Delete, 3), (Key::PageUp, 5), (Key::PageDown, 6)];

/// The numbers of F1 to F20 on DEC keyboards, with their gaps; xterm counts on from 42 at F21.
const F_NUMBERS: [u16; 20] =
    [11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 28, 29, 31, 32, 33, 34];
/// The number xterm gives to F21.
const F21: u16 = 42;

/// The keys of the keypad that send a character, with it and their letter in application mode.
const KEYPAD: &[(Keypad, char, u8)] = &[
    (Keypad::Zero, '0', b'p'),
    (Keypad::One, '1', b'q'),
    (Keypad::Two, '2', b'r'),
    (Keypad::Three, '3', b's'),
    (Keypad::Four, '4', b't'),
    (Keypad::Five, '5', b'u'),
    (Keypad::Six, '6', b'v'),
    (Keypad::Seven, '7', b'w'),
    (Keypad::Eight, '8', b'x'),
    (Keypad::Nine, '9', b'y'),
    (Keypad::Decimal, '.', b'n'),
    (Keypad::Divide, '/', b'o'),
    (Keypad::Multiply, '*', b'j'),
    (Keypad::Subtract, '-', b'm'),
    (Keypad::Add, '+', b'k'),
    (Keypad::Enter, '\r', b'M'),
    (Keypad::Equal, '=', b'X'),
    (Keypad::Separator, ',', b'l'),
];

/// Where the families of keys begin in the kitty protocol's part of the private use area.
const KITTY_F13: u32 = 57376;
const KITTY_KEYPAD: u32 = 57399;
const KITTY_MEDIA: u32 = 57428;
const KITTY_MODIFIER: u32 = 57441;

/// The keys with a number of their own in the kitty protocol's `CSI u`.
const KITTY: &[(Key, u32)] = &[
    (Key::Tab, 9),
    (Key::Enter, 13),
    (Key::Escape, 27),
    (Key::Backspace, 127),
    (Key::CapsLock, 57358),
    (Key::ScrollLock, 57359),
    (Key::NumLock, 57360),
    (Key::PrintScreen, 57361),
    (Key::Pause, 57362),
    (Key::Menu, 57363),
];

/// The letter of a key that has one.
pub(super) fn letter(key: Key) -> Option<u8> {
    match key {
        Key::F(key) if key.number() <= 4 => Some(b'P' + key.number() - 1),
        _ => LETTERS.iter().find(|it| it.0 == key).map(|it| it.1),
    }
}

/// The key with this letter.
pub(super) fn from_letter(letter: u8) -> Option<Key> {
    match letter {
        b'P'..=b'S' => Key::f(letter - b'P' + 1),
        _ => LETTERS.iter().find(|it| it.1 == letter).map(|it| it.0),
    }
}

/// The number of a key that has one before `~`.
pub(super) fn number(key: Key) -> Option<u16> {
    match key {
        Key::F(key) => Some(f_number(key)),
        _ => NUMBERS.iter().find(|it| it.0 == key).map(|it| it.1),
    }
}

fn f_number(key: FKey) -> u16 {
    let index = key.number() - 1;
    F_NUMBERS.get(usize::from(index)).copied().unwrap_or(F21 + u16::from(index) - 20)
}

/// The key with this number before `~`; some terminals have numbers for home and end too.
pub(super) fn from_number(number: u32) -> Option<Key> {
    match number {
        1 | 7 => Some(Key::Home),
        4 | 8 => Some(Key::End),
        57427 => Some(Key::Keypad(Keypad::Begin)),
        _ => {
            let plain = NUMBERS.iter().find(|it| u32::from(it.1) == number).map(|it| it.0);
            let functions = || (1..=FKey::MAX).filter_map(FKey::new);
            plain
                .or_else(|| functions().find(|key| u32::from(f_number(*key)) == number).map(Key::F))
        }
    }
}

/// The character of a keypad key that sends one, and its letter in application mode.
pub(super) fn keypad(key: Keypad) -> Option<(char, u8)> {
    KEYPAD.iter().find(|it| it.0 == key).map(|it| (it.1, it.2))
}

/// The keypad key with this letter in application mode.
pub(super) fn from_keypad_letter(letter: u8) -> Option<Keypad> {
    KEYPAD.iter().find(|it| it.2 == letter).map(|it| it.0)
}

/// The key outside of the keypad that does the same.
pub(super) fn without_keypad(key: Keypad) -> Key {
    match key {
        Keypad::Enter => Key::Enter,
        Keypad::Left => Key::Left,
        Keypad::Right => Key::Right,
        Keypad::Up => Key::Up,
        Keypad::Down => Key::Down,
        Keypad::PageUp => Key::PageUp,
        Keypad::PageDown => Key::PageDown,
        Keypad::Home => Key::Home,
        Keypad::End => Key::End,
        Keypad::Insert => Key::Insert,
        Keypad::Delete => Key::Delete,
        // The middle key has no twin, but the same letter everywhere.
        Keypad::Begin => Key::Keypad(Keypad::Begin),
        _ => keypad(key).map_or(Key::Keypad(key), |(c, _)| Key::Char(c)),
    }
}

/// The number and the final byte of a key in the kitty protocol.
pub(super) fn kitty(key: Key) -> (u32, u8) {
    if let Some((_, code)) = KITTY.iter().find(|it| it.0 == key) {
        return (*code, b'u');
    }
    match key {
        Key::Char(c) => (u32::from(c), b'u'),
        // `CSI R` would read as a cursor position report.
        Key::F(key) if key.number() == 3 => (13, b'~'),
        Key::F(key) if key.number() > 12 => (KITTY_F13 + u32::from(key.number()) - 13, b'u'),
        Key::Media(key) => (KITTY_MEDIA + key as u32, b'u'),
        Key::Modifier(key) => (KITTY_MODIFIER + key as u32, b'u'),
        _ => match (letter(key), number(key), key) {
            (Some(letter), _, _) => (1, letter),
            (None, Some(number), _) => (u32::from(number), b'~'),
            (None, None, Key::Keypad(key)) => (KITTY_KEYPAD + key as u32, b'u'),
            (None, None, _) => (0, b'u'),
        },
    }
}

/// The key with this number before `u` in the kitty protocol.
pub(super) fn from_kitty(code: u32) -> Option<Key> {
    if let Some((key, _)) = KITTY.iter().find(|it| it.1 == code) {
        return Some(*key);
    }
    let index = |base: u32| usize::try_from(code - base).unwrap_or(usize::MAX);
    match code {
        KITTY_F13..KITTY_KEYPAD => Key::f(u8::try_from(code - KITTY_F13).ok()? + 13),
        KITTY_KEYPAD..KITTY_MEDIA => Keypad::ALL.get(index(KITTY_KEYPAD)).copied().map(Key::Keypad),
        KITTY_MEDIA..KITTY_MODIFIER => Media::ALL.get(index(KITTY_MEDIA)).copied().map(Key::Media),
        KITTY_MODIFIER..=57454 => {
            Modifier::ALL.get(index(KITTY_MODIFIER)).copied().map(Key::Modifier)
        }
        _ => char::from_u32(code).filter(|c| !c.is_control()).map(Key::Char),
    }
}
