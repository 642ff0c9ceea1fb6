//! Sessions of the user's tmux by `carryon`'s verbs; here a server of the test's own.

use greenroom_testkit::{Home, eventually};

use super::{fails, says, terminal};
use crate::support::home;

/// Prints every byte that is typed to it, by its number in the order they came.
const COUNTS: &str = "stty raw -echo; echo ready; i=0; while :; do i=$((i+1)); \
    printf '<%s:%s>' $i $(dd bs=1 count=1 2>/dev/null | od -An -tx1); done";

fn clients(home: &Home, count: &str) -> bool {
    says(home, &["ls"]).contains(count)
}

#[test]
fn a_session_of_tmux_is_made_shown_left_renamed_and_ended() {
    let home = home();
    let made = says(&home, &["create", "-n", "play", "-b", "tmux", "-d", "-c", COUNTS]);
    assert_eq!(made, "Created session play (tmux-play)\n");
    assert!(says(&home, &["ls"]).starts_with("play             "));
    let mut terminal = terminal(&home, &["attach", "tmux-pl"]);
    terminal.shows("ready");
    terminal.press(b"a");
    terminal.shows("<1:61>");
    eventually("it is attached to", || clients(&home, "1 client "));
    terminal.press(b"\x03");
    terminal.shows("<2:03>");
    terminal.press(b"\x03");
    assert_eq!(terminal.end(), 0);
    eventually("it is left", || clients(&home, "0 clients"));
    assert_eq!(says(&home, &["rename", "play", "game"]), "Renamed session play to game\n");
    let mut terminal = self::terminal(&home, &["attach", "game"]);
    terminal.shows("<2:03>");
    assert_eq!(says(&home, &["kill", "tmux-game"]), "Killed session game (tmux-game)\n");
    terminal.shows("[local] session ended");
    assert_eq!(terminal.end(), 0);
    fails(&home, &["kill", "game"], "no session matching \"game\"");
}

#[test]
fn a_session_of_tmux_goes_on_when_the_daemon_is_killed() {
    let home = home();
    let mut daemon = home.start();
    says(&home, &["create", "-n", "play", "-b", "tmux", "-d", "-c", COUNTS]);
    let mut terminal = terminal(&home, &["attach", "play"]);
    terminal.shows("ready");
    daemon.restart(&home);
    terminal.press(b"b");
    terminal.shows("<1:62>");
}
