//! Messages cut anywhere, headers of every bad kind.

use proptest::prelude::*;

use super::*;

const BOUND: usize = 100;

/// Decodes `input` cut in two at every byte, and byte by byte, and wants the same each time.
#[track_caller]
fn check(input: &str, expected: Result<&[&str], HeaderError>) {
    let expected = expected.map(|it| it.iter().map(|it| it.as_bytes().to_vec()).collect());
    for cut in 0..=input.len() {
        let (head, tail) = input.as_bytes().split_at(cut);
        assert_eq!(decoded(&[head, tail]), expected, "cut at byte {cut}");
    }
    let single: Vec<&[u8]> = input.as_bytes().chunks(1).collect();
    assert_eq!(decoded(&single), expected, "byte by byte");
}

fn decoded(parts: &[&[u8]]) -> Result<Vec<Vec<u8>>, HeaderError> {
    let mut decoder = HeaderDecoder::new(BOUND);
    let mut bodies = Vec::new();
    for part in parts {
        decoder.feed(part);
        while let Some(body) = decoder.next()? {
            bodies.push(body.to_vec());
        }
    }
    Ok(bodies)
}

#[test]
fn any_split_gives_the_same_bodies() {
    let input = "Content-Length: 2\r\nContent-Type: x; charset=utf-8\r\n\r\n{}content-length:0\n\n";
    check(input, Ok(&["{}", ""]));
    check("Content-Length: 3\r\nContent-Length: 3\r\n\r\n\r\n!", Ok(&["\r\n!"]));
}

#[test]
fn lengths_that_are_none_are_refused() {
    check("\r\n", Err(HeaderError::NoLength));
    check("X: 1\r\n\r\n", Err(HeaderError::NoLength));
    for value in ["", "-1", "+1", "1e3", "0x10", "1 2"] {
        let error = HeaderError::BadLength(value.to_owned());
        check(&format!("Content-Length: {value}\r\n\r\n"), Err(error));
    }
    check("Content-Length: 1\nContent-Length: 2\n\n", Err(HeaderError::BadLength("2".into())));
    check("GET / HTTP/1.1\r\n", Err(HeaderError::NotAHeader("GET / HTTP/1.1".into())));
    check("{x:1}\n", Err(HeaderError::NotAHeader("{x:1}".into())));
    check(": 1\n", Err(HeaderError::NotAHeader(": 1".into())));
}

#[test]
fn a_long_body_is_refused_before_it_comes() {
    check("Content-Length: 101\r\n", Err(HeaderError::TooLong { length: 101, bound: BOUND }));
    let huge = format!("Content-Length: {}\n", "9".repeat(100));
    check(&huge, Err(HeaderError::TooLong { length: usize::MAX, bound: BOUND }));
}

#[test]
fn a_header_without_end_is_refused() {
    let mut decoder = HeaderDecoder::new(BOUND);
    decoder.feed(&[b'x'; MAX_HEADER - 1]);
    assert_eq!(decoder.next(), Ok(None));
    decoder.feed(b"x");
    assert_eq!(decoder.next(), Err(HeaderError::HeaderTooLong));
    let many = "a: b\n".repeat(MAX_HEADER / 5 + 1);
    assert_eq!(decoded(&[many.as_bytes()]), Err(HeaderError::HeaderTooLong));
}

proptest! {
    #[test]
    fn bodies_come_back_as_they_were(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..BOUND), 0..5),
        chunk in 1usize..40,
    ) {
        let bytes: Vec<u8> = bodies.iter().flat_map(|it| encode(it)).collect();
        let parts: Vec<&[u8]> = bytes.chunks(chunk).collect();
        prop_assert_eq!(decoded(&parts), Ok(bodies));
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        drop(decoded(&[&bytes]));
    }
}
