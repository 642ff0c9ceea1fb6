//! The command line as people and scripts use it: codes, errors, pipes.

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Output, Stdio};

use greenroom_testkit::{Home, Signal, create, eventually, process};
use serde_json::Value;

use crate::support::home;

fn run(home: &Home, line: &str) -> Output {
    home.command(line.split(' ')).output().unwrap()
}

/// A command ends with this code, and says nothing of a panic.
#[track_caller]
fn check(home: &Home, line: &str, code: i32) -> Output {
    let output = run(home, line);
    assert_eq!(output.status.code(), Some(code), "{line}: {output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{line}: {said}");
    assert_eq!(said.is_empty(), code == 0, "{line}: an error is told, and nothing else: {said}");
    output
}

#[test]
fn exit_codes_say_what_happened() {
    let home = home();
    // 5: there is no daemon, and this verb does not start one.
    check(&home, "daemon status", 5);
    check(&home, "daemon stop", 0);
    // The first that needs one starts it.
    check(&home, "new -d -n one -- sleep 1000", 0);
    check(&home, "daemon status", 0);
    check(&home, "ls", 0);
    check(&home, "new -d -- /no/such/program", 1);
    check(&home, "ls --no-such-flag", 2);
    check(&home, "attach one", 2);
    check(&home, "kill nobody", 3);
    check(&home, "wait one --text never --timeout 0.1", 4);
    check(&home, "rename one two", 0);
    check(&home, "kill two", 0);
    check(&home, "forget two", 0);
    // 6: others could have put something else in the socket's place.
    let runtime = home.path().join("run");
    fs::set_permissions(&runtime, Permissions::from_mode(0o777)).unwrap();
    check(&home, "ls", 6);
    fs::set_permissions(&runtime, Permissions::from_mode(0o700)).unwrap();
    check(&home, "daemon stop", 0);
    check(&home, "daemon status", 5);
}

#[test]
fn what_is_in_the_way_is_no_mistake_of_who_asks() {
    let home = home();
    let _daemon = home.start();
    check(&home, "new -d -n one -- sleep 1000", 0);
    check(&home, "forget one", 1);
    check(&home, "kill one", 0);
    check(&home, "rename one two", 1);
    home.configure("shel = 'sh'\n");
    check(&home, "config check", 1);
    check(&home, "config reload", 1);
    check(&home, "--json config reload", 1);
    check(&home, "daemon restart", 1);
}

/// What a command says, on either way.
fn said(home: &Home, line: &str) -> String {
    let output = home.command(line.split(' ')).output().unwrap();
    [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned()).concat()
}

#[test]
fn what_is_said_of_files_and_sessions_is_so() {
    let home = home();
    let _daemon = home.start();
    assert!(said(&home, "config check").contains("every key has its default"));
    check(&home, "config check /nowhere/config.toml", 1);
    home.configure("shel = 'sh'\nfoo = 1\n");
    let reload = said(&home, "config reload");
    let named = |name: &str| reload.lines().filter(|it| it.contains(name)).count();
    assert_eq!((named("`shel`"), named("`foo`"), named("2 mistakes")), (1, 1, 1), "{reload}");
    assert!(!reload.lines().any(|it| it.contains("`shel`") && it.contains("`foo`")), "{reload}");
    home.configure("");

    check(&home, "new -d -n one -- sleep 1000", 0);
    check(&home, "new -d -n other -- sleep 1000", 0);
    assert!(said(&home, "info one").contains(" pid  "));
    check(&home, "kill one", 0);
    assert!(!said(&home, "info one").contains(" pid  "));
    let rename = said(&home, "rename one other");
    assert!(rename.contains("has ended"), "{rename}");
}

#[test]
fn a_daemon_is_not_stopped_for_one_that_would_not_start() {
    let home = home();
    let daemon = home.start();
    std::fs::write(home.path().join("config.toml"), "shel = 'sh'\n").unwrap();
    let output = home.command(["daemon", "restart"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("`shel`") && text.contains("left as it is"), "{text}");
    let status = home.command(["daemon", "status", "--json"]).output().unwrap();
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["pid"], daemon.pid(), "{status}");
}

#[test]
fn the_audit_trail_says_who_did_what_over_restarts() {
    let home = home();
    let mut daemon = home.start();
    check(&home, "new -d -n one -- cat", 0);
    check(&home, "rename one two", 0);
    check(&home, "kill two", 0);
    let whats = |line: &str| -> Vec<String> {
        let output = check(&home, line, 0);
        let text = String::from_utf8(output.stdout).unwrap();
        let entries = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        entries.map(|it| format!("{} {}", it["what"].as_str().unwrap(), it["number"])).collect()
    };
    assert_eq!(whats("audit --json"), ["create 1", "rename 1", "kill 1"]);
    assert_eq!(whats("audit --json -n 1"), ["kill 1"]);
    daemon.restart(&home);
    assert_eq!(whats("audit --json"), ["create 1", "rename 1", "kill 1"]);
    let shown = String::from_utf8(check(&home, "audit", 0).stdout).unwrap();
    assert!(shown.lines().next().unwrap().contains(" create 1 by "), "{shown}");
}

