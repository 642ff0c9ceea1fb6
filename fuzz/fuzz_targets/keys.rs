//! Any bytes as typed at a terminal: the same events whatever way they are cut, and every key that
//! comes out can be encoded again.

#![no_main]

use greenroom_model::KeyEvent;
use greenroom_screen::keys::{Input, KeyDecoder, KeyModes, KittyFlags, encode_key, encode_paste};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [cut, typed @ ..] = data else { return };
    let mut whole = KeyDecoder::default();
    let mut events = whole.feed(typed);
    events.extend(whole.flush());
    let mut pieces = KeyDecoder::default();
    let (head, tail) = typed.split_at((*cut as usize).min(typed.len()));
    let mut cut_events = pieces.feed(head);
    cut_events.extend(pieces.feed(tail));
    cut_events.extend(pieces.flush());
    assert_eq!(events, cut_events);
    for event in &events {
        if let Input::Key(key) = &event.input {
            for flags in [0, 1, 31] {
                let modes = KeyModes { kitty: KittyFlags::from_bits(flags), ..KeyModes::default() };
                let _ = encode_key(key, modes);
            }
        }
    }
    if let Ok(text) = std::str::from_utf8(typed) {
        let _ = text.parse::<KeyEvent>().map(|key| key.to_string().parse::<KeyEvent>().expect("reads back"));
        let pasted = encode_paste(text, true);
        let inside = &pasted[6..pasted.len() - 6];
        assert!(!inside.contains(&0x1b));
    }
});
