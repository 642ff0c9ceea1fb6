//! `attach` on a person's terminal: repaint, keys, sizes, ends, and daemons that come and go.

use greenroom_testkit::{LINE, Lines, Signal, create, eventually, eventually_ok};
use serde_json::json;

use crate::support::{call, home, screen, wait_for_text};
use crate::terminal::Terminal;

/// The key that detaches unless another one is configured: ctrl+\.
const DETACH: &[u8] = b"\x1c";

/// Prints what is typed to it, and its size whenever that changes.
const TALKS: &str = "trap 'stty size' WINCH; stty -echo; \
    printf '\\033]2;the title\\007\\033[31mred\\033[m and plain\\n'; \
    while :; do read line && echo got-$line; done";

#[test]
fn a_session_is_shown_typed_into_and_left() {
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    create(&mut connection, "talks", TALKS);
    wait_for_text(&mut connection, "talks", "and plain");
    let mut terminal = Terminal::start(&home, "80x24", &["attach", "talks"]);
    terminal.shows("red and plain");
    assert_eq!(terminal.screen.title(), "the title");
    let styled = json!({"sessionId": "talks", "styled": true, "lines": 1});
    let styled = call(&mut connection, "session.read", styled)["text"].as_str().unwrap().to_owned();
    let top = terminal.screen.top_row();
    assert!(styled.contains("31m"), "{styled:?}");
    assert!(terminal.screen.styled(top..top + 1).starts_with(styled.trim_end().as_bytes()));
    terminal.press(b"hello\r");
    terminal.shows("got-hello");
    assert_eq!(terminal.screen.text(), screen(&mut connection, "talks"), "the same for both");

    terminal.press(DETACH);
    assert_eq!(terminal.end(), 0);
    assert!(terminal.screen.text().contains("[detached from talks"), "{}", terminal.screen.text());
    assert!(!terminal.screen.is_alternate());
    let info = call(&mut connection, "session.info", json!({"sessionId": "talks"}));
    assert_eq!((&info["state"], &info["attachedClients"]), (&"running".into(), &0.into()));

    // Who comes back sees what was there.
    let mut terminal = Terminal::start(&home, "80x24", &["attach", "talks"]);
    terminal.shows("got-hello");
    terminal.shows("red and plain");
}

#[test]
fn the_session_follows_the_size_of_the_terminal() {
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    create(&mut connection, "talks", TALKS);
    wait_for_text(&mut connection, "talks", "and plain");
    let mut terminal = Terminal::start(&home, "100x30", &["attach", "talks"]);
    terminal.shows("30 100");
    for (size, shown) in [("70x20", "20 70"), ("132x43", "43 132")] {
        terminal.resize(size);
        terminal.shows(shown);
    }
    let info = call(&mut connection, "session.info", json!({"sessionId": "talks"}));
    assert_eq!((&info["cols"], &info["rows"]), (&132.into(), &43.into()));
}

#[test]
fn who_only_watches_neither_types_nor_sizes() {
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    create(&mut connection, "talks", TALKS);
    wait_for_text(&mut connection, "talks", "and plain");
    let mut watcher = Terminal::start(&home, "60x15", &["attach", "--read-only", "talks"]);
    watcher.shows("red and plain");
    watcher.press(b"not this\r");
    watcher.resize("50x10");
    call(&mut connection, "session.send", json!({"sessionId": "talks", "text": "but this\n"}));
    watcher.shows("got-but this");
    let shown = screen(&mut connection, "talks");
    assert_eq!(shown, "red and plain\ngot-but this");
    let info = call(&mut connection, "session.info", json!({"sessionId": "talks"}));
    assert_eq!((&info["cols"], &info["rows"]), (&80.into(), &24.into()));
    watcher.press(DETACH);
    assert_eq!(watcher.end(), 0);
}

#[test]
fn the_end_of_a_session_shows_its_status() {
    let home = home();
    let _daemon = home.start();
    for (script, shown) in [("exit 3", "ended: exit 3"), ("kill -9 $$", "ended: signal 9")] {
        let script = format!("stty -echo; echo up; read go; echo last words; {script}");
        let session = create(&mut home.connect(), "ends", &script);
        let target = session["number"].to_string();
        let mut terminal = Terminal::start(&home, "80x24", &["attach", &target]);
        terminal.shows("up");
        terminal.press(b"\r");
        terminal.end();
        let text = terminal.screen.text();
        assert!(text.contains(shown) && text.contains("last words"), "{text}");
    }
}

