//! What a feed tells besides text: every event with its exact values, damage, scrolling, marks.
//!
//! Not here: answers (`replies.rs`), what the text then is (`reads.rs`).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it is")]

use greenroom_model::{Offset, Size};
use greenroom_screen::{
    Clipboard, Event, Fed, Mark, MarkKind, Mode, Options, Position, Progress, Screen,
};

fn screen(size: &str) -> Screen {
    Screen::new(size.parse().unwrap(), Options::default())
}

/// Wants exactly these events of `input`, whole and byte by byte.
#[track_caller]
fn check(input: &str, expected: &[Event]) {
    let mut whole = screen("80x24");
    assert_eq!(whole.feed(input.as_bytes()).events(), expected, "{input:?}");
    let mut bytewise = screen("80x24");
    let events = input.bytes().flat_map(|byte| bytewise.feed(&[byte]).events().to_vec());
    assert_eq!(events.collect::<Vec<_>>(), expected, "{input:?}, byte by byte");
}

fn title(text: &str) -> Event {
    Event::Title(text.into())
}

fn cwd(host: &str, path: &str) -> Event {
    Event::Cwd { host: host.into(), path: path.into() }
}

fn note(title: &str, body: &str) -> Event {
    Event::Notification { title: title.into(), body: body.into() }
}

fn mode(private: bool, number: u16, set: bool) -> Event {
    Event::Mode { mode: Mode { private, number }, set }
}

#[test]
fn bells_ring() {
    check("\x07a\x07", &[Event::Bell, Event::Bell]);
    check("\x1b[3\x071m", &[Event::Bell]); // inside a sequence too
    check("\x1b]0;t\x07", &[title("t")]); // but not as its end
}

#[test]
fn titles_are_told_cleaned_and_cut() {
    check("\x1b]0;one\x07\x1b]2;two\x1b\\", &[title("one"), title("two")]);
    check("\x1b]2;a;b;c\u{9c}", &[title("a;b;c")]);
    check("\x1b]2;\x07", &[title("")]);
    check("\x1b]1;icon\x07\x1b]3;x\x07\x1b]x;y\x07\x1b];z\x07", &[]);
    check("\x1b]0;a\tb\u{85}c\x7fd\x07", &[title("abcd")]);
    check(&format!("\x1b]0;{}é\x07", "x".repeat(1023)), &[title(&"x".repeat(1023))]);
    check("\x1b]0;never ended", &[]);
    check("\x1b]0;broken off\x18", &[]);
    let mut screen = screen("80x24");
    screen.feed(b"\x1b]0;\xff\xfe\x07");
    assert_eq!(screen.title(), "\u{fffd}\u{fffd}");
}

#[test]
fn titles_come_back_from_their_stack() {
    check("\x1b]0;a\x07\x1b[22;0t\x1b]0;b\x07\x1b[23;0t", &[title("a"), title("b"), title("a")]);
    check("\x1b[23t", &[]);
    let mut screen = screen("80x24");
    for number in 0..12 {
        screen.feed(format!("\x1b]0;{number}\x07\x1b[22t").as_bytes());
    }
    // Ten are kept, the newest first.
    let popped = screen.feed("\x1b[23t".repeat(12).as_bytes()).events().to_vec();
    let expected: Vec<Event> = (2..12).rev().map(|number| title(&number.to_string())).collect();
    assert_eq!(popped, expected);
    assert_eq!(screen.title(), "2");
}

