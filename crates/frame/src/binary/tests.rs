//! Frames cut anywhere, hostile lengths, round trips.

use proptest::prelude::*;

use super::stream::{
    Output, Redraw, RedrawReason, output_head, redraw_head, taken_from_payload, taken_to_payload,
};
use super::*;

/// Decodes `input` cut in two at every byte, and byte by byte, and wants the same each time.
#[track_caller]
fn check(input: &[u8], expected: &Result<Vec<Frame>, FrameError>) {
    for cut in 0..=input.len() {
        let (head, tail) = input.split_at(cut);
        assert_eq!(&decoded(&[head, tail]), expected, "cut at byte {cut}");
    }
    let single: Vec<&[u8]> = input.chunks(1).collect();
    assert_eq!(&decoded(&single), expected, "byte by byte");
}

fn decoded(parts: &[&[u8]]) -> Result<Vec<Frame>, FrameError> {
    let mut decoder = FrameDecoder::default();
    let mut frames = Vec::new();
    for part in parts {
        decoder.feed(part);
        while let Some(frame) = decoder.next()? {
            frames.push(frame);
        }
    }
    Ok(frames)
}

fn frame(kind: u8, id: &str, payload: &[u8]) -> Frame {
    Frame { kind, id: id.to_owned(), payload: Bytes::copy_from_slice(payload) }
}

fn bytes_of(frames: &[Frame]) -> Vec<u8> {
    frames.iter().flat_map(|it| encode(it.kind, &it.id, &it.payload).unwrap()).collect()
}

#[test]
fn any_split_gives_the_same_frames() {
    let frames = vec![
        frame(kind::JSON_RPC, "", b"{}"),
        frame(kind::INPUT, "stream-1", b"\x1b[A"),
        frame(kind::STREAM_CLOSE, "é", b""),
        frame(0x77, "", b""),
    ];
    check(&bytes_of(&frames), &Ok(frames));
}

#[test]
fn the_bytes_are_those_of_the_contract() {
    let bytes = encode(kind::RESIZE, "ab", b"xyz").unwrap();
    assert_eq!(bytes, b"\x02\0\0\0\x02ab\0\0\0\x03xyz");
}

#[test]
fn lengths_past_their_bounds_are_refused_before_the_body() {
    check(b"\x01\0\0\x10\x01", &Err(FrameError::IdTooLong(4097)));
    check(b"\x01\xff\xff\xff\xff", &Err(FrameError::IdTooLong(u32::MAX as usize)));
    check(b"\xff\0\0\0\0\x04\0\0\x01", &Err(FrameError::PayloadTooLong(MAX_PAYLOAD + 1)));
    check(b"\x01\0\0\0\x01a\xff\xff\xff\xff", &Err(FrameError::PayloadTooLong(u32::MAX as usize)));
}

#[test]
fn lengths_at_their_bounds_are_waited_for() {
    check(b"\x01\0\0\x10\0abc", &Ok(vec![]));
    check(b"\xff\0\0\0\0\x04\0\0\0abc", &Ok(vec![]));
}

#[test]
fn an_id_that_is_no_text_is_refused() {
    check(b"\x01\0\0\0\x01\xff\0\0\0\0", &Err(FrameError::IdNotUtf8));
}

#[test]
fn what_cannot_be_sent_is_not_begun() {
    let mut bytes = vec![7];
    let long = "x".repeat(MAX_ID + 1);
    assert_eq!(encode_into(&mut bytes, 1, &long, b""), Err(FrameError::IdTooLong(MAX_ID + 1)));
    assert_eq!(bytes, [7]);
    assert!(header(1, "", MAX_PAYLOAD + 1).is_err());
    assert!(output_head("s", 0, usize::MAX).is_err());
}

#[test]
fn a_payload_shares_the_buffer() {
    let mut decoder = FrameDecoder::default();
    decoder.feed(&encode(kind::OUTPUT, "s", &[b'x'; 1000]).unwrap());
    let place = decoder.buffer()[10..].as_ptr();
    assert_eq!(decoder.next().unwrap().unwrap().payload.as_ptr(), place);
    assert!(!decoder.is_mid_frame());
}

#[test]
fn streams_carry_their_offsets() {
    let mut bytes = output_head("s", 7, 2).unwrap();
    bytes.extend_from_slice(b"hi");
    bytes.extend(redraw_head("s", 9, RedrawReason::Lagged, 1).unwrap());
    bytes.push(b'!');
    let frames = decoded(&[&bytes]).unwrap();
    assert_eq!(frames.iter().map(|it| it.kind).collect::<Vec<_>>(), [kind::OUTPUT, kind::REDRAW]);
    let output = Output::from_payload(frames[0].payload.clone()).unwrap();
    assert_eq!(output, Output { end: 7, bytes: "hi".into() });
    let redraw = Redraw::from_payload(frames[1].payload.clone()).unwrap();
    assert_eq!(redraw, Redraw { offset: 9, reason: RedrawReason::Lagged, bytes: "!".into() });
}

#[test]
fn a_stream_without_its_offset_is_refused() {
    let error = Output::from_payload(Bytes::from_static(b"1234567")).unwrap_err();
    assert_eq!(error, FrameError::Short { kind: kind::OUTPUT, length: 7, needed: 8 });
    assert!(Redraw::from_payload(Bytes::from_static(b"12345678")).is_err());
    assert!(taken_from_payload(Bytes::from_static(b"1234567")).is_err());
}

#[test]
fn what_was_taken_is_a_count_or_not_known() {
    for taken in [None, Some(0), Some(u64::MAX)] {
        let payload = Bytes::from(taken_to_payload(taken));
        assert_eq!(taken_from_payload(payload).unwrap(), taken);
    }
}

#[test]
fn reasons_keep_their_numbers() {
    for number in 0..=255 {
        assert_eq!(RedrawReason::from_wire(number).to_wire(), number);
    }
}

proptest! {
    #[test]
    fn frames_come_back_as_they_were(
        frames in prop::collection::vec((any::<u8>(), ".{0,20}", prop::collection::vec(any::<u8>(), 0..200)), 0..8),
        chunk in 1usize..64,
    ) {
        let frames: Vec<Frame> = frames.iter().map(|it| frame(it.0, &it.1, &it.2)).collect();
        let bytes = bytes_of(&frames);
        let parts: Vec<&[u8]> = bytes.chunks(chunk).collect();
        prop_assert_eq!(decoded(&parts), Ok(frames));
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        drop(decoded(&[&bytes]));
    }
}
