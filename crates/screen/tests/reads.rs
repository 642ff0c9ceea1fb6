//! Reading a screen back: text, lines, history, commands, snapshots and search.
//!
//! Small screens with everything written down, so that a failure shows what was read instead.
//! Not here: that search finds what a naive one finds on any input (`properties.rs`).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it is")]

use std::ops::Range;
use std::thread;

use greenroom_screen::{
    Attrs, CellText, Color, Match, Options, Pos, Query, QueryError, Screen, Search, Style, Wrap,
};

fn fed(size: &str, bytes: &str) -> Screen {
    let mut screen = Screen::new(size.parse().unwrap(), Options::default());
    screen.feed(bytes.as_bytes());
    screen
}

/// The same with a small history.
fn short(size: &str, lines: usize, bytes: &str) -> Screen {
    let mut screen = Screen::new(size.parse().unwrap(), Options::default().with_history(lines));
    screen.feed(bytes.as_bytes());
    screen
}

#[track_caller]
fn check_text(size: &str, bytes: &str, expected: &str) {
    let screen = fed(size, bytes);
    assert_eq!(screen.text(), expected, "{bytes:?}");
    assert_eq!(screen.snapshot().text(), expected, "the snapshot of {bytes:?}");
}

#[test]
fn text_is_the_screen_without_blanks_at_its_ends() {
    check_text("10x4", "", "");
    check_text("10x4", "   \r\n  ", "");
    check_text("10x4", "a  \r\n\r\n  b  \r\n", "a\n\n  b");
    check_text("10x4", "\x1b[3;4Hx", "\n\n   x");
    check_text("4x3", "abcdefgh", "abcd\nefgh");
    check_text("5x3", "漢字漢字", "漢字\n漢字");
    check_text("10x2", "e\u{301}👩\u{200d}👧\tx", "e\u{301}👩\u{200d}👧     x");
    check_text("10x3", "a\u{a0}\r\nb", "a\u{a0}\nb"); // a no-break space is a character
    check_text("10x3", "one\rtwo\x08\x08O", "tOo");
}

#[test]
fn ranges_of_rows_are_joined_or_not() {
    let screen = fed("4x3", "abcdefgh\r\n1\r\n\r\n2  \r\nxyzab\r\nend");
    assert_eq!((screen.first_row(), screen.top_row(), screen.history_len()), (0, 5, 5));
    for (rows, wrap, expected) in [
        (0..2, Wrap::Joined, "abcdefgh\n"),
        (0..2, Wrap::Rows, "abcd\nefgh\n"),
        (0..1, Wrap::Joined, "abcd"), // its line ends outside the range
        (0..1, Wrap::Rows, "abcd\n"),
        (1..4, Wrap::Joined, "efgh\n1\n\n"),
        (3..5, Wrap::Rows, "\n2\n"),
        (4..7, Wrap::Joined, "2\nxyzab\n"), // over the edge of the history
        (5..6, Wrap::Joined, "xyza"),
        (5..8, Wrap::Joined, "xyzab\nend\n"),
        (0..0, Wrap::Joined, ""),
        (9..99, Wrap::Joined, ""),
        (7..99, Wrap::Rows, "end\n"),
        (Range { start: 5, end: 2 }, Wrap::Rows, ""),
    ] {
        assert_eq!(screen.text_of(rows.clone(), wrap), expected, "{rows:?} {wrap:?}");
    }
    assert_eq!(screen.history_text(Wrap::Joined), "abcdefgh\n1\n\n2\n");
    assert_eq!(screen.history_text(Wrap::Rows), "abcd\nefgh\n1\n\n2\n");
    assert_eq!(screen.text_of(0..u64::MAX, Wrap::Joined), "abcdefgh\n1\n\n2\nxyzab\nend\n");
}