#[test]
fn a_folder_is_told_decoded_and_junk_is_refused() {
    check("\x1b]7;file://host/tmp/a%20b\x07", &[cwd("host", "/tmp/a b")]);
    check("\x1b]7;file:///tmp\x1b\\", &[cwd("", "/tmp")]);
    check("\x1b]7;file:///caf%C3%A9/%e6%bc%a2\x07", &[cwd("", "/café/漢")]);
    check("\x1b]7;file:///100%/%zz/%4\x07", &[cwd("", "/100%/%zz/%4")]);
    check("\x1b]7;file:///a;b?c#d\x07", &[cwd("", "/a;b?c#d")]);
    check("\x1b]7;file:///%ff\x07", &[cwd("", "/\u{fffd}")]);
    for junk in ["", "/tmp", "http://h/tmp", "file:", "file://", "file://host", "FILE:///tmp"] {
        check(&format!("\x1b]7;{junk}\x07"), &[]);
    }
    for control in ["%00", "%0a", "%1b[31m", "%7f", "%c2%9b"] {
        check(&format!("\x1b]7;file:///tmp/{control}\x07"), &[]);
    }
    check(&format!("\x1b]7;file:///{}\x07", "x".repeat(4096)), &[]);
    let mut screen = screen("80x24");
    assert_eq!(screen.cwd(), None);
    screen.feed(b"\x1b]7;file://h/tmp\x07\x1b]7;junk\x07\x1bc");
    assert_eq!(screen.cwd(), Some(("h", "/tmp")));
}

#[test]
fn progress_has_a_state_and_perhaps_a_percentage() {
    for (text, expected) in [
        ("0", Progress::None),
        ("0;0", Progress::None),
        ("1;0", Progress::Running(0)),
        ("1;42", Progress::Running(42)),
        ("1;100", Progress::Running(100)),
        ("1;4294967295", Progress::Running(100)),
        ("1", Progress::Running(0)),
        ("1;x", Progress::Running(0)),
        ("2;30", Progress::Failed(30)),
        ("2", Progress::Failed(0)),
        ("3", Progress::Busy),
        ("3;50", Progress::Busy),
        ("4;70", Progress::Paused(70)),
    ] {
        check(&format!("\x1b]9;4;{text}\x07"), &[Event::Progress(expected)]);
    }
    for junk in ["", "5", "x;1", "-1;1"] {
        check(&format!("\x1b]9;4;{junk}\x07"), &[]);
    }
}

#[test]
fn notifications_have_a_text_and_perhaps_a_heading() {
    check("\x1b]9;done\x07", &[note("", "done")]);
    check("\x1b]777;notify;Build;done; really\x07", &[note("Build", "done; really")]);
    check("\x1b]777;notify;Build\x07", &[note("Build", "")]);
    check("\x1b]777;other;x\x07", &[]);
    check("\x1b]9;a\u{9b}b\x7f\x07", &[note("", "ab")]);
    check(&format!("\x1b]9;{}\x07", "x".repeat(5000)), &[note("", &"x".repeat(4096))]);
}

#[test]
fn clipboard_requests_are_told_and_not_done() {
    let set = |selection: &str, base64: &str| {
        Event::Clipboard(Clipboard::Set { selection: selection.into(), base64: base64.into() })
    };
    let query =
        |selection: &str| Event::Clipboard(Clipboard::Query { selection: selection.into() });
    check("\x1b]52;c;aGVsbG8=\x07", &[set("c", "aGVsbG8=")]);
    check("\x1b]52;;aGk=\x1b\\", &[set("", "aGk=")]);
    check("\x1b]52;c;\x07", &[set("c", "")]);
    check("\x1b]52;pc;?\x07", &[query("pc")]);
    check(&format!("\x1b]52;{};?\x07", "s".repeat(99)), &[query(&"s".repeat(16))]);
    check("\x1b]52;c\x07", &[]);
    // As large as an OSC may be; a larger one is none.
    let largest = "A".repeat(128 * 1024 - "52;c;".len());
    let mut told = screen("80x24");
    assert_eq!(
        told.feed(format!("\x1b]52;c;{largest}\x07").as_bytes()).events(),
        [set("c", &largest)]
    );
    assert!(told.feed(format!("\x1b]52;c;{largest}A\x07").as_bytes()).events().is_empty());
}

#[test]
fn clipboard_requests_hold_no_control_characters() {
    let mut screen = screen("80x24");
    let told = screen.feed("\x1b]52;c;aG\u{85}k\x7f=\x07".as_bytes()).events().to_vec();
    assert!(!format!("{told:?}").contains("\\u{"), "{told:?}");
}

