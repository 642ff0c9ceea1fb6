//! Names of keys, read and written.

use super::names::KEYS;
use super::{Key, KeyAction, KeyError, KeyEvent, Keypad, Mods};

#[track_caller]
fn check(text: &str, key: Key, mods: Mods, written: &str) {
    let event: KeyEvent = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(event, KeyEvent::new(key, mods), "{text}");
    assert_eq!(event.to_string(), written, "{text}");
    assert_eq!(written.parse(), Ok(event), "{written}");
}

#[test]
fn keys_are_read_as_people_write_them() {
    let f5 = Key::f(5).unwrap();
    check("a", Key::Char('a'), Mods::NONE, "a");
    check("A", Key::Char('A'), Mods::NONE, "A");
    check("é", Key::Char('é'), Mods::NONE, "é");
    check("C-a", Key::Char('a'), Mods::CTRL, "ctrl+a");
    check("^a", Key::Char('a'), Mods::CTRL, "ctrl+a");
    check("^[", Key::Char('['), Mods::CTRL, "ctrl+[");
    check("^", Key::Char('^'), Mods::NONE, "^");
    check("ctrl+shift+up", Key::Up, Mods::CTRL | Mods::SHIFT, "ctrl+shift+up");
    check("Shift-Control-Up", Key::Up, Mods::CTRL | Mods::SHIFT, "ctrl+shift+up");
    check("M-x", Key::Char('x'), Mods::ALT, "alt+x");
    check("meta-x", Key::Char('x'), Mods::ALT, "alt+x");
    check("alt-enter", Key::Enter, Mods::ALT, "alt+enter");
    check("opt+RETURN", Key::Enter, Mods::ALT, "alt+enter");
    check("F5", f5, Mods::NONE, "f5");
    check("S-F5", f5, Mods::SHIFT, "shift+f5");
    check("f35", Key::f(35).unwrap(), Mods::NONE, "f35");
    for text in ["PageUp", "pgup", "page_up", "page-up", "Page Up"] {
        check(text, Key::PageUp, Mods::NONE, "page_up");
    }
    check("C-page-up", Key::PageUp, Mods::CTRL, "ctrl+page_up");
    check("Esc", Key::Escape, Mods::NONE, "escape");
    check("space", Key::Char(' '), Mods::NONE, "space");
    check(" ", Key::Char(' '), Mods::NONE, "space");
    check("C-Space", Key::Char(' '), Mods::CTRL, "ctrl+space");
    check("KP_5", Key::Keypad(Keypad::Five), Mods::NONE, "kp_5");
    check("kp5", Key::Keypad(Keypad::Five), Mods::NONE, "kp_5");
    check("cmd+c", Key::Char('c'), Mods::SUPER, "super+c");
    check("win-left", Key::Left, Mods::SUPER, "super+left");
    check("shift-left", Key::Left, Mods::SHIFT, "shift+left");
    check("truemeta+x", Key::Char('x'), Mods::META, "truemeta+x");
    check("capslock+a", Key::Char('a'), Mods::CAPS_LOCK, "capslock+a");
    check("capslock", Key::CapsLock, Mods::NONE, "caps_lock");
}

#[test]
fn separators_are_keys_too() {
    check("+", Key::Char('+'), Mods::NONE, "+");
    check("-", Key::Char('-'), Mods::NONE, "-");
    check("C--", Key::Char('-'), Mods::CTRL, "ctrl+-");
    check("C-+", Key::Char('+'), Mods::CTRL, "ctrl++");
    check("ctrl++", Key::Char('+'), Mods::CTRL, "ctrl++");
    check("ctrl+-", Key::Char('-'), Mods::CTRL, "ctrl+-");
    check("C-M--", Key::Char('-'), Mods::CTRL | Mods::ALT, "ctrl+alt+-");
}

#[test]
fn invisible_characters_are_written_by_number() {
    check("U+000A", Key::Char('\n'), Mods::NONE, "U+000A");
    check("C-u+00a0", Key::Char('\u{a0}'), Mods::CTRL, "ctrl+U+00A0");
    check("U+0041", Key::Char('A'), Mods::NONE, "A");
}

#[track_caller]
fn refuse(text: &str, error: &str) {
    assert_eq!(text.parse::<KeyEvent>().unwrap_err().to_string(), error, "{text}");
}

#[test]
fn errors_name_the_part_and_the_nearest_name() {
    refuse("", "the name of a key is empty");
    refuse("entr", "no key is called `entr`; did you mean `enter`?");
    refuse("C-pagup", "no key is called `pagup`; did you mean `pgup`?");
    refuse("page-upp", "no key is called `page-upp`; did you mean `page_up`?");
    refuse("ctrll+a", "no modifier is called `ctrll`; did you mean `ctrl`?");
    refuse("xyzzy+a", "no modifier is called `xyzzy`");
    refuse("C-", "no key follows `C-`");
    refuse("--", "no modifier is called ``");
    refuse("f36", "no key is called `f36`");
    refuse("f0", "no key is called `f0`");
    refuse("f05", "no key is called `f05`");
    refuse("\n", "no key is called `\\n`");
    refuse("qwertyuiop", "no key is called `qwertyuiop`");
    refuse("S-pace", "no key is called `pace`; did you mean `space`?");
    refuse("U+D800", "no key is called `U+D800`");
    let long = "é".repeat(65);
    refuse(&long, "the name of a key has 130 bytes, at most 128 are read");
    assert_eq!(long.parse::<KeyEvent>(), Err(KeyError::TooLong(130)));
}

#[test]
fn every_key_and_every_name_reads_back() {
    let functions = (1..=35).filter_map(Key::f);
    for key in KEYS.iter().map(|it| it.0).chain(functions) {
        for bits in (0..=u8::MAX).step_by(5) {
            let event = KeyEvent::new(key, Mods::from_bits(bits));
            let written = event.to_string();
            assert!(!written.contains('?') && written.len() <= KeyEvent::MAX_NAME, "{key:?}");
            assert_eq!(written.parse(), Ok(event), "{written}");
        }
    }
    for (key, names) in KEYS {
        for name in *names {
            assert_eq!(name.to_uppercase().parse(), Ok(KeyEvent::from(*key)), "{name}");
            assert_eq!(name.replace('_', "").parse(), Ok(KeyEvent::from(*key)), "{name}");
        }
    }
}

#[test]
fn every_visible_character_reads_back() {
    for c in (0..0x3000).filter_map(char::from_u32) {
        let event = KeyEvent::new(Key::Char(c), Mods::CTRL | Mods::SHIFT);
        assert_eq!(event.to_string().parse(), Ok(event), "{c:?}");
    }
}

#[test]
fn a_chord_is_the_same_whoever_reports_it() {
    let chord = |text: &str| text.parse::<KeyEvent>().unwrap();
    assert!(chord("A").same_chord(&chord("S-a")));
    assert!(chord("C-a").same_chord(&chord("numlock+capslock+C-a")));
    assert!(chord("C-a").same_chord(&chord("C-a").with_action(KeyAction::Repeat)));
    assert!(!chord("a").same_chord(&chord("S-a")));
    assert!(!chord("up").same_chord(&chord("kp_up")));
}
