//! Sessions with limits: what they may use, how they end, and what is left (R6).
//!
//! With real control groups, below the one the tests run in. Where that is not to be divided, each test
//! says so and is over.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use greenroom_client::{Connection, Error};
use greenroom_pty::{Groups, Limits, Plan};
use greenroom_testkit::{Home, create, eventually, eventually_ok, process, session_list};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{ANSWERS, assert_answers, call, home, pid, wait_for_end, wait_for_text};

/// Starts itself again and again: who may not ends, which makes room for another. The shell that begins it
/// starts nobody else, and says what it is told.
const BOMB: &str = "bomb() { while :; do (bomb) & done; }; read go; (bomb) 2> /dev/null & \
     echo begun; while :; do read line; echo got-$line; done";

/// So many processes, and the shell that started them, hurt nobody.
const FEW: u64 = 20;

/// Enough for a shell, too little for somebody who takes and takes.
const LITTLE: u64 = 64 << 20;

/// Removes the groups of a test that failed, once its home has ended everybody.
#[derive(Default)]
struct Sweep(RefCell<Vec<PathBuf>>);

impl Drop for Sweep {
    fn drop(&mut self) {
        Groups::new(self.0.take()).remove_patiently();
    }
}

/// Whether there can be limits here.
fn can_be_had() -> bool {
    let limits = Limits { processes: Some(FEW), memory: Some(LITTLE) };
    match Plan::find(limits, "greenroom-test", std::process::id()) {
        Ok(_) => true,
        Err(error) => {
            eprintln!("skipped: {error}");
            false
        }
    }
}

/// Where a home says which groups a session has.
fn record(home: &Home, session: &Value) -> PathBuf {
    home.path().join("run/h").join(format!("groups-{}", session["number"]))
}

/// Makes a session, and gives its groups as well.
#[track_caller]
fn limited(
    home: &Home,
    connection: &mut Connection,
    sweep: &Sweep,
    params: Value,
) -> (Value, Vec<PathBuf>) {
    let session = call(connection, "session.create", params);
    let text = fs::read_to_string(record(home, &session)).unwrap();
    let groups: Vec<PathBuf> = text.split('\0').map(PathBuf::from).collect();
    assert!(!groups.is_empty());
    sweep.0.borrow_mut().extend(groups.clone());
    for group in &groups {
        let members = members(group);
        assert_eq!(members, [pid(&session, "pid")], "only the program is in {}", group.display());
    }
    (session, groups)
}

