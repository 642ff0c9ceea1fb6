//! The table that is checked in is the one we would make.

use super::{Kind, TABLES, class, generate};
use crate::workspace::read;

#[test]
fn the_checked_in_table_is_current() {
    let (kept, made) = (read(TABLES).unwrap(), generate().unwrap());
    assert!(kept == made, "`{TABLES}` is out of date: run `cargo xtask unicode`");
}

#[track_caller]
fn check(c: char, width: u8, kind: Kind) {
    assert_eq!(class(c), width | (kind as u8) << 2, "{c:?}");
}

#[test]
fn each_kind_is_found() {
    check('a', 1, Kind::Plain);
    check('\u{ad}', 1, Kind::Plain);
    check('世', 2, Kind::Plain);
    check('\u{301}', 0, Kind::Extend);
    check('\u{200d}', 0, Kind::Joiner);
    check('\u{93e}', 1, Kind::Spacing);
    check('\u{1f1e9}', 1, Kind::Regional);
    check('😀', 2, Kind::Pictograph);
    check('\u{1100}', 2, Kind::HangulLead);
    check('한', 2, Kind::HangulSyllable);
    check('\u{11a8}', 0, Kind::HangulTail);
}
