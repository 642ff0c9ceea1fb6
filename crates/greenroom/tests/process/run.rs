//! `run`: a program with its input and output here, as in any pipe.

use std::io::{Read as _, Write as _};
use std::process::{Command, Output, Stdio};

use greenroom_testkit::{Home, LINE, Lines, count, line, session_list};

use serde_json::json;

use crate::support::{call, home, wait_for_text};

fn command(home: &Home, script: &str) -> Command {
    let mut command = home.command(["run", "--", "sh", "-c", script]);
    command.stdin(Stdio::null());
    command
}

fn run(home: &Home, script: &str) -> Output {
    command(home, script).output().unwrap()
}

#[test]
fn the_exit_code_is_that_of_the_program() {
    let home = home();
    let _daemon = home.start();
    for (script, code) in [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137), ("exit 255", 255)] {
        let output = run(&home, script);
        assert_eq!(output.status.code(), Some(code), "{script}: {output:?}");
    }
    let output = home.command(["run", "--", "/no/such/program"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(session_list(&mut home.connect(), true).is_empty(), "nothing is kept of them");
}

#[test]
fn what_is_printed_to_a_pipe_comes_out_as_it_is() {
    let home = home();
    let _daemon = home.start();
    // No UTF-8, questions, the clipboard, a title without an end: nothing that a terminal would get.
    let printed =
        b"A\xff\xfe\x80caf\xe9\x1b[6nQ\x1b]52;c;aGk=\x07X\x1b[cY\x1bPq#0\x1b\\\xc3(\x1b]2;t";
    std::fs::write(home.path().join("printed"), printed).unwrap();
    let output = run(&home, &format!("stty raw -echo; cat '{}/printed'", home.path().display()));
    assert_eq!(output.stdout.escape_ascii().to_string(), printed.escape_ascii().to_string());
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn what_is_read_here_is_typed_there() {
    let home = home();
    let _daemon = home.start();
    let script = "stty -echo; while read line; do echo got $line; done; echo end";
    let mut command = home.command(["run", "--", "sh", "-c", script]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"one\ntwo\n").unwrap();
    drop(input);
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    // What was typed before the echo was off may be shown.
    assert!(text.ends_with("got one\r\ngot two\r\nend\r\n"), "{text:?}");
}

#[test]
fn output_through_a_pipe_is_whole_although_the_daemon_is_killed() {
    let home = home();
    let mut daemon = home.start();
    let total = count(100_000, 2_000_000) as u64;
    let script = format!("stty -onlcr; seq -f '{LINE}' 1 {total}; exit 5");
    let mut child = command(&home, &script).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = child.stdout.take().unwrap();
    let (mut lines, mut buffer, mut killed) = (Lines::default(), vec![0; 64 << 10], 0);
    loop {
        let count = output.read(&mut buffer).unwrap();
        if count == 0 {
            break;
        }
        lines.feed(&buffer[..count]);
        if killed < 5 && lines.count() > total * (killed + 1) / 6 {
            daemon.restart(&home);
            killed += 1;
        }
    }
    assert_eq!((lines.count(), lines.begun().len()), (total, 0));
    assert_eq!(lines.bytes(), total * (line(1).len() as u64 + 1));
    assert_eq!(killed, 5);
    assert_eq!(child.wait().unwrap().code(), Some(5));
}

#[test]
fn a_fast_program_loses_nothing_on_its_way() {
    let home = home();
    let _daemon = home.start();
    for round in 0..count(20, 1_000) {
        let output = run(&home, &format!("seq 1 500; printf last-{round}; exit 3"));
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let numbers: String = (1..=500).map(|number| format!("{number}\r\n")).collect();
        assert_eq!(text, format!("{numbers}last-{round}"), "round {round}");
    }
}

#[test]
fn who_is_stopped_in_the_background_of_a_terminal_can_be_ended() {
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    // A shell with jobs, whose background has no right to the terminal.
    let made = json!({"name": "jobs", "argv": ["bash", "--norc", "--noprofile"], "cols": 120, "rows": 24,
        "env": {"PS1": "jobs> ", "GREENROOM_HOME": home.path()}});
    call(&mut connection, "session.create", made);
    let mut step = |text: String, wanted: &str| {
        let typed = json!({"sessionId": "jobs", "text": text, "enter": true});
        call(&mut connection, "session.send", typed);
        wait_for_text(&mut connection, "jobs", wanted);
    };
    let program = env!("CARGO_BIN_EXE_greenroom");
    step(format!("{program} run -- sleep 600 &"), "[1]");
    step("until jobs %1 | grep Stopped; do sleep .01; done; echo is-$?".to_owned(), "is-0");
    step(
        "kill %1; while kill -0 $!; do sleep .01; done 2>/dev/null; echo over-$?".to_owned(),
        "over-0",
    );
    step("stty | grep -e -icanon; echo cooked-$?".to_owned(), "cooked-1");
}

#[test]
fn a_terminal_of_somebody_else_stops_nobody() {
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    let tty = home.path().join("tty");
    let script = format!("tty > '{}'; exec sleep 600", tty.display());
    for (name, argv) in [
        ("elsewhere", json!(["sh", "-c", script])),
        ("jobs", json!(["bash", "--norc", "--noprofile"])),
    ] {
        let made = json!({"name": name, "argv": argv, "env": {"GREENROOM_HOME": home.path()}});
        call(&mut connection, "session.create", made);
    }
    // Its shell has jobs and a terminal, which is not the one that is typed on.
    let program = env!("CARGO_BIN_EXE_greenroom");
    let line = format!(
        "until test -s '{tty}'; do sleep .01; done; {program} run -- sh -c 'exit 3' <$(cat '{tty}'); echo code-$?",
        tty = tty.display()
    );
    let typed = json!({"sessionId": "jobs", "text": line, "enter": true});
    call(&mut connection, "session.send", typed);
    wait_for_text(&mut connection, "jobs", "code-3");
}