#[test]
fn links_are_told_where_they_begin() {
    let link = |uri: &str| Event::Link(uri.into());
    check("\x1b]8;;https://a.example\x07x\x1b]8;;\x07", &[link("https://a.example")]);
    check("\x1b]8;id=1:x=y;file:///a;b\x1b\\", &[link("file:///a;b")]);
    // Whatever it leads to: it is data, and whoever shows it decides.
    check("\x1b]8;;javascript:alert(1)\x07", &[link("javascript:alert(1)")]);
    check("\x1b]8;;a\u{9b}b\x07\x1b]8;x\x07", &[]);
    check(&format!("\x1b]8;;{}\x07", "x".repeat(2084)), &[]);
    check(&format!("\x1b]8;id={};x:y\x07", "i".repeat(257)), &[]);
    let mut screen = screen("80x24");
    screen.feed(b"\x1b]8;id=7;https://a.example\x07ab\x1b[0mc\x1b]8;;\x07d");
    let snapshot = screen.snapshot();
    let row = snapshot.row(0).unwrap();
    let links: Vec<_> = row.cells().take(4).map(|cell| cell.style.link).collect();
    assert!(links[0].is_some() && links[0] == links[1] && links[1] == links[2], "{links:?}");
    assert_eq!(links[3], None);
    let link = screen.link(links[0].unwrap()).unwrap();
    assert_eq!((link.uri.as_str(), link.id.as_deref()), ("https://a.example", Some("7")));
}

#[test]
fn modes_are_told_in_order() {
    check("\x1b[?1;2004h", &[mode(true, 1, true), mode(true, 2004, true)]);
    check(
        "\x1b[?2004h\x1b[4h\x1b[?2004l\x1b[20l", // 20 was not set: nothing to tell
        &[mode(true, 2004, true), mode(false, 4, true), mode(true, 2004, false)],
    );
    check("\x1b[?1049h\x1b[?1049l", &[mode(true, 1049, true), mode(true, 1049, false)]);
    check("\x1b[?25s\x1b[?25l\x1b[?25r", &[mode(true, 25, false), mode(true, 25, true)]);
    check("\x1b[?9999h\x1b[99h\x1b[h\x1b[?h", &[]);
}

#[test]
fn modes_that_change_by_other_means_are_told_too() {
    for (before, input, expected) in [
        ("\x1b[?2004h", "\x1bc", mode(true, 2004, false)),
        ("\x1b[?1049h", "\x1bc", mode(true, 1049, false)),
        ("\x1b[?1h", "\x1b[!p", mode(true, 1, false)),
        ("", "\x1b=", mode(true, 66, true)),
        ("\x1b[?1000h", "\x1b[?1002h", mode(true, 1000, false)),
    ] {
        let mut screen = screen("80x24");
        screen.feed(before.as_bytes());
        let told = screen.feed(input.as_bytes()).events().to_vec();
        assert!(told.contains(&expected), "{before:?} {input:?}: {told:?}");
    }
}

#[test]
fn another_size_is_asked_for_and_not_taken() {
    let mut screen = screen("80x24");
    let told = screen.feed(b"\x1b[8;30;100t\x1b[8t").events().to_vec();
    let asked = |cols, rows| Event::SizeRequest { cols, rows };
    assert_eq!(told, [asked(100, 30), asked(0, 0)]);
    assert_eq!(screen.size(), Size::DEFAULT);
}

#[test]
fn pictures_are_told_where_they_are_kept() {
    let pictures = "\x1bPq~~-~~\x1b\\\x1b_Ga=T,r=2;AA\x1b\\";
    check(pictures, &[]);
    let mut screen = Screen::new(Size::DEFAULT, Options { graphics: true, ..Options::default() });
    assert_eq!(screen.feed(pictures.as_bytes()).events(), [Event::Graphic, Event::Graphic]);
    let placed: Vec<_> = screen.graphics().map(|it| (it.row, it.col, it.rows)).collect();
    assert_eq!(placed, [(0, 0, 1), (1, 0, 2)]);
}

