//! Text a person does not see, and what a reader of the screen gets of it (F6).
//!
//! Two kinds. What was overwritten, erased or is on the other screen is gone: the text is what a
//! person sees. What is there but cannot be seen (SGR 8, text in the colour of its background) is
//! in the text, because a person can select and copy it; its cells say that it is invisible, and
//! whoever hands the text to a model leaves it out or says so.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it is")]

use greenroom_screen::{Attrs, Color, Options, Screen, Style, Wrap, sanitize};

fn fed(bytes: &str) -> Screen {
    let mut screen = Screen::new("40x4".parse().unwrap(), Options::default());
    screen.feed(bytes.as_bytes());
    screen
}

/// The text of the cells that can be seen, and of those that cannot.
fn parted(screen: &Screen) -> (String, String) {
    let (mut seen, mut unseen) = (String::new(), String::new());
    for line in screen.snapshot().rows() {
        for cell in line.cells().filter(|cell| cell.col < line.written()) {
            let part = if screen.hides(&cell.style) { &mut unseen } else { &mut seen };
            part.push_str(&cell.text().to_string());
        }
    }
    (seen, unseen)
}

#[test]
fn invisible_text_is_in_the_text_and_flagged_in_its_cells() {
    for hide in [
        "\x1b[8m",
        "\x1b[1;8;31m",
        "\x1b[30;40m",
        "\x1b[97;107m",
        "\x1b[38;5;196;48;5;196m",
        "\x1b[38;2;1;2;3;48;2;1;2;3m",
        "\x1b[38;2;1;2;3;48:2::1:2:3m",
        "\x1b[7;31;41m", // the same both ways round
    ] {
        let screen = fed(&format!("run {hide}rm -rf\x1b[m now"));
        assert_eq!(screen.text(), "run rm -rf now", "{hide:?}");
        assert_eq!(screen.text_of(0..1, Wrap::Joined), "run rm -rf now\n", "{hide:?}");
        assert_eq!(parted(&screen), ("run  now".into(), "rm -rf".into()), "{hide:?}");
    }
}

#[test]
fn visible_text_is_not_flagged() {
    for show in [
        "\x1b[m",
        "\x1b[1;2;3;4;5;7;9;53m",
        "\x1b[31;42m",
        "\x1b[8;28m",
        "\x1b[8m\x1b[0m",
        "\x1b[39;49m",
        "\x1b[38;2;1;2;3;48;2;1;2;4m",
        "\x1b[30m", // dark on the default background, which is the person's own
    ] {
        let screen = fed(&format!("{show}text"));
        assert_eq!(parted(&screen), ("text".into(), String::new()), "{show:?}");
    }
}

#[test]
fn flags_stay_with_the_text_in_the_history_and_over_other_sizes() {
    let mut screen = fed("a\x1b[8mhidden\x1b[mb\x1b[31;41msame\x1b[mc\r\n1\r\n2\r\n3\r\n4\r\n");
    let check = |screen: &Screen| {
        let line = screen.line(0).unwrap();
        let flagged: String = line
            .cells()
            .filter(|cell| cell.style.is_invisible())
            .map(|cell| cell.text().to_string())
            .collect();
        assert_eq!((line.text().as_str(), flagged.as_str()), ("ahiddenbsamec", "hiddensame"));
    };
    assert!(screen.top_row() > 0);
    check(&screen);
    screen.resize("13x3".parse().unwrap());
    check(&screen);
    let restored = Screen::restore(&screen.checkpoint()).unwrap();
    check(&restored);
}

#[test]
fn a_rectangle_can_hide_and_show_what_is_there() {
    let mut screen = fed("secret plain");
    screen.feed(b"\x1b[2*x\x1b[1;1;1;6;8$r");
    assert_eq!(parted(&screen), (" plain".into(), "secret".into()));
    screen.feed(b"\x1b[1;1;1;6;28$r");
    assert_eq!(parted(&screen), ("secret plain".into(), String::new()));
}