#[test]
fn two_people_see_the_same() {
    let home = home();
    let _daemon = home.start();
    create(&mut home.connect(), "talks", TALKS);
    wait_for_text(&mut home.connect(), "talks", "and plain");
    let mut one = Terminal::start(&home, "80x24", &["attach", "talks"]);
    one.shows("red and plain");
    let mut other = Terminal::start(&home, "80x24", &["attach", "talks"]);
    other.shows("red and plain");
    one.press(b"from one\r");
    other.shows("got-from one");
    other.press(b"from the other\r");
    one.shows("got-from the other");
    other.shows("got-from the other");
    assert_eq!(one.screen.text(), other.screen.text());
}

#[test]
fn an_attached_terminal_survives_daemons_without_losing_or_repeating_a_byte() {
    let home = home();
    let mut daemon = home.start();
    let (chunks, chunk) = (60, 200);
    let script = format!(
        "stty -echo -onlcr; echo ready; read go; i=0; while [ $i -lt {chunks} ]; do \
         seq -f '{LINE}' $((i*{chunk}+1)) $(((i+1)*{chunk})); i=$((i+1)); sleep 0.02; done; read end"
    );
    create(&mut home.connect(), "printer", &script);
    wait_for_text(&mut home.connect(), "printer", "ready");
    let mut terminal = Terminal::start(&home, "80x24", &["attach", "printer"]);
    terminal.shows("ready");
    terminal.written.clear();
    terminal.press(b"\r");
    let (mut lines, mut killed) = (Lines::default(), 0);
    eventually_ok("all lines came", || {
        terminal.look();
        lines.feed(&terminal.written);
        terminal.written.clear();
        if killed < 5 && lines.count() > chunks * chunk * (killed + 1) / 7 {
            daemon.restart(&home);
            killed += 1;
        }
        match lines.count() == chunks * chunk {
            true => Ok(()),
            false => Err(format!("({} of {})", lines.count(), chunks * chunk)),
        }
    });
    assert_eq!((killed, lines.begun().len()), (5, 0));
    let session = screen(&mut home.connect(), "printer");
    assert_eq!(terminal.screen.text(), session, "the terminal shows what the session has");
    // What is typed while there is no daemon is not lost either.
    daemon.signal(greenroom_testkit::Signal::KILL);
    daemon.wait_for_end();
    terminal.press(b"\r");
    terminal.shows("ended: exit 0");
}

#[test]
fn a_daemon_that_somebody_stopped_stays_so_and_who_is_attached_waits_for_the_next() {
    let home = home();
    let mut daemon = home.start();
    create(&mut home.connect(), "talks", TALKS);
    let mut terminal = Terminal::start(&home, "80x24", &["attach", "talks"]);
    terminal.shows("and plain");
    daemon.signal(Signal::TERM);
    daemon.wait_for_end();
    // By then a client that starts one would have long done so.
    eventually("the terminal says who is waited for", || {
        terminal.look();
        terminal.screen.title().contains("waiting for the daemon, which was stopped")
    });
    assert!(!home.socket().exists(), "nobody started another");
    terminal.press(b"meanwhile\r");
    let _daemon = home.start();
    terminal.shows("got-meanwhile");
    // What the terminal draws by itself may come before the new daemon is found.
    eventually("the session has its title again", || {
        terminal.look();
        terminal.screen.title() == "the title"
    });
}

#[test]
fn colours_are_left_out_when_nobody_wants_them() {
    let home = home();
    let _daemon = home.start();
    create(&mut home.connect(), "one", "read line");
    let mut terminal = Terminal::start(&home, "100x24", &["ls", "--all"]);
    assert_eq!(terminal.end(), 0);
    assert!(terminal.written.contains(&0x1b), "on a terminal there are colours");
    let mut plain = Terminal::start_with(&home, "100x24", &["ls", "--all"], &[("NO_COLOR", "1")]);
    assert_eq!(plain.end(), 0);
    assert!(!plain.written.contains(&0x1b), "{:?}", String::from_utf8_lossy(&plain.written));
}

#[test]
fn without_a_verb_the_default_session_is_made_and_shown() {
    let home = home();
    let mut terminal = Terminal::start(&home, "80x24", &[]);
    eventually("the default session is there", || {
        home.try_connect()
            .is_ok_and(|mut it| it.call("session.info", &json!({"sessionId": "main"})).is_ok())
    });
    terminal.press(b"echo it-$((40+2))\r");
    terminal.shows("it-42");
    terminal.press(b"exit 4\r");
    terminal.shows("ended: exit 4");
    assert_eq!(terminal.end(), 0);
}
