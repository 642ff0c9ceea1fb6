//! Every peer draws the same simple screens.

use greenroom_model::Size;

use super::Contender;

#[test]
fn every_terminal_shows_the_same_for_simple_output() {
    let size = Size::new(20, 4).unwrap();
    for contender in Contender::terminals() {
        let mut engine = contender.start(size, 10);
        // Cut within the escape sequence and within `ü`.
        for piece in b"one\r\ntwo\r\nthree\r\nfour\r\n\x1b[31mgr\xc3\xbcn \xe7\x95\xab!".chunks(2) {
            engine.feed(piece);
        }
        assert_eq!(engine.rows(), ["two", "three", "four", "grün 畫!"], "{}", contender.name());
    }
}
