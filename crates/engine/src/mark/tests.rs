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
    let mut screen = Screen::new("40x10".parse().unwrap(), Options::default());
    let mut marks = Marks::default();
    screen.feed(before.as_bytes());
    for (typed, after) in turns {
        marks.add(Mark::now(&screen, typed.as_bytes(), echo), &screen);
        screen.feed(after.as_bytes());
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
    let turns = [("true\r", one), ("x\r", "x\r\n"), ("echo hi\r", two)];
    check_typed("fish folder ", &turns, Echo::Terminal, "\nfish folder \nhi");
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
    assert_eq!(marks.find(None).edited, [""; 0]);
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
