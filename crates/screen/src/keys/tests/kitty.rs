//! What the kitty keyboard protocol sends, enhancement by enhancement.

use greenroom_model::{Key, KeyAction, KeyEvent, Keypad, Media, Modifier};

use super::super::encode_key;
use super::{check, chord, every_key, kitty, some_mods};

const ALL: u8 = 31;

#[test]
fn disambiguation_keeps_text_as_text() {
    let modes = kitty(1);
    check(modes, &[("a", "a"), ("A", "A"), ("S-a", "A"), ("é", "é"), ("space", " "), ("S-1", "!")]);
    check(modes, &[("capslock+a", "A"), ("numlock+a", "a"), ("kp_5", "5"), ("kp_add", "+")]);
    check(modes, &[("a repeat", "a"), ("a release", ""), ("C-a release", "")]);
}

#[test]
fn disambiguation_gives_modified_characters_a_sequence() {
    let modes = kitty(1);
    check(modes, &[("C-a", "\x1b[97;5u"), ("M-a", "\x1b[97;3u"), ("C-S-a", "\x1b[97;6u")]);
    check(modes, &[("C-A", "\x1b[97;6u"), ("M-A", "\x1b[97;4u"), ("M-S-a", "\x1b[97;4u")]);
    check(modes, &[("C-M-a", "\x1b[97;7u"), ("super+a", "\x1b[97;9u"), ("hyper+a", "\x1b[97;17u")]);
    check(
        modes,
        &[("truemeta+a", "\x1b[97;33u"), ("C-space", "\x1b[32;5u"), ("M-[", "\x1b[91;3u")],
    );
    check(modes, &[("C-[", "\x1b[91;5u"), ("C-i", "\x1b[105;5u"), ("C-é", "\x1b[233;5u")]);
    check(modes, &[("capslock+C-a", "\x1b[97;69u"), ("numlock+C-a", "\x1b[97;133u")]);
    check(modes, &[("esc", "\x1b[27u"), ("M-esc", "\x1b[27;3u"), ("C-kp_5", "\x1b[57404;5u")]);
}

#[test]
fn enter_tab_and_backspace_stay_usable_in_a_shell() {
    for flags in [1, 2, 3, 7] {
        let modes = kitty(flags);
        check(modes, &[("enter", "\r"), ("tab", "\t"), ("bs", "\x7f"), ("enter repeat", "\r")]);
        check(modes, &[("enter release", ""), ("tab release", ""), ("C-bs release", "")]);
        check(modes, &[("numlock+enter", "\r"), ("capslock+tab", "\t"), ("numlock+bs", "\x7f")]);
        check(modes, &[("C-enter", "\x1b[13;5u"), ("S-tab", "\x1b[9;2u"), ("C-bs", "\x1b[127;5u")]);
        check(modes, &[("S-enter", "\x1b[13;2u"), ("M-enter", "\x1b[13;3u")]);
    }
    check(kitty(8), &[("enter", "\x1b[13u"), ("tab", "\x1b[9u"), ("bs", "\x1b[127u")]);
    check(kitty(10), &[("enter release", "\x1b[13;1:3u"), ("numlock+bs", "\x1b[127;129u")]);
}

#[test]
fn functional_keys_keep_their_forms_without_ss3() {
    let mut modes = kitty(1);
    modes.app_cursor = true;
    modes.app_keypad = true;
    let lettered = [("up", "A"), ("down", "B"), ("right", "C"), ("left", "D"), ("kp_begin", "E")];
    let more = [("end", "F"), ("home", "H"), ("f1", "P"), ("f2", "Q"), ("f4", "S")];
    for (name, letter) in lettered.into_iter().chain(more) {
        check(modes, &[(name, &format!("\x1b[{letter}"))]);
        for mods in some_mods() {
            let event = KeyEvent::new(chord(name).key, mods);
            let expected = format!("\x1b[1;{}{letter}", mods.bits() + 1);
            assert_eq!(encode_key(&event, modes), expected.as_bytes(), "{event}");
        }
    }
    let numbered = [("insert", 2), ("delete", 3), ("page_up", 5), ("page_down", 6), ("f3", 13)];
    let more = [("f5", 15), ("f6", 17), ("f7", 18), ("f8", 19), ("f9", 20), ("f10", 21)];
    for (name, code) in numbered.into_iter().chain(more).chain([("f11", 23), ("f12", 24)]) {
        check(modes, &[(name, &format!("\x1b[{code}~"))]);
        check(modes, &[(&format!("C-{name}"), &format!("\x1b[{code};5~"))]);
        check(modes, &[(&format!("numlock+{name}"), &format!("\x1b[{code};129~"))]);
    }
}

#[test]
fn other_keys_have_codes_in_the_private_use_area() {
    let families = [
        (57376, (13..=35).filter_map(Key::f).collect::<Vec<_>>()),
        (57399, Keypad::ALL.map(Key::Keypad).to_vec()),
        (57428, Media::ALL.map(Key::Media).to_vec()),
        (57441, Modifier::ALL.map(Key::Modifier).to_vec()),
        (57358, vec![Key::CapsLock, Key::ScrollLock, Key::NumLock]),
        (57361, vec![Key::PrintScreen, Key::Pause, Key::Menu]),
    ];
    for (first, keys) in families {
        for (code, key) in (first..).zip(keys) {
            let got = encode_key(&KeyEvent::from(key), kitty(8));
            let expected = match key {
                Key::Keypad(Keypad::Begin) => "\x1b[E".to_owned(),
                Key::Modifier(_) => String::from_utf8(got.clone()).unwrap(),
                _ => format!("\x1b[{code}u"),
            };
            assert_eq!(got, expected.as_bytes(), "{key}");
            assert!(key == Key::Keypad(Keypad::Begin) || expected.contains(&code.to_string()));
        }
    }
    check(kitty(1), &[("kp_0", "0"), ("kp_enter", "\x1b[57414u"), ("kp_up", "\x1b[57419u")]);
    check(kitty(1), &[("kp_delete", "\x1b[57426u"), ("media_play", "\x1b[57428u")]);
}

