//! What xterm sends with modifyOtherKeys.

use super::super::KeyModes;
use super::check;

#[test]
fn level_1_reports_what_has_no_bytes_of_its_own() {
    let modes = KeyModes { modify_other_keys: 1, ..KeyModes::default() };
    check(modes, &[("a", "a"), ("S-a", "A"), ("C-a", "\x01"), ("C-S-a", "\x01"), ("M-a", "\x1ba")]);
    check(modes, &[("C-M-a", "\x1b\x01"), ("C-space", "\0"), ("C-2", "\0"), ("C-/", "\x1f")]);
    check(modes, &[("C-1", "\x1b[27;5;49~"), ("C-;", "\x1b[27;5;59~"), ("C-,", "\x1b[27;5;44~")]);
    check(modes, &[("C-S-1", "\x1b[27;6;33~"), ("C-M-1", "\x1b[27;7;49~"), ("S-1", "!")]);
    check(modes, &[("C-é", "\x1b[27;5;233~"), ("C-?", "\x1b[27;5;63~"), ("M-1", "\x1b1")]);
    check(modes, &[("enter", "\r"), ("C-enter", "\x1b[27;5;13~"), ("S-enter", "\x1b[27;2;13~")]);
    check(modes, &[("M-enter", "\x1b\r"), ("C-M-enter", "\x1b\r"), ("M-S-enter", "\x1b[27;4;13~")]);
    check(modes, &[("C-tab", "\x1b[27;5;9~"), ("S-tab", "\x1b[Z"), ("C-S-tab", "\x1b[Z")]);
    check(modes, &[("C-bs", "\x08"), ("S-bs", "\x7f"), ("C-esc", "\x1b"), ("M-esc", "\x1b\x1b")]);
    check(modes, &[("C-up", "\x1b[1;5A"), ("C-delete", "\x1b[3;5~"), ("C-kp_5", "5")]);
}

#[test]
fn level_2_reports_nearly_everything() {
    let modes = KeyModes { modify_other_keys: 2, ..KeyModes::default() };
    check(modes, &[("a", "a"), ("A", "A"), ("é", "é"), ("enter", "\r"), ("tab", "\t")]);
    check(modes, &[("C-a", "\x1b[27;5;97~"), ("C-S-a", "\x1b[27;6;65~"), ("M-a", "\x1b[27;3;97~")]);
    check(modes, &[("S-a", "\x1b[27;2;65~"), ("S-1", "!"), ("S-space", "\x1b[27;2;32~")]);
    check(modes, &[("C-i", "\x1b[27;5;105~"), ("C-[", "\x1b[27;5;91~"), ("M-[", "\x1b[27;3;91~")]);
    check(
        modes,
        &[("C-1", "\x1b[27;5;49~"), ("M-S-1", "\x1b[27;4;33~"), ("C-M-x", "\x1b[27;7;120~")],
    );
    check(modes, &[("C-space", "\x1b[27;5;32~"), ("truemeta+a", "\x1b[27;9;97~")]);
    check(modes, &[("C-enter", "\x1b[27;5;13~"), ("M-enter", "\x1b[27;3;13~")]);
    check(modes, &[("S-enter", "\x1b[27;2;13~"), ("C-S-enter", "\x1b[27;6;13~")]);
    check(modes, &[("S-tab", "\x1b[Z"), ("C-tab", "\x1b[27;5;9~"), ("C-S-tab", "\x1b[27;6;9~")]);
    check(modes, &[("esc", "\x1b"), ("S-esc", "\x1b"), ("C-esc", "\x1b[27;5;27~")]);
    check(modes, &[("bs", "\x7f"), ("C-bs", "\x08"), ("S-bs", "\x1b[27;2;127~")]);
    check(modes, &[("M-bs", "\x1b[27;3;127~"), ("C-S-bs", "\x1b[27;6;8~")]);
    check(modes, &[("C-up", "\x1b[1;5A"), ("S-f5", "\x1b[15;2~"), ("C-kp_5", "5")]);
}
