//! What keys and modifiers are called.
//!
//! The first name is the one we write; the others are read as well. Names are in lower case with
//! `_` between words; reading ignores case, takes `-` for `_`, and `_` may be left away.

use std::fmt;

use super::{FKey, Key, Keypad, Media, Modifier, Mods};

/// Modifiers and their names, in the order they are written.
pub(super) const MODS: &[(Mods, &[&str])] = &[
    (Mods::CTRL, &["ctrl", "c", "control", "ctl"]),
    (Mods::ALT, &["alt", "m", "a", "meta", "opt", "option"]),
    (Mods::SHIFT, &["shift", "s"]),
    (Mods::SUPER, &["super", "cmd", "command", "win", "windows", "logo"]),
    (Mods::HYPER, &["hyper"]),
    // `meta` is alt to nearly everybody, so the key really called so needs another name.
    (Mods::META, &["truemeta"]),
    (Mods::CAPS_LOCK, &["capslock", "caps_lock"]),
    (Mods::NUM_LOCK, &["numlock", "num_lock"]),
];

/// Keys and their names; function keys and characters are not listed.
pub(super) const KEYS: &[(Key, &[&str])] = &[
    (Key::Char(' '), &["space", "spc", "spacebar"]),
    (Key::Enter, &["enter", "return", "ret", "cr"]),
    (Key::Tab, &["tab"]),
    (Key::Backspace, &["backspace", "bspace", "bs"]),
    (Key::Escape, &["escape", "esc"]),
    (Key::Up, &["up", "arrow_up", "up_arrow"]),
    (Key::Down, &["down", "arrow_down", "down_arrow"]),
    (Key::Left, &["left", "arrow_left", "left_arrow"]),
    (Key::Right, &["right", "arrow_right", "right_arrow"]),
    (Key::Home, &["home"]),
    (Key::End, &["end"]),
    (Key::PageUp, &["page_up", "pgup", "ppage", "prior"]),
    (Key::PageDown, &["page_down", "pgdn", "pgdown", "npage", "next"]),
    (Key::Insert, &["insert", "ins", "ic"]),
    (Key::Delete, &["delete", "del", "dc"]),
    (Key::CapsLock, &["caps_lock"]),
    (Key::ScrollLock, &["scroll_lock"]),
    (Key::NumLock, &["num_lock"]),
    (Key::PrintScreen, &["print_screen", "prtsc", "print"]),
    (Key::Pause, &["pause", "break"]),
    (Key::Menu, &["menu", "context_menu"]),
    (Key::Keypad(Keypad::Zero), &["kp_0", "numpad_0"]),
    (Key::Keypad(Keypad::One), &["kp_1", "numpad_1"]),
    (Key::Keypad(Keypad::Two), &["kp_2", "numpad_2"]),
    (Key::Keypad(Keypad::Three), &["kp_3", "numpad_3"]),
    (Key::Keypad(Keypad::Four), &["kp_4", "numpad_4"]),
    (Key::Keypad(Keypad::Five), &["kp_5", "numpad_5"]),
    (Key::Keypad(Keypad::Six), &["kp_6", "numpad_6"]),
    (Key::Keypad(Keypad::Seven), &["kp_7", "numpad_7"]),
    (Key::Keypad(Keypad::Eight), &["kp_8", "numpad_8"]),
    (Key::Keypad(Keypad::Nine), &["kp_9", "numpad_9"]),
    (Key::Keypad(Keypad::Decimal), &["kp_decimal", "numpad_decimal"]),
    (Key::Keypad(Keypad::Divide), &["kp_divide", "numpad_divide"]),
    (Key::Keypad(Keypad::Multiply), &["kp_multiply", "numpad_multiply"]),
    (Key::Keypad(Keypad::Subtract), &["kp_subtract", "kp_minus", "numpad_subtract"]),
    (Key::Keypad(Keypad::Add), &["kp_add", "kp_plus", "numpad_add"]),
    (Key::Keypad(Keypad::Enter), &["kp_enter", "numpad_enter"]),
    (Key::Keypad(Keypad::Equal), &["kp_equal", "numpad_equal"]),
    (Key::Keypad(Keypad::Separator), &["kp_separator", "kp_comma", "numpad_comma"]),
    (Key::Keypad(Keypad::Left), &["kp_left"]),
    (Key::Keypad(Keypad::Right), &["kp_right"]),
    (Key::Keypad(Keypad::Up), &["kp_up"]),
    (Key::Keypad(Keypad::Down), &["kp_down"]),
    (Key::Keypad(Keypad::PageUp), &["kp_page_up", "kp_prior"]),
    (Key::Keypad(Keypad::PageDown), &["kp_page_down", "kp_next"]),
    (Key::Keypad(Keypad::Home), &["kp_home"]),
    (Key::Keypad(Keypad::End), &["kp_end"]),
    (Key::Keypad(Keypad::Insert), &["kp_insert"]),
    (Key::Keypad(Keypad::Delete), &["kp_delete"]),
    (Key::Keypad(Keypad::Begin), &["kp_begin"]),
    (Key::Media(Media::Play), &["media_play"]),
    (Key::Media(Media::Pause), &["media_pause"]),
    (Key::Media(Media::PlayPause), &["media_play_pause"]),
    (Key::Media(Media::Reverse), &["media_reverse"]),
    (Key::Media(Media::Stop), &["media_stop"]),
    (Key::Media(Media::FastForward), &["media_fast_forward"]),
    (Key::Media(Media::Rewind), &["media_rewind"]),
    (Key::Media(Media::TrackNext), &["media_track_next"]),
    (Key::Media(Media::TrackPrevious), &["media_track_previous"]),
    (Key::Media(Media::Record), &["media_record"]),
    (Key::Media(Media::LowerVolume), &["lower_volume", "volume_down"]),
    (Key::Media(Media::RaiseVolume), &["raise_volume", "volume_up"]),
    (Key::Media(Media::MuteVolume), &["mute_volume", "mute"]),
    (Key::Modifier(Modifier::LeftShift), &["left_shift"]),
    (Key::Modifier(Modifier::LeftCtrl), &["left_ctrl", "left_control"]),
    (Key::Modifier(Modifier::LeftAlt), &["left_alt"]),
    (Key::Modifier(Modifier::LeftSuper), &["left_super"]),
    (Key::Modifier(Modifier::LeftHyper), &["left_hyper"]),
    (Key::Modifier(Modifier::LeftMeta), &["left_meta"]),
    (Key::Modifier(Modifier::RightShift), &["right_shift"]),
    (Key::Modifier(Modifier::RightCtrl), &["right_ctrl", "right_control"]),
    (Key::Modifier(Modifier::RightAlt), &["right_alt"]),
    (Key::Modifier(Modifier::RightSuper), &["right_super"]),
    (Key::Modifier(Modifier::RightHyper), &["right_hyper"]),
    (Key::Modifier(Modifier::RightMeta), &["right_meta"]),
    (Key::Modifier(Modifier::IsoLevel3Shift), &["iso_level3_shift", "altgr"]),
    (Key::Modifier(Modifier::IsoLevel5Shift), &["iso_level5_shift"]),
];

