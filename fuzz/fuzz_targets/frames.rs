//! Any bytes as a client's: the same frames whatever way they are cut, and what is read back is
//! what was written. Then the same bytes as lines and as messages with headers.

#![no_main]

use greenroom_frame::binary::stream::{
    Output, Redraw, Typed, taken_from_payload, taken_to_payload,
};
use greenroom_frame::binary::{Frame, FrameDecoder, FrameError, encode};
use greenroom_frame::headers::HeaderDecoder;
use greenroom_frame::lines::LineDecoder;
use greenroom_frame::rpc::{Message, Request};
use libfuzzer_sys::fuzz_target;

fn frames(pieces: &[&[u8]]) -> (Vec<Frame>, Option<FrameError>) {
    let mut decoder = FrameDecoder::default();
    let mut all = Vec::new();
    for piece in pieces {
        decoder.feed(piece);
        loop {
            match decoder.next() {
                Ok(Some(frame)) => all.push(frame),
                Ok(None) => break,
                Err(error) => return (all, Some(error)),
            }
        }
    }
    (all, None)
}

fuzz_target!(|data: &[u8]| {
    let [cut, bytes @ ..] = data else { return };
    let (head, tail) = bytes.split_at((*cut as usize).min(bytes.len()));
    let whole = frames(&[bytes]);
    assert_eq!(whole, frames(&[head, tail]));
    for frame in &whole.0 {
        let again = encode(frame.kind, &frame.id, &frame.payload).expect("it was one");
        assert_eq!(frames(&[&again]).0, std::slice::from_ref(frame));
        let _ = Request::from_wire(&frame.payload);
        let _ = Message::from_wire(&frame.payload);
        let _ = Output::from_payload(frame.payload.clone());
        let _ = Redraw::from_payload(frame.payload.clone());
        let _ = Typed::from_payload(frame.payload.clone());
        if let Ok(taken @ Some(_)) = taken_from_payload(frame.payload.clone()) {
            assert!(frame.payload.starts_with(&taken_to_payload(taken)));
        }
    }
    let mut lines = LineDecoder::new(1024);
    lines.feed(bytes);
    while let Ok(Some(_)) = lines.next() {}
    let mut headers = HeaderDecoder::new(1024);
    headers.feed(bytes);
    while let Ok(Some(_)) = headers.next() {}
});
