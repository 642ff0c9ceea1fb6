//! Under a service manager: restarts, and a program that takes all the memory (K9).

use std::fs;
use std::path::PathBuf;

use greenroom_testkit::{Daemon, Signal, create, eventually, process, session_list};
use serde_json::{Value, json};

use crate::support::{ANSWERS, assert_answers, call, home, pid, wait_for_end, wait_for_text};

/// The unit that comes along. What it says about kills is what the tests below do.
const UNIT: &str = include_str!("../../../../contrib/greenroom.service");

#[test]
fn a_restart_of_the_service_leaves_sessions_alone() {
    for line in ["KillMode=process", "OOMPolicy=continue"] {
        assert!(UNIT.lines().any(|it| it == line), "the unit says `{line}`");
    }
    let home = home();
    let mut daemon = home.start();
    let session = create(&mut home.connect(), "kept", ANSWERS);
    assert_answers(&mut home.connect(), "kept", 0);
    for round in 1..4 {
        // As `systemctl restart` does with this unit: the main process is told, and waited for.
        daemon.signal(Signal::TERM);
        assert_eq!(daemon.wait_for_end().code(), Some(0));
        daemon = Daemon::start(&home);
        let mut connection = home.connect();
        assert_answers(&mut connection, "kept", round);
        let now = call(&mut connection, "session.info", json!({"sessionId": "kept"}));
        assert_eq!(pid(&now, "pid"), pid(&session, "pid"), "round {round}");
    }
}

#[test]
fn a_program_is_more_expendable_than_its_holder() {
    let home = home();
    let _daemon = home.start();
    let session = create(&mut home.connect(), "big", "read line");
    let score = |field: &str| -> i32 {
        let path = format!("/proc/{}/oom_score_adj", pid(&session, field));
        fs::read_to_string(path).unwrap().trim().parse().unwrap()
    };
    assert!(score("pid") > score("holderPid"));
}

/// A control group with little memory, if this machine lets us make one.
struct Group(PathBuf);

impl Group {
    fn new(home: &greenroom_testkit::Home) -> Option<Group> {
        let name = home.path().file_name()?.to_owned();
        let roots =
            [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
        roots.iter().find_map(|(root, limit)| {
            let folder = PathBuf::from(root).join(&name);
            fs::create_dir(&folder).ok()?;
            let group = Group(folder);
            fs::write(group.0.join(limit), "33554432").ok()?;
            Some(group)
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A group with somebody in it stays: a test that failed leaves the program there.
        let inside = fs::read_to_string(self.0.join("cgroup.procs")).unwrap_or_default();
        for pid in inside.lines().filter_map(|it| it.parse().ok()) {
            process::kill(pid, Signal::KILL);
        }
        eventually("the group can go", || fs::remove_dir(&self.0).is_ok());
    }
}

/// Takes memory until it is ended.
const GLUTTON: &str = "read line; text=xxxxxxxx; while :; do text=$text$text; done";

#[track_caller]
fn assert_killed(info: &Value) {
    assert_eq!(info["signal"], 9, "{info}");
    assert_eq!(info["state"], "ended");
}

#[test]
fn a_program_that_takes_all_memory_ends_alone() {
    let home = home();
    let daemon = home.start();
    let mut connection = home.connect();
    create(&mut connection, "neighbour", ANSWERS);
    let glutton = create(&mut connection, "glutton", &format!("echo up; {GLUTTON}"));
    wait_for_text(&mut connection, "glutton", "up");
    let program = pid(&glutton, "pid");
    let group = Group::new(&home);
    match &group {
        Some(group) => {
            fs::write(group.0.join("cgroup.procs"), program.to_string()).unwrap();
            call(&mut connection, "session.send", json!({"sessionId": "glutton", "enter": true}));
        }
        // Without a group of our own, as the system's killer would do it.
        None => assert!(process::kill(program, Signal::KILL)),
    }
    assert_killed(&wait_for_end(&mut connection, "glutton"));
    assert_answers(&mut connection, "neighbour", 0);
    assert!(process::lives(daemon.pid()));
    assert_eq!(session_list(&mut connection, true).len(), 2);
}
