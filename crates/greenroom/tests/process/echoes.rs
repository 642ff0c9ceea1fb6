//! Waits beside real shells: what they show of what was typed is no answer to it.

use greenroom_client::{Connection, ErrorKind};
use greenroom_testkit::{Home, count};
use serde_json::{Value, json};

use crate::support::{call, enter, home};

/// How long nothing must come for it to be certain that nothing does, in milliseconds.
const NOTHING_MS: u64 = 200;

/// Shells that edit lines by themselves, without the files of who runs the test.
const SHELLS: [&[&str]; 2] = [&["bash", "--norc", "--noprofile"], &["zsh", "-f"]];

fn wait(connection: &mut Connection, wanted: &Value, timeout_ms: u64) -> bool {
    let params = json!({"sessionId": "shell", "for": wanted, "timeoutMs": timeout_ms});
    match connection.call("session.wait", &params) {
        Ok(_) => true,
        Err(error) if error.kind() == ErrorKind::Timeout => false,
        Err(error) => panic!("waiting for {wanted}: {error}"),
    }
}

/// Sees to it that nothing holds for a while; tells what was seen if something does.
#[track_caller]
fn is_no_answer(connection: &mut Connection, text: &str, within_ms: u64) {
    let wanted = json!({"text": text});
    let params = json!({"sessionId": "shell", "for": wanted, "timeoutMs": within_ms});
    match connection.call("session.wait", &params) {
        Ok(found) => {
            let shown = call(connection, "session.read", json!({"sessionId": "shell"}));
            panic!("{text}: {found}\nand then: {shown}");
        }
        Err(error) => assert_eq!(error.kind(), ErrorKind::Timeout, "{text}: {error}"),
    }
}

/// A shell that is ready.
fn shell(home: &Home, argv: &[&str]) -> Connection {
    let mut connection = home.connect();
    let made = json!({"name": "shell", "argv": argv, "cols": 80, "rows": 24,
        "env": {"PS1": "shell> ", "HOME": home.path()}});
    call(&mut connection, "session.create", made);
    // With the blank that a prompt ends with, which the screen shows nothing of.
    let ready =
        json!({"sessionId": "shell", "for": {"text": "shell> "}, "after": 0, "timeoutMs": 25_000});
    call(&mut connection, "session.wait", ready);
    // And what it prints behind that, when it has begun to read: before, a paste is typed line by line.
    let rest = json!({"sessionId": "shell", "for": {"idle": NOTHING_MS}, "timeoutMs": 25_000});
    call(&mut connection, "session.wait", rest);
    connection
}

/// Types a line; gives where the output stood.
fn send(connection: &mut Connection, text: &str) -> Value {
    let typed = json!({"sessionId": "shell", "text": text, "enter": true});
    call(connection, "session.send", typed)["offset"].clone()
}

/// Lines are pasted, of which the first one's command prints `after-…` a moment after Enter.
fn paste(argv: &[&str]) {
    let home = home();
    let _daemon = home.start();
    let mut connection = shell(&home, argv);
    for round in 0..count(3, 30) {
        // Enough to be drawn in several rows, and to wrap.
        let long = "x".repeat(100);
        let text = format!(
            "read go; echo after-$go-{round}\necho second-{round} {long}\necho third-{round}"
        );
        let paste = json!({"sessionId": "shell", "text": text, "paste": true});
        call(&mut connection, "session.send", paste);
        let shown = json!({"text": format!("echo third-{round}"), "in": "screen"});
        let shown = json!({"sessionId": "shell", "for": shown, "after": 0, "timeoutMs": 25_000});
        call(&mut connection, "session.wait", shown);
        enter(&mut connection, "shell");
        // The shell draws the lines once more, without the colours of a paste, and waits.
        for echo in [format!("second-{round}"), format!("third-{round}"), "echo after".to_owned()] {
            let is_answer = wait(&mut connection, &json!({"text": echo}), NOTHING_MS);
            assert!(!is_answer, "{argv:?}, round {round}: `{echo}` is an echo");
        }
        let offset =
            call(&mut connection, "session.send", json!({"sessionId": "shell", "text": "now\n"}));
        let wanted = json!({"all": [{"text": format!("after-now-{round}")},
            {"text": format!("third-{round}")}]});
        let answer = json!({"sessionId": "shell", "for": wanted, "after": offset["offset"], "timeoutMs": 25_000});
        call(&mut connection, "session.wait", answer);
        let rest = json!({"sessionId": "shell", "for": {"idle": 50}, "timeoutMs": 25_000});
        call(&mut connection, "session.wait", rest);
    }
}

#[test]
fn what_a_shell_draws_again_of_a_paste_is_no_answer() {
    SHELLS.into_iter().for_each(paste);
}

#[test]
fn another_size_shows_nothing_that_was_not_printed() {
    for argv in SHELLS {
        let home = home();
        let _daemon = home.start();
        let mut connection = shell(&home, argv);
        send(&mut connection, "echo BUILD_''OK");
        assert!(wait(&mut connection, &json!({"text": "BUILD_OK"}), 25_000));
        let after = send(&mut connection, "read go; echo BUILD_$go");
        let built = json!({"regex": "BUILD_(OK|FAILED)"});
        for cols in [100, 50, 80] {
            let size = json!({"sessionId": "shell", "cols": cols, "rows": 24});
            call(&mut connection, "session.resize", size);
            assert!(!wait(&mut connection, &built, NOTHING_MS), "{argv:?} at {cols} columns");
        }
        send(&mut connection, "FAILED");
        let params =
            json!({"sessionId": "shell", "for": built, "after": after, "timeoutMs": 25_000});
        let answer = call(&mut connection, "session.wait", params);
        assert!(answer.to_string().contains("BUILD_FAILED"), "{answer}");
    }
}

