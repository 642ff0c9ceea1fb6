//! Keys that go into the session's terminal by themselves, and their echo: with a daemon that stands
//! still, with daemons that come and go, and in order with what goes through one.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use greenroom_client::Event;
use greenroom_testkit::{Home, Signal, create, eventually};
use serde_json::json;

use crate::support::{call, home, screen, wait_for_text};
use crate::terminal::Terminal;

/// Sends every key back, as it is.
const ECHOES: &str = "stty raw -echo; printf ready; exec cat";

/// Whether a process has been lent a session's terminal.
pub(crate) fn is_lent(pid: u32) -> bool {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let links = descriptors.filter_map(|it| fs::read_link(it.ok()?.path()).ok());
    links.into_iter().any(|it| it.to_string_lossy().contains("greenroom-keys"))
}

/// How long a client that was told no has not asked again, for certain.
const ASKS_AGAIN: Duration = Duration::from_secs(2);

/// Attaches to a session that shows `ready`, and types until its terminal is lent.
fn attached(home: &Home, name: &str) -> Terminal {
    wait_for_text(&mut home.connect(), name, "ready");
    let mut terminal = Terminal::start(home, "80x24", &["attach", name]);
    terminal.shows("ready");
    terminal.press(b"!");
    terminal.shows("!");
    let mut pressed = Instant::now();
    eventually("the terminal is lent", || {
        if pressed.elapsed() > ASKS_AGAIN {
            // Shows nothing, and makes the client ask again: the daemon may not have been ready to lend it.
            terminal.press(b"\0");
            pressed = Instant::now();
        }
        is_lent(terminal.pid())
    });
    terminal
}

#[test]
fn a_key_is_echoed_though_the_daemon_stands_still() {
    let home = home();
    let daemon = home.start();
    create(&mut home.connect(), "echoes", ECHOES);
    let mut terminal = attached(&home, "echoes");
    daemon.signal(Signal::STOP);
    for key in ["one", " two", " three"] {
        terminal.press(key.as_bytes());
        terminal.shows(key);
    }
    daemon.signal(Signal::CONT);
    let mut connection = home.connect();
    wait_for_text(&mut connection, "echoes", "ready!one two three");
    terminal.press(b" four");
    terminal.shows("ready!one two three four");
    wait_for_text(&mut connection, "echoes", "ready!one two three four");
}

#[test]
fn every_key_once_over_many_daemons() {
    let home = home();
    let mut daemon = home.start();
    create(&mut home.connect(), "echoes", ECHOES);
    let mut terminal = attached(&home, "echoes");
    // From a line's beginning, so that no word is cut at its end.
    terminal.press(b"\r\n");
    let mut typed = String::from("ready!");
    for key in 0..240 {
        let word = format!("{key:03} ");
        terminal.press(word.as_bytes());
        typed.push_str(&word);
        if key % 30 == 7 {
            // While the echo of this one may be anywhere.
            daemon.restart(&home);
        }
        terminal.shows(word.trim_end());
    }
    let words = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(words(&terminal.screen.text()), words(&typed));
    // The terminal may show what the daemon has not heard of yet.
    wait_for_text(&mut home.connect(), "echoes", "239");
    assert_eq!(words(&screen(&mut home.connect(), "echoes")), words(&typed));
}

#[test]
fn what_the_terminal_does_not_take_at_once_stays_in_order() {
    let home = home();
    let _daemon = home.start();
    let go = home.path().join("go");
    let made = std::process::Command::new("mkfifo").arg(&go).status();
    assert!(made.is_ok_and(|it| it.success()));
    // It echoes one key, reads nothing for a while, and then all.
    let script = format!("stty raw -echo; printf ready; head -c 1; : < {}; exec cat", go.display());
    create(&mut home.connect(), "slow", &script);
    let mut terminal = attached(&home, "slow");
    terminal.written.clear();
    // More than a terminal takes: the first goes into it, the rest waits in the daemon.
    let typed: String = (0..8000).map(|number| format!("{number:07}\n")).collect();
    let (mut left, mut opened) = (typed.as_bytes(), false);
    eventually("everything was typed and came back", || {
        left = &left[terminal.press_some(left)..];
        if typed.len() - left.len() > 16 << 10 && !opened {
            // Both ends open each other; the other one does not stay to read anything.
            drop(fs::OpenOptions::new().write(true).open(&go).unwrap());
            opened = true;
        }
        terminal.look();
        // What made the client ask again may come back as well.
        terminal.written.retain(|&byte| byte != 0);
        terminal.written.len() >= typed.len()
    });
    assert!(terminal.written == typed.as_bytes(), "not in order");
    // And then it is lent again.
    terminal.press(b"x");
    terminal.shows("x");
    eventually("the terminal is lent again", || is_lent(terminal.pid()));
}

