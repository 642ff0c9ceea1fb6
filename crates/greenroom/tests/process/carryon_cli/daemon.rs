//! `carryon start`, `stop`, `status`, and what is asked of the daemon: settings, logs, projects.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use greenroom_testkit::{
    Daemon, Signal, Wire, count, create, eventually, eventually_some, process, session_list,
};
use serde_json::json;

use super::{base, command, fails, is_served, link, run, says, terminal, text};
use crate::support::home;

/// The number of the process in what `start` and `status` say.
#[track_caller]
fn pid(said: &str) -> u32 {
    let number = said.split_once("(pid ").and_then(|(_, rest)| rest.split_once(')'));
    number.unwrap_or_else(|| panic!("{said}")).0.parse().unwrap()
}

#[test]
fn it_is_started_shown_and_stopped_and_sessions_live_on() {
    let home = home();
    let started = says(&home, &["start"]);
    assert!(started.starts_with("Daemon started (pid "), "{started}");
    assert!(is_served(&home), "the folder is served");
    let folder = fs::metadata(base(&home)).unwrap().permissions();
    assert_eq!(folder.mode() & 0o777, 0o700);
    let again = says(&home, &["start"]);
    assert_eq!(again, format!("Daemon already running (pid {})\n", pid(&started)));
    create(&mut home.connect(), "kept", "read x");
    let status = says(&home, &["status"]);
    assert_eq!(pid(&status), pid(&started));
    assert!(status.contains("sessions:  1\n") && status.contains("native"), "{status}");
    assert_eq!(says(&home, &["stop"]), "Daemon stopped; sessions live on\n");
    assert!(!process::lives(pid(&started)) && !is_served(&home));
    assert_eq!(says(&home, &["status"]), "Daemon is not running\n");
    // Whoever needs it starts it.
    assert!(says(&home, &["ls"]).starts_with("kept "));
    assert!(is_served(&home), "also by a verb that only looks");
}

#[test]
fn the_folder_is_served_by_every_later_daemon() {
    let home = home();
    let started = says(&home, &["start"]);
    assert!(process::kill(pid(&started), Signal::KILL));
    eventually("the daemon is gone", || !process::lives(pid(&started)));
    // Not carryon: whoever starts the next daemon knows nothing of the folder.
    let _daemon = Daemon::start(&home);
    assert!(is_served(&home));
}

#[test]
fn a_socket_that_was_removed_is_made_again() {
    let home = home();
    let started = says(&home, &["start"]);
    fs::remove_file(base(&home).join("daemon.sock")).unwrap();
    assert_eq!(says(&home, &["start"]), started.replace("started", "already running"));
    assert!(is_served(&home));
    fs::remove_file(base(&home).join("daemon.sock")).unwrap();
    says(&home, &["ls"]);
    assert!(is_served(&home), "whatever verb is used");
}