#[test]
fn events_are_bounded_and_the_rest_is_counted() {
    let mut screen = screen("80x24");
    let fed = screen.feed(&[b'\x07'; 5000]);
    assert_eq!((fed.events().len(), fed.events_lost()), (4096, 904));
    let fed = screen.feed(b"\x07");
    assert_eq!((fed.events().len(), fed.events_lost()), (1, 0));
    // The marks themselves are kept.
    let fed = screen.feed(&[&b"\x07".repeat(4096)[..], b"\x1b]133;A\x07"].concat());
    assert_eq!(fed.events_lost(), 1);
    assert_eq!(screen.marks().len(), 1);
}

#[test]
fn synchronized_output_is_a_state() {
    let mut screen = screen("80x24");
    for (input, expected) in [
        ("a", false),
        ("\x1b[?2026h", true),
        ("drawing", true),
        ("\x1b[?2026l", false),
        ("\x1b[?2026h\x1bc", false),
    ] {
        screen.feed(input.as_bytes());
        assert_eq!(screen.is_synchronized(), expected, "after {input:?}");
    }
}

/// Kind, start, end, row and column of a mark.
type Place = (MarkKind, u64, u64, u64, u16);

fn place(mark: &Mark) -> Place {
    (mark.kind, mark.start.0, mark.end.0, mark.row, mark.col)
}

fn marks(screen: &Screen) -> Vec<Place> {
    screen.marks().map(place).collect()
}

use MarkKind::{CommandEnd, CommandStart, OutputStart, PromptStart};

/// A prompt, a command and its output.
const COMMAND: &str = "\x1b]133;A\x07$ \x1b]133;B\x07ls\r\n\x1b]133;C\x07out\r\n\x1b]133;D;2\x07";
const MARKED: [Place; 4] = [
    (PromptStart, 0, 8, 0, 0),
    (CommandStart, 10, 18, 0, 2),
    (OutputStart, 22, 30, 1, 0),
    (CommandEnd(Some(2)), 35, 45, 2, 0),
];

#[test]
fn marks_have_their_exact_place_in_the_output_and_on_the_screen() {
    let mut whole = screen("20x5");
    let told: Vec<Event> = whole.feed(COMMAND.as_bytes()).events().to_vec();
    assert_eq!(marks(&whole), MARKED);
    assert_eq!(told, whole.marks().map(|mark| Event::Mark(*mark)).collect::<Vec<_>>());
    assert_eq!(whole.offset(), Offset(45));
    let mut bytewise = screen("20x5");
    for byte in COMMAND.bytes() {
        bytewise.feed(&[byte]);
    }
    assert_eq!(marks(&bytewise), MARKED);
}

#[test]
fn marks_end_with_their_terminator() {
    for (input, end) in [
        ("\x1b]133;A\x07", 8),
        ("\x1b]133;A\x1b\\", 9),
        ("\x1b]133;A\u{9c}", 9),
        ("\x1b]133;A\x1b[m", 7), // another sequence ends it
    ] {
        let mut screen = screen("20x5");
        screen.feed(b"abc");
        screen.feed(input.as_bytes());
        assert_eq!(marks(&screen), [(PromptStart, 3, 3 + end, 0, 3)], "{input:?}");
    }
}

#[test]
fn an_end_has_the_exit_code_the_shell_told() {
    for (text, code) in [
        ("D", None),
        ("D;0", Some(0)),
        ("D;130", Some(130)),
        ("D;-1", Some(-1)),
        ("D;1;aid=7", Some(1)),
        ("D;", None),
        ("D;x", None),
        ("D;99999999999", None),
    ] {
        let mut screen = screen("20x5");
        screen.feed(format!("\x1b]133;{text}\x07").as_bytes());
        assert_eq!(screen.marks().next().unwrap().kind, CommandEnd(code), "{text}");
    }
    for junk in ["", "E", "P;k=s", "AB", "a"] {
        check(&format!("\x1b]133;{junk}\x07"), &[]);
    }
    let mut screen = screen("20x5");
    screen.feed(b"\x1b]133;A;cl=m;aid=1\x07\x1b]133;C;\x07");
    let kinds: Vec<_> = screen.marks().map(|mark| mark.kind).collect();
    assert_eq!(kinds, [PromptStart, OutputStart]);
}

