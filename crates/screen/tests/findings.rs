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
fn a_mark_that_stands_alone_does_not_join_the_row_before() {
    check("2x3", "l>\0\u{bbf}A".as_bytes());
    check("2x3", "l>\u{200d}\0\u{bbf}A".as_bytes());
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

/// A row of text in as many styles as it has cells, from number `first` on.
fn colourful(first: u32, count: u32) -> Vec<u8> {
    let cell = |n: u32| {
        let [_, r, g, b] = n.to_be_bytes();
        format!("\x1b[38;2;{r};{g};{b}mx").into_bytes()
    };
    (first..first + count).flat_map(cell).collect()
}

#[test]
fn a_resize_ends_however_many_styles_there_are() {
    let mut screen = Screen::new("200x2".parse().expect("a size"), Options::default());
    screen.feed(&colourful(0, 1400));
    screen.resize("1400x2".parse().expect("a size"));
    assert_eq!(screen.line(screen.top_row()).expect("a row").runs().count(), 1400);

    let mut full = Screen::new("1000x70".parse().expect("a size"), Options::default());
    full.feed(&colourful(0, 66_000));
    full.feed(&b"\r\n".repeat(20));
    full.feed(&colourful(100_000, 20_000));
    full.resize("1000x110".parse().expect("a size"));
    seen::check(&full);
}

#[test]
fn many_lines_without_autowrap_are_not_wrapped() {
    let mut bytes = b"\x1b[?7l\r\n\r\n\r\n\r\n\r\n".to_vec();
    bytes.extend(b"line abcdefghijklmnop\r\n".repeat(100));
    check("10x4", &bytes);
}

#[test]
fn a_dump_leaves_the_hidden_screen_alone() {
    for alternate in ["", "ALTERNATE!"] {
        let bytes = format!("0123456789\x1b[?1049h{alternate}");
        check("10x3", bytes.as_bytes());
        let mut screen = Screen::new("10x3".parse().expect("a size"), Options::default());
        screen.feed(bytes.as_bytes());
        let mut copy = Screen::new("10x3".parse().expect("a size"), Options::default());
        copy.feed(&screen.dump(Depth::All));
        copy.feed(b"\x1b[?1049l");
        assert_eq!(copy.text(), "0123456789");
    }
}

#[test]
fn a_screen_without_history_restores_after_a_resize() {
    let options = Options::default().with_history(0);
    let mut screen = Screen::new("10x4".parse().expect("a size"), options);
    screen.feed(b"1\r\n2\r\n3\r\n4");
    screen.resize("10x2".parse().expect("a size"));
    let restored = Screen::restore(&screen.checkpoint()).expect("its own checkpoint");
    assert_eq!(restored.text(), "3\n4");
}

#[test]
fn what_a_smaller_size_hides_outlives_the_alternate_screen() {
    let mut screen = Screen::new("10x6".parse().expect("a size"), Options::default());
    screen.feed(b"1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[1;1H\x1b[?1049hvi");
    screen.resize("10x2".parse().expect("a size"));
    screen.feed(b"x");
    screen.resize("10x6".parse().expect("a size"));
    screen.feed(b"\x1b[?1049l");
    assert_eq!(screen.text(), "1\n2\n3\n4\n5\n6");

    let mut bare = Screen::new("20x5".parse().expect("a size"), Options::default());
    bare.feed(b"1\r\n2\r\n3\r\n4\r\n$ vi\x1b[?47h~");
    bare.resize("20x3".parse().expect("a size"));
    bare.feed(b"x\x1b[?47l");
    assert_eq!(bare.text(), "3\n4\n$ vi");
}

#[test]
fn marks_go_with_rows_that_cost_too_much() {
    let mut screen =
        Screen::new("80x4".parse().expect("a size"), Options::default().with_history(1000));
    screen.feed(b"\x1b]133;A\x07");
    let row = format!("e{}", "\u{301}".repeat(30)).repeat(80);
    for _ in 0..1000 {
        screen.feed(row.as_bytes());
    }
    assert!(screen.first_row() > 0);
    assert!(screen.marks().all(|mark| mark.row >= screen.first_row()));
}

#[test]
fn marks_out_of_order_in_a_row_leave_its_wrap_alone() {
    check("10x3", b"0123456789\x1b]133;A\x07\x1b[3G\x1b]133;B\x07\x1b[10G9XY");
}

#[test]
fn repeating_a_wide_character_that_does_not_fit_leaves_the_row() {
    let mut screen = Screen::new("4x2".parse().expect("a size"), Options::default());
    screen.feed("\x1b[?7lab世\x1b[b".as_bytes());
    assert_eq!(screen.text(), "ab世");
}

#[test]
fn a_command_longer_than_the_history_still_has_its_end() {
    let options = Options::default().with_history(10);
    let mut screen = Screen::new("20x4".parse().expect("a size"), options);
    screen.feed(b"\x1b]133;A\x07$ \x1b]133;B\x07seq\r\n\x1b]133;C\x07");
    for n in 0..100 {
        screen.feed(format!("{n}\r\n").as_bytes());
    }
    screen.feed(b"\x1b]133;D;3\x07\x1b]133;A\x07$ ");
    let command = screen.commands()[0];
    assert_eq!(command.exit_code(), Some(3));
    assert!(screen.output_of(&command).expect("what is left").ends_with("98\n99\n"));
}

#[test]
fn a_string_end_alone_passes_the_same_whatever_the_cut() {
    for bytes in [&b"a\xc2\x9cb"[..], b"a\x1b\x1b\\b", b"a\x1b\\b"] {
        for cut in 0..bytes.len() {
            let mut filter = Filter::new(Policy::default());
            let mut passed = filter.feed(&bytes[..cut]);
            passed.extend(filter.feed(&bytes[cut..]));
            assert_eq!(passed, b"ab", "{} cut at {cut}", bytes.escape_ascii());
        }
    }
}
