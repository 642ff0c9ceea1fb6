//! What counts as printed since something was typed.

use greenroom_screen::Options;

use super::*;

/// Prints `before`, types, prints `after`, and wants this to be the output since.
#[track_caller]
fn check(before: &str, typed: &str, after: &str, expected: &str) {
    check_typed(before, &[(typed, after)], Echo::Terminal, expected);
}

/// Prints `before`; types and prints by turns; and wants this to be the output since the last was typed.
#[track_caller]
fn check_typed(before: &str, turns: &[(&str, &str)], echo: Echo, expected: &str) {
    let turns: Vec<_> = turns.iter().map(|(typed, after)| (echo, *typed, *after)).collect();
    check_echoed(before, &turns, expected);
}

/// The same, with somebody else who shows what was typed each time.
#[track_caller]
fn check_echoed(before: &str, turns: &[(Echo, &str, &str)], expected: &str) {
    let mut screen = Screen::new("40x10".parse().unwrap(), Options::default());
    let mut marks = Marks::default();
    screen.feed(before.as_bytes());
    for (echo, typed, after) in turns {
        marks.add(Mark::now(&screen, typed.as_bytes(), *echo), &screen);
        screen.feed(after.as_bytes());
        // Whoever shows a line again begins to read by then.
        marks.edited();
    }
    assert_eq!(marks.find(None).output(&screen).trim_end(), expected);
}

#[test]
fn the_echo_is_not_output() {
    check("$ ", "echo READY\r", "echo READY\r\nREADY\r\n$ ", "\nREADY\n$");
}

#[test]
fn an_answer_equal_to_what_was_typed_is_output() {
    check("", "READY\r", "READY\r\nREADY\r\n", "\nREADY");
}

#[test]
fn what_was_typed_too_early_is_echoed_twice() {
    check("", "echo hi\r", "echo hi\r\n$ echo hi\r\nhi\r\n", "\n$ \nhi");
}

#[test]
fn what_was_typed_too_early_is_echoed_twice_however_it_was_typed() {
    let again = "\r\n$ echo hi\r\nhi\r\n";
    check_typed(
        "",
        &[("echo ", "echo "), ("hi\r", &format!("hi{again}"))],
        Echo::Terminal,
        "\n$ \nhi",
    );
    check_typed("", &[("echo hi", "echo hi"), ("\r", again)], Echo::Terminal, "\n$ \nhi");
    // Behind a prompt that looks like nothing, once it is known.
    let (one, two) = ("true\r\nfish folder ", "echo hi\r\nfish folder echo hi\r\nhi\r\n");
    let (ready, early) = (Echo::Program, Echo::Terminal);
    let turns = [(ready, "true\r", one), (ready, "x\r", "x\r\n"), (early, "echo hi\r", two)];
    check_echoed("fish folder ", &turns, "\nfish folder \nhi");
    // With what stands at the right margin, and in another folder.
    let two = "echo hi\r\nme@host:/b$ echo hi      right\r\nhi\r\n";
    let turns = [(ready, "cd /b\r", "cd /b\r\n"), (early, "echo hi\r", two)];
    check_echoed("me@host:/a$ ", &turns, "\nme@host:/b$       right\nhi");
}

#[test]
fn who_shows_what_was_typed_may_change_while_it_is_on_its_way() {
    // A shell read keys when it was typed, and lines when it came: its command had begun.
    let after = "echo hi\r\n$ echo hi      right\r\nhi\r\n";
    let turns = [(Echo::Program, "true\r", "true\r\n"), (Echo::Program, "echo hi\r", after)];
    check_echoed("$ ", &turns, "\n$       right\nhi");
}