#[test]
fn marks_keep_their_rows_while_the_screen_scrolls_and_go_with_them() {
    let mut screen = Screen::new("20x3".parse().unwrap(), Options::default().with_history(4));
    screen.feed(COMMAND.as_bytes());
    screen.feed(b"1\r\n2\r\n3\r\n");
    assert_eq!((screen.first_row(), screen.top_row()), (0, 3));
    assert_eq!(marks(&screen), MARKED);
    screen.feed(b"4\r\n5\r\n");
    assert_eq!((screen.first_row(), screen.top_row()), (1, 5));
    assert_eq!(marks(&screen), MARKED[2..], "the prompt's row is gone");
    screen.feed(COMMAND.as_bytes());
    let again: Vec<_> = screen.marks().map(|mark| (mark.start.0, mark.row)).collect();
    // 45 bytes, then 9, then 6: and seven rows.
    assert_eq!(again, [(60, 7), (70, 7), (82, 8), (95, 9)]);
    screen.feed(b"\x1b[3J");
    assert!(screen.marks().all(|mark| mark.row >= screen.first_row()));
}

#[test]
fn marks_made_out_of_order_go_with_their_rows_too() {
    let mut screen = Screen::new("10x3".parse().unwrap(), Options::default().with_history(2));
    screen.feed(b"\r\n\r\n\x1b]133;A\x07\x1b[H\x1b]133;B\x07\x1b[3H\r\n\r\n\r\n\r\n");
    let first = screen.first_row();
    assert!(screen.marks().all(|mark| mark.row >= first), "{:?} from {first}", marks(&screen));
}

#[test]
fn marks_move_with_their_text_when_lines_wrap_anew() {
    let places = |screen: &Screen| screen.marks().map(|it| (it.row, it.col)).collect::<Vec<_>>();
    let mut screen = screen("12x4");
    screen.feed(
        b"\x1b]133;A\x07dir $ \x1b]133;B\x07command\r\n\x1b]133;C\x07a long line\r\n\x1b]133;D\x07",
    );
    let before = places(&screen);
    assert_eq!(before, [(0, 0), (0, 6), (2, 0), (3, 0)]);
    screen.resize("6x8".parse().unwrap());
    assert_eq!(screen.text(), "dir $\ncomman\nd\na long\n line");
    assert_eq!(places(&screen), [(0, 0), (1, 0), (3, 0), (5, 0)]);
    screen.resize("40x8".parse().unwrap());
    assert_eq!(screen.text(), "dir $ command\na long line");
    assert_eq!(places(&screen), [(0, 0), (0, 6), (1, 0), (2, 0)]);
    screen.resize("12x4".parse().unwrap());
    assert_eq!(places(&screen), before);
    // Offsets are of the stream, which no size changes.
    assert_eq!(screen.marks().map(|mark| mark.start.0).collect::<Vec<_>>(), [0, 14, 31, 52]);
}

#[test]
fn a_mark_behind_a_full_row_is_behind_it() {
    let mut screen = screen("5x3");
    screen.feed(b"12345\x1b]133;B\x07");
    assert_eq!(marks(&screen), [(CommandStart, 5, 13, 0, 5)]);
}

#[test]
fn marks_of_the_alternate_screen_are_told_and_not_kept() {
    let mut screen = screen("20x5");
    screen.feed(b"\x1b[?1049h");
    assert_eq!(screen.feed(b"\x1b]133;A\x07").events().len(), 1);
    assert_eq!(screen.marks().len(), 0);
}

/// The rows a feed says have changed, and how many lines it says have gone.
fn changed(fed: &Fed<'_>) -> (Vec<u16>, u64) {
    (fed.damaged().collect(), fed.scrolled())
}

