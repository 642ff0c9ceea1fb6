//! Keys as xterm sends them while no keyboard protocol is on.
//!
//! Keys that xterm has no bytes for (locks, media keys, modifiers) give nothing, and so does a
//! release. A modifier xterm does not know is left away; super counts as xterm's meta in
//! parameters, as in every other terminal.

use greenroom_model::{Key, KeyAction, KeyEvent, Keypad, Mods};

use super::{KeyModes, table, typed};

/// Xterm's number for the menu key, which it takes for F16.
const MENU: u16 = 29;

/// Appends the legacy bytes of `event`.
pub(super) fn encode(event: &KeyEvent, modes: KeyModes, out: &mut Vec<u8>) {
    if event.action == KeyAction::Release {
        return;
    }
    match event.key {
        Key::Char(c) => character(event, c, modes, out),
        Key::Enter => put(b"\r", event.mods, modes, out),
        Key::Escape => put(b"\x1b", event.mods, modes, out),
        // With alt there is no second ESC: back-tab is a function key to xterm.
        Key::Tab if event.mods.contains(Mods::SHIFT) => out.extend(b"\x1b[Z"),
        Key::Tab => put(b"\t", event.mods, modes, out),
        Key::Backspace => put(&[backspace(event.mods, modes)], event.mods, modes, out),
        Key::Keypad(key) => keypad(key, event.mods, modes, out),
        Key::Menu => tilde(MENU, event.mods, out),
        key => function(key, event.mods, modes, out),
    }
}

/// What backspace sends: ctrl turns DECBKM round.
pub(super) fn backspace(mods: Mods, modes: KeyModes) -> u8 {
    if modes.backarrow == mods.contains(Mods::CTRL) { 0x7f } else { 0x08 }
}

/// The control character that ctrl makes of a character, if it makes one.
///
/// This is what X11 does, with `?` for DEL as xterm adds it.
pub(super) fn control(c: char) -> Option<u8> {
    let byte = u8::try_from(c).ok()?;
    match byte {
        b'@'..=b'~' => Some(byte & 0x1f),
        b' ' | b'2' => Some(0),
        b'3'..=b'7' => Some(byte - b'3' + 0x1b),
        b'/' => Some(0x1f),
        b'8' | b'?' => Some(0x7f),
        _ => None,
    }
}

fn character(event: &KeyEvent, c: char, modes: KeyModes, out: &mut Vec<u8>) {
    let typed = typed::character(event, c);
    if event.mods.contains(Mods::CTRL) {
        // On a layout without Latin letters ctrl works by the place of the key.
        let byte = control(typed).or_else(|| control(event.base.filter(|_| !typed.is_ascii())?));
        if let Some(byte) = byte {
            return put(&[byte], event.mods, modes, out);
        }
    }
    let mut buffer = [0; 4];
    let text = typed::given(event).unwrap_or_else(|| typed.encode_utf8(&mut buffer));
    put(text.as_bytes(), event.mods, modes, out);
}

/// Appends what a key types, with alt before or in it and with a line feed where LNM wants one.
fn put(bytes: &[u8], mods: Mods, modes: KeyModes, out: &mut Vec<u8>) {
    let alt = mods.contains(Mods::ALT);
    if mods.contains(Mods::META) || alt && modes.alt_sends_esc {
        out.push(0x1b);
        out.extend(bytes);
    } else {
        match bytes {
            [byte] if alt && byte.is_ascii() => {
                let c = char::from(byte | 0x80);
                out.extend(c.encode_utf8(&mut [0; 2]).as_bytes());
            }
            _ => out.extend(bytes),
        }
    }
    if modes.newline && bytes == b"\r" {
        out.push(b'\n');
    }
}

/// The modifiers as xterm's parameter, 1 for none.
fn param(mods: Mods) -> u8 {
    let plain = mods.intersection(Mods::SHIFT | Mods::ALT | Mods::CTRL).bits();
    1 + plain + if mods.intersects(Mods::SUPER | Mods::META) { 8 } else { 0 }
}

fn function(key: Key, mods: Mods, modes: KeyModes, out: &mut Vec<u8>) {
    let Some(letter) = table::letter(key) else {
        if let Some(number) = table::number(key) {
            tilde(number, mods, out);
        }
        return;
    };
    if param(mods) > 1 {
        out.extend(format!("\x1b[1;{}", param(mods)).as_bytes());
    } else if modes.app_cursor || matches!(key, Key::F(_)) {
        out.extend(b"\x1bO");
    } else {
        out.extend(b"\x1b[");
    }
    out.push(letter);
}

fn tilde(number: u16, mods: Mods, out: &mut Vec<u8>) {
    let text = match param(mods) {
        1 => format!("\x1b[{number}~"),
        param => format!("\x1b[{number};{param}~"),
    };
    out.extend(text.as_bytes());
}

fn keypad(key: Keypad, mods: Mods, modes: KeyModes, out: &mut Vec<u8>) {
    let Some((c, letter)) = table::keypad(key) else {
        return function(table::without_keypad(key), mods, modes, out);
    };
    if modes.app_keypad && !mods.contains(Mods::NUM_LOCK) {
        out.extend(b"\x1bO");
        if param(mods) > 1 {
            out.extend(param(mods).to_string().as_bytes());
        }
        out.push(letter);
    } else {
        // Modifiers do not change what the keypad types.
        put(&[c as u8], Mods::NONE, modes, out);
    }
}
