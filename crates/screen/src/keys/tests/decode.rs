//! What a person's terminal sends, as events.

use greenroom_model::{KeyAction, Mods, MouseAction, MouseButton, MouseEvent};

use super::super::{Decoded, Input, KeyDecoder};
use super::chord;

/// Feeds `bytes` cut in two at every place and wants the same events, written as below.
#[track_caller]
fn check(bytes: &[u8], expected: &str) {
    for cut in 0..=bytes.len() {
        let (head, tail) = bytes.split_at(cut);
        let mut decoder = KeyDecoder::default();
        let mut events = decoder.feed(head);
        events.extend(decoder.feed(tail));
        events.extend(decoder.flush());
        let got: Vec<String> = events.iter().map(shown).collect();
        assert_eq!(got.join(" "), expected, "{} cut at {cut}", bytes.escape_ascii());
        let raw: Vec<u8> = events.into_iter().flat_map(|it| it.raw).collect();
        assert_eq!(raw, bytes, "cut at {cut}");
    }
}

fn shown(event: &Decoded) -> String {
    match &event.input {
        Input::Key(key) => match key.action {
            KeyAction::Press => key.to_string(),
            KeyAction::Repeat => format!("{key}:repeat"),
            KeyAction::Release => format!("{key}:release"),
        },
        Input::Mouse(it) => format!("{:?}:{:?}@{},{}", it.action, it.button, it.col, it.row),
        Input::Paste { text, end } => format!("paste({},{end})", text.escape_ascii()),
        Input::Focus(gained) => format!("focus({gained})"),
        Input::Reply => "reply".to_owned(),
        Input::Raw => format!("raw({})", event.raw.escape_ascii()),
    }
}

#[test]
fn characters_and_controls() {
    check(b"aB ~", "a B space ~");
    check("é€😀".as_bytes(), "é € 😀");
    check(b"\x00\x01\x1a\x1c\x1f", "ctrl+space ctrl+a ctrl+z ctrl+\\ ctrl+_");
    check(b"\r\n\t\x7f\x08", "enter ctrl+j tab backspace ctrl+h");
    check(b"\x1ba\x1bA\x1b\r\x1b\x01", "alt+a alt+A alt+enter ctrl+alt+a");
    check("\x1bé\x1b\x7f".as_bytes(), "alt+é alt+backspace");
    check(b"a\xffb\xc3(", "a raw(\\xff) b raw(\\xc3) (");
    check(b"\x1b\xff", "escape raw(\\xff)");
    check(b"\xc2\x9b", "raw(\\xc2\\x9b)");
}

#[test]
fn escape_is_a_key_when_nothing_follows() {
    check(b"\x1b", "escape");
    check(b"\x1b\x1b", "escape escape");
    check(b"\x1b\x1b[A", "escape up");
    check(b"\x1b[", "alt+[");
    check(b"\x1bO", "alt+O");
    check(b"\x1b]", "alt+]");
    check(b"\x1bP", "alt+P");
    check(b"\x1b[\x03", "alt+[ ctrl+c");
    check(b"\x1bOz", "alt+O z");
    check(b"\x1b]a", "alt+] a");
    check(b"\x1bPh", "alt+P h");
    check(b"\x1b_x\x1bXy", "alt+_ x alt+X y");
    check(b"\x1b]\r", "alt+] enter");
    check(b"\x1b]1\r", "raw(\\x1b]1) enter");
    check(b"\x1b[1;\x1b[A", "raw(\\x1b[1;) up");
}