#[test]
fn what_is_drawn_in_the_place_of_what_was_typed_is_an_answer() {
    for argv in SHELLS {
        let home = home();
        let _daemon = home.start();
        let mut connection = shell(&home, argv);
        send(&mut connection, "clear; echo BUILD_''OK");
        assert!(wait(&mut connection, &json!({"text": "BUILD_OK"}), 25_000), "{argv:?}");
        send(
            &mut connection,
            "stty -echo; printf 'Working  10%%'; read -r x; printf '\\rWorking 100%%'; read -r x",
        );
        assert!(wait(&mut connection, &json!({"text": "10%"}), 25_000), "{argv:?}");
        send(&mut connection, "on");
        assert!(wait(&mut connection, &json!({"text": "100%"}), 25_000), "{argv:?}");
    }
}

/// Types pieces, each once the one before is shown, and presses Enter; nothing of it is an answer, and what the
/// command says afterwards is.
fn edit(argv: &[&str], pieces: &[(&str, &str)], echoes: &[&str]) {
    let home = home();
    let _daemon = home.start();
    let mut connection = shell(&home, argv);
    for (typed, shown) in pieces {
        call(&mut connection, "session.send", json!({"sessionId": "shell", "text": typed}));
        let shown = json!({"text": shown, "in": "screen"});
        assert!(wait(&mut connection, &shown, 25_000), "{argv:?}: {typed:?} is not shown");
        for echo in echoes {
            let is_answer = wait(&mut connection, &json!({"text": echo}), NOTHING_MS);
            assert!(!is_answer, "{argv:?} at {typed:?}: `{echo}` is an echo");
        }
    }
    let after = call(&mut connection, "session.send", json!({"sessionId": "shell", "text": "\r"}));
    for echo in echoes {
        let is_answer = wait(&mut connection, &json!({"text": echo}), NOTHING_MS);
        assert!(!is_answer, "{argv:?} at Enter: `{echo}` is an echo");
    }
    send(&mut connection, "now");
    let answer = json!({"sessionId": "shell", "for": {"text": "after-now"},
        "after": after["offset"], "timeoutMs": 25_000});
    call(&mut connection, "session.wait", answer);
}

#[test]
fn what_is_typed_into_the_middle_of_a_line_is_no_answer() {
    for argv in SHELLS {
        let pieces = [
            ("read go; echo TAIL; echo after-$go", "after-$go"),
            // To the beginning of the line, by the key that both know.
            ("\x01", "read"),
            ("echo HEAD; ", "HEAD; read"),
        ];
        edit(argv, &pieces, &["TAIL;", "HEAD;"]);
        edit(argv, &[("echo TAIL; echo after-$go\x01read go; ", "read go; echo TAIL")], &["TAIL;"]);
    }
}

#[test]
fn wide_characters_and_tabs_are_no_answer() {
    for argv in SHELLS {
        let wide = format!("read go; : x{} END; echo after-$go", "漢".repeat(60));
        edit(argv, &[(&wide, "END; echo")], &["END;", "漢"]);
        let tab = "\x1b[200~read go;\techo after-$go; : END\x1b[201~";
        edit(argv, &[(tab, "END")], &["END", "after-$"]);
    }
}

#[test]
fn a_very_long_line_is_no_answer() {
    for argv in SHELLS {
        let long = format!("read go; : {} END; echo after-$go", "x".repeat(20_000));
        edit(argv, &[(&long, "END; echo")], &["END;", "xxx"]);
    }
}

#[test]
fn an_answer_behind_what_may_end_a_prompt_is_heard() {
    for argv in SHELLS {
        let home = home();
        let _daemon = home.start();
        let mut connection = shell(&home, argv);
        for (said, wanted) in [("item # $go", "item # 42"), ("-> $go", "-> 42"), ("# $go", "# 42")]
        {
            send(&mut connection, &format!("read go; echo \"{said}\"; echo ''"));
            // The answer is typed while nothing else is in its row.
            let reads = json!({"idle": 50});
            assert!(wait(&mut connection, &reads, 25_000));
            send(&mut connection, "42");
            assert!(wait(&mut connection, &json!({"text": wanted}), 25_000), "{argv:?}: {wanted}");
        }
    }
}

#[test]
fn a_part_of_a_line_and_one_beside_a_right_prompt_are_no_answers() {
    let home = home();
    let _daemon = home.start();
    let mut connection = shell(&home, &["zsh", "-f"]);
    send(&mut connection, "RPS1=RIGHT");
    send(&mut connection, "sleep 0.3");
    send(&mut connection, "true ZEBRA");
    is_no_answer(&mut connection, "ZEBRA", 2 * NOTHING_MS + 300);
    let size = json!({"sessionId": "shell", "cols": 40, "rows": 6});
    call(&mut connection, "session.resize", size);
    send(&mut connection, &format!("true {}ZEBRA", "x".repeat(400)));
    is_no_answer(&mut connection, "ZEBRA", 2 * NOTHING_MS);
}
