//! Inputs that once broke something, found by fuzzing and by the properties. None may do so again.

#![expect(clippy::expect_used, reason = "a test that cannot go on says what it missed")]

#[path = "properties/seen.rs"]
mod seen;

use greenroom_screen::{Depth, Filter, Options, Policy, Screen};

/// Everything that must hold for any input, for this one.
#[track_caller]
fn check(size: &str, bytes: &[u8]) {
    let options = Options { graphics: true, checksums: true, ..Options::default() };
    let size = size.parse().expect("a size");
    let mut screen = Screen::new(size, options);
    screen.feed(bytes);
    seen::check(&screen);

    let mut slow = Screen::new(size, options);
    for byte in bytes {
        slow.feed(&[*byte]);
    }
    assert_eq!(slow.checkpoint(), screen.checkpoint(), "byte by byte");

    let restored = Screen::restore(&screen.checkpoint()).expect("its own checkpoint");
    assert_eq!(seen::seen(&restored), seen::seen(&screen), "restored");

    let mut drawn = Screen::new(size, options);
    drawn.feed(&screen.dump(Depth::All));
    assert_eq!(seen::seen(&drawn), seen::seen(&screen), "drawn again");

    let passed = Filter::new(Policy::default()).feed(bytes);
    let mut viewer = Screen::new(size, options);
    assert_eq!(viewer.feed(&passed).replies(), b"", "filtered");
}

#[test]
fn erasing_selectively_leaves_no_row_that_wraps_from_nothing() {
    check("20x5", b"aaahtqrstahtqrstuvwxyz{\xe6\xf5d\x1b[?1Juvwxyz{\xe6\xf5d\x1b[?1J");
    check("13x2", "aaaaaaaaaaaaaaaaaaaaaaaaa글\x1b[${".as_bytes());
}

#[test]
fn a_wrap_pending_when_the_row_scrolls_away_wraps_nothing() {
    check("25x1", b"aaaaaaaaaaaaaaaaaaaaaaaaa\x1b[Sa");
    check("25x1", b"aaaaaaaaaaaaaaaaaaaaaaaaaa\x1bM\r\n");
    check("3x1", b"\x1b[?7l Aa\x1b]133;A\x07\x1bM");
}

#[test]
fn a_background_does_not_leak_into_rows_that_scroll_in() {
    check("12x1", "aAa0A00AAa aA\r\x1b[1;48:5:0mAα".as_bytes());
    check("10x1", b"\x1b[1;48:5:0m\x1b7\x1b[?47h\r");
}

#[test]
fn clusters_printed_apart_stay_apart() {
    check("2x1", "\x1b[?2027l👩\u{200d}👩\u{200d}👧a".as_bytes());
    check("9x2", "\x1b[?2027l❤\u{fe0f}🇫🇷\x1b[?2027h🇩🇪".as_bytes());
}

#[test]
fn a_mark_in_the_middle_of_a_wide_character_stays_there() {
    check("12x1", "Aa0a 0AA0AAAa\x1b]133;A\x07\x1b6👩".as_bytes());
}

#[test]
fn what_is_cut_off_is_not_completed_by_what_follows() {
    check("9x2", b"!\x1b\x80!");
    check("9x2", b"\xc2\x1bP+q\x1b\\\xa0");
    check("9x2", b"\x1b\t\x1b[c!");
    check("9x2", "A\u{9b}x\0".as_bytes());
    check("9x2", b"!\x1bPq\x07\x1bPq\x07");
    check("9x2", b"\x1bPq\x07\x0e\x1b]52;c;?\x07 aA0");
}

#[test]
fn a_resize_that_wraps_more_than_may_be_kept_leaves_a_sound_screen() {
    let options = Options::default().with_history(100);
    let mut screen = Screen::new("990x990".parse().expect("a size"), options);
    screen.feed(b"\x1b]133;A\x07\x1b#8");
    for size in ["4x990", "2x1", "990x3", "80x24"] {
        screen.resize(size.parse().expect("a size"));
        seen::check(&screen);
        let restored = Screen::restore(&screen.checkpoint()).expect("its own checkpoint");
        assert_eq!(seen::seen(&restored), seen::seen(&screen), "{size}");
        assert!(screen.marks().all(|mark| mark.row >= screen.first_row()), "{size}");
    }
}