#[test]
fn an_answer_behind_what_may_end_a_prompt_is_seen() {
    let (ready, early) = (Echo::Program, Echo::Terminal);
    for answer in ["item # 42", "cost in $ 42", "-> 42", "# 42", "Age: 42"] {
        for next in ["", "\r\n", "\r\n$ "] {
            let after = format!("42\r\n{answer}{next}");
            let turns = [(ready, "read X; f\r", "read X; f\r\n"), (early, "42\r", &after)];
            check_echoed("$ ", &turns, format!("\n{answer}{}", next.replace('\r', "")).trim_end());
        }
    }
    // Who was asked before is asked again.
    let turns = [
        (ready, "f\r", "f\r\nName: "),
        (early, "Al\r", "Al\r\nAge: "),
        (early, "7\r", "7\r\nName: Al\r\nAge: 7\r\n$ "),
        (ready, "f\r", "f\r\nName: "),
        (early, "Bob\r42\r", "Bob\r\n42\r\nAge: Name: Bob\r\nAge: 42\r\n$ "),
    ];
    check_echoed("$ ", &turns, "\n\nAge: Name: Bob\nAge: 42\n$");
}

#[test]
fn nothing_is_shown_again_before_a_line_editor_begins() {
    let mut screen = Screen::new("40x10".parse().unwrap(), Options::default());
    let mut marks = Marks::default();
    screen.feed(b"$ ");
    marks.edited();
    marks.add(Mark::now(&screen, b"f\r", Echo::Program), &screen);
    screen.feed(b"f\r\n");
    marks.add(Mark::now(&screen, b"42\r", Echo::Terminal), &screen);
    // It may look as it will.
    screen.feed(b"42\r\n$ 42\r\n");
    assert_eq!(marks.find(None).output(&screen).trim_end(), "\n$ 42");
    marks.edited();
    assert_eq!(marks.find(None).output(&screen).trim_end(), "\n$");
}

#[test]
fn where_nobody_edits_lines_nothing_is_shown_again() {
    let mut screen = Screen::new("40x10".parse().unwrap(), Options::default());
    let mut marks = Marks::default();
    for line in ["Bob", "# Bob"] {
        marks.add(Mark::now(&screen, format!("{line}\r").as_bytes(), Echo::Terminal), &screen);
        screen.feed(format!("{line}\r\n{line}\r\n").as_bytes());
    }
    assert_eq!(marks.find(None).output(&screen).trim_end(), "\n# Bob");
}

#[test]
fn the_further_lines_of_a_block_are_an_echo() {
    let shown = "def f():\r\n...     \"Z\"\r\n... \r\n>>> ";
    check_typed(">>> ", &[("def f():\r    \"Z\"\r\r", shown)], Echo::Program, "\n... \n...\n>>>");
}

#[test]
fn a_line_that_an_editor_wraps_itself_is_an_echo() {
    // As fish does it: what is drawn next breaks the line.
    let typed = format!("true {}ZEBRA", "x".repeat(50));
    let shown = format!("{typed}\x1b[A\r\r\n\x1b[20C\r\nout\r\n");
    check_typed("me@host # ", &[(&format!("{typed}\r"), &shown)], Echo::Program, "\nout");
}

#[test]
fn who_waits_before_anything_was_typed_does_not_see_what_is() {
    let mut screen = Screen::new("40x10".parse().unwrap(), Options::default());
    let mut marks = Marks::default();
    screen.feed(b"odd prompt ");
    let (mut wait, mut all) = (marks.find(None), marks.find(Some(Offset(0))));
    let typed = Mark::now(&screen, b"true Z\r", Echo::Program);
    for mark in [&mut wait, &mut all] {
        mark.also_typed(&typed);
    }
    marks.add(typed, &screen);
    wait.learn(&marks);
    screen.feed(b"true Z\r\nout\r\n");
    assert_eq!(wait.output(&screen).trim_end(), "odd prompt \nout");
    assert_eq!(all.output(&screen).trim_end(), "odd prompt true Z\nout");
}

#[test]
fn who_is_answered_with_their_own_words_hears_them() {
    check("Name: ", "Bob\r", "Bob\r\nHello, Bob\r\n", "\nHello, Bob");
    check("", "Bob\r", "Bob\r\nhello Bob\r\n", "\nhello Bob");
    // Without an echo, as in a menu.
    check_typed("[y/n] ", &[("y", "\r\nYou chose: y\r\n")], Echo::Program, "\nYou chose: y");
    // What reads keys itself was ready for them.
    let traced = "echo hi\r\n$ echo hi\r\nhi\r\n";
    check_typed("$ ", &[("echo hi\r", traced)], Echo::Program, "\n$ echo hi\nhi");
}

