//! Keys in the kitty keyboard protocol, with all its progressive enhancements.
//!
//! `CSI code : shifted : base ; modifiers : event ; text u`, or with a letter or `~` for the keys
//! that always had one. Text is sent as text until all keys are to be reported, and enter, tab
//! and backspace keep their bytes, so that a shell stays usable after a program has crashed.

use greenroom_model::{Key, KeyAction, KeyEvent, Modifier, Mods};

use super::{KeyModes, KittyFlags, legacy, table, typed};

/// Appends the bytes of `event`; some enhancement that changes the encoding is on.
pub(super) fn encode(event: &KeyEvent, modes: KeyModes, out: &mut Vec<u8>) {
    let flags = modes.kitty;
    let all = flags.contains(KittyFlags::ALL_KEYS);
    let release = event.action == KeyAction::Release;
    if release && !flags.contains(KittyFlags::EVENTS) {
        return;
    }
    if !all {
        let held = event.mods - Mods::LOCKS;
        match event.key {
            Key::Modifier(_) | Key::CapsLock | Key::NumLock | Key::ScrollLock => return,
            Key::Enter | Key::Tab | Key::Backspace if release => return,
            Key::Enter | Key::Tab | Key::Backspace if held.is_empty() => {
                return legacy::encode(event, modes, out);
            }
            _ if release => {}
            _ => {
                if let Some(text) = typed::text(event) {
                    return out.extend(text.as_bytes());
                }
            }
        }
        if !flags.contains(KittyFlags::DISAMBIGUATE) {
            return without_disambiguation(event, modes, out);
        }
    }
    sequence(event, flags, out);
}

/// Only events are to be reported: a press keeps its legacy bytes where those are characters.
fn without_disambiguation(event: &KeyEvent, modes: KeyModes, out: &mut Vec<u8>) {
    let mut event = event.clone();
    if let Key::Keypad(key) = event.key {
        event.key = table::without_keypad(key);
    }
    let plain = match event.key {
        Key::Char(_) => true,
        Key::Escape => (event.mods - Mods::LOCKS).is_empty(),
        _ => false,
    };
    if plain && event.action == KeyAction::Press {
        legacy::encode(&event, modes, out);
    } else {
        sequence(&event, modes.kitty, out);
    }
}

/// Appends the escape sequence of `event`.
fn sequence(event: &KeyEvent, flags: KittyFlags, out: &mut Vec<u8>) {
    let event = unshifted(event);
    let (code, last) = table::kitty(event.key);
    let mods = event.mods | own_mod(&event);
    let action = match event.action {
        KeyAction::Repeat if flags.contains(KittyFlags::EVENTS) => ":2",
        KeyAction::Release => ":3",
        KeyAction::Press | KeyAction::Repeat => "",
    };
    let text = Some(flags)
        .filter(|it| it.contains(KittyFlags::ALL_KEYS) && it.contains(KittyFlags::TEXT))
        .filter(|_| event.action != KeyAction::Release)
        .and_then(|_| typed::text(&event));
    let modified = !mods.is_empty() || !action.is_empty();

    out.extend(b"\x1b[");
    if code != 1 || modified {
        out.extend(code.to_string().as_bytes());
    }
    if flags.contains(KittyFlags::ALTERNATES) {
        alternates(&event, out);
    }
    if modified {
        out.extend(format!(";{}{action}", 1 + u16::from(mods.bits())).as_bytes());
    } else if text.is_some() {
        out.push(b';');
    }
    for (index, c) in text.iter().flat_map(|it| it.chars()).enumerate() {
        out.push(if index == 0 { b';' } else { b':' });
        out.extend(u32::from(c).to_string().as_bytes());
    }
    out.push(last);
}

/// Appends what else the key of a character stands for.
fn alternates(event: &KeyEvent, out: &mut Vec<u8>) {
    let Key::Char(c) = event.key else { return };
    let shift = event.mods.contains(Mods::SHIFT);
    let assumed = || Some(typed::shifted(event, c)).filter(|it| *it != c);
    let shifted = event.shifted.or_else(assumed).filter(|_| shift);
    let base = event.base.filter(|it| *it != c);
    let number = |c: Option<char>| c.map(|it| u32::from(it).to_string()).unwrap_or_default();
    if shifted.is_some() || base.is_some() {
        out.extend(format!(":{}", number(shifted)).as_bytes());
    }
    if base.is_some() {
        out.extend(format!(":{}", number(base)).as_bytes());
    }
}

/// The event with a capital as shift and the small letter: codes are always those without shift.
fn unshifted(event: &KeyEvent) -> KeyEvent {
    let mut event = event.clone();
    if let Key::Char(c) = event.key
        && let Some(small) = typed::small(c)
    {
        event.key = Key::Char(small);
        if !event.mods.contains(Mods::CAPS_LOCK) {
            event.mods |= Mods::SHIFT;
            event.shifted = Some(c);
        }
    }
    event
}

/// The modifier that the press of a modifier key turns on, which its own event has to show.
fn own_mod(event: &KeyEvent) -> Mods {
    let Key::Modifier(key) = event.key else { return Mods::NONE };
    if event.action == KeyAction::Release {
        return Mods::NONE;
    }
    match key {
        Modifier::LeftShift | Modifier::RightShift => Mods::SHIFT,
        Modifier::LeftCtrl | Modifier::RightCtrl => Mods::CTRL,
        Modifier::LeftAlt | Modifier::RightAlt => Mods::ALT,
        Modifier::LeftSuper | Modifier::RightSuper => Mods::SUPER,
        Modifier::LeftHyper | Modifier::RightHyper => Mods::HYPER,
        Modifier::LeftMeta | Modifier::RightMeta => Mods::META,
        Modifier::IsoLevel3Shift | Modifier::IsoLevel5Shift => Mods::NONE,
    }
}