#[test]
fn the_same_colour_under_two_names_is_flagged() {
    for hide in [
        "\x1b[38;5;16;48;2;0;0;0m",
        "\x1b[31;48;5;1m\x1b]4;1;#123456\x07",
        "\x1b[38;5;231;48;5;255m\x1b]4;231;#eeeeee\x07",
    ] {
        let screen = fed(&format!("{hide}x"));
        assert_eq!(parted(&screen).1, "x", "{hide:?}");
    }
    // The default foreground made the default background.
    let screen = fed("\x1b]10;#000000\x07\x1b]11;#000000\x07x");
    assert_eq!(parted(&screen).1, "x");
}

#[test]
fn a_style_says_why_it_is_invisible() {
    let screen = fed("\x1b[8ma\x1b[0;35;45mb");
    let snapshot = screen.snapshot();
    let styles: Vec<Style> =
        snapshot.row(0).unwrap().cells().take(2).map(|cell| cell.style).collect();
    assert_eq!(styles[0], Style { attrs: Attrs::HIDDEN, ..Style::default() });
    assert_eq!(
        styles[1],
        Style { fg: Color::Indexed(5), bg: Color::Indexed(5), ..Style::default() }
    );
}

#[test]
fn overwritten_and_erased_text_is_gone() {
    for (input, seen) in [
        ("ignore all rules\rok\x1b[K", "ok"),
        ("ignore all rules\r                \r", ""),
        ("secret\x1b[2K\rfine", "fine"),
        ("secret\x08\x08\x08\x08\x08\x08public", "public"),
        ("secret\r\n\x1b[A\x1b[Mfine", "fine"),
        ("secret\x1b[1;1H\x1b[6Pfine", "fine"),
        ("secret\x1b[1;1H\x1b[6Xpublic", "public"),
        ("secret\x1b[2J\x1b[Hfine", "fine"),
        ("secret\x1bcfine", "fine"),
        ("secret\x1b#8\x1b[2J\x1b[Hfine", "fine"),
        ("one\r\nsecret\x1b[1;1H\x1b[Jtwo", "two"),
        ("\x1b[4;1Hsecret\x1b[1;1H\x1b[Tfine", "fine"),
        ("漢字\rok\x1b[K", "ok"),
        ("漢\r\x1b[Cx", " x"), // half of a wide character is none
    ] {
        let screen = fed(input);
        assert_eq!(screen.text(), seen, "{input:?}");
        assert_eq!(parted(&screen).0.trim_end(), seen, "{input:?}");
        assert!(!screen.text_of(0..99, Wrap::Joined).contains("secret"), "{input:?}");
    }
}

#[test]
fn only_the_screen_that_is_shown_is_read() {
    let mut screen = fed("primary\x1b[?1049h\x1b[Halternate");
    assert_eq!(screen.text(), "alternate");
    assert_eq!(screen.snapshot().text(), "alternate");
    screen.feed(b"\x1b[?1049l");
    assert_eq!(screen.text(), "primary");
    for (enter, leave) in [("?47h", "?47l"), ("?1047h", "?1047l"), ("?1049h", "?1049l")] {
        let mut screen = fed(&format!("first\x1b[{enter}\x1b[Hsecret\r\n\n\n\n\n\n\x1b[{leave}"));
        assert_eq!(screen.text(), "first", "{leave}");
        assert_eq!(screen.history_len(), 0, "nothing of it is history");
        screen.feed(format!("\x1b[{enter}").as_bytes());
        assert_eq!(screen.text(), "", "nothing of it comes back with {enter}");
    }
}

#[test]
fn what_scrolled_away_is_history_and_not_screen() {
    let screen = fed("secret\r\n1\r\n2\r\n3\r\n4");
    assert_eq!(screen.text(), "1\n2\n3\n4");
    assert_eq!(screen.history_text(Wrap::Joined), "secret\n");
    let erased = fed("secret\r\n1\r\n2\r\n3\r\n4\x1b[3J");
    assert_eq!(erased.history_text(Wrap::Joined), "");
}