#[test]
fn folders_that_another_program_made_are_used_as_they_are() {
    let home = home();
    fs::create_dir(base(&home)).unwrap();
    fs::set_permissions(base(&home), fs::Permissions::from_mode(0o700)).unwrap();
    for name in ["state", "logs", "holders"] {
        fs::create_dir(base(&home).join(name)).unwrap();
        fs::set_permissions(base(&home).join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    says(&home, &["start"]);
    let mut wire = Wire::connect(&base(&home).join("daemon.sock")).unwrap();
    let made = wire.call("session.create", &json!({"command": "read x"})).unwrap().unwrap();
    let answer = wire.call("session.attach", &json!({"sessionId": made["id"]}));
    let socket = answer.unwrap().unwrap()["holderSocket"].as_str().unwrap().to_owned();
    assert!(socket.starts_with(base(&home).to_str().unwrap()), "{socket}");
}

#[test]
fn a_daemon_is_asked_by_a_flag_to_serve_the_folder() {
    let home = home();
    let start = |arguments: &[&str]| {
        let output = home.command(arguments).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    };
    start(&["daemon", "start"]);
    assert!(!is_served(&home));
    start(&["daemon", "start", "--compat", "carryon"]);
    assert!(is_served(&home), "also by one that runs already");
    start(&["daemon", "stop"]);
    fs::remove_file(home.path().join("state/carryon-base")).unwrap();
    start(&["daemon", "start", "--compat", "carryon", "--compat", "ptywright"]);
    assert!(is_served(&home) && home.path().join(".ptywright/socket").exists());
    start(&["daemon", "stop"]);
}

#[test]
fn of_two_that_are_started_at_once_one_serves() {
    let home = home();
    for round in 0..count(20, 100) {
        let start = || command(&home, &["start"]).stdout(Stdio::piped()).spawn().unwrap();
        let said = [start(), start()].map(|it| {
            let output = it.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(0), "round {round}: {output:?}");
            text(&output.stdout)
        });
        assert_eq!(pid(&said[0]), pid(&said[1]), "round {round}");
        assert!(is_served(&home), "round {round}");
        let mut listening = process::listeners(&base(&home).join("daemon.sock"));
        listening.dedup();
        assert_eq!(listening, [pid(&said[0])], "round {round}");
        says(&home, &["stop"]);
    }
}

#[test]
fn in_the_foreground_it_serves_until_it_is_told_to_end() {
    let home = home();
    for by_variable in [false, true] {
        let mut start = match by_variable {
            true => command(&home, &["start"]),
            false => command(&home, &["start", "--foreground"]),
        };
        if by_variable {
            start.env("CARRYON_DAEMON", "1");
        }
        let mut daemon = Daemon::begin(&home, start);
        daemon.wait_until_it_answers(&home);
        eventually("the folder is served", || is_served(&home));
        // A second one finds it there and takes nothing away.
        let second = says(&home, &["start", "--foreground"]);
        assert_eq!(pid(&second), daemon.pid(), "{second}");
        daemon.signal(Signal::TERM);
        assert_eq!(daemon.wait_for_end().code(), Some(0), "{}", daemon.said());
        assert!(!is_served(&home));
    }
}

#[test]
fn started_inside_a_session_it_takes_nothing() {
    let home = home();
    let started = says(&home, &["start"]);
    let mut terminal = terminal(&home, &["create", "-c", "sh"]);
    let program = link(&home);
    let line = format!("CARRYON_DAEMON=1 {} start; echo code-$?\r", program.display());
    terminal.press(line.as_bytes());
    terminal.shows("code-0");
    let shown = terminal.screen.text();
    assert!(shown.contains(&format!("already running (pid {})", pid(&started))), "{shown}");
    assert!(is_served(&home));
    assert_eq!(session_list(&mut home.connect(), false).len(), 1);
}

#[test]
fn a_folder_of_somebody_elses_is_left_alone() {
    let home = home();
    fs::create_dir(base(&home)).unwrap();
    let _other = std::os::unix::net::UnixListener::bind(base(&home).join("daemon.sock")).unwrap();
    fails(&home, &["start"], &format!("`{}` is not served", base(&home).display()));
    // Nor are sessions taken for that one's.
    create(&mut home.connect(), "kept", "read x");
    for verb in [&["ls"][..], &["kill", "kept"], &["config", "set", "local.port", "7777"]] {
        fails(&home, verb, &format!("`{}` is not served", base(&home).display()));
    }
    assert_eq!(says(&home, &["status"]), "Daemon is not running\n");
    assert_eq!(says(&home, &["stop"]), "Daemon is not running\n");
    assert_eq!(session_list(&mut home.connect(), false).len(), 1);
}

#[test]
fn every_folder_is_a_world_of_its_own() {
    let home = home();
    let base = home.path().join("other");
    let other = |arguments: &[&str]| {
        let mut command = command(&home, arguments);
        command.env_remove("GREENROOM_HOME").env("CARRYON_BASE_DIR", &base);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
        text(&output.stdout)
    };
    says(&home, &["create", "-d", "-n", "alpha", "-c", "read x"]);
    other(&["create", "-d", "-n", "beta", "-c", "read x"]);
    let (here, there) = (says(&home, &["ls"]), other(&["ls"]));
    assert!(here.starts_with("alpha ") && !here.contains("beta"), "{here}");
    assert!(there.starts_with("beta ") && !there.contains("alpha"), "{there}");
    assert_ne!(pid(&says(&home, &["status"])), pid(&other(&["status"])));
    let mode = fs::metadata(&base).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(other(&["stop"]), "Daemon stopped; sessions live on\n");
    assert!(says(&home, &["status"]).starts_with("Daemon is running"));
    assert!(other(&["ls"]).starts_with("beta "), "they are found again");
    // Named from where one is, it is the same.
    let mut near = command(&home, &["ls"]);
    near.env_remove("GREENROOM_HOME").env("CARRYON_BASE_DIR", "other").current_dir(home.path());
    let near = near.output().unwrap();
    assert!(text(&near.stdout).starts_with("beta "), "{near:?}");
    other(&["kill", "beta"]);
    other(&["stop"]);
}

#[test]
fn settings_are_read_and_changed() {
    let home = home();
    assert_eq!(says(&home, &["config", "get", "logs.maxFiles"]), "5\n");
    assert_eq!(says(&home, &["config", "get", "default.backend"]), "native\n");
    assert_eq!(says(&home, &["config", "set", "logs.maxFiles", "7"]), "logs.maxFiles = 7\n");
    assert_eq!(says(&home, &["config", "get", "logs.maxFiles"]), "7\n");
    let file = says(&home, &["config", "path"]);
    let kept = fs::read_to_string(file.trim_end()).unwrap();
    assert!(kept.contains("\"logs.maxFiles\": 7"), "{kept}");
    fs::write(file.trim_end(), kept.replace('7', "9")).unwrap();
    assert_eq!(says(&home, &["config", "reload"]), "Config reloaded\n");
    assert_eq!(says(&home, &["config", "get", "logs.maxFiles"]), "9\n");
    fails(&home, &["config", "get", "no.such"], "unknown config key: no.such");
    fails(&home, &["config", "set", "no.such", "1"], "unknown config key: no.such");
    fails(&home, &["config", "set", "logs.maxFiles", "many"], "must be an integer");
    fails(&home, &["config", "set", "logs.maxFiles", "0"], "must be >= 1");
    let secret = says(&home, &["config", "set", "local.password", "correct horse"]);
    assert!(!secret.contains("correct horse"), "{secret}");
}

#[test]
fn what_the_daemon_notes_is_shown_and_followed() {
    let home = home();
    says(&home, &["start"]);
    let shown = says(&home, &["logs"]);
    assert!(shown.contains("the daemon listens") && shown.contains(" INFO  ["), "{shown}");
    assert_eq!(says(&home, &["logs", "--last", "1"]).lines().count(), 1);
    assert_eq!(says(&home, &["logs", "--level", "error"]), "");
    let shown = home.path().join("shown");
    let mut follow = command(&home, &["logs", "-f", "--last", "1"]);
    let mut child = follow.stdout(fs::File::create(&shown).unwrap()).spawn().unwrap();
    let lines = |what: &str| {
        let shown = fs::read_to_string(&shown).unwrap();
        shown.lines().filter(|it| it.contains(what)).count()
    };
    eventually("it shows something", || lines("INFO") == 1);
    for round in 1..=3 {
        says(&home, &["config", "reload"]);
        eventually("what is noted is shown", || lines("was read again") == round);
        says(&home, &["stop"]);
        says(&home, &["start"]);
        eventually("the next daemon is followed", || lines("the daemon listens") == round);
    }
    process::kill(child.id(), Signal::TERM);
    child.wait().unwrap();
    says(&home, &["stop"]);
    assert!(says(&home, &["logs", "--last", "1"]).contains("the daemon ends"), "from its file");
}

#[test]
fn the_terminals_of_a_project_are_declared_shown_and_started() {
    let home = home();
    let folder = home.path().join("project");
    fs::create_dir(&folder).unwrap();
    let path = folder.to_str().unwrap();
    assert_eq!(says(&home, &["project", "terminals", path]), "no terminals are declared\n");
    let made = says(&home, &["project", "init", path]);
    assert_eq!(made, format!("Created {path}/.carryon.json\n"));
    assert!(folder.join(".carryon.json").exists());
    let output = run(&home, &["project", "init", path]);
    assert_eq!(output.status.code(), Some(1), "nothing is overwritten: {output:?}");
    let declared = json!({"version": 1, "terminals": [
        {"name": "web", "command": "read x"}, [{"name": "log", "command": "read y"}]]});
    fs::write(folder.join(".carryon.json"), declared.to_string()).unwrap();
    let mut here = command(&home, &["project", "terminals"]);
    let shown = text(&here.current_dir(&folder).output().unwrap().stdout);
    assert!(
        shown.starts_with("web              missing      read x\nlog              missing"),
        "{shown}"
    );
    assert!(session_list(&mut home.connect(), false).is_empty(), "to look starts nothing");
    for _again in 0..2 {
        says(&home, &["project", "terminals", "--start", path]);
        assert_eq!(session_list(&mut home.connect(), false).len(), 2);
    }
    let shown = eventually_some("both are shown as running", || {
        let shown = says(&home, &["project", "terminals", path]);
        (shown.matches(" running ").count() == 2).then_some(shown)
    });
    assert!(shown.contains("sessions in this folder:\n"), "{shown}");
    let other = home.path().join("other");
    fs::create_dir(&other).unwrap();
    let other = other.to_str().unwrap();
    let session = ["--session", "web"];
    says(&home, &["project", "associate", other, session[0], session[1]]);
    says(&home, &["project", "disassociate", other, session[0], session[1]]);
    fails(&home, &["project", "associate", other, "--session", "nobody"], "no session matching");
}

#[test]
fn there_is_no_account() {
    let home = home();
    assert_eq!(says(&home, &["remote", "status"]), "Not connected: no account\n");
    let output = run(&home, &["remote", "devices"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), String::new()));
    assert!(text(&output.stderr).ends_with("no devices\n"), "{output:?}");
}