fn members(group: &Path) -> Vec<u32> {
    let text = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

/// What a file says in whichever of the groups it is.
fn setting(groups: &[PathBuf], files: &[&str]) -> Option<String> {
    let mut paths = groups.iter().flat_map(|group| files.iter().map(|file| group.join(file)));
    paths.find_map(|path| fs::read_to_string(path).ok()).map(|text| text.trim().to_owned())
}

#[track_caller]
fn wait_until_gone(home: &Home, session: &Value, groups: &[PathBuf]) {
    eventually_ok("the groups are gone", || {
        let left: Vec<_> = groups.iter().filter(|group| group.exists()).collect();
        let record = record(home, session);
        match left.is_empty() && !record.exists() {
            true => Ok(()),
            false => Err(format!(
                "{left:?} are left, {} is there: {}",
                record.display(),
                record.exists()
            )),
        }
    });
}

#[test]
fn a_fork_bomb_meets_its_limit_and_hurts_nobody() {
    let sweep = Sweep::default();
    if !can_be_had() {
        return;
    }
    let home = home();
    let daemon = home.start();
    let mut connection = home.connect();
    create(&mut connection, "other", ANSWERS);
    let params = json!({"name": "bomb", "command": BOMB, "shell": "sh", "maxProcesses": FEW});
    let (session, groups) = limited(&home, &mut connection, &sweep, params);
    // Before anything is lit.
    assert_eq!(setting(&groups, &["pids.max"]), Some(FEW.to_string()));
    call(&mut connection, "session.send", json!({"sessionId": "bomb", "text": "go\n"}));
    wait_for_text(&mut connection, "bomb", "begun");
    eventually("somebody was not let in", || {
        let most = groups.iter().map(|group| members(group).len() as u64).max().unwrap();
        assert!(most <= FEW, "{most} are in it");
        let refused = setting(&groups, &["pids.events"]).expect("the system counts them");
        refused.strip_prefix("max ").is_some_and(|count| count.trim() != "0")
    });
    let said = json!({"sessionId": "bomb", "text": "hello\n"});
    call(&mut connection, "session.send", said);
    wait_for_text(&mut connection, "bomb", "got-hello");
    assert_answers(&mut connection, "other", 0);
    assert_answers(&mut home.connect(), "other", 1);

    let begin = Instant::now();
    call(&mut connection, "session.kill", json!({"sessionId": "bomb", "graceMs": 0}));
    wait_until_gone(&home, &session, &groups);
    assert!(begin.elapsed() < Duration::from_secs(10), "it took {:?}", begin.elapsed());
    assert_answers(&mut connection, "other", 2);
    let other = call(&mut connection, "session.info", json!({"sessionId": "other"}));
    let mut expected = vec![daemon.pid(), pid(&other, "pid"), pid(&other, "holderPid")];
    expected.sort_unstable();
    eventually_ok("nobody of it is left", || {
        let mut left: Vec<u32> = home.processes();
        left.sort_unstable();
        if left == expected { Ok(()) } else { Err(format!("{left:?}, expected {expected:?}")) }
    });
}

#[test]
fn who_left_session_and_parent_is_in_the_group_and_ends_with_it() {
    let sweep = Sweep::default();
    if !can_be_had() {
        return;
    }
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    let script = "trap '' HUP TERM; \
         setsid sh -c 'trap \"\" HUP TERM; (setsid sleep 1001 &); sleep 1002' & \
         (setsid nohup sleep 1003 > /dev/null 2>&1 &); echo up; while :; do sleep 1000; done";
    // Its file is read before the program has started anybody.
    let script = format!("read go; {script}");
    let params = json!({"name": "stubborn", "command": script, "shell": "sh", "maxProcesses": 50});
    let (session, groups) = limited(&home, &mut connection, &sweep, params);
    call(&mut connection, "session.send", json!({"sessionId": "stubborn", "text": "go\n"}));
    wait_for_text(&mut connection, "stubborn", "up");
    eventually("all of them are in the group", || members(&groups[0]).len() >= 6);
    let all = members(&groups[0]);
    call(&mut connection, "session.kill", json!({"sessionId": "stubborn", "graceMs": 50}));
    wait_until_gone(&home, &session, &groups);
    assert!(all.into_iter().all(|pid| !process::lives(pid)));
}

#[test]
fn who_takes_too_much_memory_is_ended_and_nobody_else() {
    let sweep = Sweep::default();
    if !can_be_had() {
        return;
    }
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    create(&mut connection, "other", ANSWERS);
    // Looks for the end of a line that has none, in memory.
    let script = "read go; tail /dev/zero; echo ended-$?; read line";
    let params = json!({"name": "greedy", "command": script, "shell": "sh", "maxMemory": LITTLE});
    let (session, groups) = limited(&home, &mut connection, &sweep, params);
    let set = setting(&groups, &["memory.limit_in_bytes", "memory.max"]);
    assert_eq!(set, Some(LITTLE.to_string()));
    call(&mut connection, "session.send", json!({"sessionId": "greedy", "text": "go\n"}));
    wait_for_text(&mut connection, "greedy", "ended-137");
    assert_answers(&mut connection, "other", 0);
    assert!(process::lives(pid(&session, "pid")), "who started it lives");
    call(&mut connection, "session.send", json!({"sessionId": "greedy", "text": "over\n"}));
    assert_eq!(wait_for_end(&mut connection, "greedy")["code"], 0);
    wait_until_gone(&home, &session, &groups);
}

#[test]
fn groups_go_with_a_killed_holder_and_with_the_daemon_after_a_killed_one() {
    let sweep = Sweep::default();
    if !can_be_had() {
        return;
    }
    let home = home();
    let daemon = home.start();
    let mut connection = home.connect();
    let make = |connection: &mut Connection, name: &str| {
        let argv = json!(["sleep", "1000"]);
        let params = json!({"name": name, "argv": argv, "maxProcesses": FEW});
        limited(&home, connection, &sweep, params)
    };
    let (first, groups) = make(&mut connection, "first");
    process::kill(pid(&first, "holderPid"), Signal::KILL);
    wait_until_gone(&home, &first, &groups);

    let (second, groups) = make(&mut connection, "second");
    let (third, stay) = make(&mut connection, "third");
    daemon.kill();
    process::kill(pid(&second, "holderPid"), Signal::KILL);
    eventually("its program is gone", || !process::lives(pid(&second, "pid")));
    assert!(groups.iter().all(|group| group.exists()), "nobody was there to remove them");
    let _daemon = home.start();
    wait_until_gone(&home, &second, &groups);
    assert!(stay.iter().all(|group| members(group) == [pid(&third, "pid")]), "it goes on");
    let mut connection = home.connect();
    call(&mut connection, "session.kill", json!({"sessionId": "third", "graceMs": 0}));
    wait_until_gone(&home, &third, &stay);
}

#[test]
fn a_limit_that_cannot_be_had_is_an_error_and_leaves_nothing() {
    if !can_be_had() {
        return;
    }
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    // More than any system can count.
    let params = json!({"argv": ["sleep", "1000"], "maxProcesses": u64::MAX});
    match connection.call("session.create", &params) {
        Err(Error::Refused(refusal)) => {
            assert!(refusal.message.contains("pids.max"), "{}", refusal.message);
        }
        other => panic!("{other:?}"),
    }
    let params = json!({"argv": ["sleep", "1000"], "maxProcesses": "many"});
    assert!(matches!(connection.call("session.create", &params), Err(Error::Refused(_))));
    assert!(session_list(&mut connection, true).is_empty());
    let left: Vec<_> = fs::read_dir(home.path().join("run/h")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn limits_come_from_the_configuration_and_a_session_may_have_its_own() {
    let sweep = Sweep::default();
    if !can_be_had() {
        return;
    }
    let home = home();
    home.configure("[sessions]\nmax_processes = 30\nmax_memory_mebibytes = 64\n");
    let _daemon = home.start();
    let mut connection = home.connect();
    let params = json!({"name": "usual", "argv": ["sleep", "1000"]});
    let (usual, groups) = limited(&home, &mut connection, &sweep, params);
    assert_eq!(setting(&groups, &["pids.max"]).as_deref(), Some("30"));
    let memory = setting(&groups, &["memory.limit_in_bytes", "memory.max"]);
    assert_eq!(memory, Some(LITTLE.to_string()));
    let none =
        json!({"name": "none", "argv": ["sleep", "1000"], "maxProcesses": 0, "maxMemory": 0});
    let none = call(&mut connection, "session.create", none);
    assert!(!record(&home, &none).exists());
    let words = ["new", "-d", "--max-processes", "7", "--max-memory", "1G", "--", "sleep", "1000"];
    let made = home.command(["--json"]).args(words).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let own: Value = serde_json::from_slice(&made.stdout).unwrap();
    let text = fs::read_to_string(record(&home, &own)).unwrap();
    let own_groups: Vec<PathBuf> = text.split('\0').map(PathBuf::from).collect();
    sweep.0.borrow_mut().extend(own_groups.clone());
    assert_eq!(setting(&own_groups, &["pids.max"]).as_deref(), Some("7"));
    for session in session_list(&mut connection, false) {
        let params = json!({"sessionId": session.number.to_string(), "graceMs": 0});
        call(&mut connection, "session.kill", params);
    }
    wait_until_gone(&home, &usual, &groups);
    wait_until_gone(&home, &own, &own_groups);
    let doctor = home.command(["doctor"]).output().unwrap();
    let text = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(text.contains("limits of sessions: as configured"), "{text}");
}

#[test]
fn a_daemon_that_is_started_in_a_limited_session_has_no_share_in_its_limits() {
    let sweep = Sweep::default();
    if !can_be_had() {
        return;
    }
    let (home, inner) = (home(), home());
    let _daemon = home.start();
    let mut connection = home.connect();
    let params = json!({"name": "outer", "argv": ["sh"], "maxProcesses": FEW, "maxMemory": LITTLE});
    let (session, groups) = limited(&home, &mut connection, &sweep, params);
    let start = format!(
        "env -i GREENROOM_HOME={} PATH=\"$PATH\" {} daemon start\n",
        inner.path().display(),
        env!("CARGO_BIN_EXE_greenroom")
    );
    call(&mut connection, "session.send", json!({"sessionId": "outer", "text": start}));
    let started = RefCell::new(None);
    eventually("the daemon in it answers", || {
        *started.borrow_mut() = inner.try_connect().ok();
        started.borrow().is_some()
    });
    let mut there = started.take().unwrap();
    let daemon = there.hello().pid.unwrap();
    let made = call(&mut there, "session.create", json!({"argv": ["sleep", "1000"]}));
    for pid in [daemon, pid(&made, "holderPid"), pid(&made, "pid")] {
        let within = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
        for group in &groups {
            let name = group.file_name().unwrap().to_str().unwrap();
            assert!(!within.contains(name), "{pid} is in it: {within}");
        }
    }
    call(&mut connection, "session.kill", json!({"sessionId": "outer", "graceMs": 0}));
    wait_until_gone(&home, &session, &groups);
    call(&mut there, "session.kill", json!({"sessionId": made["sessionId"], "graceMs": 0}));
    assert!(inner.command(["daemon", "stop"]).output().unwrap().status.success());
}

#[test]
fn the_groups_of_what_goes_on_without_its_session_go_with_it() {
    let sweep = Sweep::default();
    if !can_be_had() {
        return;
    }
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    let params = json!({"name": "leaves", "argv": ["sh"], "maxProcesses": FEW});
    let (session, groups) = limited(&home, &mut connection, &sweep, params);
    let mut say = |text: &str| {
        let said = json!({"sessionId": "leaves", "text": format!("{text}\n")});
        call(&mut connection, "session.send", said);
    };
    say("setsid sh -c 'trap \"\" HUP; echo go''ing; exec sleep 1000' & ");
    wait_for_text(&mut home.connect(), "leaves", "going");
    say("exit");
    wait_for_end(&mut connection, "leaves");
    let left = groups.iter().flat_map(|group| members(group)).next().expect("it goes on");
    eventually("the daemon has tried for a while", || {
        let logs = home.command(["logs"]).output().unwrap();
        String::from_utf8_lossy(&logs.stdout).contains("somebody is left")
    });
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(i32::try_from(left).unwrap()).unwrap(),
        Signal::KILL,
    )
    .unwrap();
    wait_until_gone(&home, &session, &groups);
}
