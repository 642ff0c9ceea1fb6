//! What a screen answers, and what of a program's questions reaches a person's terminal (F3).
//!
//! One table has every question with the exact bytes of its answer on a fresh screen; the filter
//! is tested with the same table, so a question that is answered is one that is taken out.
//! Not here: when who answers (the session's task), nor that any split gives the same
//! (`properties.rs`).

use greenroom_model::Size;
use greenroom_screen::{Filter, Options, Policy, Screen, reference};

/// Every question with its answer on a fresh screen of 80x24.
const QUESTIONS: &[(&str, &str)] = &[
    // DA1, DA2, DA3, DECID.
    ("\x1b[c", "\x1b[?62;6;22;28c"),
    ("\x1b[0c", "\x1b[?62;6;22;28c"),
    ("\x1b[>c", "\x1b[>41;380;0c"),
    ("\x1b[=c", "\x1bP!|00000000\x1b\\"),
    ("\x1bZ", "\x1b[?62;6;22;28c"),
    // DSR.
    ("\x1b[5n", "\x1b[0n"),
    ("\x1b[6n", "\x1b[1;1R"),
    ("\x1b[?6n", "\x1b[?1;1R"),
    ("\x1b[?15n", "\x1b[?13n"),
    ("\x1b[?25n", "\x1b[?20n"),
    ("\x1b[?26n", "\x1b[?27;0;0;0n"),
    ("\x1b[?55n", "\x1b[?53n"),
    ("\x1b[?996n", "\x1b[?997;1n"),
    // DECRQM.
    ("\x1b[4$p", "\x1b[4;2$y"),
    ("\x1b[?2026$p", "\x1b[?2026;2$y"),
    ("\x1b[?9999$p", "\x1b[?9999;0$y"),
    ("\x1b[99$p", "\x1b[99;0$y"),
    // DECRQSS.
    ("\x1bP$qm\x1b\\", "\x1bP1$r0m\x1b\\"),
    ("\x1bP$qr\x1b\\", "\x1bP1$r1;24r\x1b\\"),
    ("\x1bP$q q\x1b\\", "\x1bP1$r1 q\x1b\\"),
    ("\x1bP$q\"q\x1b\\", "\x1bP1$r0\"q\x1b\\"),
    ("\x1bP$q\"p\x1b\\", "\x1bP1$r62;1\"p\x1b\\"),
    ("\x1bP$q*x\x1b\\", "\x1bP1$r1*x\x1b\\"),
    ("\x1bP$qt\x1b\\", "\x1bP1$r24t\x1b\\"),
    ("\x1bP$q??\x1b\\", "\x1bP0$r\x1b\\"),
    ("\x1bP$q\x1b\\", "\x1bP0$r\x1b\\"),
    // XTGETTCAP: TN, RGB (in either case), Tc, several at once, unknown ones.
    ("\x1bP+q544e\x1b\\", "\x1bP1+r544E=787465726D2D323536636F6C6F72\x1b\\"),
    ("\x1bP+q524742\x1b\\", "\x1bP1+r524742=382F382F38\x1b\\"),
    ("\x1bP+q5463\x1b\\", "\x1bP1+r5463\x1b\\"),
    ("\x1bP+q436f;5463\x1b\\", "\x1bP1+r436F=323536\x1b\\\x1bP1+r5463\x1b\\"),
    ("\x1bP+q5858\x1b\\", "\x1bP0+r\x1b\\"),
    ("\x1bP+qxyz\x1b\\", "\x1bP0+r\x1b\\"),
    // Colours, with the terminator of the question.
    ("\x1b]4;1;?\x07", "\x1b]4;1;rgb:cdcd/0000/0000\x07"),
    ("\x1b]4;196;?\x1b\\", "\x1b]4;196;rgb:ffff/0000/0000\x1b\\"),
    ("\x1b]4;0;?;15;?\x07", "\x1b]4;0;rgb:0000/0000/0000\x07\x1b]4;15;rgb:ffff/ffff/ffff\x07"),
    ("\x1b]10;?\x07", "\x1b]10;rgb:e5e5/e5e5/e5e5\x07"),
    ("\x1b]11;?\x1b\\", "\x1b]11;rgb:0000/0000/0000\x1b\\"),
    ("\x1b]12;?\x07", "\x1b]12;rgb:e5e5/e5e5/e5e5\x07"),
    ("\x1b]11;?;?\x07", "\x1b]11;rgb:0000/0000/0000\x07\x1b]12;rgb:e5e5/e5e5/e5e5\x07"),
    // XTWINOPS.
    ("\x1b[11t", "\x1b[1t"),
    ("\x1b[13t", "\x1b[3;0;0t"),
    ("\x1b[14t", "\x1b[4;384;640t"),
    ("\x1b[15t", "\x1b[5;384;640t"),
    ("\x1b[16t", "\x1b[6;16;8t"),
    ("\x1b[18t", "\x1b[8;24;80t"),
    ("\x1b[19t", "\x1b[9;24;80t"),
    // Kitty's keyboard, modifyOtherKeys, DECREQTPARM, in-band size.
    ("\x1b[?u", "\x1b[?0u"),
    ("\x1b[?4m", "\x1b[>4;0m"),
    ("\x1b[x", "\x1b[2;1;1;128;128;1;0x"),
    ("\x1b[0x", "\x1b[2;1;1;128;128;1;0x"),
    ("\x1b[1x", "\x1b[3;1;1;128;128;1;0x"),
    ("\x1b[?2048h", "\x1b[48;24;80;384;640t"),
];

