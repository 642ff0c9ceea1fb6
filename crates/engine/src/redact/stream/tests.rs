//! What a stream shows, whatever way the text is cut.

use proptest::prelude::*;

use super::super::tests::{HARMLESS, MOVED, SECRETS, unmark};
use super::*;

fn standard() -> Stream {
    Stream::new(Redaction::standard().clone())
}

/// Pushes all pieces; flushes after those that are marked.
fn run(stream: &mut Stream, pieces: &[(&str, bool)]) -> String {
    let mut shown = String::new();
    for (piece, is_flush) in pieces {
        shown.push_str(&stream.push(piece));
        assert!(stream.window.len() - stream.shown <= HOLD_MAX);
        assert!(stream.window.len() <= WINDOW_MAX + HOLD_MAX);
        if *is_flush {
            shown.push_str(&stream.flush());
            assert!(!stream.is_holding());
        }
    }
    shown
}

/// Cuts a text at given places, which may be in any order.
fn cut<'t>(text: &'t str, cuts: &[(usize, bool)]) -> Vec<(&'t str, bool)> {
    let mut cuts: Vec<_> =
        cuts.iter().map(|it| (floor(text, it.0 % (text.len() + 1)), it.1)).collect();
    cuts.sort_unstable();
    let mut pieces = Vec::new();
    let mut at = 0;
    for (end, is_flush) in cuts {
        pieces.push((&text[at..end], is_flush));
        at = end;
    }
    pieces.push((&text[at..], false));
    pieces
}

#[test]
fn a_secret_cut_in_two_is_found() {
    for marked in SECRETS.iter().chain(HARMLESS) {
        let (text, expected) = unmark(&format!("{marked}\n"));
        let expected_held = Redaction::standard().apply(&text);
        assert_eq!(expected_held, expected);
        for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            let mut stream = standard();
            let mut shown = run(&mut stream, &[(&text[..at], false), (&text[at..], false)]);
            shown.push_str(&stream.flush());
            assert_eq!(shown, expected, "cut at {at}: {text:?}");
        }
    }
}

#[test]
fn a_movement_in_the_middle_is_found_whatever_way_it_is_cut() {
    for (text, expected) in MOVED {
        let boundaries: Vec<_> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
        for at in &boundaries {
            for before in ["", "a line\r\n"] {
                let (text, at) = (format!("{before}{text}"), before.len() + at);
                let mut stream = standard();
                let mut shown = run(&mut stream, &[(&text[..at], false), (&text[at..], false)]);
                shown.push_str(&stream.flush());
                let expected = Redaction::standard().apply(&text).into_owned();
                assert_eq!(shown, expected, "cut at {at}: {text:?}");
            }
        }
        let pieces: Vec<_> = boundaries.windows(2).map(|it| (&text[it[0]..it[1]], false)).collect();
        let mut stream = standard();
        let shown = run(&mut stream, &pieces) + &stream.flush();
        assert_eq!(shown, *expected, "letter by letter: {text:?}");
    }
}

/// A secret in rows of twenty columns, as programs that draw get from one to the next.
fn in_rows() -> Vec<String> {
    let secret = format!("x TOKEN={}", "s3Cr3t".repeat(11));
    let rows: Vec<_> =
        (0..secret.len()).step_by(20).map(|at| &secret[at..(at + 20).min(secret.len())]).collect();
    let drawn = |first: &str, next: &dyn Fn(usize) -> String| {
        let others = rows.iter().enumerate().skip(1).map(|(row, text)| next(row) + text);
        [first.to_owned(), rows[0].to_owned()].into_iter().chain(others).collect::<String>()
    };
    vec![
        drawn("", &|_| "\r\n".to_owned()),
        drawn("before\r\n", &|_| "\x1b[m\r\n\x1b[1m".to_owned()),
        drawn("\x1b[1;1H", &|row| format!("\x1b[{};1H", row + 1)),
        drawn("\x1b[H", &|_| " \x08".to_owned()),
        drawn("", &|_| " \r".to_owned()),
        // Of vim, which writes the last letter of a row once more.
        drawn("\x1b[1;1H", &|row| format!("{}\x1b[{};1H", &rows[row - 1][19..], row + 1)),
    ]
}