#[test]
fn several_lines_that_are_pasted_are_an_echo_each() {
    let (typed, after) =
        ("\x1b[200~echo one\recho two\r\x1b[201~", "echo one\r\necho two\r\none\r\ntwo");
    check_typed("$ ", &[(typed, after)], Echo::Program, "\n\none\ntwo");
}

#[test]
fn lines_that_were_pasted_are_an_echo_also_when_they_are_drawn_again() {
    // As bash shows them: highlighted, and as they are once Enter is pressed.
    let paste = "\x1b[200~echo one\necho two\necho three\x1b[201~";
    let shown = "\x1b[7mecho one\x1b[27m\r\n\x1b[7mecho two\x1b[27m\r\n\x1b[7mecho three\x1b[27m";
    let again = "\x1b[A\x1b[A\r\x1b[2Cecho one\r\necho two\r\necho three\r\n";
    let entered = format!("{again}one\r\ntwo\r\nthree\r\n");
    let expected = "$ \n\n\none\ntwo\nthree";
    check_typed("$ ", &[(paste, shown), ("\r", &entered)], Echo::Program, expected);
    // Also with more typed behind them, and with an answer that is one of the lines.
    let entered = format!("{again}echo one\r\n");
    let turns = [(paste, shown), (" ", " "), ("x", "x"), ("\r", entered.as_str())];
    check_typed("$ ", &turns, Echo::Program, "$ \n\n\necho one");
}

#[test]
fn a_long_line_is_an_echo_also_when_it_is_drawn_again() {
    let long = format!("echo {}", "x".repeat(60));
    let entered = format!("\x1b[A\r\x1b[2C{long}\r\ndone\r\n");
    check_typed("$ ", &[(&long, &long), ("\r", &entered)], Echo::Program, "$ \n\ndone");
}

#[test]
fn a_password_is_no_beginning_of_a_line() {
    let mut marks = Marks::default();
    let mut screen = Screen::new("40x10".parse().unwrap(), Options::default());
    marks.add(Mark::now(&screen, b"secret", Echo::Nobody), &screen);
    screen.feed(b"x");
    marks.add(Mark::now(&screen, b"ls\r", Echo::Terminal), &screen);
    assert_eq!(marks.find(None).edited.lines, [""; 0]);
}

#[test]
fn what_only_ends_like_the_echo_is_output() {
    check("ready\r\n", "a\r", "got-a\r\n", "got-a");
    check("ready\r\n", "y\r", "ready again\r\n", "ready again");
    check("", "a\r", "abc\r\n", "abc");
}

#[test]
fn an_echo_that_wraps_is_recognised() {
    let long = format!("echo {}", "x".repeat(60));
    check("$ ", &format!("{long}\r"), &format!("{long}\r\ndone"), "\ndone");
}

#[test]
fn what_was_there_before_is_not_output() {
    check("READY\r\n$ ", "ls\r", "ls\r\nfile\r\n", "\nfile");
}

#[test]
fn a_row_drawn_above_the_mark_is_output() {
    check("one\r\ntwo\r\n> ", "x", "\x1b[1;1HDONE\x1b[3;3H", "DONE");
}

#[test]
fn keys_typed_one_by_one_are_one_line() {
    let mut screen = Screen::new("40x10".parse().unwrap(), Options::default());
    let mut marks = Marks::default();
    for key in ["l", "s", "\r"] {
        marks.add(Mark::now(&screen, key.as_bytes(), Echo::Terminal), &screen);
    }
    screen.feed(b"ls\r\nls is here\r\n");
    assert_eq!(marks.find(None).output(&screen).trim_end(), "\nls is here");
}