#[test]
fn ranges_past_what_is_kept_give_what_is() {
    let screen = short("4x2", 2, "1\r\n2\r\n3\r\n4\r\n5\r\n6");
    assert_eq!((screen.first_row(), screen.top_row()), (2, 4));
    assert_eq!(screen.text_of(0..4, Wrap::Joined), "3\n4\n");
    assert_eq!(screen.history_text(Wrap::Joined), "3\n4\n");
    assert!(screen.line(1).is_none() && screen.line(6).is_none());
    assert_eq!(screen.line(2).unwrap().text(), "3");
    assert_eq!(screen.line(5).unwrap().text(), "6");
    let none = short("4x2", 0, "1\r\n2\r\n3");
    assert_eq!((none.history_len(), none.first_row(), none.top_row()), (0, 1, 1));
    assert_eq!(none.history_text(Wrap::Joined), "");
}

#[test]
fn cells_between_two_places_are_read_exactly() {
    let screen = fed("4x4", "abcdefgh\r\n漢字\r\nx");
    let pos = |row, col| Pos { row, col };
    for (from, to, wrap, expected) in [
        (pos(0, 1), pos(0, 3), Wrap::Joined, "bc"),
        (pos(0, 2), pos(1, 2), Wrap::Joined, "cdef"),
        (pos(0, 2), pos(1, 2), Wrap::Rows, "cd\nef"),
        (pos(1, 3), pos(3, 1), Wrap::Joined, "h\n漢字\nx"),
        (pos(2, 2), pos(2, 4), Wrap::Joined, "字"),
        (pos(0, 0), pos(0, 0), Wrap::Joined, ""),
        (pos(2, 0), pos(99, 0), Wrap::Joined, "漢字\nx\n"),
        (pos(3, 0), pos(0, 0), Wrap::Joined, ""),
    ] {
        assert_eq!(screen.text_between(from, to, wrap), expected, "{from:?} to {to:?} {wrap:?}");
    }
}

/// A prompt with a command that printed `output`.
fn command(output: &str) -> String {
    format!("\x1b]133;A\x07$ \x1b]133;B\x07cmd\r\n\x1b]133;C\x07{output}\x1b]133;D;3\x07")
}

/// Wants this as the last command's output.
#[track_caller]
fn check_output(screen: &Screen, expected: &str) {
    let commands = screen.commands();
    let last = commands.last().unwrap();
    assert_eq!(screen.output_of(last).as_deref(), Some(expected));
    assert_eq!(screen.typed_of(last).as_deref(), Some("cmd"));
    assert_eq!(last.exit_code(), Some(3));
}

#[test]
fn what_a_command_printed_is_read_between_its_marks() {
    check_output(&fed("20x6", &command("out\r\n")), "out\n");
    check_output(&fed("20x6", &command("")), "");
    check_output(&fed("20x6", &command("no newline")), "no newline");
    check_output(&fed("20x6", &command("\x1b[31mred\x1b[m\r\n\r\nthen\r\n")), "red\n\nthen\n");
    check_output(&fed("5x6", &command("0123456789abc\r\n")), "0123456789abc\n");
    check_output(&fed("5x6", &command("01234\r\n")), "01234\n");
    check_output(&fed("5x6", &command("漢字漢\r\n")), "漢字漢\n");
    // What a program drew over is what a person saw in the end.
    check_output(&fed("20x6", &command("10%\r50%\r100%\r\n")), "100%\n");
}

#[test]
fn what_a_command_printed_is_read_from_the_history_too() {
    let lines: String = (0..50).map(|number| format!("a line, number {number}\r\n")).collect();
    let plain = lines.replace('\r', "");
    let mut screen = fed("12x4", &command(&lines));
    check_output(&screen, &plain);
    for size in ["7x9", "40x4", "200x50", "3x2", "12x4"] {
        screen.resize(size.parse().unwrap());
        check_output(&screen, &plain);
    }
    screen.feed("more\r\n".repeat(40).as_bytes());
    check_output(&screen, &plain);
}

