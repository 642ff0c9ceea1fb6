//! What xterm sends.

use greenroom_model::{Key, KeyAction, KeyEvent, Mods};

use super::super::{KeyModes, encode_key};
use super::{check, chord, every_key, some_mods};

const PLAIN: KeyModes = KeyModes {
    app_cursor: false,
    app_keypad: false,
    newline: false,
    backarrow: false,
    modify_other_keys: 0,
    kitty: super::KittyFlags::NONE,
    alt_sends_esc: true,
};

#[test]
fn characters_are_themselves() {
    check(PLAIN, &[("a", "a"), ("A", "A"), ("S-a", "A"), ("é", "é"), ("S-é", "É"), ("😀", "😀")]);
    check(PLAIN, &[("space", " "), ("S-space", " "), ("S-1", "!"), ("S-/", "?"), ("ß", "ß")]);
    check(PLAIN, &[("capslock+a", "A"), ("capslock+S-a", "a"), ("capslock+1", "1")]);
    check(PLAIN, &[("M-a", "\x1ba"), ("M-A", "\x1bA"), ("M-S-a", "\x1bA"), ("M-é", "\x1bé")]);
    check(PLAIN, &[("M-space", "\x1b "), ("M-[", "\x1b["), ("truemeta+a", "\x1ba")]);
    check(PLAIN, &[("super+a", "a"), ("hyper+a", "a"), ("a repeat", "a"), ("a release", "")]);
}

#[test]
fn ctrl_makes_control_characters() {
    for letter in 'a'..='z' {
        let byte = letter as u8 & 0x1f;
        for (mods, expected) in [
            (Mods::CTRL, vec![byte]),
            (Mods::CTRL | Mods::SHIFT, vec![byte]),
            (Mods::CTRL | Mods::ALT, vec![0x1b, byte]),
        ] {
            assert_eq!(encode_key(&KeyEvent::new(Key::Char(letter), mods), PLAIN), expected);
        }
    }
    check(
        PLAIN,
        &[("C-@", "\0"), ("C-space", "\0"), ("C-2", "\0"), ("C-`", "\0"), ("C-S-2", "\0")],
    );
    check(PLAIN, &[("C-[", "\x1b"), ("C-3", "\x1b"), ("C-{", "\x1b")]);
    check(PLAIN, &[("C-\\", "\x1c"), ("C-4", "\x1c"), ("C-|", "\x1c")]);
    check(PLAIN, &[("C-]", "\x1d"), ("C-5", "\x1d"), ("C-}", "\x1d")]);
    check(PLAIN, &[("C-^", "\x1e"), ("C-6", "\x1e"), ("C-~", "\x1e")]);
    check(PLAIN, &[("C-_", "\x1f"), ("C-7", "\x1f"), ("C-/", "\x1f"), ("C-S--", "\x1f")]);
    check(PLAIN, &[("C-?", "\x7f"), ("C-8", "\x7f")]);
    check(PLAIN, &[("C-1", "1"), ("C-9", "9"), ("C-0", "0"), ("C-;", ";"), ("C-é", "é")]);
    check(PLAIN, &[("C-M-space", "\x1b\0"), ("C-M-1", "\x1b1")]);
}

#[test]
fn ctrl_works_by_the_place_of_the_key_on_other_layouts() {
    let mut event = chord("ctrl+с");
    assert_eq!(encode_key(&event, PLAIN), "с".as_bytes());
    event.base = Some('c');
    assert_eq!(encode_key(&event, PLAIN), b"\x03");
}

#[test]
fn enter_tab_backspace_escape() {
    check(PLAIN, &[("enter", "\r"), ("S-enter", "\r"), ("C-enter", "\r"), ("M-enter", "\x1b\r")]);
    check(PLAIN, &[("tab", "\t"), ("C-tab", "\t"), ("M-tab", "\x1b\t"), ("S-tab", "\x1b[Z")]);
    check(PLAIN, &[("C-S-tab", "\x1b[Z"), ("M-S-tab", "\x1b[Z")]);
    check(PLAIN, &[("esc", "\x1b"), ("C-esc", "\x1b"), ("S-esc", "\x1b"), ("M-esc", "\x1b\x1b")]);
    check(PLAIN, &[("bs", "\x7f"), ("S-bs", "\x7f"), ("C-bs", "\x08"), ("M-bs", "\x1b\x7f")]);
    check(PLAIN, &[("C-M-bs", "\x1b\x08"), ("C-S-bs", "\x08")]);
    let modes = KeyModes { backarrow: true, ..PLAIN };
    check(modes, &[("bs", "\x08"), ("C-bs", "\x7f"), ("M-bs", "\x1b\x08")]);
    let modes = KeyModes { newline: true, ..PLAIN };
    check(modes, &[("enter", "\r\n"), ("M-enter", "\x1b\r\n"), ("C-m", "\r\n"), ("C-j", "\n")]);
    check(modes, &[("kp_enter", "\r\n"), ("a", "a")]);
    let modes = KeyModes { alt_sends_esc: false, ..PLAIN };
    check(modes, &[("M-a", "\u{e1}"), ("C-M-a", "\u{81}"), ("M-é", "é"), ("truemeta+a", "\x1ba")]);
}