#[test]
fn what_is_drawn_over_the_row_where_something_was_typed_is_output() {
    // A screen that is cleared, a line that is drawn anew, an answer in the place of what was typed.
    check(
        "me@host:~$ ",
        "clear; echo OK\r",
        "clear; echo OK\r\n\x1b[H\x1b[2JOK\r\nme@host:~$ ",
        "OK\nme@host:~$",
    );
    check_typed(
        "Working  10%",
        &[("x", "\rWorking  50%\rWorking 100%")],
        Echo::Program,
        "Working 100%",
    );
    let turns = [("hello there", "hello there"), ("\r", "\r\x1b[KRESULT\r\n> ")];
    check_typed("> ", &turns, Echo::Program, "RESULT\n>");
    // But not what was typed, behind another prompt.
    let turns = [("make", "make"), ("\r", "\r\x1b[K❯ make\r\ndone\r\n")];
    check_typed("~/src main ❯ ", &turns, Echo::Program, "❯ \ndone");
}

#[test]
fn an_echo_of_which_more_is_to_come_is_no_output() {
    check("$ ", "deploy PRODUCTION and more\r", "deploy PRODUCTION", "");
    check("$ ", "deploy PRODUCTION and more\r", "deploy ", "");
    check("", "echo hello\r", "echo hello\r\n$ echo hel", "\n$");
    check("$ ", "deploy PRODUCTION and more\r", "deploy NOTHING", "deploy NOTHING");
}

#[test]
fn who_was_asked_is_answered_in_the_words_of_the_question() {
    check("Name: ", "Bob\r", "Bob\r\nName: Bob\r\n", "\nName: Bob");
}

#[test]
fn what_is_typed_later_is_an_echo_too() {
    let mut screen = Screen::new("40x10".parse().unwrap(), Options::default());
    let mut marks = Marks::default();
    screen.feed(b"$ ");
    marks.edited();
    marks.add(Mark::now(&screen, b"sleep 1\r", Echo::Program), &screen);
    let after = screen.offset();
    screen.feed(b"sleep 1\r\n");
    marks.add(Mark::now(&screen, b"echo done\r", Echo::Terminal), &screen);
    screen.feed(b"echo done\r\n$ echo done\r\ndone\r\n");
    assert_eq!(marks.find(Some(after)).output(&screen).trim_end(), "\n\n$ \ndone");
}

#[test]
fn a_mark_moves_with_its_text() {
    let mut screen = Screen::new("40x10".parse().unwrap(), Options::default());
    let mut marks = Marks::default();
    screen.feed(b"$ make\r\nall that is long enough to wrap: OK\r\n$ ");
    marks.add(Mark::now(&screen, b"make\r", Echo::Program), &screen);
    screen.feed(b"make\r\n");
    for size in ["20x10", "60x10", "9x10", "40x6"] {
        let mut places: Vec<Pos> = marks.iter_mut().map(|it| it.pos()).collect();
        screen.resize_following(size.parse().unwrap(), &mut places);
        marks.iter_mut().zip(places).for_each(|(mark, place)| mark.moved(place, &screen));
        assert_eq!(marks.find(None).output(&screen).trim_end(), "", "{size}");
    }
    screen.feed(b"FAILED\r\n");
    assert_eq!(marks.find(None).output(&screen).trim_end(), "\nFAILED");
}

#[test]
fn what_was_typed_before_is_an_echo_when_it_is_shown_again() {
    // Lines that wait for the shell to be ready, of which one is shown behind the last mark.
    let turns = [
        ("sleep 1\r", "sleep 1\r\n"),
        ("echo AA\r", "echo AA\r\n"),
        ("echo BB\r", "echo BB\r\n$ echo AA\r\nAA\r\n$ echo BB\r\nBB\r\n$ "),
    ];
    check_typed("$ ", &turns, Echo::Terminal, "\n$ \nAA\n$ \nBB\n$");
    // One that is brought back by a key.
    let turns = [("echo C\r", "echo C\r\nC\r\n$ "), ("\x1b[A", "echo C"), ("\r", "\r\nC\r\n$ ")];
    check_typed("$ ", &turns, Echo::Program, "\nC\n$");
    let turns = [("echo C\r", "echo C\r\nC\r\n$ "), ("\x1b[A\r", "echo C\r\nC\r\n$ ")];
    check_typed("$ ", &turns, Echo::Program, "\nC\n$");
    // But a program that says it again says it.
    let turns = [("yes\r", "yes\r\n"), ("no\r", "no\r\nyes\r\n")];
    check_typed("", &turns, Echo::Terminal, "\nyes");
}