#[test]
fn what_a_trimmed_command_printed_is_what_is_left() {
    let lines: String = (0..50).map(|number| format!("{number}\r\n")).collect();
    let screen = short("12x4", 10, &format!("{}$ ", command(&lines)));
    // Its prompt and the beginning of its output are gone; its end is not, and what is left.
    let [command] = screen.commands()[..] else { panic!("{:?}", screen.commands()) };
    assert!(command.output.is_none() && command.end.is_some(), "{command:?}");
    let left = screen.output_of(&command).unwrap_or_default();
    assert!(left.starts_with("37\n") && left.ends_with("48\n49\n"), "{left}");
    let marks: Vec<_> = screen.marks().map(|mark| mark.row).collect();
    assert_eq!(marks, [51]);
}

#[test]
fn a_running_command_has_printed_up_to_the_cursor() {
    let mut screen = fed("20x6", "\x1b]133;A\x07$ \x1b]133;B\x07sleep");
    let typing = screen.commands()[0];
    assert_eq!(screen.typed_of(&typing).as_deref(), Some("sleep"));
    assert_eq!((screen.output_of(&typing), typing.exit_code()), (None, None));
    screen.feed(b" 9\r\n\x1b]133;C\x07one\r\ntw");
    let running = screen.commands()[0];
    assert_eq!(screen.typed_of(&running).as_deref(), Some("sleep 9"));
    assert_eq!(screen.output_of(&running).as_deref(), Some("one\ntw"));
    screen.feed(b"o\x1b]133;D\x07");
    let ended = screen.commands()[0];
    assert_eq!(screen.output_of(&ended).as_deref(), Some("one\ntwo"));
    assert!(ended.end.is_some() && ended.exit_code().is_none());
}

#[test]
fn commands_come_in_order_with_the_parts_that_are_known() {
    let screen = fed(
        "30x20",
        &format!("\x1b]133;D\x07{}{}\x1b]133;A\x07$ ", command("1\r\n"), command("2\r\n")),
    );
    let commands = screen.commands();
    assert_eq!(commands.len(), 3, "the end before the first prompt says nothing");
    let outputs: Vec<_> = commands.iter().map(|it| screen.output_of(it)).collect();
    assert_eq!(outputs, [Some("1\n".into()), Some("2\n".into()), None]);
    assert!(commands[2].prompt.is_some() && commands[2].typed.is_none());
    // A prompt that is drawn twice is one with nothing in it, and another.
    let twice = fed("30x5", "\x1b]133;A\x07$ \r\x1b]133;A\x07$ \x1b]133;B\x07x");
    assert_eq!(
        twice.commands().iter().map(|it| it.typed.is_some()).collect::<Vec<_>>(),
        [false, true]
    );
}

#[test]
fn lines_of_the_history_keep_their_styles_and_glyphs() {
    let mut screen = fed("12x2", "\x1b[1;31mab\x1b[m漢\x1b[4me\u{301}\x1b[m x\x1b[48;5;7m  \r\n");
    let check = |screen: &Screen| {
        let line = screen.line(0).unwrap();
        let cells: Vec<_> =
            line.cells().map(|cell| (cell.col, cell.width, cell.text().to_string())).collect();
        let expected = [
            (0, 1, "a"),
            (1, 1, "b"),
            (2, 2, "漢"),
            (4, 1, "e\u{301}"),
            (5, 1, " "),
            (6, 1, "x"),
            (7, 1, " "),
            (8, 1, " "),
            (9, 1, " "),
            (10, 1, " "),
            (11, 1, " "),
        ];
        assert_eq!(cells, expected.map(|(col, width, text)| (col, width, text.to_owned())));
        assert_eq!(line.cells().nth(3).unwrap().text(), CellText::Cluster("e\u{301}"));
        let runs: Vec<_> = line.runs().map(|run| (run.col, run.len, run.style)).collect();
        let red = Style { fg: Color::Indexed(1), attrs: Attrs::BOLD, ..Style::default() };
        let underlined =
            Style { underline: greenroom_screen::Underline::Single, ..Style::default() };
        let grey = Style { bg: Color::Indexed(7), ..Style::default() };
        let plain = Style::default();
        assert_eq!(
            runs,
            [(0, 2, red), (2, 2, plain), (4, 1, underlined), (5, 2, plain), (7, 2, grey)]
        );
        assert_eq!(
            (line.text().as_str(), line.written(), line.is_wrapped()),
            ("ab漢e\u{301} x", 9, false)
        );
    };
    check(&screen);
    screen.feed(b"\x1b[m\r\n\r\n\r\n");
    assert_eq!(screen.top_row(), 3);
    check(&screen);
    screen.resize("5x2".parse().unwrap());
    screen.resize("12x2".parse().unwrap());
    check(&screen);
}