/// What sounds like a question and gets no answer; a person's terminal must not answer either.
const UNANSWERED: &[&str] = &[
    "\x1b[20t",               // the icon's title
    "\x1b[21t",               // the title
    "\x1b]52;c;?\x07",        // the clipboard
    "\x1b]52;;?\x1b\\",       // the same
    "\x05",                   // answerback
    "\x1b[1;1;1;1;24;80*y",   // DECRQCRA, unless allowed
    "\x1b[?7n",               // no such status
    "\x1b[>1q",               // only 0 is XTVERSION
    "\x1b[2x",                // only 0 and 1 are DECREQTPARM
    "\x1b[?1m",               // no such key option
    "\x1b]4;256;?\x07",       // no such colour
    "\x1b]13;?\x07",          // no pointer
    "\x1b_Gi=1,a=q;AA\x1b\\", // no pictures
    "\x1b[?1;1;0S",           // the same, as XTSMGRAPHICS asks
    "\x1b[1$w",               // DECRQPSR
    "\x1b[&u",                // DECRQUPSS
];

fn fresh() -> Screen {
    Screen::new(Size::DEFAULT, Options::default())
}

/// What `screen` answers to `asked`, escaped so that a failure can be read.
fn answer(screen: &mut Screen, asked: &str) -> String {
    screen.feed(asked.as_bytes()).replies().escape_ascii().to_string()
}

/// Feeds `before` to a fresh screen and wants exactly this answer to `asked`.
#[track_caller]
fn check(before: &str, asked: &str, expected: &str) {
    let mut screen = fresh();
    screen.feed(before.as_bytes());
    let expected = expected.as_bytes().escape_ascii().to_string();
    assert_eq!(answer(&mut screen, asked), expected, "{asked:?} after {before:?}");
}

/// XTVERSION, whose answer has the crate's version.
fn version() -> (&'static str, String) {
    ("\x1b[>q", format!("\x1bP>|greenroom {}\x1b\\", env!("CARGO_PKG_VERSION")))
}

#[test]
fn every_question_has_exactly_its_answer() {
    for (asked, expected) in QUESTIONS {
        check("", asked, expected);
        check("\x1b[?1049h", asked, expected);
    }
    let (asked, expected) = version();
    check("", asked, &expected);
    check("", "\x1b[>0q", &expected);
}

#[test]
fn what_is_not_to_be_told_is_not_told() {
    for asked in UNANSWERED {
        check("\x1b]0;secret\x07secret", asked, "");
    }
}

