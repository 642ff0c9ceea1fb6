//! Checkpoints that are damaged, old, or from a newer program.

use crate::{Depth, Options, RestoreError, Screen};

fn busy() -> Screen {
    let mut screen = Screen::new("20x5".parse().unwrap(), Options::default());
    screen.feed(
        "\x1b]0;title\x07\x1b]7;file://host/tmp\x07\x1b]8;;https://example.org\x07link\x1b]8;;\x07\r\n\
         \x1b[1;31mbold red\x1b[m 漢字 e\u{301} 👩\u{200d}👧\r\n\x1b]133;A\x07$ \x1b]133;B\x07ls\r\n\x1b]133;C\x07\
         a\r\nb\r\nc\r\nd\r\n\x1b]133;D;1\x07\x1b[2;4r\x1b[?2004h\x1b[>5u\x1b(0\x1b7\x1b]4;1;#102030\x07\
         \x1b[?1049h\x1b[44mfull\x1b[3;3H"
            .as_bytes(),
    );
    screen
}

#[test]
fn every_cut_and_every_flipped_byte_is_refused_or_works() {
    let checkpoint = busy().checkpoint();
    for len in 0..checkpoint.len() {
        assert!(Screen::restore(&checkpoint[..len]).is_err(), "cut to {len} bytes");
    }
    for at in 0..checkpoint.len() {
        for bit in 0..8 {
            let mut damaged = checkpoint.clone();
            damaged[at] ^= 1 << bit;
            if let Ok(mut screen) = Screen::restore(&damaged) {
                screen.feed(b"\r\nstill works\x1b[2J");
                let _text = (screen.text(), screen.dump(Depth::All));
            }
        }
    }
}

#[test]
fn a_checkpoint_of_a_newer_program_is_refused_by_name() {
    let mut checkpoint = busy().checkpoint();
    checkpoint[4] = 99;
    assert_eq!(Screen::restore(&checkpoint).unwrap_err(), RestoreError::Version(99));
    let text = RestoreError::Version(99).to_string();
    assert!(text.contains("99") && text.contains('1'), "{text}");
}

/// Checkpoints outlive the program that made them: this one was made by version 1.
#[test]
fn version_1_is_still_read() {
    let old = include_bytes!("../../tests/fixtures/checkpoint-v1.bin");
    let screen = Screen::restore(old).unwrap();
    assert_eq!(
        screen.dump(Depth::All).escape_ascii().to_string(),
        busy().dump(Depth::All).escape_ascii().to_string()
    );
}
