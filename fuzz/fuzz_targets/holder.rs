//! Any bytes between a holder and the daemon: the same messages whatever way they are cut, and a
//! message that is read is read back as it is written.

#![no_main]

use greenroom_proto::{Decoder, Description, FromHolder, ToHolder};
use libfuzzer_sys::fuzz_target;

fn from(pieces: &[&[u8]]) -> Vec<FromHolder> {
    let mut decoder = Decoder::default();
    let mut all = Vec::new();
    for piece in pieces {
        decoder.feed(piece);
        while let Ok(Some(message)) = decoder.from_holder() {
            all.push(message);
        }
    }
    all
}

fn to(bytes: &[u8]) -> Vec<ToHolder> {
    let mut decoder = Decoder::default();
    decoder.feed(bytes);
    std::iter::from_fn(|| decoder.to_holder().ok().flatten()).collect()
}

fuzz_target!(|data: &[u8]| {
    let [cut, bytes @ ..] = data else { return };
    let (head, tail) = bytes.split_at((*cut as usize).min(bytes.len()));
    let whole = from(&[bytes]);
    // Behind an error there is nothing to compare: the connection is over.
    let pieces = from(&[head, tail]);
    let same = whole.len().min(pieces.len());
    assert_eq!(whole[..same], pieces[..same]);
    for message in &whole {
        let mut again = Vec::new();
        message.encode(&mut again);
        assert_eq!(from(&[&again]), std::slice::from_ref(message));
    }
    for message in to(bytes) {
        let mut again = Vec::new();
        message.encode(&mut again);
        assert_eq!(to(&again), [message]);
    }
    if let Ok(description) = Description::decode(bytes) {
        let again = Description::decode(&description.encode()).expect("it was one");
        assert_eq!(again, description);
    }
});
