//! Xterm's modifyOtherKeys: `CSI 27 ; modifiers ; code ~` for keys legacy encoding is blind to.
//!
//! Level 1 spares what already means something (ctrl with a letter, alt as ESC); level 2 spares
//! next to nothing. The code is the character with shift applied, and at level 2 even shift with
//! a letter is reported: that is how xterm does it.

use greenroom_model::{Key, KeyAction, KeyEvent, Mods};

use super::{KeyModes, legacy, typed};

/// The modifiers this protocol knows.
const KNOWN: Mods =
    Mods::from_bits(Mods::SHIFT.bits() | Mods::ALT.bits() | Mods::CTRL.bits() | Mods::META.bits());

/// Appends the bytes of `event` if the protocol has its own for it, and says whether it did.
pub(super) fn encode(event: &KeyEvent, modes: KeyModes, out: &mut Vec<u8>) -> bool {
    let mods = event.mods.intersection(KNOWN);
    if modes.modify_other_keys == 0 || event.action == KeyAction::Release || mods.is_empty() {
        return false;
    }
    let code = match event.key {
        Key::Char(c) => typed::character(event, c),
        Key::Enter => '\r',
        Key::Tab => '\t',
        Key::Escape => '\x1b',
        Key::Backspace => char::from(legacy::backspace(mods, modes)),
        _ => return false,
    };
    let own = match modes.modify_other_keys {
        1 => reports_at_1(event.key, code, mods),
        _ => reports_at_2(event.key, code, mods),
    };
    if own {
        let plain = (mods - Mods::META).bits();
        let param = 1 + plain + if mods.contains(Mods::META) { 8 } else { 0 };
        out.extend(format!("\x1b[27;{param};{}~", u32::from(code)).as_bytes());
    }
    own
}

fn reports_at_1(key: Key, code: char, mods: Mods) -> bool {
    let ctrl = mods.contains(Mods::CTRL);
    let alt = mods.intersects(Mods::ALT | Mods::META);
    match key {
        Key::Tab if mods.contains(Mods::SHIFT) => false,
        // Alt with ctrl stays ESC and the byte; with shift alone it has no other form.
        Key::Enter | Key::Tab => ctrl && !alt || mods.contains(Mods::SHIFT) && !ctrl,
        // To X11, ctrl with `?` is no control character; only legacy encoding makes it DEL.
        Key::Char(_) => ctrl && (legacy::control(code).is_none() || code == '?'),
        _ => false,
    }
}

fn reports_at_2(key: Key, code: char, mods: Mods) -> bool {
    match key {
        Key::Enter => true,
        Key::Tab | Key::Escape => mods != Mods::SHIFT,
        Key::Backspace => mods != Mods::CTRL,
        _ => mods != Mods::SHIFT || matches!(code, ' ' | '@'..='~'),
    }
}