#[test]
fn a_snapshot_stays_as_it_was_on_any_thread() {
    let mut screen = fed("20x3", "\x1b]0;then\x07\x1b[1mhello\x1b[m\r\nworld");
    let snapshot = screen.snapshot();
    let copy = snapshot.clone();
    screen.feed(b"\x1b]0;now\x07\x1b[2J\x1b[Hgone\x1b[?25l");
    screen.resize("5x2".parse().unwrap());
    let read = thread::spawn(move || {
        let bold = copy.row(0).unwrap().cells().next().unwrap().style;
        let rows: Vec<_> = copy.rows().map(|row| (row.number(), row.text())).collect();
        (bold.attrs, rows, copy.title().to_owned(), copy.text())
    });
    let (attrs, rows, title, text) = read.join().unwrap();
    assert_eq!((attrs, title.as_str(), text.as_str()), (Attrs::BOLD, "then", "hello\nworld"));
    assert_eq!(rows, [(0, "hello".to_owned()), (1, "world".to_owned()), (2, String::new())]);
    assert_eq!((snapshot.size().to_string().as_str(), snapshot.offset().0), ("20x3", 28));
    assert_eq!(
        (snapshot.cursor().row, snapshot.cursor().col, snapshot.cursor().visible),
        (1, 5, true)
    );
    assert!(snapshot.row(3).is_none());
    assert_eq!(screen.text(), "gone");
}

/// Where a match begins and ends: row, column, row, column.
type Found = (u64, u16, u64, u16);

fn find(screen: &Screen, query: Result<Query, QueryError>, search: Search) -> Vec<Found> {
    let found = |it: Match| (it.start.row, it.start.col, it.end.row, it.end.col);
    screen.search(&query.unwrap(), search).into_iter().map(found).collect()
}

#[track_caller]
fn check_find(screen: &Screen, query: Result<Query, QueryError>, expected: &[Found]) {
    let shown = format!("{query:?}");
    assert_eq!(find(screen, query, Search::default()), expected, "{shown}");
}

#[test]
fn text_is_found_literally_folded_and_by_pattern() {
    let screen =
        fed("20x3", "one Error here\r\nan error\r\nERROR[E42]: Straße\r\nnothing\r\nlast error");
    check_find(&screen, Query::literal("error"), &[(1, 3, 1, 8), (4, 5, 4, 10)]);
    check_find(&screen, Query::literal("["), &[(2, 5, 2, 6)]);
    check_find(
        &screen,
        Query::folded("error"),
        &[(0, 4, 0, 9), (1, 3, 1, 8), (2, 0, 2, 5), (4, 5, 4, 10)],
    );
    check_find(&screen, Query::folded("[e42]"), &[(2, 5, 2, 10)]);
    check_find(&screen, Query::folded("STRAßE"), &[(2, 12, 2, 18)]);
    check_find(&screen, Query::regex(r"error\[E\d+\]", true), &[(2, 0, 2, 10)]);
    check_find(&screen, Query::regex("^(an|last)", false), &[(1, 0, 1, 2), (4, 0, 4, 4)]);
    check_find(
        &screen,
        Query::regex("[a-z]+$", false),
        &[(0, 10, 0, 14), (1, 3, 1, 8), (2, 17, 2, 18), (3, 0, 3, 7), (4, 5, 4, 10)],
    );
    check_find(&screen, Query::literal("absent"), &[]);
    check_find(&screen, Query::literal("aa"), &[]);
}