#[test]
fn answers_follow_the_state() {
    for (before, asked, expected) in [
        ("ab\r\ncde", "\x1b[6n", "\x1b[2;4R"),
        ("ab\r\ncde", "\x1b[?6n", "\x1b[?2;4R"),
        ("\x1b[24;80Hx", "\x1b[6n", "\x1b[24;80R"),
        ("\x1b[5;9r\x1b[?6h\x1b[2;3H", "\x1b[6n", "\x1b[2;3R"),
        ("\x1b[5;9r", "\x1bP$qr\x1b\\", "\x1bP1$r5;9r\x1b\\"),
        ("\x1b[6 q", "\x1bP$q q\x1b\\", "\x1bP1$r6 q\x1b\\"),
        ("\x1b[1\"q", "\x1bP$q\"q\x1b\\", "\x1bP1$r1\"q\x1b\\"),
        ("\x1b[2*x", "\x1bP$q*x\x1b\\", "\x1bP1$r2*x\x1b\\"),
        (
            "\x1b[1;3;4:3;7;38;5;208;48;2;1;2;3;58:5:9m",
            "\x1bP$qm\x1b\\",
            "\x1bP1$r0;1;3;7;4:3;38;5;208;48;2;1;2;3;58:5:9m\x1b\\",
        ),
        ("\x1b[2;5;8;9;21;53;32;103m", "\x1bP$qm\x1b\\", "\x1bP1$r0;2;5;8;9;53;4:2;32;103m\x1b\\"),
        ("\x1b]4;1;#010203\x07", "\x1b]4;1;?\x07", "\x1b]4;1;rgb:0101/0202/0303\x07"),
        ("\x1b]11;rgb:ff/80/00\x07", "\x1b]11;?\x07", "\x1b]11;rgb:ffff/8080/0000\x07"),
        ("\x1b]11;rgb:ff/80/00\x07\x1b]111\x07", "\x1b]11;?\x07", "\x1b]11;rgb:0000/0000/0000\x07"),
        ("\x1b]4;1;#010203\x07\x1b]104\x07", "\x1b]4;1;?\x07", "\x1b]4;1;rgb:cdcd/0000/0000\x07"),
        ("\x1b[>5u", "\x1b[?u", "\x1b[?5u"),
        ("\x1b[>5u\x1b[=2;2u", "\x1b[?u", "\x1b[?7u"),
        ("\x1b[>5u\x1b[<u", "\x1b[?u", "\x1b[?0u"),
        ("\x1b[>5u\x1b[?1049h", "\x1b[?u", "\x1b[?0u"),
        ("\x1b[>4;2m", "\x1b[?4m", "\x1b[>4;2m"),
        ("\x1b[>4;2m\x1b[>4n", "\x1b[?4m", "\x1b[>4;0m"),
        ("\x1b7", "\x1b[?1048$p", "\x1b[?1048;1$y"),
    ] {
        check(before, asked, expected);
    }
}

#[test]
fn every_mode_says_whether_it_is_set() {
    let initially = ["?7", "?8", "?25", "?1007", "?2027"];
    let reference = reference();
    let modes = reference.lines().filter_map(|line| {
        let (form, _) = line.strip_prefix("| `CSI ")?.split_once(" h`")?;
        Some(form.replace("? ", "?"))
            .filter(|form| form.trim_start_matches('?').parse::<u16>().is_ok())
    });
    let modes: Vec<String> = modes.collect();
    assert!(modes.len() > 30 && modes.contains(&"?2004".to_owned()), "{modes:?}");
    for mode in modes {
        let asked = format!("\x1b[{mode}$p");
        let says = |state: u8| format!("\x1b[{mode};{state}$y");
        check("", &asked, &says(if initially.contains(&mode.as_str()) { 1 } else { 2 }));
        check(&format!("\x1b[{mode}h"), &asked, &says(1));
        // The cursor that 1048 saved stays saved.
        let reset = if mode == "?1048" { 1 } else { 2 };
        check(&format!("\x1b[{mode}h\x1b[{mode}l"), &asked, &says(reset));
    }
}

#[test]
fn a_program_that_asked_for_it_is_told_the_size() {
    let mut screen = fresh();
    assert_eq!(screen.resize("100x30".parse().unwrap()).replies(), b"");
    assert_eq!(answer(&mut screen, "\x1b[?2048h"), r"\x1b[48;30;100;480;800t");
    let told = |screen: &mut Screen, size: &str| {
        screen.resize(size.parse().unwrap()).replies().escape_ascii().to_string()
    };
    assert_eq!(told(&mut screen, "80x24"), r"\x1b[48;24;80;384;640t");
    assert_eq!(told(&mut screen, "80x24"), "", "nothing changed");
    assert_eq!(answer(&mut screen, "\x1b[?2048l"), "");
    assert_eq!(told(&mut screen, "70x20"), "");
    let options = Options { cell_pixels: (10, 20), ..Options::default() };
    let mut screen = Screen::new("7x3".parse().unwrap(), options);
    assert_eq!(answer(&mut screen, "\x1b[14t\x1b[16t"), r"\x1b[4;60;70t\x1b[6;20;10t");
}