#[test]
fn what_stands_at_the_right_margin_or_was_taken_back_changes_nothing() {
    check("% ", "make\r", "make             12:00\r\ndone", "             12:00\ndone");
    check("$ ", "echo ABD\x7fC\r", "echo ABC\r\nABC", "\nABC");
}

#[test]
fn what_is_typed_into_a_line_is_an_echo_with_the_rest_of_it() {
    // The cursor is in the middle of a line that was typed, and one that was brought back.
    let turns = [("echo TAIL", "echo TAIL"), ("\x1b[H", "\r\x1b[2C"), (": ;", "\x1b[3@: ;")];
    check_typed("$ ", &turns, Echo::Program, "");
    let entered = [&turns[..2], &[(": ;\r", "\x1b[3@: ;\r\nTAIL\r\n$ ")]].concat();
    check_typed("$ ", &entered, Echo::Program, "\nTAIL\n$");
    check_typed(
        "$ echo TAIL\x1b[4D",
        &[("A ", "\x1b[2@A "), ("\r", "\r\nA TAIL\r\n")],
        Echo::Program,
        "\nA TAIL",
    );
    // All at once, and in a line that wraps.
    let long = format!("echo {}", "x".repeat(60));
    let drawn = format!("\x1b[A\r\x1b[2C: ;{long}\r\nx\r\ndone\r\n");
    let turns = [(long.as_str(), long.as_str()), ("\x01: ;\x05\r", drawn.as_str())];
    check_typed("$ ", &turns, Echo::Program, "\nx\ndone");
    // Some of it is taken back first.
    let turns = [("echo ABD", "echo ABD"), ("\x7fC\r", "\x08\x1b[KC\r\nABC\r\n")];
    check_typed("$ ", &turns, Echo::Program, "\nABC");
    let turns = [("rm -r all", "rm -r all"), ("\x15ls\r", "\r\x1b[2C\x1b[Kls\r\nrm -r all\r\n")];
    check_typed("$ ", &turns, Echo::Program, "\nrm -r all");
}

#[test]
fn a_tab_is_an_echo_as_blanks_and_as_what_it_completes() {
    check("", "one\ttwo\r", "one\ttwo\r\ngot it\r\n", "\ngot it");
    check_typed(
        "$ ",
        &[("cat no\tmore\r", "cat notes.txt more\r\nhello\r\n")],
        Echo::Program,
        "\nhello",
    );
    check_typed("$ ", &[("cat no\t\r", "cat notes.txt\r\nhello\r\n")], Echo::Program, "\nhello");
    // What it completes is what somebody who presses it waits for.
    check_typed("$ ", &[("cat no\t", "cat notes.txt")], Echo::Program, "tes.txt");
    // It chooses in a menu, and there is an answer.
    check_typed("Go on? ", &[("\t\r", "Chosen: yes\r\n")], Echo::Program, "Chosen: yes");
    check_typed("Go on? ", &[("\x1b[A\r", "Chosen: yes\r\n")], Echo::Program, "Chosen: yes");
}

#[test]
fn a_line_that_is_brought_back_and_changed_is_an_echo() {
    let turns = [("\x1b[A --force\r", "make --force\r\nmaking\r\n")];
    check_typed("$ ", &turns, Echo::Program, "\nmaking");
}

#[test]
fn a_line_that_zsh_wraps_is_an_echo() {
    let (first, second) = ("w".repeat(38), "w".repeat(12));
    let shown = format!("w\x08{first} \r\x1b[Kw\r{second} END\x1b[?2004l\r\r\n");
    check_typed("# ", &[(&format!("{first}{second} END\r"), &shown)], Echo::Program, "");
}