#[test]
fn who_waits_knows_what_was_typed_alone() {
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    // A shell's echo, by the terminal itself; it waits for a line before it answers.
    create(
        &mut connection,
        "asks",
        "printf ready; read a; read line; echo answer-is-$line; read b",
    );
    wait_for_text(&mut connection, "asks", "ready");
    let mut terminal = Terminal::start(&home, "80x24", &["attach", "asks"]);
    terminal.shows("ready");
    terminal.press(b"!\r");
    terminal.shows("!");
    eventually("the terminal is lent", || is_lent(terminal.pid()));
    terminal.press(b"forty-two\r");
    terminal.shows("answer-is-forty-two");
    let wait =
        |regex: &str| json!({"sessionId": "asks", "for": {"regex": regex}, "timeoutMs": 300});
    call(&mut connection, "session.wait", wait("answer-is-forty"));
    // The daemon is told a moment after.
    let echo = &wait("(?m)^forty");
    eventually("the echo is no answer", || connection.call("session.wait", echo).is_err());
}

#[test]
fn who_asks_badly_for_a_terminal_is_told_no_and_nothing_else_happens() {
    let home = home();
    let _daemon = home.start();
    create(&mut home.connect(), "echoes", ECHOES);
    let mut terminal = attached(&home, "echoes");
    let long = format!("{}\n", "x".repeat(100_000));
    let strange = r#"{"sessionId":"echoes","streamId":"stream-999","typed":0}"#;
    let wrong = r#"{"sessionId":7,"streamId":[],"typed":-1}"#;
    for line in ["\n", "no json\n", "[1,2]\n", strange, wrong, &long] {
        let mut socket = UnixStream::connect(home.path().join("run/tap.sock")).unwrap();
        // It need not be read to its end.
        socket.write_all(line.as_bytes()).unwrap_or_default();
        socket.shutdown(Shutdown::Write).unwrap_or_default();
        let mut answer = Vec::new();
        let read = socket.read_to_end(&mut answer);
        assert!(read.is_err() || answer == b"-", "{line:.60}: {answer:?}");
    }
    terminal.press(b" still here");
    terminal.shows("ready! still here");
}

#[test]
fn who_only_watches_is_lent_nothing() {
    let home = home();
    let _daemon = home.start();
    create(&mut home.connect(), "echoes", ECHOES);
    let mut typist = attached(&home, "echoes");
    let mut watcher = Terminal::start(&home, "80x24", &["attach", "--read-only", "echoes"]);
    watcher.shows("ready!");
    watcher.press(b"not this");
    for word in ["some", " words", " more"] {
        typist.press(word.as_bytes());
        typist.shows(word);
        watcher.shows(word);
    }
    assert_eq!(watcher.screen.text(), typist.screen.text());
    assert!(!is_lent(watcher.pid()));
}

/// Prints what it is sent, a line at a time, and not before.
const REPEATS: &str = r#"stty -echo; echo ready; while read line; do echo "got-$line-end"; done"#;

#[test]
fn every_line_once_though_daemons_die_while_they_look_for_it() {
    const LINES: usize = 60;
    let home = home();
    let mut daemon = home.start();
    let mut connection = home.connect();
    create(&mut connection, "repeats", REPEATS);
    wait_for_text(&mut connection, "repeats", "ready");
    for line in 0..LINES {
        // The first wait asks for the pipe, the next ones look.
        let wait = json!({"sessionId": "repeats", "for": {"text": format!("got-{line}-end")}});
        connection.start("session.wait", &wait).unwrap();
        let send = json!({"sessionId": "repeats", "text": format!("{line}\n")});
        call(&mut connection, "session.send", send);
        if line % 6 == 5 {
            // It may be anywhere.
            daemon.restart(&home);
            connection = home.connect();
        }
        wait_for_text(&mut connection, "repeats", &format!("got-{line}-end"));
    }
    let read = json!({"sessionId": "repeats", "what": "all"});
    let text = call(&mut connection, "session.read", read)["text"].to_string();
    let found = text.matches("got-").count();
    assert_eq!(found, LINES, "{text}");
}

#[test]
fn a_program_goes_on_though_the_daemon_was_stopped_while_it_looked() {
    let home = home();
    let daemon = home.start();
    let mut connection = home.connect();
    let (go, done) = (home.path().join("go"), home.path().join("done"));
    let made = std::process::Command::new("mkfifo").arg(&go).status();
    assert!(made.is_ok_and(|it| it.success()));
    let script =
        format!("echo ready; : < {}; seq 100000; : > {}; read x", go.display(), done.display());
    create(&mut connection, "prints", &script);
    wait_for_text(&mut connection, "prints", "ready");
    let wait = json!({"sessionId": "prints", "for": {"text": "100000"}});
    let wait = connection.start("session.wait", &wait).unwrap();
    eventually("the daemon has the session's pipe", || is_lent(daemon.pid()));
    // When this is answered it has begun to look.
    call(&mut connection, "session.read", json!({"sessionId": "prints"}));
    daemon.signal(Signal::STOP);
    drop(fs::OpenOptions::new().write(true).open(&go).unwrap());
    eventually("all is printed", || done.exists());
    daemon.signal(Signal::CONT);
    eventually("the wait is answered", || {
        connection.receive().unwrap();
        matches!(connection.next_event().unwrap(), Some(Event::Answer { id, .. }) if id == wait)
    });
}