const LETTERS: &[(&str, &str)] =
    &[("up", "A"), ("down", "B"), ("right", "C"), ("left", "D"), ("end", "F"), ("home", "H")];

#[test]
fn cursor_keys_follow_their_mode_until_modified() {
    let app = KeyModes { app_cursor: true, ..PLAIN };
    for (name, letter) in [LETTERS, &[("kp_begin", "E")]].concat() {
        check(PLAIN, &[(name, &format!("\x1b[{letter}"))]);
        check(app, &[(name, &format!("\x1bO{letter}"))]);
        for mods in some_mods() {
            let event = KeyEvent::new(chord(name).key, mods);
            let expected = format!("\x1b[1;{}{letter}", mods.bits() + 1);
            assert_eq!(encode_key(&event, PLAIN), expected.as_bytes(), "{event}");
            assert_eq!(encode_key(&event, app), expected.as_bytes(), "{event}");
        }
    }
    check(PLAIN, &[("super+up", "\x1b[1;9A"), ("truemeta+S-up", "\x1b[1;10A")]);
    check(app, &[("numlock+up", "\x1bOA"), ("up release", ""), ("up repeat", "\x1bOA")]);
}

#[test]
fn function_and_editing_keys_have_their_numbers() {
    let numbered = [("insert", 2), ("delete", 3), ("page_up", 5), ("page_down", 6), ("menu", 29)];
    let functions: [u16; 31] = [
        15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 28, 29, 31, 32, 33, 34, 42, 43, 44, 45, 46, 47, 48,
        49, 50, 51, 52, 53, 54, 55, 56,
    ];
    let functions = (5..).zip(functions).map(|(number, code)| (format!("f{number}"), code));
    let numbered = numbered.map(|(name, code)| (name.to_owned(), code));
    for (name, code) in numbered.into_iter().chain(functions) {
        check(PLAIN, &[(&name, &format!("\x1b[{code}~"))]);
        for mods in some_mods() {
            let event = KeyEvent::new(chord(&name).key, mods);
            let expected = format!("\x1b[{code};{}~", mods.bits() + 1);
            assert_eq!(encode_key(&event, PLAIN), expected.as_bytes(), "{event}");
        }
    }
    check(PLAIN, &[("f1", "\x1bOP"), ("f2", "\x1bOQ"), ("f3", "\x1bOR"), ("f4", "\x1bOS")]);
    check(PLAIN, &[("S-f1", "\x1b[1;2P"), ("M-f2", "\x1b[1;3Q"), ("C-f3", "\x1b[1;5R")]);
    check(PLAIN, &[("C-M-S-f4", "\x1b[1;8S")]);
}

#[test]
fn the_keypad_types_or_sends_ss3() {
    let app = KeyModes { app_keypad: true, ..PLAIN };
    for (index, digit) in ('0'..='9').enumerate() {
        let letter = char::from(b'p' + index as u8);
        let name = format!("kp_{digit}");
        check(PLAIN, &[(&name, &digit.to_string())]);
        check(app, &[(&name, &format!("\x1bO{letter}"))]);
        check(app, &[(&format!("numlock+{name}"), &digit.to_string())]);
        check(app, &[(&format!("C-{name}"), &format!("\x1bO5{letter}"))]);
    }
    check(PLAIN, &[("kp_decimal", "."), ("kp_divide", "/"), ("kp_multiply", "*"), ("kp_add", "+")]);
    check(PLAIN, &[("kp_subtract", "-"), ("kp_equal", "="), ("kp_separator", ",")]);
    check(PLAIN, &[("kp_enter", "\r"), ("M-kp_5", "5")]);
    check(app, &[("kp_decimal", "\x1bOn"), ("kp_divide", "\x1bOo"), ("kp_multiply", "\x1bOj")]);
    check(app, &[("kp_subtract", "\x1bOm"), ("kp_add", "\x1bOk"), ("kp_enter", "\x1bOM")]);
    check(app, &[("kp_equal", "\x1bOX"), ("kp_separator", "\x1bOl")]);
    for modes in [PLAIN, app] {
        for (name, letter) in LETTERS {
            check(modes, &[(&format!("kp_{name}"), &format!("\x1b[{letter}"))]);
            check(modes, &[(&format!("C-kp_{name}"), &format!("\x1b[1;5{letter}"))]);
        }
        check(modes, &[("kp_insert", "\x1b[2~"), ("kp_delete", "\x1b[3~")]);
        check(modes, &[("kp_page_up", "\x1b[5~"), ("kp_page_down", "\x1b[6~")]);
    }
}

#[test]
fn keys_without_bytes_and_releases_give_nothing() {
    for key in every_key() {
        let silent = matches!(
            key,
            Key::Media(_)
                | Key::Modifier(_)
                | Key::CapsLock
                | Key::NumLock
                | Key::ScrollLock
                | Key::PrintScreen
                | Key::Pause
        );
        assert_eq!(encode_key(&KeyEvent::from(key), PLAIN).is_empty(), silent, "{key}");
        let release = KeyEvent::from(key).with_action(KeyAction::Release);
        for modify_other_keys in 0..3 {
            let modes = KeyModes { modify_other_keys, ..PLAIN };
            assert_eq!(encode_key(&release, modes), b"", "{key}");
        }
    }
}
