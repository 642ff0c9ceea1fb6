//! Nothing pasted can act.

use proptest::prelude::*;

use super::super::encode_paste;

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(encode_paste(text, false).escape_ascii().to_string(), expected, "{text:?}");
    let bracketed = encode_paste(text, true).escape_ascii().to_string();
    assert_eq!(bracketed, format!("\\x1b[200~{expected}\\x1b[201~"), "{text:?}");
}

#[test]
fn ends_of_lines_are_typed_and_controls_are_gone() {
    check("", "");
    check("a\tb", "a\\tb");
    check("a\nb\r\nc\rd\n\ne\r\r\n", "a\\rb\\rc\\rd\\r\\re\\r\\r");
    check("\x1b[201~rm -rf ~\n", "[201~rm -rf ~\\r");
    check("\x1b\x1b[201~[201~", "[201~[201~");
    check("\u{9b}201~", "201~");
    check("a\u{80}\u{9f}b\x7fc", "abc");
    check("\x03\x04\x15\x16\x11\x13\x1a\x1c\x00", "");
    check("\r\x1b\n", "\\r\\r");
}

#[test]
fn a_large_paste_takes_linear_time() {
    let text = "line with \x1b[201~ in it\r\n".repeat(20_000);
    assert_eq!(encode_paste(&text, true).len(), text.len() - 40_000 + 12);
}

proptest! {
    #[test]
    fn a_paste_has_no_escape_and_no_control(text in any::<String>(), bracketed: bool) {
        let bytes = encode_paste(&text, bracketed);
        let inner = if bracketed { &bytes[6..bytes.len() - 6] } else { &bytes[..] };
        let inner = std::str::from_utf8(inner).unwrap();
        prop_assert!(inner.chars().all(|c| !c.is_control() || c == '\t' || c == '\r'));
        prop_assert!(bytes.len() <= text.len() + 12);
    }
}