#[test]
fn checksums_and_pictures_are_answered_where_allowed() {
    let options = Options { checksums: true, graphics: true, ..Options::default() };
    let mut screen = Screen::new(Size::DEFAULT, options);
    screen.feed(b"abc");
    assert_eq!(answer(&mut screen, "\x1b[7;1;1;1;1;3*y"), r"\x1bP7!~FEDA\x1b\\");
    assert_eq!(answer(&mut screen, "\x1b[8;1;9;9;9;9*y"), r"\x1bP8!~FFE0\x1b\\");
    assert_eq!(answer(&mut screen, "\x1b[c"), r"\x1b[?62;4;6;22;28c");
    assert_eq!(answer(&mut screen, "\x1b_Gi=31,a=q;AAAA\x1b\\"), r"\x1b_Gi=31;OK\x1b\\");
}

/// Wherever a program can leave text: what a hostile one would like to have typed for it.
const HOSTILE: &[&str] =
    &["EVIL", "\r\nEVIL\r\n", "$(EVIL)", "EVIL\x1b[201~EVIL", "\u{9b}EVIL", "4556494C"];

/// Where that text can be put.
const PLACES: &[(&str, &str)] = &[
    ("\x1b]0;", "\x07"),
    ("\x1b]2;", "\x1b\\"),
    ("\x1b]1;", "\x07"),
    ("\x1b]7;file://EVIL/", "\x07"),
    ("\x1b]8;id=EVIL;https://", "\x1b\\"),
    ("\x1b]52;c;", "\x07"),
    ("\x1b]133;A;", "\x07"),
    ("\x1b]4;1;", "\x07"),
    ("\x1b]4;", ";?\x07"),
    ("\x1b]10;", "\x07"),
    ("\x1b]777;notify;", "\x07"),
    ("\x1b[22t\x1b]0;", "\x07\x1b[22t\x1b[23t"),
    ("\x1bP1$r", "\x1b\\"),
    ("\x1bP1+r", "\x1b\\"),
    ("\x1b_G", "\x1b\\"),
    ("\x1b^", "\x1b\\"),
    ("", "\r"),
];

#[test]
fn nothing_a_program_chose_is_in_an_answer() {
    let mut asked: String = QUESTIONS.iter().map(|(asked, _)| *asked).collect();
    asked.extend(UNANSWERED.iter().copied());
    asked.push_str(version().0);
    let expected = answer(&mut fresh(), &asked);
    for text in HOSTILE {
        for (begin, end) in PLACES {
            let mut screen = fresh();
            let before = answer(&mut screen, &format!("{begin}{text}{end}\x18"));
            assert!(!before.contains("EVIL"), "{begin:?} {text:?}: {before}");
            // Whatever was left behind: the answers are those of a screen that never saw it.
            screen.feed(b"\x1b[H");
            assert_eq!(answer(&mut screen, &asked), expected, "{begin:?} {text:?}");
        }
    }
}

#[test]
fn questions_with_text_in_them_are_refused_without_it() {
    for text in
        HOSTILE.iter().copied().chain(["m EVIL", "mEVIL", "544eEVIL", "544E=EVIL", "r;EVIL"])
    {
        for (begin, refused) in [("\x1bP$q", r"\x1bP0$r\x1b\\"), ("\x1bP+q", r"\x1bP0+r\x1b\\")] {
            let said = answer(&mut fresh(), &format!("{begin}{text}\x1b\\"));
            // An ESC or a line end in it may break the question off or split it.
            assert!(said.replace(refused, "").is_empty(), "{begin:?}{text:?}: {said}");
        }
    }
    // Numbers come back as numbers, and no larger than they may be.
    check("", "\x1b[?99999999999$p", "\x1b[?65535;0$y");
    check("", "\x1b]4;1;?EVIL\x07", "");
    check("", "\x1b]10;?EVIL\x07", "");
}

