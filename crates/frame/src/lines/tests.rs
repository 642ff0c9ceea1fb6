//! Lines cut anywhere, lines that are too long.

use proptest::prelude::*;

use super::*;

const BOUND: usize = 5;

/// Decodes `input` cut in two at every byte, and byte by byte, and wants the same each time.
#[track_caller]
fn check(input: &str, expected: &[Result<&str, LineError>]) {
    for cut in 0..=input.len() {
        let (head, tail) = input.as_bytes().split_at(cut);
        assert_eq!(decoded(&[head, tail]), owned(expected), "cut at byte {cut} of {input:?}");
    }
    let single: Vec<&[u8]> = input.as_bytes().chunks(1).collect();
    assert_eq!(decoded(&single), owned(expected), "{input:?} byte by byte");
}

fn owned(expected: &[Result<&str, LineError>]) -> Vec<Result<Bytes, LineError>> {
    let own = |line: &&str| Bytes::copy_from_slice(line.as_bytes());
    expected.iter().map(|it| it.as_ref().map(own).map_err(LineError::clone)).collect()
}

fn decoded(parts: &[&[u8]]) -> Vec<Result<Bytes, LineError>> {
    let mut lines = LineDecoder::new(BOUND);
    let mut got = Vec::new();
    for part in parts {
        lines.feed(part);
        loop {
            match lines.next() {
                Ok(Some(line)) => got.push(Ok(line)),
                Ok(None) => break,
                Err(error) => got.push(Err(error)),
            }
        }
    }
    got.extend(lines.take_rest().map(Ok));
    got
}

const TOO_LONG: Result<&str, LineError> = Err(LineError::TooLong(BOUND));

#[test]
fn any_split_gives_the_same_lines() {
    check("", &[]);
    check("a\nbb\r\n\n\r\nc", &[Ok("a"), Ok("bb"), Ok(""), Ok(""), Ok("c")]);
    check("a\rb\n\r\r\n", &[Ok("a\rb"), Ok("\r")]);
}

#[test]
fn the_bound_counts_without_the_end() {
    check("12345\n", &[Ok("12345")]);
    check("12345\r\n", &[Ok("12345")]);
    check("123456\n", &[TOO_LONG]);
    check("12345\r\r\n", &[TOO_LONG]);
    check("12345\r6\n", &[TOO_LONG]);
}

#[test]
fn a_line_that_is_too_long_is_left_out_once_and_the_next_one_read() {
    check("1234567890123\nok\n", &[TOO_LONG, Ok("ok")]);
    check("1234567890\n1234567890\nok\n", &[TOO_LONG, TOO_LONG, Ok("ok")]);
    check("1234567890", &[TOO_LONG]);
}

#[test]
fn a_line_that_never_ends_is_not_kept() {
    let mut lines = LineDecoder::new(BOUND);
    lines.feed(&[b'x'; 1000]);
    assert!(lines.next().is_err());
    for _ in 0..100 {
        lines.feed(&[b'x'; 1000]);
        assert_eq!(lines.next(), Ok(None));
        assert!(lines.buffer().is_empty());
    }
}

proptest! {
    #[test]
    fn lines_come_back_as_they_were(texts in prop::collection::vec("[a-z\"{}]{0,5}", 0..9), chunk in 1usize..9) {
        let joined: String = texts.iter().map(|it| format!("{it}\n")).collect();
        let parts: Vec<&[u8]> = joined.as_bytes().chunks(chunk).collect();
        let expected: Vec<Result<&str, LineError>> = texts.iter().map(|it| Ok(it.as_str())).collect();
        prop_assert_eq!(decoded(&parts), owned(&expected));
    }
}