#[test]
fn a_secret_in_rows_is_found_whatever_way_it_is_cut() {
    let policy = Redaction::standard();
    for text in in_rows().into_iter().map(|text| text + "\r\nnext line\r\n") {
        let whole = super::super::Excerpt::of_screen(text.as_str(), 0, 20);
        let whole = whole.shown(Some(policy)).into_owned();
        assert!(!whole.contains("s3Cr") && whole.contains("next line"), "{text:?}: {whole:?}");
        for at in 0..=text.len() {
            for is_flush in [false, true] {
                let mut stream = standard();
                let mut shown = stream.on(20).push(&text[..at]);
                if is_flush {
                    shown.push_str(&stream.flush());
                }
                shown.push_str(&stream.on(20).push(&text[at..]));
                shown.push_str(&stream.flush());
                if !is_flush {
                    assert_eq!(shown, whole, "cut at {at}: {text:?}");
                }
                let told = shown.matches("s3Cr").count();
                assert!(told == 0, "cut at {at}, {is_flush}: {shown:?}");
            }
        }
        let letters = (0..text.len()).map(|at| &text[at..=at]);
        let mut stream = standard();
        let shown: String = letters.map(|letter| stream.on(20).push(letter)).collect();
        assert_eq!(shown + &stream.flush(), whole, "letter by letter: {text:?}");
    }
}

#[test]
fn a_movement_behind_a_pause_shows_no_more_of_a_secret() {
    for movement in ["\u{1b}[C", "\u{1b}[7;10H", "\u{1b}[1m"] {
        let mut stream = standard();
        let rest = format!("{movement}def");
        let shown = run(&mut stream, &[("TOKEN=abc", true), (&rest, true), ("ghi x\n", false)]);
        assert_eq!(shown + &stream.flush(), format!("TOKEN=[REDACTED]{movement} x\n"));
    }
}

#[test]
fn byte_by_byte_is_the_same() {
    for marked in SECRETS.iter().chain(HARMLESS) {
        let (text, expected) = unmark(&format!("{marked}\n"));
        let mut stream = standard();
        let mut shown = String::new();
        for letter in text.chars() {
            shown.push_str(&stream.push(letter.encode_utf8(&mut [0; 4])));
        }
        shown.push_str(&stream.flush());
        assert_eq!(shown, expected, "{text:?}");
    }
}

#[test]
fn ordinary_text_is_never_held() {
    for text in
        ["hello\r\n", "$ ", "ls", "cargo build ", "l", "token", "token=", "Password: ", "a.b:"]
    {
        let mut stream = standard();
        assert_eq!(stream.push(text), text);
        assert!(!stream.is_holding(), "{text:?}");
    }
    let mut stream = standard();
    assert_eq!(stream.push("l"), "l");
    assert_eq!(stream.push("s"), "s");
    assert_eq!(stream.push(" s"), " ");
    assert!(stream.is_holding());
    assert_eq!(stream.push("r"), "sr");
}

#[test]
fn a_pause_shows_what_is_no_secret_and_hides_the_rest_of_one() {
    let mut stream = standard();
    assert_eq!(stream.push("sk-ab"), "");
    assert_eq!(stream.flush(), "sk-ab");
    assert_eq!(stream.push("cdefghijklmnopqrst uv"), "[REDACTED] uv");
    assert_eq!(stream.push("\ntoken=ab"), "\ntoken=");
    assert_eq!(stream.flush(), "[REDACTED]");
    assert_eq!(stream.push("cd"), "");
    assert_eq!(stream.push("ef y"), " y");
    assert_eq!(stream.push(" https://u:hunter2"), " https://u:");
    assert_eq!(stream.flush(), "[REDACTED]");
    assert_eq!(stream.push("x@host/ "), "@host/ ");
}

#[test]
fn a_secret_of_any_length_is_hidden_in_little_memory() {
    let mut stream = standard();
    let mut shown = stream.push("token=");
    for _ in 0..100 {
        shown.push_str(&run(&mut stream, &[(&"abc123".repeat(100), false)]));
    }
    shown.push_str(&stream.push(" end\n"));
    assert_eq!(shown, "token=[REDACTED] end\n");
    let key = format!("-----BEGIN PRIVATE KEY-----\n{}", "MIIEabc+/\n".repeat(2000));
    let pieces = key.as_bytes().chunks(7).map(|it| (str::from_utf8(it).unwrap(), false));
    let shown = run(&mut stream, &pieces.collect::<Vec<_>>());
    assert_eq!(shown, "-----BEGIN PRIVATE KEY-----\n[REDACTED]");
    assert_eq!(stream.push("-----END PRIVATE KEY-----\n"), "\n-----END PRIVATE KEY-----\n");
}

#[test]
fn a_long_picture_in_a_string_sequence_passes() {
    let mut stream = standard();
    let mut text = String::from("x \u{1b}]1337;File=:");
    text.push_str(&"iVBORw0KGgo/".repeat(5000));
    text.push_str("\u{7}y token=abc ");
    let pieces: Vec<_> =
        text.as_bytes().chunks(1000).map(|it| (str::from_utf8(it).unwrap(), false)).collect();
    let shown = run(&mut stream, &pieces);
    assert_eq!(shown, text.replace("abc ", "[REDACTED] "));
}