#[test]
fn an_answer_is_printable_but_for_its_own_controls() {
    let (asked, said) = version();
    for (asked, _) in QUESTIONS.iter().copied().chain([(asked, said.as_str())]) {
        let mut screen = fresh();
        for &byte in screen.feed(asked.as_bytes()).replies() {
            assert!((0x20..0x7f).contains(&byte) || matches!(byte, 0x1b | 0x07), "{asked:?}");
        }
    }
}

#[test]
fn a_million_questions_get_64_kib_of_whole_answers() {
    /// What one feed answers at most.
    const MOST: usize = 64 * 1024;
    for (asked, expected) in
        [("\x1b[6n", "\x1b[1;1R"), ("\x1b]11;?\x07", "\x1b]11;rgb:0000/0000/0000\x07")]
    {
        let mut screen = fresh();
        let replies = screen.feed(asked.repeat(1_000_000).as_bytes()).replies().to_vec();
        assert_eq!(replies.len(), MOST / expected.len() * expected.len());
        assert_eq!(replies, expected.repeat(MOST / expected.len()).as_bytes());
        // The next feed is answered again.
        assert_eq!(screen.feed(asked.as_bytes()).replies(), expected.as_bytes());
    }
    // One question that asks for a thousand things.
    let many = format!("\x1bP+q{}\x1b\\", "544e;".repeat(1000));
    assert_eq!(fresh().feed(many.as_bytes()).replies().len(), 64 * 40);
}

/// What a filter with this policy passes of `input`, whole and cut in two anywhere.
#[track_caller]
fn check_passes(policy: Policy, input: &str, expected: &str) {
    let show = |bytes: &[u8]| bytes.escape_ascii().to_string();
    for cut in 0..=input.len() {
        let (head, tail) = input.as_bytes().split_at(cut);
        let mut filter = Filter::new(policy);
        let mut passed = filter.feed(head);
        passed.extend(filter.feed(tail));
        assert_eq!(show(&passed), show(expected.as_bytes()), "{input:?} cut at {cut}");
    }
}

/// Takes nothing out but what is always taken out.
const OPEN: Policy = Policy { queries: false, clipboard: false, actions: false, graphics: false };

#[test]
fn no_question_reaches_a_persons_terminal() {
    let answered = QUESTIONS.iter().map(|(asked, _)| *asked).chain([version().0, "\x1b[>0q"]);
    for asked in answered.chain(UNANSWERED.iter().copied()) {
        check_passes(Policy::default(), &format!("a\x1b[1m{asked}b"), "a\x1b[1mb");
    }
}

#[test]
fn everything_else_passes_byte_for_byte() {
    for passed in [
        "text, caf\u{e9} 漢字 👩\u{200d}👧 \t\r\n\x08\x07\x0e\x0f",
        "\x1b[1;38:2::1:2:3;4:3mx\x1b[m\x1b[>4;1m",
        "\x1b[2J\x1b[H\x1b[3;4H\x1b[K\x1b[5X\x1b[2;9r\x1b[s\x1b[u\x1b7\x1b8\x1bM\x1b#8\x1b(0\x1b(B",
        "\x1b[?1049h\x1b[?25l\x1b[?2026h\x1b[?2026l\x1b[?2004h\x1b[?1006;1000h\x1b[?2048l",
        "\x1b[6 q\x1b[>1u\x1b[<u\x1b[=1;2u\x1b[!p\x1b[22;0t\x1b[23;0t\x1b[20h",
        "\x1b]0;title\x07\x1b]2;title\x1b\\\x1b]8;id=a;https://example.org\x07x\x1b]8;;\x07",
        "\x1b]7;file://h/tmp\x07\x1b]133;A\x07\x1b]9;4;1;50\x07",
        "\x1b]4;1;#123456\x07\x1b]10;#fff\x07\x1b]104\x07\x1b]110\x1b\\",
        "\x1bPq#0~~\x1b\\\x1b_Ga=T,q=2,i=1;AAAA\x1b\\",
    ] {
        check_passes(Policy::default(), passed, passed);
        check_passes(OPEN, passed, passed);
    }
}