#[test]
fn a_wide_character_at_the_margin_is_an_echo() {
    let (typed, shown) = ("漢".repeat(30), format!("{} {}", "漢".repeat(18), "漢".repeat(12)));
    check("$ x", &format!("{typed} END\r"), &format!("{shown} END\r\ndone"), "\ndone");
    check("$ x", &format!("{typed} END\r"), &format!("{} {}", "漢".repeat(18), "漢"), "");
    // One that fills its rows: the cursor is in the next one, and goes back when Enter is pressed.
    let (typed, shown) =
        (format!("{typed}1234567890123456"), format!("{shown}1234567890123456 \r"));
    let turns = [(typed.as_str(), shown.as_str()), ("\r", "\x1b[A\r\n\rdone")];
    check_typed("$ x", &turns, Echo::Program, "\ndone");
}

#[test]
fn a_long_paste_is_an_echo_also_when_it_has_scrolled_away() {
    let line = |it: usize| format!("line number {it} of the script");
    let typed: String = (0..1000).map(|it| line(it) + "\r").collect();
    let shown: String = (0..1000).map(|it| line(it) + "\r\n").collect();
    check("", &typed, &format!("{shown}done\r\n"), &format!("{}done", "\n".repeat(1000)));
    let mut screen = Screen::new("40x10".parse().unwrap(), Options::default());
    let mut marks = Marks::default();
    marks.add(Mark::now(&screen, typed.as_bytes(), Echo::Terminal), &screen);
    let mut mark = marks.find(None);
    screen.feed(shown.as_bytes());
    mark.advance(&screen);
    screen.feed(b"done\r\n");
    assert_eq!(mark.output(&screen).trim(), "done");
}

#[test]
fn a_part_of_a_line_that_is_too_long_for_the_screen_is_an_echo() {
    let long = format!("echo {} END", (0..999).map(|it| it.to_string()).collect::<String>());
    // Rows of their own, of which the last is short.
    let rows = long.as_bytes()[long.len() - 163..].chunks(80).map(String::from_utf8_lossy);
    let shown = rows.collect::<Vec<_>>().join("\r\n");
    let mut screen = Screen::new("80x10".parse().unwrap(), Options::default());
    let mut marks = Marks::default();
    screen.feed(b"$ ");
    marks.add(Mark::now(&screen, format!("{long}\r").as_bytes(), Echo::Program), &screen);
    screen.feed(format!(">....\r\n{shown}").as_bytes());
    assert_eq!(marks.find(None).output(&screen).trim_end(), ">....");
    screen.feed(b"\r\ndone\r\n");
    assert_eq!(marks.find(None).output(&screen).trim_end(), ">....\n\ndone");
}

#[test]
fn a_shell_that_marks_its_commands_tells_where_the_output_begins() {
    let (prompt, runs) = ("\x1b]133;A\x07# \x1b]133;B\x07", "\x1b]133;C\x07");
    let before = format!("{prompt}true\r\n{runs}\x1b]133;D;0\x07{prompt}");
    // Whatever it shows of the line, and whatever the command prints.
    let after = format!("ec -> echo hi\r\n{runs}# ec hi\r\nhi\r\n{prompt}");
    check_typed(&before, &[("ec hi\r", &after)], Echo::Terminal, "# ec hi\nhi\n#");
    // What is drawn elsewhere is seen there.
    let after = format!("clear\r\n{runs}\x1b[H\x1b[2JTOP\r\n{prompt}");
    check_typed(&before, &[("clear\r", &after)], Echo::Program, "TOP");
    let before = format!("one\r\n{before}");
    let after = format!("up\r\n{runs}\x1b[3Aabove\x1b[3B\r\n{prompt}");
    check_typed(&before, &[("up\r", &after)], Echo::Program, "above\n\n\n#");
    // Nothing was entered, or nothing runs.
    check_typed(&before, &[("ec", "ec")], Echo::Program, "");
    check_typed(&before, &[("\r", &format!("\r\n{prompt}"))], Echo::Program, "\n#");
    // A program that asks is not at the shell's prompt.
    let asked = format!("{prompt}ask\r\n{runs}Name: ");
    check_typed(&asked, &[("Bob\r", "Bob\r\nHello, Bob\r\n")], Echo::Terminal, "\nHello, Bob");
}

