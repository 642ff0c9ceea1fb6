//! Tables of what programs get, and properties of both directions.

mod decode;
mod kitty;
mod legacy;
mod modify_other;
mod mouse;
mod paste;
mod properties;

use greenroom_model::{Key, KeyAction, KeyEvent, Keypad, Media, Modifier, Mods};

use super::{KeyModes, KittyFlags, encode_key};

/// The chord of this name.
#[track_caller]
fn chord(name: &str) -> KeyEvent {
    name.parse().unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Wants each chord to be encoded as the bytes next to it; a name may end in ` repeat` or ` release`.
#[track_caller]
fn check(modes: KeyModes, table: &[(&str, &str)]) {
    for (name, expected) in table {
        let (name, action) = match name.rsplit_once(' ') {
            Some((name, "repeat")) => (name, KeyAction::Repeat),
            Some((name, "release")) => (name, KeyAction::Release),
            _ => (*name, KeyAction::Press),
        };
        let event = chord(name).with_action(action);
        let got = encode_key(&event, modes);
        assert_eq!(
            got.escape_ascii().to_string(),
            expected.as_bytes().escape_ascii().to_string(),
            "{name} {action:?} {modes:?}"
        );
    }
}

/// The modes with these enhancements.
fn kitty(bits: u8) -> KeyModes {
    KeyModes { kitty: KittyFlags::from_bits(bits), ..KeyModes::default() }
}

/// Every key there is, with a few characters for all of them.
fn every_key() -> Vec<Key> {
    let mut keys: Vec<Key> = " a1é\\".chars().map(Key::Char).collect();
    keys.extend([Key::Enter, Key::Tab, Key::Backspace, Key::Escape, Key::Insert, Key::Delete]);
    keys.extend([Key::Up, Key::Down, Key::Left, Key::Right, Key::Home, Key::End]);
    keys.extend([Key::PageUp, Key::PageDown, Key::CapsLock, Key::ScrollLock, Key::NumLock]);
    keys.extend([Key::PrintScreen, Key::Pause, Key::Menu]);
    keys.extend((1..=35).filter_map(Key::f));
    keys.extend(Keypad::ALL.map(Key::Keypad));
    keys.extend(Media::ALL.map(Key::Media));
    keys.extend(Modifier::ALL.map(Key::Modifier));
    keys
}

/// Shift, alt and ctrl in all combinations but none.
fn some_mods() -> impl Iterator<Item = Mods> {
    (1..8).map(Mods::from_bits)
}
