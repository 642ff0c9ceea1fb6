//! Streams made of sequences, so that random bytes reach past the parser.

use proptest::prelude::*;

/// Text of every kind a row can hold.
fn text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => "[ -~]{1,30}".prop_map(String::into_bytes),
        1 => "[ -~]{60,200}".prop_map(String::into_bytes),
        2 => "[漢字かな한글éüñжшα ─│┌┐a-z]{1,12}".prop_map(String::into_bytes),
        1 => prop::sample::select(vec![
            "e\u{301}", "\u{301}", "👩\u{200d}👩\u{200d}👧", "🇫🇷", "🇫", "👍🏽", "❤\u{fe0f}", "1\u{fe0f}\u{20e3}",
            "\u{1112}\u{1161}\u{11ab}", "क\u{94d}ष", "\u{200d}", "\u{fe0f}", "\u{200b}", "\u{ad}", "\u{9b}1m", "\u{85}",
        ]).prop_map(|it| it.as_bytes().to_vec()),
    ]
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => Just(String::new()),
        6 => (0_u32..30).prop_map(|it| it.to_string()),
        1 => (0_u32..300).prop_map(|it| it.to_string()),
        1 => Just("99999999999".to_owned()),
    ]
}

fn numbers() -> impl Strategy<Value = String> {
    prop::collection::vec((number(), prop::sample::select(vec![";", ";", ";", ":"])), 0..7)
        .prop_map(|parts| {
            parts.iter().map(|(number, separator)| format!("{number}{separator}")).collect()
        })
}

fn csi() -> impl Strategy<Value = Vec<u8>> {
    let last = prop::sample::select(b"@ABCDEFGHIJKLMPSTXZ`abcdefghlmnqrstuxpvwyz{|}~".to_vec());
    let prefix = prop::sample::select(vec!["", "", "", "", "?", "?", ">", "<", "="]);
    let between = prop::sample::select(vec!["", "", "", "", "", "$", " ", "!", "\"", "'", "*"]);
    (prefix, numbers(), between, last).prop_map(|(prefix, numbers, between, last)| {
        let mut bytes = format!("\x1b[{prefix}{numbers}{between}").into_bytes();
        bytes.push(last);
        bytes
    })
}

fn mode() -> impl Strategy<Value = Vec<u8>> {
    let number = prop::sample::select(vec![
        1, 5, 6, 7, 12, 25, 45, 47, 66, 67, 1000, 1002, 1003, 1004, 1006, 1007, 1016, 1047, 1048,
        1049, 2004, 2026, 2027, 2031, 2048,
    ]);
    prop_oneof![
        (number, any::<bool>())
            .prop_map(|(number, on)| format!("\x1b[?{number}{}", if on { 'h' } else { 'l' })),
        (prop::sample::select(vec![4, 20]), any::<bool>())
            .prop_map(|(number, on)| format!("\x1b[{number}{}", if on { 'h' } else { 'l' })),
    ]
    .prop_map(String::into_bytes)
}

fn sgr() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        (0_u32..110).prop_map(|it| format!("\x1b[{it}m")),
        (any::<u8>(), any::<u8>(), any::<u8>())
            .prop_map(|(r, g, b)| format!("\x1b[38;2;{r};{g};{b}m")),
        any::<u8>().prop_map(|it| format!("\x1b[1;48:5:{it}m")),
        (0_u32..6).prop_map(|it| format!("\x1b[4:{it};58:2::1:2:{it}m")),
        Just("\x1b[m".to_owned()),
    ]
    .prop_map(String::into_bytes)
}

fn string() -> impl Strategy<Value = Vec<u8>> {
    let end = prop::sample::select(vec!["\x07", "\x1b\\", "\u{9c}"]);
    let body = prop_oneof![
        "0;[ -~é]{0,12}",
        "2;[ -~]{0,12}",
        Just("8;;https://example.org/a".to_owned()),
        Just("8;id=x;https://example.org/b".to_owned()),
        Just("8;;".to_owned()),
        "133;[ABCD](;[0-9]{1,3})?",
        Just("7;file://host/tmp/a%20b".to_owned()),
        "4;[0-9]{1,3};(#[0-9a-f]{6}|\\?)",
        "1[012];(rgb:[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{2}|\\?)",
        "104(;[0-9]{1,2})?",
        "9;4;[0-4];[0-9]{1,3}",
        "52;c;(\\?|aGk=)",
        "777;notify;[a-z]{0,5};[a-z]{0,5}",
        "[ -~]{0,20}",
    ];
    let osc = (body, end.clone()).prop_map(|(body, end)| format!("\x1b]{body}{end}"));
    let dcs =
        ("[0-9;]{0,4}[$+]?q[ -~]{0,10}", end).prop_map(|(body, end)| format!("\x1bP{body}{end}"));
    prop_oneof![4 => osc, 1 => dcs].prop_map(String::into_bytes)
}

/// One piece of a stream.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let escape = prop::sample::select(vec![
        "\x1b7", "\x1b8", "\x1bD", "\x1bE", "\x1bH", "\x1bM", "\x1bc", "\x1b=", "\x1b>", "\x1b#8",
        "\x1b(0", "\x1b(B", "\x1b)0", "\x1bN", "\x1bO", "\x1bn", "\x1b6", "\x1b9", "\x0e", "\x0f",
    ]);
    let control = prop::sample::select(vec![
        "\r\n", "\r\n", "\r\n", "\n", "\r", "\x08", "\t", "\x07", "\x0b", "\x18", "\x1a", "\x05",
        "\x7f", "\0",
    ]);
    // More lines than the screen has rows, which take a way of their own.
    let flood =
        ("[a-z]{0,40}", 20_usize..60).prop_map(|(line, count)| (line + "\r\n").repeat(count));
    prop_oneof![
        8 => text(),
        1 => flood.prop_map(String::into_bytes),
        4 => control.prop_map(|it| it.as_bytes().to_vec()),
        4 => csi(),
        3 => sgr(),
        2 => mode(),
        2 => escape.prop_map(|it| it.as_bytes().to_vec()),
        2 => string(),
        1 => prop::collection::vec(any::<u8>(), 1..6),
    ]
}

/// A stream that shows itself readably when a test fails.
#[derive(Clone)]
pub(crate) struct Stream(Vec<u8>);

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

impl std::ops::Deref for Stream {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// A whole stream.
pub(crate) fn stream() -> impl Strategy<Value = Stream> {
    prop::collection::vec(piece(), 0..60).prop_map(|pieces| Stream(pieces.concat()))
}

/// Lines as ordinary programs print them: text, wrapped or not, with styles.
pub(crate) fn lines() -> impl Strategy<Value = Stream> {
    let piece = prop_oneof![
        5 => text(),
        2 => sgr(),
        3 => Just(b"\r\n".to_vec()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| Stream(pieces.concat()))
}

/// A size from tiny to larger than the text.
pub(crate) fn size() -> impl Strategy<Value = greenroom_model::Size> {
    prop_oneof![
        4 => (2_u16..30, 1_u16..10),
        1 => (1_u16..4, 1_u16..4),
        1 => (60_u16..120, 10_u16..30),
    ]
    .prop_map(|(cols, rows)| greenroom_model::Size::clamped(cols, rows))
}
