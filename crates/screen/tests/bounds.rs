//! What a hostile program can make a screen hold, and how long that takes (F1, F2).
//!
//! Each flood has a cap of its own on [`Screen::memory`], looked at after every slice as a PTY's
//! reader would deliver it, and a time far above what work in proportion to the bytes takes. Then
//! streams of random bytes and of random sequences, with the size changing all the while.
//! Not here: that any split gives the same state (`properties.rs`), nor `fuzz/`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it is")]

use std::time::{Duration, Instant};

use greenroom_model::Size;
use greenroom_screen::{Filter, Options, Policy, Screen};

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;
/// What a read from a PTY gives at most on the systems we know.
const SLICE: usize = 64 * KIB;
/// For one flood, unoptimised and on a busy machine. Most take a second; what is not in proportion
/// to its bytes takes minutes.
const TIME: Duration = Duration::from_secs(30);

/// Nothing of the flood is kept but the little a bounded field holds, and what one feed tells.
const NOTHING: usize = 512 * KIB;
/// One OSC of 128 KiB while it is read; a buffer may be twice what is in it.
const ONE_OSC: usize = 512 * KIB;
/// One DCS or APC of a mebibyte while it is read, likewise.
const ONE_STRING: usize = 3 * MIB;
/// Pictures: four mebibytes kept, and one being read.
const PICTURES: usize = 8 * MIB;
/// 10,000 lines of 80 ASCII cells and what lies beside them.
const HISTORY: usize = 2 * MIB;
/// The same with a style of its own for every cell.
const STYLED_HISTORY: usize = 16 * MIB;
/// The same with as many addresses as are kept, each in two tables.
const LINKED_HISTORY: usize = 16 * MIB;
/// A thousand lines of 80 cells with 64 bytes of marks in every cell: the worst a line can be. So
/// 10,000 lines, which are bounded in number and not in bytes, take up to 64 MiB.
const CLUSTERED_HISTORY: usize = 64 * MIB / 10;

fn screen(size: &str, options: Options) -> Screen {
    Screen::new(size.parse().unwrap(), options)
}

/// A feed of `count` pieces to a screen, in slices, that must stay under `cap` and in time.
#[track_caller]
fn check(cap: usize, count: u64, piece: impl FnMut(u64, &mut Vec<u8>)) -> Screen {
    check_on(screen("80x24", Options::default()), cap, count, piece)
}

#[track_caller]
fn check_on(
    mut screen: Screen,
    cap: usize,
    count: u64,
    mut piece: impl FnMut(u64, &mut Vec<u8>),
) -> Screen {
    let (mut bytes, mut most) = (Vec::new(), 0);
    let begin = Instant::now();
    for number in 0..count {
        piece(number, &mut bytes);
        if bytes.len() >= SLICE || number + 1 == count {
            for slice in bytes.chunks(SLICE) {
                screen.feed(slice);
                most = most.max(screen.memory());
            }
            bytes.clear();
        }
    }
    let took = begin.elapsed();
    assert!(most <= cap, "held {most} bytes, the cap is {cap}");
    assert!(took < TIME, "took {took:?}");
    // However it ended: the screen is still one.
    screen.feed(b"\x1b\\\x18\x1bc still here");
    assert_eq!(screen.text(), " still here");
    invariants(&screen);
    screen
}

/// A piece that is the same each time.
fn same(text: &str) -> impl FnMut(u64, &mut Vec<u8>) {
    move |_, out| out.extend_from_slice(text.as_bytes())
}

/// 64 MiB of a string that is begun and never ended.
#[track_caller]
fn check_unterminated(begin: &str, cap: usize, graphics: bool) {
    let body = vec![b'A'; MIB];
    let options = Options { graphics, ..Options::default() };
    check_on(screen("80x24", options), cap, 65, |number, out| {
        out.extend_from_slice(if number == 0 { begin.as_bytes() } else { &body });
    });
}

#[test]
fn an_endless_osc_holds_no_more_than_the_longest_one() {
    check_unterminated("\x1b]0;", ONE_OSC, false);
}

#[test]
fn an_endless_dcs_holds_no_more_than_the_longest_one() {
    check_unterminated("\x1bP$q", ONE_STRING, false);
}

