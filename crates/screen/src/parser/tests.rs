//! What the parser finds, whatever way the bytes are cut.

use super::{Actor, Csi, Parser, StringSequence};

/// Writes down what it is told, text in one piece however it came.
#[derive(Debug, Default, PartialEq, Eq)]
struct Notes(Vec<String>);

impl Notes {
    fn text(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(last) if last.starts_with('"') => last.push_str(text),
            _ => self.0.push(format!("\"{text}")),
        }
    }
}

impl Actor for Notes {
    fn ascii(&mut self, run: &[u8]) {
        self.text(std::str::from_utf8(run).unwrap());
    }

    fn scalar(&mut self, c: char) {
        self.text(&c.to_string());
    }

    fn control(&mut self, byte: u8) {
        self.0.push(format!("^{byte:02x}"));
    }

    fn escape(&mut self, intermediate: u8, last: u8) {
        self.0.push(format!("ESC {intermediate} {}", last as char));
    }

    fn csi(&mut self, csi: &Csi) {
        let (prefix, between, last) =
            (csi.prefix as char, csi.intermediate as char, csi.last as char);
        let numbers = csi.params.values();
        self.0.push(format!("CSI {prefix}{numbers:?}{between}{last}").replace('\0', ""));
    }

    fn string(&mut self, string: &StringSequence<'_>) {
        let payload = string.payload.escape_ascii();
        self.0.push(format!("{:?} {payload} {}..{}", string.kind, string.start, string.end));
    }
}

/// Parses `input` cut in two at every byte and wants the same each time.
#[track_caller]
fn check(input: &str, expected: &[&str]) {
    check_bytes(input.as_bytes(), expected);
}

#[track_caller]
fn check_bytes(input: &[u8], expected: &[&str]) {
    for cut in 0..=input.len() {
        let (mut parser, mut notes) = (Parser::default(), Notes::default());
        parser.advance(&mut notes, &input[..cut]);
        // The state in the middle survives being written down.
        let mut saved = crate::codec::Writer::default();
        parser.write(&mut saved);
        let mut parser = Parser::read(&mut crate::codec::Reader { rest: &saved.out }).unwrap();
        parser.advance(&mut notes, &input[cut..]);
        assert_eq!(notes.0, expected, "cut at byte {cut}");
        // And another parser can be brought there by bytes.
        let mut first = Parser::default();
        first.advance(&mut Notes::default(), &input[..cut]);
        let mut second = Parser::default();
        second.advance(&mut Notes::default(), &first.unfinished());
        assert_eq!(first.unfinished(), second.unfinished(), "cut at byte {cut}");
    }
}

#[test]
fn text_controls_and_sequences_come_in_order() {
    check(
        "ab\r\nc\x1b[1;31mé\x1bM",
        &["\"ab", "^0d", "^0a", "\"c", "CSI [1, 31]m", "\"é", "ESC 0 M"],
    );
    check(
        "\x1b[?25h\x1b[>4;2m\x1b[!p\x1b(0",
        &["CSI ?[25]h", "CSI >[4, 2]m", "CSI [0]!p", "ESC 40 0"],
    );
    check("\x1b[4:3m\x1b[;H", &["CSI [4, 3]m", "CSI [0, 0]H"]);
}

#[test]
fn controls_inside_a_sequence_act_at_once() {
    check("\x1b[1\n;2H", &["^0a", "CSI [1, 2]H"]);
    check("\x1b\t[m", &["^09", "CSI [0]m"]);
}

#[test]
fn what_is_broken_off_is_forgotten() {
    check("\x1b[1\x18m", &["\"m"]);
    check("\x1b[1\x1b[2m", &["CSI [2]m"]);
    check("\x1b[1?3mX", &["\"X"]);
    check("\x1b[é", &["\"é"]);
    check("\x1b]0;t\x18x", &["\"x"]);
    check("\x1b]0;t\x1b[mx", &["Osc 0;t 0..5", "CSI [0]m", "\"x"]);
}

#[test]
fn strings_end_with_their_terminators() {
    check("\x1b]0;a\x07b", &["Osc 0;a 0..6", "\"b"]);
    check("x\x1b]0;é\x1b\\b", &["\"x", "Osc 0;\\xc3\\xa9 1..9", "\"b"]);
    check("\x1b]2;a\u{9c}b", &["Osc 2;a 0..7", "\"b"]);
    check("\x1bP1$qm\x1b\\", &["Dcs m 0..8"]);
    check("\x1b_Ga=q\x1b\\x\x1bXnobody\x1b\\y", &["Apc Ga=q 0..8", "\"xy"]);
    check("\x1b]0;Â\x07", &["Osc 0;\\xc3\\x82 0..7"]);
}

#[test]
fn c1_controls_are_taken_in_utf8() {
    check("\u{9b}31m\u{85}", &["CSI [31]m", "ESC 0 E"]);
    check("\u{9d}0;t\u{9c}", &["Osc 0;t 0..7"]);
}

#[test]
fn bytes_that_are_no_text_show_nothing() {
    check_bytes(b"a\xc0\xafb\xed\xa0\x80c\xe6\xbcd\xff\x80", &["\"abcd"]);
}

#[test]
fn numbers_and_their_count_are_bounded() {
    let many = "1;".repeat(100);
    let all = format!("CSI {:?}m", [1; 32]);
    check(&format!("\x1b[{many}m"), &[&all]);
    check("\x1b[99999999999999999999H", &["CSI [65535]H"]);
}

#[test]
fn a_string_past_its_bound_is_dropped_whole() {
    let mut parser = Parser::default();
    let mut notes = Notes::default();
    parser.advance(&mut notes, b"\x1b]0;");
    for _ in 0..200 {
        parser.advance(&mut notes, &[b'x'; 1024]);
        assert!(parser.heap() <= 2 * super::MAX_OSC);
    }
    parser.advance(&mut notes, b"\x07after");
    assert_eq!(notes.0, ["\"after"]);
    assert!(parser.heap() <= super::KEEP_STRING);
}