#[test]
fn a_callers_rules_hold_in_a_stream() {
    let own = Redaction::with("#", &["plum pie".into()], &["id-[0-9]+".into()]).unwrap();
    let text = "a plum pie, id-1234, plum tart\n";
    for at in 0..=text.len() {
        let mut stream = Stream::new(own.clone());
        let shown = run(&mut stream, &[(&text[..at], false), (&text[at..], false)]);
        assert_eq!(shown, "a #, #, plum tart\n", "cut at {at}");
        let mut stream = Stream::new(own.clone());
        let shown = run(&mut stream, &[(&text[..at], true), (&text[at..], true)]);
        assert!(!shown.contains("plum pie"), "{shown}");
    }
}

fn parts() -> impl Strategy<Value = String> {
    let secret = prop::sample::select(SECRETS).prop_map(str::to_owned);
    let harmless = prop::sample::select(HARMLESS).prop_map(str::to_owned);
    let noise = "[a-zA-Z0-9 :=.\"'\\\\\n\u{1b}\\[m;é•/@_-]{0,12}";
    let part = prop_oneof![secret, harmless, noise.prop_map(|it| it)];
    let between =
        prop::sample::select(&["", " ", "\n", "\r\n", "\u{1b}[0m", ", ", "\u{1b}]0;", "\u{7}"][..]);
    prop::collection::vec((part, between), 1..8).prop_map(|parts| {
        let parts = parts.into_iter().map(|(part, between)| part + between);
        parts.collect::<String>().replace(['«', '»'], "")
    })
}

proptest! {
    #[test]
    fn any_cut_shows_what_the_whole_shows(
        text in parts(),
        cuts in prop::collection::vec((any::<usize>(), Just(false)), 0..10),
    ) {
        // Out of every sequence and word, so that nothing is left open at the end.
        let text = text + "\u{7}m\n\n. \n";
        // Of a key without its first line the last one tells, when it is too late.
        let text = text.replace("-----END ", "---END ");
        let mut stream = standard();
        let shown = run(&mut stream, &cut(&text, &cuts));
        prop_assert!(!stream.is_holding());
        prop_assert_eq!(shown, Redaction::standard().apply(&text));
    }

    #[test]
    fn no_pause_shows_a_secret(
        index in 0..SECRETS.len(),
        before in "[q ]{0,8}",
        cuts in prop::collection::vec(any::<(usize, bool)>(), 0..10),
    ) {
        let marked = SECRETS[index];
        let text = format!("{before} {}\n", marked.replace(['«', '»'], ""));
        let mut stream = standard();
        let mut shown = run(&mut stream, &cut(&text, &cuts));
        shown.push_str(&stream.flush());
        for secret in marked.split('«').skip(1).filter_map(|it| it.split('»').next()) {
            // A letter or two may well be elsewhere.
            prop_assert!(secret.len() < 3 || !shown.contains(secret), "{}: {}", secret, shown);
            // Nor a good part of one, behind the letters that all of its kind begin with.
            let mut parts = secret.as_bytes().windows(10).skip(8);
            let is_shown = |part: &[u8]| shown.as_bytes().windows(10).any(|it| it == part);
            prop_assert!(!parts.any(is_shown), "{}: {}", secret, shown);
        }
    }

    #[test]
    fn nothing_is_lost_but_secrets(
        text in "[ -~\r\n\u{1b}é]{0,60}",
        cuts in prop::collection::vec(any::<(usize, bool)>(), 0..6),
    ) {
        let mut stream = standard();
        let mut shown = run(&mut stream, &cut(&text, &cuts));
        shown.push_str(&stream.flush());
        if !shown.contains("[REDACTED]") {
            prop_assert_eq!(shown, text);
        }
    }
}

#[test]
fn who_is_in_a_hurry_gets_the_same() {
    for marked in SECRETS.iter().chain(HARMLESS) {
        let (text, _) = unmark(&format!("{marked}\n"));
        for end in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            for at in (0..=end).filter(|at| text.is_char_boundary(*at)) {
                let (mut one, mut other) = (standard(), standard());
                let expected = run(&mut one, &[(&text[..at], false), (&text[at..end], true)]);
                let shown = other.push(&text[..at]) + &other.finish(&text[at..end]);
                assert_eq!(shown, expected, "cut at {at} and {end}: {text:?}");
            }
        }
    }
}