#[test]
fn an_endless_apc_holds_no_more_than_the_longest_one() {
    check_unterminated("\x1b_Ga=T;", ONE_STRING, true);
}

#[test]
fn an_endless_picture_holds_no_more_than_the_longest_string() {
    check_unterminated("\x1bPq", ONE_STRING, true);
}

#[test]
fn an_endless_privacy_message_holds_nothing() {
    check_unterminated("\x1b^", NOTHING, true);
}

#[test]
fn pictures_are_bounded_together() {
    // Each nearly as long as a string may be.
    let picture = format!("\x1bPq{}\x1b\\", "~".repeat(MIB - 1));
    let options = Options { graphics: true, ..Options::default() };
    let pictures = check_on(screen("80x24", options), PICTURES, 20, same(&picture));
    let held: usize = pictures.graphics().map(|it| it.bytes.len()).sum();
    assert!(held <= 4 * MIB, "{held}");
    let small = check_on(screen("80x24", options), PICTURES, 10_000, same("\x1b_Ga=T;AA\x1b\\"));
    assert_eq!(small.graphics().count(), 0, "the reset took them");
}

#[test]
fn a_million_marks_on_one_cell_are_one_cluster() {
    let mut screen = screen("80x24", Options::default());
    screen.feed(b"a");
    let most = (0..100).map(|_| {
        screen.feed("\u{301}".repeat(10_000).as_bytes());
        screen.memory()
    });
    let most = most.max().unwrap();
    assert!(most <= NOTHING, "{most}");
    // Everything past the bound of a cell is dropped.
    let text = screen.text();
    assert_eq!(text, format!("a{}", "\u{301}".repeat(31)));
    let snapshot = screen.snapshot();
    assert_eq!(snapshot.row(0).unwrap().cells().next().unwrap().text().to_string(), text);
}

#[test]
fn joiners_flags_and_jamo_cannot_make_a_longer_cluster() {
    for glue in ["👩\u{200d}", "\u{1f1eb}", "\u{1100}", "\u{1161}", "\u{200d}", "\u{fe0f}", "🏽"]
    {
        check(HISTORY, 50_000, same(glue));
    }
}

#[test]
fn parameters_without_end_are_read_and_ignored() {
    let many = format!("\x1b[{}m", "1;".repeat(100_000));
    check(NOTHING, 10, same(&many));
    let sub = format!("\x1b[38{}m", ":2".repeat(100_000));
    check(NOTHING, 10, same(&sub));
    let long = format!("\x1b[{}H", "9".repeat(100_000));
    check(NOTHING, 10, same(&long));
    let between = format!("\x1b[{}p", "$".repeat(100_000));
    check(NOTHING, 10, same(&between));
    let introducer = format!("\x1bP{}q\x1b\\", "1;".repeat(100_000));
    check(NOTHING, 10, same(&introducer));
}

#[test]
fn a_million_titles_are_one_title() {
    let mut last = 0;
    let screen = check(NOTHING, 1_000_000, |number, out| {
        last = number;
        out.extend_from_slice(format!("\x1b]2;title {number}\x07").as_bytes());
    });
    assert_eq!(screen.title(), format!("title {last}"));
    let long = format!("\x1b]0;{}\x07\x1b[22t", "long ".repeat(20_000));
    let screen = check(ONE_OSC, 100, same(&long));
    assert_eq!(screen.title().len(), 1024);
}

#[test]
fn a_million_links_are_as_many_as_are_kept() {
    check(LINKED_HISTORY, 1_000_000, |number, out| {
        out.extend_from_slice(format!("\x1b]8;;https://example.org/{number}\x07x").as_bytes());
    });
}

#[test]
fn links_as_long_as_may_be_are_bounded_together() {
    let tail = "a".repeat(2000);
    check(LINKED_HISTORY, 20_000, |number, out| {
        let link = format!("\x1b]8;id={number};https://example.org/{number}/{tail}\x1b\\x\r\n");
        out.extend_from_slice(link.as_bytes());
    });
}

#[test]
fn a_million_styles_cost_what_their_cells_do() {
    check(STYLED_HISTORY, 1_000_000, |number, out| {
        let (r, g, b) = (number >> 16, number >> 8 & 255, number & 255);
        out.extend_from_slice(format!("\x1b[38;2;{r};{g};{b}mx").as_bytes());
    });
}