#[test]
fn a_match_may_go_on_in_the_next_row_but_not_in_the_next_line() {
    let screen = fed("5x2", "abcdefghijklm\r\nabc\r\ndef\r\nxyz12345");
    assert_eq!(screen.top_row(), 5);
    check_find(&screen, Query::literal("efg"), &[(0, 4, 1, 2)]);
    check_find(&screen, Query::literal("defghijkl"), &[(0, 3, 2, 2)]);
    check_find(&screen, Query::literal("abcde"), &[(0, 0, 0, 5)]);
    check_find(&screen, Query::literal("2345"), &[(5, 4, 6, 3)]); // in the screen
    check_find(&screen, Query::literal("cdef"), &[(0, 2, 1, 1)]); // not `abc` and `def`
    check_find(&screen, Query::regex("(?s)c.*d", false), &[(0, 2, 0, 4)]);
    check_find(&screen, Query::regex(r"c\s+d", false), &[]);
    // A line that is partly in the history and partly on the screen.
    let split = fed("5x2", "abcdefghijklm");
    assert_eq!(split.top_row(), 1);
    check_find(&split, Query::literal("defghijkl"), &[(0, 3, 2, 2)]);
}

#[test]
fn a_line_feed_is_in_no_line() {
    let screen = fed("10x2", "a\r\nb\r\nc\r\nd");
    check_find(&screen, Query::regex(r"a\sb", false), &[]);
    check_find(&screen, Query::regex(r"(?s)a.*c", false), &[]);
    check_find(
        &screen,
        Query::regex(r"(?s)[a-d].*", false),
        &[(0, 0, 0, 1), (1, 0, 1, 1), (2, 0, 2, 1), (3, 0, 3, 1)],
    );
    assert_eq!(Query::literal("a\nb").unwrap_err(), QueryError::Control);
}

#[test]
fn columns_are_cells_in_wide_text() {
    let screen = fed("10x2", "漢字 x 漢\r\ne\u{301}x👩\u{200d}👧y\r\nend\r\n");
    check_find(&screen, Query::literal("字"), &[(0, 2, 0, 4)]);
    check_find(&screen, Query::literal("x"), &[(0, 5, 0, 6), (1, 1, 1, 2)]);
    check_find(&screen, Query::literal("漢"), &[(0, 0, 0, 2), (0, 7, 0, 9)]);
    check_find(&screen, Query::literal("👩\u{200d}👧y"), &[(1, 2, 1, 5)]);
    check_find(&screen, Query::regex(r"\p{Han}+", false), &[(0, 0, 0, 4), (0, 7, 0, 9)]);
    let wrapped = fed("5x2", "ab漢字漢x\r\n1\r\n2");
    assert_eq!(wrapped.text_of(0..2, Wrap::Rows), "ab漢\n字漢x\n");
    check_find(&wrapped, Query::literal("漢字"), &[(0, 2, 1, 2)]);
    check_find(&wrapped, Query::literal("漢x"), &[(1, 2, 1, 5)]);
}

#[test]
fn searches_begin_where_asked_and_stop_at_their_limit() {
    let lines: String = (0..100).map(|number| format!("hit {number}\r\n")).collect();
    let screen = fed("10x4", &lines);
    let rows = |from, limit| -> Vec<u64> {
        find(&screen, Query::literal("hit"), Search { from, limit }).iter().map(|it| it.0).collect()
    };
    assert_eq!(rows(0, 3), [0, 1, 2]);
    assert_eq!(rows(50, 3), [50, 51, 52]);
    assert_eq!(rows(96, 9), [96, 97, 98, 99]);
    assert_eq!(rows(99, 9), [99]); // the screen begins at 97
    assert_eq!(rows(100, 9), []);
    assert_eq!(rows(u64::MAX, 9), []);
    assert_eq!(rows(0, 0), []);
    assert_eq!(rows(0, usize::MAX).len(), 100);
    let many = fed("10x4", &"x".repeat(3000));
    assert_eq!(find(&many, Query::literal("x"), Search::default()).len(), 1000);
}

