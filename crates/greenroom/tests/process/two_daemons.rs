//! Two daemons at once: exactly one serves (K10).

use std::process::Stdio;

use greenroom_testkit::{Daemon, count, create, eventually_some, session_list};

use crate::support::home;

#[test]
fn of_two_daemons_exactly_one_serves() {
    let home = home();
    let first = home.start();
    create(&mut home.connect(), "kept", "exec sleep 1000");
    first.kill();
    for round in 0..count(20, 100) {
        let begin = || Daemon::begin(&home, home.command(["daemon", "start", "--foreground"]));
        let mut both = [begin(), begin()];
        let loser = eventually_some("one of them gives up", || {
            both.iter_mut().position(|it| !greenroom_testkit::process::lives(it.pid()))
        });
        let status = both[loser].wait_for_end();
        assert_eq!(status.code(), Some(1), "round {round}");
        let said = both[loser].said();
        let winner = &mut both[1 - loser];
        assert!(said.contains("another daemon runs already"), "round {round}: {said}");
        winner.wait_until_it_answers(&home);
        let names = session_list(&mut home.connect(), true);
        assert_eq!(names.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["kept"]);
        let [one, other] = both;
        one.kill();
        other.kill();
    }
}

#[test]
fn a_stale_socket_is_replaced_and_a_strange_file_is_not() {
    let home = home();
    let mut daemon = home.start();
    daemon.signal(greenroom_testkit::Signal::KILL);
    daemon.wait_for_end();
    assert!(home.socket().exists(), "a killed daemon leaves its socket");
    daemon.restart(&home);
    daemon.kill();

    std::fs::remove_file(home.socket()).unwrap();
    std::fs::write(home.socket(), "mine").unwrap();
    let mut refused = Daemon::begin(&home, home.command(["daemon", "start", "--foreground"]));
    assert_eq!(refused.wait_for_end().code(), Some(1));
    assert!(refused.said().contains("not a socket of ours"), "{}", refused.said());
    assert_eq!(std::fs::read_to_string(home.socket()).unwrap(), "mine");
}

/// What a daemon has begun when it is told to stop, it finishes and tells: who is not answered would do it again.
#[test]
fn what_is_asked_while_the_daemon_is_restarted_is_answered() {
    let home = home();
    let _daemon = home.start();
    let log = home.path().join("ran");
    for round in 0..count(8, 40) {
        let restart = home.command(["daemon", "restart"]).stdout(Stdio::null()).spawn();
        let script = format!("echo {round} >> '{}'; exit 3", log.display());
        let output =
            home.command(["run", "--", "sh", "-c", &script]).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "round {round}: {output:?}");
        let restarted = restart.unwrap().wait().unwrap();
        assert!(restarted.success(), "round {round}");
    }
    let ran = std::fs::read_to_string(&log).unwrap();
    let expected: String = (0..count(8, 40)).map(|round| format!("{round}\n")).collect();
    assert_eq!(ran, expected, "each ran once");
}