#[test]
fn a_million_styles_of_every_kind_on_one_cell_leave_one() {
    check(NOTHING, 250_000, |number, out| {
        let (g, b, style) = (number >> 8 & 255, number & 255, number % 6);
        let sgr = format!("\x1b[H\x1b[48;2;{style};{g};{b}m\x1b[4:{style};58:2::1:{g}:{b}mx");
        out.extend_from_slice(sgr.as_bytes());
    });
}

#[test]
fn a_million_marks_of_a_shell_are_as_many_as_are_kept() {
    let screen =
        check(NOTHING, 250_000, same("\x1b]133;A\x07\x1b]133;B\x07\x1b]133;C\x07\x1b]133;D;0\x07"));
    assert!(screen.marks().len() <= 4096);
    check(HISTORY, 250_000, same("\x1b]133;A\x07\r\n"));
}

#[test]
fn stacks_and_saved_state_do_not_grow() {
    for pushed in [
        "\x1b[>31u",          // kitty keyboard flags
        "\x1b[>1u\x1b[=3;2u", // and changed
        "\x1b[22;0t",         // titles
        "\x1b[?1;2004;1049s", // XTSAVE
        "\x1b[?1;2004r",      // XTRESTORE
        "\x1b7",              // DECSC
        "\x1bH\x1b[C",        // tab stops
        "\x1b[?1049h\x1b[?1049l",
        "\x1b[?1049h\x1b[>1u",
        "\x1b]4;1;#123456\x07",
        "\x1b]10;rgb:1/2/3\x07",
        "\x1b]7;file://h/tmp\x07",
        "\x1b]9;4;1;50\x07",
        "\x1b]777;notify;a;b\x07",
        "\x1b]52;c;aGk=\x07",
        "\x07",
    ] {
        let screen = check(NOTHING, 100_000, same(pushed));
        assert_eq!(screen.key_modes().kitty.bits(), 0, "the reset took them: {pushed:?}");
    }
}

#[test]
fn counts_past_the_screen_cost_a_screen_at_most() {
    for asked in ["x\x1b[65535b", "\x1b[65535L", "\x1b[65535T", "\x1b[65535P", "\x1b[65535@"] {
        check(HISTORY, 2_000, same(asked));
    }
    for asked in ["\x1b[65535S", "\x1b[65535M", "\x1b[65535I", "\x1b[65535Z", "\x1b[65535X"] {
        check(HISTORY, 2_000, same(asked));
    }
    let everywhere = ["\x1b#8", "\x1b[88;1;1;99;999$x", "\x1b[;;;;7$r", "\x1b[41m\x1b[2J"];
    for asked in everywhere {
        check(HISTORY, 500, same(asked));
    }
}

#[test]
fn the_worst_history_is_bounded_by_its_lines() {
    let cell = format!("e{}", "\u{301}".repeat(31));
    let options = Options::default().with_history(1000);
    check_on(screen("80x24", options), CLUSTERED_HISTORY, 1100, same(&cell.repeat(80)));
}

#[test]
fn a_narrow_screen_gives_its_surplus_lines_back_as_new_ones_come() {
    const LIMIT: usize = 1000;
    let mut screen = screen("200x24", Options::default().with_history(LIMIT));
    screen.feed("x".repeat(200 * 1100).as_bytes());
    assert_eq!(screen.history_len(), LIMIT);
    screen.resize("20x24".parse().unwrap());
    let surplus = screen.history_len() - LIMIT;
    assert!(surplus >= 8 * LIMIT, "ten rows for one: {surplus}");
    // Two go for each that comes.
    screen.feed("\r\n".repeat(24 + surplus).as_bytes());
    assert_eq!(screen.history_len(), LIMIT);
    let held = screen.memory();
    assert!(held <= HISTORY, "{held}");
}