#[test]
fn errors_for_programs_are_json_on_standard_error() {
    let home = home();
    let _daemon = home.start();
    let cases = [
        ("kill nobody --json", 3, "not_found"),
        ("--json new -d -- /no/such/program", 1, "spawn"),
        ("--json resize nobody 1x1", 3, "not_found"),
        ("--json resize nobody", 2, "usage"),
    ];
    let output = check(&home, "--json resize nobody", 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("<COLSxROWS>"), "{output:?}");
    for (line, code, kind) in cases {
        let output = check(&home, line, code);
        assert!(output.stdout.is_empty(), "{line}: {output:?}");
        let error: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!(error["error"]["kind"], kind, "{line}");
        assert!(error["error"]["message"].as_str().is_some_and(|it| !it.is_empty()), "{line}");
    }
    let output = check(&home, "new -d --json -n one -- sleep 1000", 0);
    let session: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(session["name"], "one");
    check(&home, "new -d --json -n another -- sleep 1000", 0);
    let list: Value = serde_json::from_slice(&check(&home, "ls --json", 0).stdout).unwrap();
    let names: Vec<&Value> = list.as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["one", "another"], "in the order of the list for people");
}

#[test]
fn what_the_daemon_notes_is_followed_over_its_restarts() {
    let home = home();
    let mut daemon = home.start();
    let shown = home.path().join("shown");
    let mut follow = home.command(["logs", "-f", "-n", "1"]);
    let mut child = follow.stdout(fs::File::create(&shown).unwrap()).spawn().unwrap();
    let lines = |what: &str| {
        let shown = fs::read_to_string(&shown).unwrap();
        shown.lines().filter(|it| it.contains(what)).count()
    };
    eventually("the last entry is shown", || lines("info") == 1);
    for round in 1..=3 {
        check(&home, "config reload", 0);
        eventually("what is noted is shown", || lines("was read again") == round);
        daemon.restart(&home);
        eventually("the next daemon is followed", || lines("the daemon listens") > round);
    }
    assert_eq!(lines("was read again"), 3, "nothing is shown twice");
    process::kill(child.id(), Signal::TERM);
    child.wait().unwrap();
}

#[test]
fn a_log_is_followed_no_longer_than_somebody_reads_it() {
    let home = home();
    let mut daemon = home.start();
    let follow = || {
        let mut follow = home.command(["logs", "-f", "-n", "1"]);
        let mut child = follow.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut shown = BufReader::new(child.stdout.take().unwrap());
        // The first line is there: from now on nothing is noted that could not be written.
        shown.read_line(&mut String::new()).unwrap();
        (child, shown)
    };
    let gone = |(mut child, shown): (Child, BufReader<_>)| {
        drop(shown);
        eventually("it ends with its reader", || child.try_wait().unwrap().is_some());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    };
    gone(follow());
    // Nor while there is no daemon.
    let following = follow();
    daemon.signal(Signal::TERM);
    daemon.wait_for_end();
    gone(following);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    for number in 0..20 {
        create(&mut connection, &format!("session-{number}"), "read line");
    }
    create(&mut connection, "talker", "seq 1 20000; echo said; read line");
    check(&home, "wait talker --text said --after 0 --timeout 20", 0);
    for line in ["ls", "ls --json", "read talker --history", "logs", "man"] {
        let mut command = home.command(line.split(' '));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Nobody reads, from the first byte on.
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("panicked"), "{line}: {said}");
        assert_eq!(output.status.code(), Some(0), "{line}: {said}");
    }
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    let home = home();
    for line in ["--help", "help", "ls --help", "--version"] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = home.command(line.split(' ')).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("writing the output"), "{line}");
        // Nobody reads it, which is no error.
        let mut command = home.command(line.split(' '));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{line}: {output:?}");
    }
}

#[test]
fn without_a_terminal_no_colour_is_written() {
    let home = home();
    let _daemon = home.start();
    create(&mut home.connect(), "one", "read line");
    let output = check(&home, "ls", 0);
    assert!(!output.stdout.contains(&0x1b), "{output:?}");
}

#[test]
fn the_daemon_that_starts_by_itself_is_the_only_one_and_can_be_stopped() {
    let home = home();
    // Many at once: all of them want a daemon, and one is enough.
    let start = || home.command(["ls"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let children: Vec<_> = (0..6).map(|_| start().unwrap()).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let status = check(&home, "daemon status --json", 0);
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    let pid = u32::try_from(status["pid"].as_u64().unwrap()).unwrap();
    assert_eq!(home.processes(), [pid]);
    check(&home, "new -d -n kept -- sleep 1000", 0);
    check(&home, "daemon restart", 0);
    assert!(!process::lives(pid));
    let list = String::from_utf8(check(&home, "ls", 0).stdout).unwrap();
    assert!(list.contains("kept"), "{list}");
}

/// Complaints about arguments are in the words of the command line.
#[test]
fn what_makes_no_sense_is_told_in_words_people_know() {
    let home = home();
    let _daemon = home.start();
    create(&mut home.connect(), "one", "read line");
    let cases: [(&[&str], i32, &str); 9] = [
        (&["read", ""], 2, "its number, its name or its id"),
        (&["kill", ""], 2, "its number, its name or its id"),
        (&["search", "one", ""], 2, "what to look for"),
        (&["search", "one", "-E", ""], 2, "what to look for"),
        (&["wait", "one", "--text", "", "--timeout", "5"], 2, "what to look for"),
        (&["wait", "one", "--regex", "", "--timeout", "5"], 2, "what to look for"),
        (&["send", "one", "--stdin"], 2, "standard input is empty"),
        (&["send", "one", "--stdin", "--paste"], 2, "standard input is empty"),
        (&["new", "-d", "--", "/etc/passwd"], 1, "executable"),
    ];
    for (line, code, text) in cases {
        let output = home.command(line).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line:?}: {said}");
        assert!(said.contains(text), "{line:?}: {said}");
        assert!(!said.contains("parameter") && !said.contains("PATH"), "{line:?}: {said}");
    }
}
