//! What is typed, cut anywhere: nothing is lost but answers and the detach key.

use std::time::{Duration, Instant};

use greenroom_model::KeyEvent;
use proptest::prelude::*;

use super::*;

fn chord(name: &str) -> Chord {
    Chord::new(&name.parse::<KeyEvent>().unwrap()).unwrap()
}

fn scanner() -> Scanner {
    Scanner::new(chord("ctrl+]"), None)
}

/// What passes of some parts that come at once, and whether the detach key was among them.
fn scanned(scanner: &mut Scanner, parts: &[&[u8]]) -> (Vec<u8>, Scanned) {
    let now = Instant::now();
    let mut out = Vec::new();
    for part in parts {
        if scanner.feed(part, now, &mut out) == Scanned::Detach {
            return (out, Scanned::Detach);
        }
    }
    scanner.give_up(&mut out);
    (out, Scanned::Typed)
}

/// Feeds `input` whole and cut at every byte, and wants the same each time.
///
/// Not cut behind a lone ESC, which is the Escape key and passes at once.
#[track_caller]
fn check(input: &str, passes: &str, result: Scanned) {
    let expected = (passes.as_bytes().to_vec(), result);
    for cut in 0..=input.len() {
        let (head, tail) = input.as_bytes().split_at(cut);
        if head != b"\x1b" {
            assert_eq!(scanned(&mut scanner(), &[head, tail]), expected, "cut at byte {cut}");
        }
    }
}

#[test]
fn typing_passes_as_it_is() {
    for text in [
        "ls -l\r",
        "größe 日本",
        "\x03\x04\x1a\x7f\t\0",
        "\x1b[A\x1b[1;5C\x1bOP\x1b[15~\x1b[3~",
        "\x1bx\x1b\x1b[A\x1b\x1b",
        "\x1b[<0;10;5M\x1b[<0;10;5m\x1b[M !!",
        "\x1b[I\x1b[O",
        "\x1b[97;5u\x1b[57441;2u\x1b[27;5;97~",
        "\x1b[1;5R\x1b[1;2R",
        "\x1b]",
        "\x1bP",
        "\x1b[",
        "\x1b]no string\x07",
        "\x1bPhello",
        "\x1b_x",
        "\x1bO",
        "\x1b[200",
        "\x1b[?997;1n",
    ] {
        check(text, text, Scanned::Typed);
    }
}

#[test]
fn answers_of_the_terminal_are_dropped() {
    for answer in [
        "\x1b[?62;22c",
        "\x1b[>1;4000;29c",
        "\x1b[?2026;2$y",
        "\x1b[4;1$y",
        "\x1b[?1u",
        "\x1b[?0u",
        "\x1b]11;rgb:0000/1111/2222\x1b\\",
        "\x1b]10;rgb:ff/ff/ff\x07",
        "\x1bP>|kitty(0.32)\x1b\\",
        "\x1bP1+r524742=38\x1b\\",
        "\x1bP1$r0m\x1b\\",
        "\x1bP!|7E7E\x1b\\",
        "\x1b_Gi=1;OK\x1b\\",
        "\x1b[0n",
        "\x1b[?13n",
        "\x1b[?5;7R",
        "\x1b[8;24;80t",
    ] {
        check(&format!("a{answer}b"), "ab", Scanned::Typed);
        check(&format!("{answer}{answer}\x1b[A"), "\x1b[A", Scanned::Typed);
    }
}

#[test]
fn the_detach_key_is_found_in_every_encoding() {
    for key in [
        "\x1d",
        "\x1b[93;5u",
        "\x1b[93;5:1u",
        "\x1b[93;5:2u",
        "\x1b[93;69u",
        "\x1b[27;5;93~",
        "\x1b[93;133u",
        "\x1b[1098::93;5u",
    ] {
        check(&format!("ab{key}cd"), "ab", Scanned::Detach);
    }
    for other in
        ["\x1b[93;6u", "\x1b[93u", "\x1b[93;1u", "\x1b[92;5u", "\x1b[27;6;93~", "\x1b[93;5:3u"]
    {
        check(other, other, Scanned::Typed);
    }
}

#[test]
fn the_detach_key_with_alt_types_it() {
    check("a\x1b\x1db", "a\x1db", Scanned::Typed);
    check("\x1b[93;7u", "\x1b[93;5u", Scanned::Typed);
    check("\x1b[93;7:3u", "\x1b[93;5:3u", Scanned::Typed);
    check("\x1b[27;7;93~", "\x1b[27;5;93~", Scanned::Typed);
}

#[test]
fn a_key_of_its_own_types_the_detach_key() {
    let mut scanner = Scanner::new(chord("ctrl+]"), Some(chord("ctrl+^")));
    assert_eq!(
        scanned(&mut scanner, &[b"a\x1eb\x1b\x1d"]),
        (b"a\x1db\x1b".to_vec(), Scanned::Detach)
    );
    let mut scanner = Scanner::new(chord("alt+d"), Some(chord("f12")));
    assert_eq!(scanned(&mut scanner, &[b"d\x1b[24~"]), (b"d\x1bd".to_vec(), Scanned::Typed));
    assert_eq!(scanned(&mut scanner, &[b"x\x1bd"]), (b"x".to_vec(), Scanned::Detach));
}

#[test]
fn function_keys_detach_as_well() {
    for (name, bytes) in [
        ("f1", "\x1bOP"),
        ("ctrl+f2", "\x1b[1;5Q"),
        ("f5", "\x1b[15~"),
        ("f12", "\x1b[24~"),
        ("ctrl+f10", "\x1b[21;5~"),
    ] {
        let mut scanner = Scanner::new(chord(name), None);
        assert_eq!(scanned(&mut scanner, &[bytes.as_bytes()]).1, Scanned::Detach, "{name}");
    }
}