#[test]
fn who_says_a_line_once_more_says_it() {
    // With the words of the question, and of one before.
    let turns = [
        ("aa\r", "aa\r\nname: aa\r\nname: "),
        ("bb\r", "bb\r\nname: bb\r\nname: "),
        ("aa\r", "aa\r\nname: aa\r\nname: "),
    ];
    check_typed("name: ", &turns, Echo::Terminal, "\nname: aa\nname:");
    let turns = [("make all\r", "make all\r\n$ "), ("say\r", "say\r\n$ make all\r\n$ ")];
    check_typed("$ ", &turns, Echo::Program, "\n$ make all\n$");
    // A program that quotes is no line editor, if none was seen.
    let mut screen = Screen::new("40x10".parse().unwrap(), Options::default());
    let mut marks = Marks::default();
    marks.add(Mark::now(&screen, b"aa\r", Echo::Terminal), &screen);
    screen.feed(b"aa\r\n> aa\r\n");
    assert_eq!(marks.find(None).output(&screen).trim_end(), "\n> aa");
}

#[test]
fn what_is_looked_for_among_earlier_lines_is_an_echo() {
    let found = "\r(reverse-i-search)`mak': make all";
    let turns = [("make all\r", "make all\r\n$ "), ("\x12mak", found)];
    check_typed("$ ", &turns, Echo::Program, "(reverse-i-search)`mak':");
    // Also if it is older than anything that is remembered here.
    let entered = "\r$ make all of it\x1b[K\r\nmade\r\n";
    let turns = [
        ("true\r", "true\r\n$ "),
        ("\x12", "\r(reverse-i-search)`': "),
        ("mak", found),
        ("\r", entered),
    ];
    check_typed("$ ", &turns, Echo::Program, "$ \nmade");
}

#[test]
fn a_right_prompt_does_not_show_what_it_stands_behind() {
    let turns = [
        ("X1 X2", "X1 X2               right\x1b[20D"),
        ("\x01", "\r\x1b[2C"),
        ("say \r", "say X1 X2           right\r\nhi\r\n"),
    ];
    check_typed("% ", &turns, Echo::Program, "           right\nhi");
    let turns = [turns[0], ("\x01say \r", "\r\x1b[2Csay X1 X2           right\r\nhi\r\n")];
    check_typed("% ", &turns, Echo::Program, "           right\nhi");
}

#[test]
fn no_more_is_remembered_than_there_is_room_for() {
    let mut screen = Screen::new("40x10".parse().unwrap(), Options::default());
    let mut marks = Marks::default();
    for _ in 0..3 * MAX_MARKS {
        let typed = "x".repeat(MAX_TYPED / 2) + "\r";
        marks.add(Mark::now(&screen, typed.as_bytes(), Echo::Terminal), &screen);
        screen.feed(b"y");
    }
    let remembered: usize = marks.marks.iter().map(Mark::size).sum();
    assert!(remembered <= MAX_REMEMBERED && !marks.marks.is_empty(), "{remembered}");
}

/// What is typed and printed, of all that the marks look at.
fn pieces() -> impl proptest::strategy::Strategy<Value = Vec<&'static str>> {
    let all = [
        "a",
        "b c",
        "漢",
        "é",
        "e\u{301}",
        "\u{3000}",
        "\u{85}",
        "👨\u{200d}👩",
        "\t",
        " ",
        "\r",
        "\n",
        "\r\n",
        "\x7f",
        "\x1b[D",
        "\x1b[C",
        "\x1b[H",
        "\x1b[A",
        "\x01",
        "\x05",
        "\x15",
        "\x17",
        "\x0b",
        "\x04",
        "\x1b",
        "\x1b[",
        "\x1b[200~",
        "\x1b[201~",
        "$ ",
        "# ",
        "\x1b[K",
        "\x1b[2J\x1b[H",
        "\x1b[@",
        "\x1b]133;A\x07",
        "\x1b]133;B\x07",
        "\x1b]133;C\x07",
        "x123456789x123456789x123456789x123456789",
    ];
    proptest::collection::vec(proptest::sample::select(all.to_vec()), 0..40)
}