#[test]
fn a_filter_holds_no_more_than_it_must() {
    // What it gives out is what it was given: nothing is kept to be given later.
    let mut filter = Filter::new(Policy::default());
    assert_eq!(filter.feed(b"a\x1b]0;"), b"a");
    for _ in 0..16 {
        assert_eq!(filter.feed(&vec![b'A'; MIB]), b"");
    }
    // Too long to be judged: it is dropped, and what follows passes.
    assert_eq!(filter.feed(b"\x07b\x1b[31mc"), b"b\x1b[31mc");
    for _ in 0..16 {
        assert_eq!(filter.feed(&b"\x1b[1;".repeat(SLICE)), b"");
    }
    assert_eq!(filter.feed(b"2Hd"), b"\x1b[1;2Hd");
}

#[test]
fn a_snapshot_costs_its_cells_whatever_their_styles() {
    let mut screen = screen("300x300", Options::default());
    for number in 0..300 * 300_u32 {
        let (g, b) = (number >> 8 & 255, number & 255);
        screen.feed(format!("\x1b[38;2;0;{g};{b}mx").as_bytes());
    }
    let begin = Instant::now();
    let cells = screen.snapshot().rows().map(|row| row.cells().count()).sum::<usize>();
    assert_eq!(cells, 300 * 300);
    // Copying that many cells takes milliseconds; looking each style up in a list took 17 s.
    assert!(begin.elapsed() < Duration::from_secs(10), "took {:?}", begin.elapsed());
}

#[test]
fn what_a_screen_holds_is_counted() {
    let mut told = screen("80x24", Options::default());
    let offered = format!("\x1b]52;c;{}\x07", "A".repeat(4 * KIB)).repeat(4096);
    assert!(told.feed(offered.as_bytes()).events_lost() > 0);
    let held = told.memory();
    assert!((MIB - 8 * KIB..2 * MIB).contains(&held), "events: {held}");
    let mut below = screen("1000x1000", Options::default().with_history(0));
    below.feed(&[&b"x".repeat(999_000)[..], b"\x1b[H"].concat());
    let before = below.memory();
    below.resize("1000x1".parse().unwrap());
    assert!(below.memory() >= before / 2, "below: {} of {before}", below.memory());
}

/// What must hold of any screen.
#[track_caller]
fn invariants(screen: &Screen) {
    let (size, cursor) = (screen.size(), screen.cursor());
    let cols = size.cols().max(2);
    assert!(cursor.row < size.rows() && cursor.col < cols, "{cursor:?} in {size}");
    let snapshot = screen.snapshot();
    assert_eq!(snapshot.rows().count(), usize::from(size.rows()));
    for line in snapshot.rows() {
        let mut col = 0;
        for cell in line.cells() {
            assert_eq!(cell.col, col, "cells follow each other in row {}", line.number());
            assert!(matches!(cell.width, 1 | 2), "{cell:?}");
            col += u16::from(cell.width);
        }
        assert_eq!(col, cols, "row {} is as wide as the screen", line.number());
    }
    assert_eq!(screen.top_row() - screen.first_row(), screen.history_len() as u64);
    let shown = screen.top_row() + u64::from(size.rows());
    assert!(screen.line(shown).is_none() && screen.line(shown - 1).is_some());
    for mark in screen.marks() {
        assert!(mark.row < shown && mark.col <= cols, "{mark:?}");
    }
}