#[test]
fn sequences_of_keys() {
    check(b"\x1b[A\x1bOA\x1b[1;5A\x1bOH\x1b[F", "up up ctrl+up home end");
    check(b"\x1bOP\x1b[1;2Q\x1b[[A\x1b[11~\x1b[15;5~", "f1 shift+f2 f1 f1 ctrl+f5");
    check(b"\x1b[1~\x1b[4~\x1b[7~\x1b[8~\x1b[3;3~", "home end home end alt+delete");
    check(b"\x1b[25~\x1b[34~\x1b[42~\x1b[56~", "f13 f20 f21 f35");
    check(b"\x1b[Z\x1b[1;5Z", "shift+tab ctrl+shift+tab");
    check(b"\x1bOu\x1bOM\x1bO5j\x1b[E", "kp_5 kp_enter ctrl+kp_multiply kp_begin");
    check(b"\x1b[27;5;105~\x1b[27;2;13~\x1b[27;6;8~", "ctrl+i shift+enter ctrl+shift+backspace");
    check(b"\x1b[99;5u\x1b[27u\x1b[13;2:2u", "ctrl+c escape shift+enter:repeat");
    check(
        b"\x1b[97;1:3u\x1b[57414;129u\x1b[57441;2u",
        "a:release numlock+kp_enter shift+left_shift",
    );
    check(b"\x1b[1;1:3A\x1b[57427~\x1b[57398u", "up:release kp_begin f35");
    check(
        b"\x1b[9999;1u\x1b[55296u\x1b[99;0u\x1b[99~",
        "\u{270f} raw(\\x1b[55296u) raw(\\x1b[99;0u) raw(\\x1b[99~)",
    );
    check(
        b"\x1b[97;1:9u\x1b[3;2;1;4~\x1b[1 q",
        "raw(\\x1b[97;1:9u) raw(\\x1b[3;2;1;4~) raw(\\x1b[1 q)",
    );
}

#[test]
fn kitty_says_more_than_the_chord() {
    let events = KeyDecoder::default().feed("\x1b[1089:1057:99;2;1057u\x1b[0;;229u".as_bytes());
    let mut first = chord("shift+с");
    first.shifted = Some('С');
    first.base = Some('c');
    first.text = Some("С".to_owned());
    let mut second = chord("å");
    second.text = Some("å".to_owned());
    let got: Vec<Input> = events.into_iter().map(|it| it.input).collect();
    assert_eq!(got, [Input::Key(first), Input::Key(second)]);
}

#[test]
fn pointer_and_focus() {
    check(b"\x1b[<0;5;10M\x1b[<0;5;10m", "Press:Some(Left)@4,9 Release:Some(Left)@4,9");
    check(b"\x1b[<35;1;1M\x1b[<65;1;1M", "Move:None@0,0 Press:Some(WheelDown)@0,0");
    check(b"\x1b[M !!\x1b[M#\xff!", "Press:Some(Left)@0,0 Release:None@222,0");
    check(b"\x1b[32;300;1M", "Press:Some(Left)@299,0");
    check(b"\x1b[<0;0;1M\x1b[<0;1M", "raw(\\x1b[<0;0;1M) raw(\\x1b[<0;1M)");
    check(b"\x1b[I\x1b[O", "focus(true) focus(false)");
    let events = KeyDecoder::default().feed(b"\x1b[<60;2;3M");
    let mut drag = MouseEvent::new(MouseAction::Move, Some(MouseButton::Left), 1, 2);
    drag.mods = Mods::SHIFT | Mods::ALT | Mods::CTRL;
    assert_eq!(events[0].input, Input::Mouse(drag));
}

#[test]
fn pastes_come_whole_and_keep_what_they_contain() {
    check(b"\x1b[200~a\x1b[A\r\x1b[201~x", "paste(a\\x1b[A\\r,true) x");
    check(b"\x1b[200~\x1b[201~", "paste(,true)");
    check(b"\x1b[200~\x1b\x1b[201\x1b[201~", "paste(\\x1b\\x1b[201,true)");
    check(b"\x1b[201~", "raw(\\x1b[201~)");
}

#[test]
fn long_pastes_come_in_pieces() {
    for length in [1023, 1024, 1025, 3000] {
        let text = vec![b'x'; length];
        let bytes = [&b"\x1b[200~"[..], &text, b"\x1b[201~y"].concat();
        for step in [1, 7, 1024, bytes.len()] {
            let mut decoder = KeyDecoder::default();
            let events: Vec<Decoded> = bytes.chunks(step).flat_map(|it| decoder.feed(it)).collect();
            let mut sizes = Vec::new();
            for event in &events {
                if let Input::Paste { text, end } = &event.input {
                    sizes.push((text.len(), *end));
                }
            }
            let mut expected = vec![(1024, false); length / 1024];
            expected.push((length % 1024, true));
            assert_eq!(sizes, expected, "step {step}");
            let raw: Vec<u8> = events.into_iter().flat_map(|it| it.raw).collect();
            assert_eq!(raw, bytes);
        }
    }
}