#[test]
fn a_feed_tells_the_rows_that_changed_and_the_lines_that_left() {
    const FULL: &str = "1\r\n2\r\n3\r\n4";
    let all = &[0, 1, 2, 3];
    for (before, input, rows, scrolled) in [
        ("", "", &[][..], 0),
        ("", "abc", &[0], 0),
        ("", "a\r\nb", &[0, 1], 0),
        ("", "0123456789ab", &[0, 1], 0),
        ("", "\x1b[3;1Hx", &[2], 0),
        ("", "\x1b[3;1H\x1b[31m\x1b]0;t\x07\x07\r\n", &[], 0),
        (FULL, "\r\n5", &[3], 1),
        (FULL, "\r\n5\r\n6", &[2, 3], 2),
        (FULL, "\x1b[S", &[3], 1),
        (FULL, "\x1b[2S", &[2, 3], 2),
        (FULL, "\x1b[2;3r\x1b[3H\n", &[1, 2], 0),
        (FULL, "\x1b[1;3r\x1b[3H\n", &[2, 3], 1),
        (FULL, "\x1b[2;1H\x1b[K", &[1], 0),
        (FULL, "\x1b[2;1H\x1b[J", &[1, 2, 3], 0),
        (FULL, "\x1b[2J", all, 0),
        (FULL, "\x1b[2;1H\x1b[L", &[1, 2, 3], 0),
        (FULL, "\x1b[2;1H\x1b[M", &[1, 2, 3], 0),
        (FULL, "\x1b[H\x1bM", all, 0),
        (FULL, "\x1b#8", all, 0),
        (FULL, "\x1bc", all, 0),
        (FULL, "\x1b[?1049h", all, 0),
        ("\x1b[?1049h1\r\n2\r\n3\r\n4", "\r\n5", all, 0),
        (FULL, "\x1b[88;2;1;3;3$x", &[1, 2], 0),
    ] {
        let mut screen = screen("10x4");
        screen.feed(before.as_bytes());
        let told = changed(&screen.feed(input.as_bytes()));
        assert_eq!(told, (rows.to_vec(), scrolled), "{input:?} after {before:?}");
        assert_eq!(changed(&screen.feed(b"")), (vec![], 0), "nothing since {input:?}");
    }
}

#[test]
fn many_lines_at_once_are_counted_like_one_by_one() {
    let lines: String = (0..1000).map(|number| format!("line {number}\r\n")).collect();
    let mut screen = screen("10x4");
    let told = changed(&screen.feed(lines.as_bytes()));
    assert_eq!(told, (vec![0, 1, 2, 3], 997));
    assert_eq!((screen.history_len(), screen.top_row()), (997, 997));
}

#[test]
fn a_diff_asks_for_no_more_than_changed() {
    let mut screen = screen("10x4");
    screen.feed(b"1\r\n2\r\n3\r\n4");
    let then = screen.position();
    assert!(screen.diff(then).is_empty());
    screen.feed(b"\r\n5\x1b[2;5Hx");
    let diff = screen.diff(then);
    let rows: Vec<_> = diff.rows().map(|row| (row.number(), row.text())).collect();
    assert_eq!((diff.scrolled, rows), (1, vec![(2, "3   x".into()), (4, "5".into())]));
    assert_eq!((diff.cursor.row, diff.cursor.col), (1, 5));
    assert_eq!(diff.position, screen.position());
    // Since the beginning: everything that was ever touched.
    assert_eq!(screen.diff(Position::default()).rows().count(), 4);
}

#[test]
fn another_size_changes_every_row_and_the_same_size_none() {
    let mut screen = screen("10x4");
    screen.feed(b"abc");
    assert_eq!(changed(&screen.resize("10x3".parse().unwrap())).0, [0, 1, 2]);
    screen.feed(b"");
    assert_eq!(changed(&screen.resize("10x3".parse().unwrap())).0, []);
}

#[test]
fn a_resize_that_changes_nothing_tells_no_damage() {
    let mut screen = screen("10x4");
    screen.feed(b"abc");
    assert_eq!(changed(&screen.resize("10x4".parse().unwrap())).0, []);
}

#[test]
fn erasing_the_history_is_told() {
    let mut screen = screen("10x2");
    screen.feed(b"1\r\n2\r\n3");
    assert!(!screen.feed(b"x").history_cleared());
    assert!(screen.feed(b"\x1b[3J").history_cleared());
    assert_eq!((screen.history_len(), screen.first_row(), screen.top_row()), (0, 1, 1));
    assert!(!screen.feed(b"x").history_cleared());
}
