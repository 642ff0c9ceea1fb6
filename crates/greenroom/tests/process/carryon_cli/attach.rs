//! `carryon attach` on a person's terminal: repaint, keys, sizes, ends, and daemons that go.

use greenroom_testkit::{Home, Signal, create, eventually, eventually_some, process};
use serde_json::{Value, json};

use super::{is_served, link, run, terminal, text};
use crate::support::{call, home, screen, wait_for_text};
use crate::terminal::Terminal;

const INTERRUPT: &[u8] = b"\x03";

/// Prints what is typed to it, and its size whenever that changes.
const TALKS: &str = "trap 'stty size' WINCH; stty -echo; printf '\\033[31mred\\033[m and plain\\n'; \
    while :; do read line && echo got-$line; done";

/// Prints every byte that is typed to it, by its number in the order they came.
const COUNTS: &str = "stty raw -echo; echo ready; i=0; while :; do i=$((i+1)); \
    printf '<%s:%s>' $i $(dd bs=1 count=1 2>/dev/null | od -An -tx1); done";

#[test]
fn a_session_is_shown_typed_into_and_left_by_our_own_key() {
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    create(&mut connection, "talks", TALKS);
    wait_for_text(&mut connection, "talks", "and plain");
    let mut terminal = terminal(&home, &["attach", "talks"]);
    terminal.shows("red and plain");
    terminal.shows("24 100");
    terminal.press(b"hello\r");
    terminal.shows("got-hello");
    assert_eq!(terminal.screen.text(), screen(&mut connection, "talks"), "the same for both");
    for (size, shown) in [("70x20", "20 70"), ("132x43", "43 132")] {
        terminal.resize(size);
        terminal.shows(shown);
    }
    terminal.press(b"\x1c");
    assert_eq!(terminal.end(), 0);
    let shown = terminal.screen.text();
    assert!(shown.contains("[local] detached; carryon attach talks to return"), "{shown}");
    let info = call(&mut connection, "session.info", json!({"sessionId": "talks"}));
    assert_eq!((&info["state"], &info["attachedClients"]), (&"running".into(), &0.into()));
}

#[test]
fn interrupts_twice_in_a_row_leave_and_both_arrive() {
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    create(&mut connection, "counts", COUNTS);
    wait_for_text(&mut connection, "counts", "ready");
    let mut terminal = terminal(&home, &["attach", "counts"]);
    terminal.shows("ready");
    for (key, shown) in [(INTERRUPT, "<1:03>"), (b"a", "<2:61>"), (INTERRUPT, "<3:03>")] {
        terminal.press(key);
        terminal.shows(shown);
    }
    // As slowly as one likes: somebody else types meanwhile, which is not this person's key.
    call(&mut connection, "session.send", json!({"sessionId": "counts", "text": "b"}));
    terminal.shows("<4:62>");
    terminal.press(INTERRUPT);
    assert_eq!(terminal.end(), 0);
    wait_for_text(&mut connection, "counts", "<5:03>");
    let info = call(&mut connection, "session.info", json!({"sessionId": "counts"}));
    assert_eq!((&info["state"], &info["attachedClients"]), (&"running".into(), &0.into()));
}

#[test]
fn the_end_of_a_session_is_told_on_standard_error() {
    let home = home();
    let _daemon = home.start();
    for end in ["exit 3", "kill -9 $$"] {
        let script = format!("stty -echo; echo up; read go; echo last words; {end}");
        create(&mut home.connect(), "ends", &script);
        let said = home.path().join("said");
        let line = format!("{} attach ends 2>{}", link(&home).display(), said.display());
        let arguments = ["-c", &line];
        let shell = std::path::Path::new("/bin/sh");
        let mut terminal = Terminal::start_program(&home, shell, "80x24", &arguments, &[]);
        terminal.shows("up");
        terminal.press(b"\r");
        assert_eq!(terminal.end(), 0, "{end}");
        assert!(terminal.screen.text().contains("last words"), "{}", terminal.screen.text());
        let said = std::fs::read_to_string(said).unwrap();
        assert!(said.ends_with("[local] session ended\n"), "{said}");
    }
}

#[test]
fn without_a_verb_a_session_is_made_and_shown() {
    let home = home();
    let mut terminal = terminal(&home, &["-n", "fresh"]);
    terminal.press(b"echo it-$((40+2)) $(stty size)\r");
    terminal.shows("it-42 24 100");
    let list = call(&mut home.connect(), "session.list", json!({}));
    assert_eq!(list[0]["name"], "fresh");
    terminal.press(b"exit 4\r");
    terminal.shows("[local] session ended");
    assert_eq!(terminal.end(), 0);
    // One that ends at once is shown all the same.
    let mut quick = self::terminal(&home, &["create", "-c", "echo just this"]);
    assert_eq!(quick.end(), 0);
    let shown = quick.screen.text();
    assert!(shown.contains("just this") && shown.contains("[local] session ended"), "{shown}");
}

/// Who shows the only session: what the list says of them.
#[track_caller]
fn viewer(home: &Home, what: &str) -> Value {
    eventually_some(what, || {
        let list = home.try_connect().ok()?.call("session.list", &json!({})).ok()?;
        list[0]["clients"].get(0).cloned()
    })
}

/// Whether a process has ended with all its threads: as long as one is left, its sockets are open.
fn is_gone(pid: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    !process::lives(pid) && threads <= 1
}

#[test]
fn who_shows_a_session_is_listed_also_after_the_daemon_was_killed() {
    let home = home();
    let _daemon = home.start();
    create(&mut home.connect(), "talks", TALKS);
    let editor = [("CARRYON_CLIENT_TYPE", "vscode"), ("CARRYON_CLIENT_NAME", "My Editor")];
    let mut terminal =
        Terminal::start_program(&home, &link(&home), "80x24", &["attach", "talks"], &editor);
    terminal.shows("red and plain");
    for round in ["first", "second"] {
        let viewer = viewer(&home, "somebody shows the session");
        assert_eq!((&viewer["type"], &viewer["name"]), (&"vscode".into(), &"My Editor".into()));
        assert_eq!(viewer["pid"], terminal.pid(), "{round}: it is found by its process");
        let running = home.connect().hello().pid.unwrap();
        assert!(process::kill(running, Signal::KILL));
        eventually("the daemon is gone", || is_gone(running));
        // It starts another one by itself, and what is typed meanwhile is not lost.
        terminal.press(format!("{round}\r").as_bytes());
        terminal.shows(&format!("got-{round}"));
        eventually(&format!("{round}: an editor finds the new daemon, too"), || is_served(&home));
    }
    viewer(&home, "it shows the session again");
    let output = run(&home, &["ls"]);
    assert!(text(&output.stdout).starts_with("talks            1 client     "), "{output:?}");
}

#[test]
fn a_session_is_not_shown_inside_itself() {
    let home = home();
    let _daemon = home.start();
    let mut terminal = terminal(&home, &["create", "-n", "inner", "-c", "sh"]);
    terminal.press(format!("{} attach inner; echo code-$?\r", link(&home).display()).as_bytes());
    terminal.shows("code-1");
    let shown = terminal.screen.text();
    assert!(shown.contains("this terminal is that very session"), "{shown}");
}
