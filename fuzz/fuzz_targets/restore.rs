//! Any bytes as a checkpoint: refused, or a screen that works.

#![no_main]

use greenroom_screen::{Depth, Query, Screen, Search, Wrap};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    // The magic and the version cost the fuzzer time and tell it nothing.
    let mut checkpoint = b"GRSC\x01".to_vec();
    checkpoint.extend_from_slice(data);
    let Ok(mut screen) = Screen::restore(&checkpoint) else { return };
    let _ = (screen.text(), screen.history_text(Wrap::Joined), screen.snapshot());
    let _ = screen.search(&Query::literal("a").expect("a query"), Search::default());
    let _ = (screen.dump(Depth::All), screen.commands());
    let again = Screen::restore(&screen.checkpoint()).expect("its own checkpoint restores");
    assert_eq!(again.text(), screen.text());
    let mut resized = screen.clone();
    resized.resize("5x9".parse().expect("a size"));
    resized.resize("60x4".parse().expect("a size"));
    let again = Screen::restore(&resized.checkpoint()).expect("its own checkpoint restores");
    assert_eq!(again.text(), resized.text());
    screen.feed(b"\x1b[5;5Habc\xe6\xbc\xa2\r\n\n\n\n\x1b[1;31mx\x1b[2J\x1b[3;1H\x1b[4L\x1b[?1049lend");
    screen.resize("7x3".parse().expect("a size"));
    screen.resize("90x30".parse().expect("a size"));
    screen.feed(b"\r\nmore\x1bc");
    let _ = screen.text();
});