#[test]
fn each_policy_takes_out_its_own() {
    let queries = Policy { queries: true, ..OPEN };
    let clipboard = Policy { clipboard: true, ..OPEN };
    let actions = Policy { actions: true, ..OPEN };
    let graphics = Policy { graphics: true, ..OPEN };
    for (what, policy) in [
        ("\x1b[6n", queries),
        ("\x1b[21t", queries),
        ("\x1b]11;?\x07", queries),
        ("\x05", queries),
        ("\x1b]52;c;aGk=\x07", clipboard),
        ("\x1b]777;notify;a;b\x07", actions),
        ("\x1b]9;hello\x07", actions),
        ("\x1b]1337;File=name=YQ==:AAAA\x07", actions),
        ("\x1b[8;10;20t", actions),
        ("\x1b[3;0;0t", actions),
        ("\x1b[2t", actions),
        ("\x1b[5i", actions),
        ("\x1b[?5i", actions),
        ("\x1b]50;font\x07", actions),
        ("\x1bPq~~\x1b\\", graphics),
        ("\x1b_Ga=T;AAAA\x1b\\", graphics),
    ] {
        let input = format!("a{what}b");
        for tried in [queries, clipboard, actions, graphics] {
            check_passes(tried, &input, if tried == policy { "ab" } else { &input });
        }
        check_passes(OPEN, &input, &input);
    }
    // Reading the clipboard never passes.
    for policy in [OPEN, queries, clipboard, actions, graphics] {
        check_passes(policy, "a\x1b]52;c;?\x07b", "ab");
        check_passes(policy, "a\x1b]52;p;?\x1b\\b", "ab");
    }
}

#[test]
fn a_sequence_broken_off_cannot_be_completed_by_what_is_taken_out() {
    for (input, expected) in [
        ("a\x1b[3\x1b[6nb", "ab"),   // the ESC breaks the first off
        ("a\x1b[6\x07nb", "a\x07b"), // a control inside acts, the question is gone
        ("a\x1b]0;t\x18b", "ab"),    // cancelled: it means nothing
        ("a\x1b[\x18b", "ab"),
        ("a\x1b[6\x1b]52;c;?\x07nb", "anb"),
    ] {
        check_passes(Policy::default(), input, expected);
    }
}

#[test]
fn no_question_in_c1_form_reaches_a_persons_terminal() {
    for asked in QUESTIONS.iter().map(|(asked, _)| *asked).chain(UNANSWERED.iter().copied()) {
        let c1 =
            [("\x1b[", "\u{9b}"), ("\x1b]", "\u{9d}"), ("\x1bP", "\u{90}"), ("\x1b_", "\u{9f}")];
        let asked =
            c1.iter().fold(asked.to_owned(), |asked, (long, short)| asked.replace(long, short));
        check_passes(Policy::default(), &format!("a{asked}b"), "ab");
    }
}

#[test]
fn a_number_with_zeros_before_it_is_the_same_number() {
    for asked in
        ["\x1b]052;c;?\x07", "\x1b]0010;?\x07", "\x1b]04;1;?\x07", "\x1b]00777;notify;a;b\x07"]
    {
        check_passes(Policy::default(), &format!("a{asked}b"), "ab");
    }
}

#[test]
fn questions_that_only_other_terminals_answer_are_taken_out() {
    for asked in [
        "\x1b]21;foreground=?\x1b\\", // kitty: colours
        "\x1b]22;?__current__\x1b\\", // kitty: the pointer's shape
        "\x1b]99;i=1:p=?;\x1b\\",     // kitty: notifications, and what they can
        "\x1b[#R",                    // XTREPORTCOLORS
        "\x1b[1;1;1;1#|",             // XTREPORTSGR
        "\x1b['|",                    // DECRQLP
        "\x1b[\"v",                   // DECRQDE
        "\x1b[?4g",                   // XTQFMTKEYS
        "\x1b[2$u",                   // DECRQTSR
    ] {
        check_passes(Policy::default(), &format!("a{asked}b"), "ab");
    }
}

#[test]
fn pictures_that_would_be_answered_are_told_to_be_quiet() {
    let mut filter = Filter::new(Policy::default());
    let passed = filter.feed(b"\x1b_Ga=T,i=1;AAAA\x1b\\");
    assert_eq!(passed.escape_ascii().to_string(), r"\x1b_Gq=2,a=T,i=1;AAAA\x1b\\");
}

#[test]
fn only_the_reporting_mode_of_a_list_is_taken_out() {
    check_passes(Policy::default(), "a\x1b[?1049;2048hb", "a\x1b[?1049hb");
}