/// The key of the list that is called `text`.
pub(super) fn named_key(text: &str) -> Option<Key> {
    KEYS.iter().find(|(_, names)| names.iter().any(|name| same_name(text, name))).map(|it| it.0)
}

/// The function key that is called `text`, such as `F12`.
pub(super) fn function_key(text: &str) -> Option<Key> {
    let digits = text.strip_prefix(['f', 'F'])?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    if plain { FKey::new(digits.parse().ok()?).map(Key::F) } else { None }
}

/// The modifier that is called `text`.
pub(super) fn named_mod(text: &str) -> Option<Mods> {
    MODS.iter().find(|(_, names)| names.iter().any(|name| same_name(text, name))).map(|it| it.0)
}

/// Whether `text` is a way to write `name`: in any case, with `-` for `_`, or without any.
fn same_name(text: &str, name: &str) -> bool {
    let alike = |text: u8, name: u8| match text {
        b'-' | b' ' => name == b'_',
        _ => text.eq_ignore_ascii_case(&name),
    };
    let spelled = text.len() == name.len()
        && text.bytes().zip(name.bytes()).all(|(text, name)| alike(text, name));
    let mut bare = name.bytes().filter(|byte| *byte != b'_');
    spelled
        || text.bytes().all(|byte| bare.next().is_some_and(|it| alike(byte, it)))
            && bare.next().is_none()
}

/// Writes the names of the modifiers with `+` between them.
pub(super) fn write_mods(f: &mut fmt::Formatter<'_>, mods: Mods) -> fmt::Result {
    let mut separator = "";
    for (_, names) in MODS.iter().filter(|(one, _)| mods.contains(*one)) {
        write!(f, "{separator}{}", names.first().unwrap_or(&""))?;
        separator = "+";
    }
    Ok(())
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = KEYS.iter().find(|it| it.0 == *self).and_then(|it| it.1.first()) {
            return f.write_str(name);
        }
        match self {
            Key::F(key) => write!(f, "f{}", key.number()),
            // What cannot be seen cannot be written as itself.
            Key::Char(c) if c.is_control() || c.is_whitespace() => {
                write!(f, "U+{:04X}", u32::from(*c))
            }
            Key::Char(c) => write!(f, "{c}"),
            // Every other key is in the list; a test holds that.
            _ => f.write_str("?"),
        }
    }
}