/// A generator of numbers that gives the same ones every time (xorshift64*).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    /// From 1 to 1000, mostly as small as terminals are.
    fn side(&mut self) -> u16 {
        let most = [3, 3, 30, 30, 130, 130, 130, 1000][self.below(8)];
        1 + self.below(most) as u16
    }

    /// One sequence or piece of text.
    fn piece(&mut self, out: &mut Vec<u8>) {
        const LAST: &[u8] = b"@ABCDEFGHIJKLMPSTXZ`abcdefghlmnqrstuxpvwyz{|}~";
        const ENDS: &[&str] = &["\x07", "\x1b\\", "\u{9c}", "", "\x18"];
        const TEXT: &[&str] = &[
            "plain text",
            "\r\n",
            "\r\n",
            "\n",
            "\t",
            "\x08",
            "\x0e",
            "漢字",
            "e\u{301}",
            "\u{301}",
            "👩\u{200d}👧",
            "🇫🇷",
            "❤\u{fe0f}",
            "\u{200d}",
            "a long line of a log that wraps on most of the sizes",
        ];
        const STRINGS: &[&str] = &[
            "]0;title",
            "]8;;https://example.org/a",
            "]8;;",
            "]133;A",
            "]133;C",
            "]133;D;1",
            "]4;1;?",
            "]7;file://h/tmp",
            "]9;4;1;5",
            "]52;c;?",
            "P$qm",
            "P+q544e",
            "Pq~~-~",
            "_Ga=T,r=3;AA",
        ];
        const ESCAPES: &[&str] =
            &["7", "8", "D", "E", "H", "M", "c", "#8", "(0", "(B", "N", "6", "9", "=", ">"];
        const MODES: &[&str] = &["1", "6", "7", "45", "47", "1047", "1049", "2027", "2048", "2026"];
        match self.below(16) {
            0..6 => out.extend_from_slice(self.pick(TEXT).as_bytes()),
            6..12 => {
                let prefix = self.pick(&["", "", "", "", "?", ">", "<", "="]);
                let between = self.pick(&["", "", "", "", "", "$", " ", "!", "\"", "'", "*"]);
                out.extend_from_slice(format!("\x1b[{prefix}").as_bytes());
                for _ in 0..self.below(6) {
                    let number = if self.below(60) == 0 { 99_999 } else { self.below(40) };
                    out.extend_from_slice(format!("{number}{}", self.pick(&[";", ":"])).as_bytes());
                }
                out.extend_from_slice(between.as_bytes());
                out.push(LAST[self.below(LAST.len())]);
            }
            12 => {
                let (mode, how) = (self.pick(MODES), self.pick(&["h", "l"]));
                out.extend_from_slice(format!("\x1b[?{mode}{how}").as_bytes());
            }
            13 => {
                out.extend_from_slice(
                    format!("\x1b{}{}", self.pick(STRINGS), self.pick(ENDS)).as_bytes(),
                );
            }
            14 => out.extend_from_slice(format!("\x1b{}", self.pick(ESCAPES)).as_bytes()),
            _ => (0..self.below(6)).for_each(|_| out.push(self.next() as u8)),
        }
    }
}

/// Feeds ten megabytes in uneven slices, each after another size.
fn churn(seed: u64, mut piece: impl FnMut(&mut Dice, &mut Vec<u8>)) {
    const LIMIT: usize = 300;
    /// A screen and a history of the largest size, every cell with a cluster or a style.
    const CAP: usize = 64 * MIB;
    let options =
        Options { graphics: true, checksums: true, history_lines: LIMIT, ..Options::default() };
    let mut screen = screen("80x24", options);
    let mut dice = Dice(seed);
    let (mut fed, mut bytes) = (0, Vec::new());
    while fed < 10_000_000 {
        let size = Size::clamped(dice.side(), dice.side());
        screen.resize(size);
        invariants(&screen);
        let wanted = 1 + dice.below(2 * SLICE);
        while bytes.len() < wanted {
            piece(&mut dice, &mut bytes);
        }
        screen.feed(&bytes);
        fed += bytes.len();
        bytes.clear();
        invariants(&screen);
        // Lines that a narrower size made more of stay a while, so cells are what is bounded.
        let lines = LIMIT + 1000;
        let most = 2 * lines * (1000 / usize::from(size.cols()) + 1);
        assert!(screen.history_len() <= most, "{} lines at {size}", screen.history_len());
        assert!(screen.memory() <= CAP, "{} bytes at {size}", screen.memory());
    }
}

#[test]
fn random_bytes_at_random_sizes_leave_a_screen() {
    churn(0x5eed, |dice, out| out.extend_from_slice(&dice.next().to_le_bytes()[..6]));
}

#[test]
fn random_sequences_at_random_sizes_leave_a_screen() {
    churn(0xfeed, Dice::piece);
}

#[test]
fn the_largest_screen_is_one_like_any_other() {
    let largest = Size::new(Size::MAX_COLS, Size::MAX_ROWS).unwrap();
    let mut screen = Screen::new(largest, Options::default().with_history(50));
    let mut dice = Dice(7);
    let mut bytes = Vec::new();
    while bytes.len() < SLICE / 4 {
        dice.piece(&mut bytes);
    }
    screen.feed(&bytes);
    invariants(&screen);
    screen.resize(Size::clamped(1, 1));
    invariants(&screen);
    screen.feed(&bytes);
    invariants(&screen);
    screen.resize(largest);
    invariants(&screen);
}