#[test]
fn places_stay_true_while_the_history_is_trimmed() {
    let mut screen = short("10x3", 50, "needle\r\n");
    screen.feed(b"filler\r\nanother needle\r\n");
    let before = find(&screen, Query::literal("needle"), Search::default());
    assert_eq!(before, [(0, 0, 0, 6), (2, 8, 3, 4)]);
    for number in 0..60 {
        screen.feed(format!("line {number}\r\n").as_bytes());
        let now = find(&screen, Query::literal("needle"), Search::default());
        let kept: Vec<_> = before.iter().copied().filter(|it| it.0 >= screen.first_row()).collect();
        assert_eq!(now, kept, "from row {}", screen.first_row());
    }
    // Text between the places is still the match.
    let mut screen = short("10x3", 50, &"filler\r\n".repeat(60));
    screen.feed(b"a long needle\r\n");
    let found = screen.search(&Query::literal("needle").unwrap(), Search::default())[0];
    screen.feed("more\r\n".repeat(30).as_bytes());
    assert_eq!(screen.text_between(found.start, found.end, Wrap::Joined), "needle");
}

#[test]
fn the_alternate_screen_is_searched_apart_from_lines_it_does_not_continue() {
    let screen = fed("5x2", "abcdefghijklm\x1b[?1049hnop");
    // The cursor stayed where it was, so the text wrapped and scrolled.
    assert_eq!(screen.text(), "   no\np");
    check_find(&screen, Query::literal("nop"), &[(1, 3, 2, 1)]);
    // The line that was cut by switching is searched as far as it is in the history.
    check_find(&screen, Query::literal("abcde"), &[(0, 0, 0, 5)]);
    check_find(&screen, Query::literal("ijk"), &[]);
}

#[test]
fn a_pattern_that_cannot_be_searched_for_is_refused_with_its_reason() {
    assert_eq!(Query::literal("").unwrap_err(), QueryError::Empty);
    assert_eq!(Query::folded("").unwrap_err(), QueryError::Empty);
    assert_eq!(Query::regex("", true).unwrap_err(), QueryError::Empty);
    assert!(Query::literal(&"x".repeat(4096)).is_ok());
    assert_eq!(Query::literal(&"x".repeat(4097)).unwrap_err(), QueryError::TooLong(4097));
    assert_eq!(Query::regex(&"x".repeat(5000), false).unwrap_err(), QueryError::TooLong(5000));
    for broken in ["(", "[a", "*", "a{2,1}", r"\p{Nonsense}", r"(?P<a>.)(?P<a>.)"] {
        let error = Query::regex(broken, false).unwrap_err();
        assert!(matches!(error, QueryError::Invalid(_)), "{broken}: {error}");
        assert!(error.to_string().starts_with("not a regular expression: "), "{error}");
    }
    // Too large once compiled.
    assert!(matches!(Query::regex(r"(\w{100}){100}", false), Err(QueryError::Invalid(_))));
    assert_eq!(QueryError::Empty.to_string(), "the pattern is empty");
    assert_eq!(
        QueryError::TooLong(5000).to_string(),
        "the pattern has 5000 bytes, the limit is 4096"
    );
    // Nothing in it means anything but itself.
    let screen = fed("20x2", "a.b (c)* [d] \\w");
    check_find(&screen, Query::literal("(c)* [d] \\w"), &[(0, 4, 0, 15)]);
    check_find(&screen, Query::folded("A.B (C)*"), &[(0, 0, 0, 8)]);
}

#[test]
fn a_pattern_that_matches_nothing_is_found_nowhere() {
    let screen = fed("10x2", "aXb\r\nccc\r\nd");
    check_find(&screen, Query::regex("x*", true), &[(0, 1, 0, 2)]);
    check_find(&screen, Query::regex("^", false), &[]);
    check_find(&screen, Query::regex("z?", false), &[]);
}