proptest::proptest! {
    #[test]
    fn nothing_that_is_typed_or_printed_is_too_much(
        turns in proptest::collection::vec((pieces(), pieces(), proptest::bool::ANY), 1..8),
        long in 0_usize..1600,
    ) {
        let mut screen = Screen::new("12x5".parse().unwrap(), Options::default());
        let mut marks = Marks::default();
        let mut wait = Mark::beginning();
        for (index, (typed, printed, echoed)) in turns.iter().enumerate() {
            let typed = typed.concat() + &"y漢z".repeat(long / 4);
            let echo = if *echoed { Echo::Terminal } else { Echo::Program };
            let mark = Mark::now(&screen, typed.as_bytes(), echo);
            wait.also_typed(&mark);
            marks.add(mark, &screen);
            let echoed = if *echoed { typed.as_str() } else { "" };
            screen.feed(format!("{echoed}{}", printed.concat()).as_bytes());
            let mut mark = marks.find(None);
            let output = mark.output(&screen);
            wait.output(&screen);
            mark.advance(&screen);
            let later = mark.output(&screen);
            proptest::prop_assert!(output.len() < 1 << 20 && later.len() < 1 << 20);
            if index % 2 == 0 {
                wait = mark;
            }
        }
    }
}

fn prompts() -> impl proptest::strategy::Strategy<Value = &'static str> {
    proptest::sample::select(vec!["", "$ ", "> ", "Name: ", "~/src ❯ ", "1> "])
}

/// What somebody types, of letters that take one cell, two or none.
fn words() -> impl proptest::strategy::Strategy<Value = String> {
    let words = [
        "ls",
        "-la",
        "漢字",
        "e\u{301}",
        "a b",
        "--",
        "$HOME",
        "> x",
        "# y",
        "\"q\"",
        "0123456789",
    ];
    let some = proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..8);
    proptest::strategy::Strategy::prop_map(some, |words| words.join(" "))
}

proptest::proptest! {
    /// Somebody types, all at once or key by key; that is shown, and a program answers, also in the words that it was told.
    #[test]
    fn an_answer_is_seen_and_what_was_typed_is_not(
        (cols, rows) in (16_u16..60, 3_u16..9),
        echo in proptest::sample::select(vec![Echo::Terminal, Echo::Program]),
        turns in proptest::collection::vec((prompts(), words(), 0..8_u8, 0..4_usize), 1..9),
    ) {
        let mut screen = Screen::new(format!("{cols}x{rows}").parse().unwrap(), Options::default());
        let mut marks = Marks::default();
        for (index, (prompt, words, how, more)) in turns.iter().enumerate() {
            let (typed, answer) = (format!("IN{index} {words}"), format!("OUT{index}"));
            screen.feed(prompt.as_bytes());
            let mut press = |screen: &mut Screen, keys: &str| {
                marks.add(Mark::now(screen, keys.as_bytes(), echo), screen);
                screen.feed(keys.replace('\r', "\r\n").as_bytes());
                marks.find(None).output(screen)
            };
            let shown = match how & 4 {
                0 => press(&mut screen, &format!("{typed}\r")),
                _ => {
                    typed.chars().for_each(|key| drop(press(&mut screen, key.encode_utf8(&mut [0; 4]))));
                    press(&mut screen, "\r")
                }
            };
            proptest::prop_assert!(!shown.contains("IN"), "{shown:?} of {typed:?}");
            let answer = match how & 3 {
                0 => answer,
                1 => format!("you said IN{index}: {answer}"),
                2 => format!("{answer} {typed}"),
                _ => format!("{answer}\r\n{typed}"),
            };
            screen.feed(format!("{answer}\r\n{}", "more\r\n".repeat(*more)).as_bytes());
            let output = marks.find(None).output(&screen);
            let expected = answer.replace('\r', "");
            proptest::prop_assert!(output.contains(expected.trim_end()), "{output:?} lacks {expected:?}");
            let said = usize::from(how & 3 > 0);
            proptest::prop_assert_eq!(output.matches("IN").count(), said, "{:?}", output);
        }
    }
}