#[test]
fn a_large_paste_takes_linear_time() {
    let bytes = [&b"\x1b[200~"[..], &vec![b'x'; 2_000_000], b"\x1b[201~"].concat();
    assert_eq!(KeyDecoder::default().feed(&bytes).len(), 2_000_000 / 1024 + 1);
}

#[test]
fn answers_of_the_terminal_are_not_typed() {
    for reply in [
        "\x1b[?62;4c",
        "\x1b[>41;354;0c",
        "\x1b[0n",
        "\x1b[?997;1n",
        "\x1b[24;80R",
        "\x1b[?24;80;1R",
        "\x1b[?2026;2$y",
        "\x1b[4;1$y",
        "\x1b[?31u",
        "\x1b[8;24;80t",
        "\x1b[48;24;80;480;640t",
        "\x1b[2;1;1;112;112;1;0x",
        "\x1b[?1;0;256S",
        "\x1b[>4;2m",
        "\x1b]11;rgb:1a1a/1b1b/1c1c\x1b\\",
        "\x1b]4;1;rgb:ffff/0/0\x07",
        "\x1b]52;c;aGVsbG8=\x1b\\",
        "\x1b]lTitle\x1b\\",
        "\x1bP>|XTerm(390)\x1b\\",
        "\x1bP!|00000000\x1b\\",
        "\x1bP1$r0;1m\x1b\\",
        "\x1bP0+r\x1b\\",
        "\x1bP1!~ABCD\x1b\\",
        "\x1b_Gi=31;OK\x1b\\",
    ] {
        check(format!("{reply}a").as_bytes(), "reply a");
    }
}

#[test]
fn long_answers_come_in_pieces_and_end() {
    for length in 2030..2055 {
        let bytes = format!("\x1b]52;c;{}\x1b\\a", "x".repeat(length)).into_bytes();
        for step in [1, 1023, bytes.len()] {
            let mut decoder = KeyDecoder::default();
            let events: Vec<Decoded> = bytes.chunks(step).flat_map(|it| decoder.feed(it)).collect();
            let (last, replies) = events.split_last().unwrap();
            assert_eq!(last.input, Input::Key(chord("a")), "{length}");
            assert!(replies.iter().all(|it| it.input == Input::Reply && it.raw.len() <= 1025));
        }
    }
    let mut cut_short = format!("\x1b]52;c;{}", "x".repeat(1500)).into_bytes();
    cut_short.extend(b"\x03a");
    let events = KeyDecoder::default().feed(&cut_short);
    let got: Vec<String> = events.iter().map(shown).collect();
    assert_eq!(got.join(" "), "reply reply ctrl+c a");
}

#[test]
fn a_partial_answer_waits_but_a_partial_key_does_not() {
    let mut decoder = KeyDecoder::default();
    assert!(decoder.feed(b"\x1b]11;rgb:1a").is_empty());
    assert!(!decoder.is_waiting());
    assert!(decoder.flush().is_empty());
    assert_eq!(shown(&decoder.feed(b"1a/00/00\x07")[0]), "reply");
}

#[test]
fn a_sequence_without_end_is_given_up() {
    let bytes = [&b"\x1b["[..], &[b'1'; 600]].concat();
    let events = KeyDecoder::default().feed(&bytes);
    assert_eq!(events[0].input, Input::Raw);
    assert_eq!(events[0].raw.len(), 512);
}

#[test]
fn an_expected_position_report_is_not_f3() {
    let mut decoder = KeyDecoder::default();
    assert_eq!(shown(&decoder.feed(b"\x1b[1;5R")[0]), "ctrl+f3");
    decoder.expect_position_report();
    assert_eq!(shown(&decoder.feed(b"\x1b[1;5R")[0]), "reply");
    assert_eq!(shown(&decoder.feed(b"\x1b[1;5R")[0]), "ctrl+f3");
    assert_eq!(shown(&decoder.feed(b"\x1b[R")[0]), "f3");
}