#[test]
fn keys_that_typing_needs_are_refused() {
    for name in ["a", "enter", "tab", "ctrl+i", "ctrl+m", "up", "alt+[", "shift+b", "f13"] {
        let event: KeyEvent = name.parse().unwrap();
        assert!(Chord::new(&event).unwrap_err().contains("take ctrl"), "{name}");
    }
}

#[test]
fn nothing_in_a_paste_is_a_key() {
    let paste = "\x1b[200~a\x1db\x1b[93;5uc\x1b[?1cd\x1b[20\x1b[201~";
    check(paste, paste, Scanned::Typed);
    check(&format!("{paste}x\x1dy"), &format!("{paste}x"), Scanned::Detach);
}

#[test]
fn escape_passes_at_once_and_its_sequence_follows() {
    let now = Instant::now();
    let mut scanner = scanner();
    let mut out = Vec::new();
    assert_eq!(scanner.feed(b"\x1b", now, &mut out), Scanned::Typed);
    assert_eq!((out.as_slice(), scanner.deadline()), (&b"\x1b"[..], None));
    scanner.feed(b"[A", now, &mut out);
    assert_eq!(out, b"\x1b[A");
}

#[test]
fn an_answer_behind_a_lone_escape_leaves_no_garbage() {
    let parts: [&[u8]; 2] = [b"\x1b", b"[?62cx"];
    assert_eq!(scanned(&mut scanner(), &parts), (b"\x1bx".to_vec(), Scanned::Typed));
}

#[test]
fn escape_and_then_the_detach_key_detaches() {
    let parts: [&[u8]; 2] = [b"\x1b", b"\x1d"];
    assert_eq!(scanned(&mut scanner(), &parts), (b"\x1b".to_vec(), Scanned::Detach));
}

#[test]
fn what_is_not_continued_was_typed() {
    let start = Instant::now();
    let mut scanner = scanner();
    let mut out = Vec::new();
    scanner.feed(b"x\x1b]", start, &mut out);
    assert_eq!(out, b"x");
    let deadline = scanner.deadline().unwrap();
    assert!(deadline - start <= Duration::from_millis(50), "a person would notice");
    scanner.feed(b"11;a\x07", deadline, &mut out);
    assert_eq!(out, b"x\x1b]11;a\x07");
    assert_eq!(scanner.deadline(), None);
}

#[test]
fn a_string_without_end_is_passed_on() {
    let long = [b"\x1b]11;".to_vec(), vec![b'x'; 10_000]].concat();
    let mut out = Vec::new();
    scanner().feed(&long, Instant::now(), &mut out);
    assert_eq!(out, long);
}

proptest! {
    /// Without sequences that mean something, every byte passes once and in order.
    #[test]
    fn everything_else_passes(
        parts in prop::collection::vec(prop::collection::vec(
            prop::sample::select(b"\x1b[]OP_;?019mAa~\\\x07 \xc3\xa4".to_vec()), 0..6), 0..12),
    ) {
        let input: Vec<u8> = parts.concat();
        let strings: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        let (whole, _) = scanned(&mut scanner(), &[&input]);
        let (cut, _) = scanned(&mut scanner(), &strings);
        // What is dropped is answers only, and those have at least four bytes.
        prop_assert!(whole.len() == input.len() || whole.len() + 4 <= input.len());
        let lone = parts.iter().any(|it| it == b"\x1b");
        prop_assert!(lone || cut == whole, "{:?}", parts);
    }
}

#[test]
fn without_a_detach_key_only_answers_are_taken_out() {
    let input = b"a\x1c\x1b[?62;c\x1b[I\x1bP>|xterm\x1b\\b\x1b[A\x1b[O\x1b[>0;1c\x1b[1;2Rc";
    for (passes_focus, passes) in
        [(true, "a\x1c\x1b[Ib\x1b[A\x1b[O\x1b[1;2Rc"), (false, "a\x1cb\x1b[A\x1b[1;2Rc")]
    {
        for cut in 0..=input.len() {
            let (head, tail) = input.split_at(cut);
            let got = scanned(&mut Scanner::answers(passes_focus), &[head, tail]);
            assert_eq!(got, (passes.as_bytes().to_vec(), Scanned::Typed), "cut at byte {cut}");
        }
    }
}

#[test]
fn news_of_the_focus_and_answers_in_pieces_leave_nothing_behind() {
    let (mut scanner, mut out, now) = (Scanner::answers(false), Vec::new(), Instant::now());
    let later = |ms| now + Duration::from_millis(ms);
    for (ms, piece) in [(0, &b"\x1b"[..]), (5, b"["), (10, b"O"), (20, b"\x1b[?1"), (200, b";2c")] {
        scanner.feed(piece, later(ms), &mut out);
        assert_eq!(out, b"", "{piece:?}");
    }
    // In two pieces far apart, too; alt with a bracket is only late.
    for (ms, piece) in [(210, &b"\x1b["[..]), (300, b"I"), (310, b"\x1b[")] {
        scanner.feed(piece, later(ms), &mut out);
        assert_eq!(out, b"", "{piece:?}");
    }
    assert_eq!(scanner.deadline(), Some(later(560)));
    scanner.feed(b"x", later(560), &mut out);
    assert_eq!(std::mem::take(&mut out), b"\x1b[x");
    // Escape is as well.
    scanner.feed(b"\x1b", later(600), &mut out);
    assert_eq!((out.as_slice(), scanner.deadline()), (&b""[..], Some(later(620))));
    scanner.give_up(&mut out);
    assert_eq!(out, b"\x1b");
}