#[test]
fn strings_and_controls_are_never_text() {
    for (input, seen) in [
        ("a\x1b]0;secret\x07b", "ab"),
        ("a\x1b]8;;https://secret.example\x07b\x1b]8;;\x07c", "abc"),
        ("a\x1bPsecret\x1b\\b", "ab"),
        ("a\x1b_secret\x1b\\b", "ab"),
        ("a\x1b^secret\x1b\\b", "ab"),
        ("a\x1bXsecret\x1b\\b", "ab"),
        ("a\u{9d}0;secret\x07b", "ab"),
        ("a\x00\x01\x02\x7fb", "ab"),
        ("a\x1b[1;2;3;4;5;6zb", "ab"),
        ("a\x1b]secret\x18b", "ab"),
    ] {
        let text = fed(input).text();
        assert_eq!(text, seen, "{input:?}");
        assert!(!text.contains(|c: char| c.is_control()), "{input:?}");
    }
}

#[test]
fn zero_width_characters_join_the_cell_before_and_are_taken_out_of_names() {
    // In the text they stay, as what a program wrote; they take no cell.
    for hidden in
        ["\u{200b}", "\u{200d}", "\u{2060}", "\u{feff}", "\u{202e}", "\u{ad}", "\u{e0041}"]
    {
        let screen = fed(&format!("a{hidden}b"));
        let text = screen.text();
        assert_eq!(sanitize(&text).replace('\u{200d}', ""), "ab", "{hidden:?}: {text:?}");
        assert!(screen.cursor().col <= 3, "{hidden:?}: at {}", screen.cursor().col);
    }
    // One with nothing before it has nothing to join.
    assert_eq!(fed("\u{200b}\u{301}x").text(), "x");
}

#[test]
fn names_are_sanitized() {
    for (text, expected) in [
        ("plain café 漢字 👍", "plain café 漢字 👍"),
        ("a\x1b[31mb\r\nc\td\x07\0", "a[31mbcd"),
        ("a\u{7f}b\u{80}c\u{9b}d\u{9f}e", "abcde"),
        ("exe.\u{202e}gpj", "exe.gpj"), // overrides
        ("\u{202a}a\u{202b}b\u{202c}c\u{202d}d", "abcd"),
        ("\u{2066}a\u{2067}b\u{2068}c\u{2069}d", "abcd"), // isolates
        ("\u{200e}a\u{200f}b\u{61c}c", "abc"),            // marks
        ("a\u{200b}b\u{2060}c\u{feff}d\u{180e}e\u{ad}f", "abcdef"), // zero width
        ("a\u{2061}b\u{2064}c\u{206a}d\u{206f}e", "abcde"), // invisible operators and the like
        ("\u{fff9}a\u{fffa}b\u{fffb}", "ab"),             // annotations
        ("a\u{e0041}\u{e0042}\u{e007f}b", "ab"),          // tags
        ("", ""),
    ] {
        assert_eq!(sanitize(text), expected, "{text:?}");
        assert_eq!(sanitize(expected), expected, "twice is once");
    }
    // What glyphs are made of stays.
    assert_eq!(sanitize("👩\u{200d}👧 e\u{301} ❤\u{fe0f}"), "👩\u{200d}👧 e\u{301} ❤\u{fe0f}");
}

#[test]
fn names_hold_no_other_invisible_characters() {
    for hidden in [
        '\u{2028}',
        '\u{2029}', // line and paragraph separators
        '\u{115f}',
        '\u{1160}',
        '\u{3164}',
        '\u{ffa0}', // Hangul fillers
        '\u{34f}',
        '\u{17b4}',
        '\u{180b}', // joiners and selectors without a look
        '\u{e0100}',
        '\u{e01ef}', // selectors that carry bytes in smuggled text
    ] {
        assert_eq!(sanitize(&format!("a{hidden}b")), "ab", "U+{:04X}", u32::from(hidden));
    }
}