#[test]
fn modifiers_and_locks_are_keys_only_when_all_keys_are_reported() {
    for name in ["left_shift", "right_meta", "iso_level5_shift", "caps_lock", "num_lock"] {
        check(kitty(7), &[(name, "")]);
    }
    check(kitty(10), &[("left_shift", "\x1b[57441;2u"), ("right_ctrl", "\x1b[57448;5u")]);
    check(kitty(10), &[("left_super", "\x1b[57444;9u"), ("right_meta", "\x1b[57452;33u")]);
    check(kitty(10), &[("left_ctrl release", "\x1b[57442;1:3u")]);
    check(kitty(10), &[("C-left_ctrl release", "\x1b[57442;5:3u"), ("caps_lock", "\x1b[57358u")]);
    check(kitty(10), &[("iso_level3_shift", "\x1b[57453u")]);
}

#[test]
fn events_are_reported_when_asked_for() {
    check(kitty(3), &[("a", "a"), ("a repeat", "a"), ("a release", "\x1b[97;1:3u")]);
    check(kitty(3), &[("C-a repeat", "\x1b[97;5:2u"), ("C-a release", "\x1b[97;5:3u")]);
    check(kitty(3), &[("up repeat", "\x1b[1;1:2A"), ("up release", "\x1b[1;1:3A")]);
    check(kitty(3), &[("f5 release", "\x1b[15;1:3~"), ("esc release", "\x1b[27;1:3u")]);
    check(kitty(1), &[("C-a repeat", "\x1b[97;5u"), ("up repeat", "\x1b[A"), ("up release", "")]);
    check(kitty(9), &[("a repeat", "\x1b[97u"), ("a release", "")]);
}

#[test]
fn events_alone_leave_characters_as_they_were() {
    check(kitty(2), &[("C-a", "\x01"), ("M-a", "\x1ba"), ("esc", "\x1b"), ("f1", "\x1b[P")]);
    check(kitty(2), &[("C-a repeat", "\x1b[97;5:2u"), ("esc release", "\x1b[27;1:3u")]);
    check(kitty(2), &[("kp_enter", "\x1b[13u"), ("kp_left", "\x1b[D"), ("kp_5", "5")]);
    check(kitty(2), &[("C-esc", "\x1b[27;5u"), ("S-a", "A")]);
}

#[test]
fn enhancements_of_sequences_need_a_sequence() {
    for flags in [4, 16, 20] {
        check(kitty(flags), &[("a", "a"), ("C-a", "\x01"), ("f1", "\x1bOP"), ("M-a", "\x1ba")]);
    }
    check(kitty(5), &[("a", "a"), ("S-a", "A")]);
}

#[test]
fn alternates_are_what_the_key_is_otherwise() {
    check(
        kitty(5),
        &[("C-S-a", "\x1b[97:65;6u"), ("C-a", "\x1b[97;5u"), ("C-S-1", "\x1b[49:33;6u")],
    );
    check(kitty(12), &[("A", "\x1b[97:65;2u"), ("S-up", "\x1b[1;2A"), ("space", "\x1b[32u")]);
    let mut event = chord("ctrl+с");
    event.base = Some('c');
    assert_eq!(encode_key(&event, kitty(5)), b"\x1b[1089::99;5u");
    event = chord("ctrl+shift+с");
    event.base = Some('c');
    event.shifted = Some('С');
    assert_eq!(encode_key(&event, kitty(5)), b"\x1b[1089:1057:99;6u");
}

#[test]
fn text_is_added_when_all_keys_are_reported() {
    check(kitty(24), &[("a", "\x1b[97;;97u"), ("S-a", "\x1b[97;2;65u"), ("A", "\x1b[97;2;65u")]);
    check(kitty(24), &[("C-a", "\x1b[97;5u"), ("enter", "\x1b[13u"), ("kp_5", "\x1b[57404;;53u")]);
    check(kitty(24), &[("capslock+a", "\x1b[97;65;65u"), ("numlock+up", "\x1b[1;129A")]);
    check(kitty(ALL), &[("S-a", "\x1b[97:65;2;65u"), ("a repeat", "\x1b[97;1:2;97u")]);
    check(kitty(ALL), &[("a release", "\x1b[97;1:3u"), ("S-1", "\x1b[49:33;2;33u")]);
    let mut event = chord("a");
    event.text = Some("å".to_owned());
    assert_eq!(encode_key(&event, kitty(24)), b"\x1b[97;;229u");
    assert_eq!(encode_key(&event, kitty(1)), "å".as_bytes());
    event.text = Some("e\u{301}".to_owned());
    assert_eq!(encode_key(&event, kitty(24)), b"\x1b[97;;101:769u");
    event.text = Some("\x1b[201~".to_owned());
    assert_eq!(encode_key(&event, kitty(24)), b"\x1b[97;;97u", "controls are no text");
}

#[test]
fn every_key_is_reported_when_all_are() {
    for key in every_key() {
        for action in [KeyAction::Press, KeyAction::Repeat, KeyAction::Release] {
            let event = KeyEvent::from(key).with_action(action);
            assert!(encode_key(&event, kitty(ALL)).starts_with(b"\x1b["), "{key} {action:?}");
        }
    }
}
