//! Where text and cursor come to be.

use crate::{Options, Pos, Screen, Wrap};

/// Feeds, resizes, and wants this text and cursor.
#[track_caller]
fn check(from: &str, bytes: &str, to: &str, text: &str, cursor: (u16, u16)) {
    let mut screen = Screen::new(from.parse().unwrap(), Options::default());
    screen.feed(bytes.as_bytes());
    screen.resize(to.parse().unwrap());
    let place = screen.cursor();
    let col = place.col + u16::from(place.pending_wrap);
    assert_eq!((screen.text().as_str(), (place.row, col)), (text, cursor));
}

#[test]
fn lines_wrap_anew_and_the_cursor_stays_on_its_character() {
    check("10x4", "abcdefghijkl", "6x4", "abcdef\nghijkl", (1, 6));
    check("6x4", "abcdefghijkl", "12x4", "abcdefghijkl", (0, 12));
    check("10x4", "abcdefgh\x1b[1;3H", "4x4", "abcd\nefgh", (0, 2));
    check("10x4", "abcdefgh\x1b[1;7H", "4x4", "abcd\nefgh", (1, 2));
}

#[test]
fn wide_characters_stay_whole() {
    check("6x3", "漢字漢", "5x3", "漢字\n漢", (1, 2));
    check("5x3", "a漢字b", "4x3", "a漢\n字b", (1, 3));
    check("4x3", "漢字", "1x3", "漢\n字", (1, 2));
}

#[test]
fn what_does_not_fit_goes_to_the_history_and_comes_back() {
    let mut screen = Screen::new("10x4".parse().unwrap(), Options::default());
    screen.feed(b"1\r\n2\r\n3\r\n4");
    screen.resize("10x2".parse().unwrap());
    assert_eq!((screen.text().as_str(), screen.history_len()), ("3\n4", 2));
    screen.resize("10x4".parse().unwrap());
    assert_eq!((screen.text().as_str(), screen.history_len()), ("1\n2\n3\n4", 0));
}

#[test]
fn a_cleared_screen_stays_clear() {
    let mut screen = Screen::new("10x4".parse().unwrap(), Options::default());
    screen.feed(b"1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[H\x1b[2J$ ");
    screen.resize("20x4".parse().unwrap());
    assert_eq!(screen.text(), "$");
    screen.resize("20x8".parse().unwrap());
    assert_eq!(screen.text(), "$");
}

#[test]
fn text_below_the_cursor_is_not_lost() {
    let mut screen = Screen::new("10x6".parse().unwrap(), Options::default());
    screen.feed(b"1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[H");
    screen.resize("10x3".parse().unwrap());
    assert_eq!((screen.text().as_str(), screen.cursor().row), ("1\n2\n3", 0));
    screen.resize("10x6".parse().unwrap());
    assert_eq!((screen.text().as_str(), screen.cursor().row), ("1\n2\n3\n4\n5\n6", 0));
}

#[test]
fn the_alternate_screen_is_cut_and_the_primary_wraps_behind_it() {
    let mut screen = Screen::new("10x4".parse().unwrap(), Options::default());
    screen.feed(b"abcdefghij\x1b[?1049h\x1b[Hfull screen");
    screen.resize("5x4".parse().unwrap());
    assert_eq!(screen.text(), "full\nn");
    screen.feed(b"\x1b[?1049l");
    assert_eq!(screen.text(), "abcde\nfghij");
}

#[test]
fn lines_past_the_limit_go_as_new_ones_come() {
    let mut screen = Screen::new("80x4".parse().unwrap(), Options::default().with_history(100));
    for n in 0..200 {
        screen.feed(format!("{n:070}\r\n").as_bytes());
    }
    screen.resize("10x4".parse().unwrap());
    let wrapped = screen.history_len();
    assert!(wrapped > 600, "{wrapped}");
    screen.resize("80x4".parse().unwrap());
    assert_eq!(screen.history_len(), 100);
    screen.resize("10x4".parse().unwrap());
    for _ in 0..800 {
        screen.feed(b"x\r\n");
    }
    assert_eq!(screen.history_len(), 100);
}

#[test]
fn places_move_with_their_text_and_stay_on_an_alternate_screen() {
    let mut screen = Screen::new("10x4".parse().unwrap(), Options::default());
    screen.feed(b"abcdefghijkl\r\nout\r\nput\r\n$ ls");
    let mut places = [screen.cursor_pos(), Pos { row: 2, col: 1 }];
    for size in ["3x4", "40x4", "7x2", "10x4"] {
        screen.resize_following(size.parse().unwrap(), &mut places);
        assert_eq!(places[0], screen.cursor_pos(), "{size}");
        let row = screen.line(places[1].row).unwrap().text();
        assert_eq!((row.as_str(), places[1].col), ("out", 1), "{size}");
    }
    screen.feed(b"\x1b[?1049h\x1b[3;5H");
    let mut places = [screen.cursor_pos(), Pos { row: 1, col: 2 }];
    screen.resize_following("6x4".parse().unwrap(), &mut places);
    assert_eq!(places[0], screen.cursor_pos());
}

#[test]
fn marks_move_with_their_text() {
    let mut screen = Screen::new("10x4".parse().unwrap(), Options::default());
    screen.feed(b"abcdefghijkl\r\n\x1b]133;C\x07out\r\nput\r\n\x1b]133;D;0\x07$ ");
    for size in ["3x4", "40x4", "7x2", "10x4"] {
        screen.resize(size.parse().unwrap());
        let command = screen.commands()[0];
        assert_eq!(screen.output_of(&command).as_deref(), Some("out\nput\n"), "{size}");
    }
    assert_eq!(screen.text_of(0..1, Wrap::Joined), "abcdefghij");
}
