//! The daemon dies at every named point (K3): afterwards list, sockets and processes agree, and what was
//! under way was done or was not.
//!
//! The points are `greenroom_engine::points`; a build without debug assertions has none. That a daemon
//! was killed at one is seen by its end, so no point is passed by unnoticed.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;

use greenroom_client::Connection;
use greenroom_engine::points::Point;
use greenroom_pty::{Limits, Plan};
use greenroom_testkit::{
    Daemon, Home, Signal, create, eventually, eventually_ok, process, session_list,
};
use serde_json::{Value, json};

use crate::steps::{STAYS, agree, kernel_size};
use crate::support::{call, pid, wait_for_end};

/// The variable that names the point.
const DIE_AT: &str = "GREENROOM_DIE_AT";

fn home() -> Home {
    Home::with_programs(env!("CARGO_BIN_EXE_greenroom"))
}

/// Begins a daemon that will die at a point.
fn doomed(home: &Home, point: Point) -> Daemon {
    let mut command = home.command(["daemon", "start", "--foreground"]);
    command.env(DIE_AT, point.name());
    Daemon::begin(home, command)
}

/// What a daemon does when it reaches a point.
enum During {
    /// This request, about the session `subject` if it needs one.
    Request(&'static str, Value),
    /// The end of a session that was told to end.
    Forget,
    /// Its start.
    Start,
}

fn during(point: Point) -> During {
    let request = |method, params| During::Request(method, params);
    match point {
        Point::CreateNumbered
        | Point::CreateGrouped
        | Point::CreateStarted
        | Point::CreateAsked
        | Point::CreateIntroduced
        | Point::CreateOpened
        | Point::CreateStored
        | Point::CreateTold => request("session.create", new("subject")),
        Point::ResizeDrawn
        | Point::ResizeSaid
        | Point::ResizeSet
        | Point::ResizeDescribed
        | Point::ResizeTold => {
            request("session.resize", json!({"sessionId": "subject", "cols": 100, "rows": 30}))
        }
        Point::RenameListed | Point::RenameDescribed | Point::RenameStored => {
            request("session.rename", json!({"sessionId": "subject", "name": "renamed"}))
        }
        Point::KillWanted
        | Point::KillSaid
        | Point::EndHeard
        | Point::EndListed
        | Point::EndTold
        | Point::EndStored
        | Point::EndReleased
        | Point::EndGone => request("session.kill", json!({"sessionId": "subject", "graceMs": 0})),
        Point::ForgetWanted | Point::ForgetStored | Point::ForgetListed => During::Forget,
        Point::RecoverMet
        | Point::RecoverOpened
        | Point::RecoverDone
        | Point::StartRemembered
        | Point::StartLosing
        | Point::StartLost
        | Point::StartBound => During::Start,
    }
}

/// A session with a limit, if the machine can: so a kill can leave a control group behind, too.
fn new(name: &str) -> Value {
    let mut params = json!({"name": name, "argv": ["sh", "-c", STAYS]});
    let limits = Limits { processes: Some(10), memory: None };
    if Plan::find(limits, "greenroom-test", std::process::id()).is_ok() {
        params["maxProcesses"] = 10.into();
    }
    params
}

#[track_caller]
fn assert_died(daemon: &mut Daemon, point: Point) {
    let status = daemon.wait_for_end();
    assert_eq!(status.signal(), Some(9), "{}: {status}, {}", point.name(), daemon.said());
}

/// The records of control groups that a home has, by session.
fn grouped(home: &Home) -> Vec<u64> {
    let entries = fs::read_dir(home.path().join("run/h")).unwrap().flatten();
    let number = |it: fs::DirEntry| it.file_name().to_str()?.strip_prefix("groups-")?.parse().ok();
    let mut numbers: Vec<u64> = entries.filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}

/// The sessions that live, once everything agrees, control groups included.
#[track_caller]
fn settled(home: &Home, daemon: &Daemon, point: Point) -> Vec<Value> {
    eventually_ok(point.name(), || {
        let list = agree(home, daemon)?;
        let numbers: Vec<u64> = list.iter().map(|it| it["number"].as_u64().unwrap()).collect();
        match grouped(home).into_iter().find(|number| !numbers.contains(number)) {
            Some(number) => Err(format!("groups of session {number} are left")),
            None => Ok(list),
        }
    })
}

/// A session of any state, as the list has it.
fn listed(connection: &mut Connection, name: &str) -> Option<Value> {
    let all = call(connection, "session.list", json!({"ended": true}));
    let mut found = all.as_array().unwrap().iter().filter(|it| it["name"] == name);
    let first = found.next().cloned();
    assert!(found.next().is_none(), "`{name}` is there once: {all}");
    first
}

/// What must be true of the subject afterwards, besides that everything agrees.
#[track_caller]
fn assert_whole(connection: &mut Connection, before: Option<&Value>, living: &[Value]) {
    let (subject, renamed) = (listed(connection, "subject"), listed(connection, "renamed"));
    assert!(subject.is_none() || renamed.is_none(), "it has one name");
    let Some(session) = subject.or(renamed) else {
        assert!(before.is_none(), "a session that was there is remembered");
        return;
    };
    if let Some(before) = before {
        assert_eq!(before["uuid"], session["uuid"], "it is the same");
    }
    let lives = living.iter().any(|it| it["uuid"] == session["uuid"]);
    assert_eq!(session["state"] == "running", lives);
    if lives {
        let (cols, rows) = (session["cols"].as_u64().unwrap(), session["rows"].as_u64().unwrap());
        assert!([(80, 24), (100, 30)].contains(&(cols, rows)), "{cols}x{rows}");
        assert_eq!(kernel_size(pid(&session, "pid")), (cols, rows));
    } else {
        assert_eq!(session["state"], "ended", "it was not lost: {session}");
    }
}

/// Ends all that lives, and forgets it, for the next round.
fn clear(connection: &mut Connection) {
    for session in session_list(connection, true) {
        let id = session.number.to_string();
        call(connection, "session.kill", json!({"sessionId": id, "graceMs": 0}));
        call(connection, "session.forget", json!({"sessionId": id}));
    }
}

#[test]
fn a_daemon_that_dies_in_a_request_leaves_it_done_or_not_done() {
    let home = home();
    for &point in Point::ALL {
        let During::Request(method, params) = during(point) else { continue };
        let mut daemon = doomed(&home, point);
        daemon.wait_until_it_answers(&home);
        let before = (method != "session.create")
            .then(|| call(&mut home.connect(), "session.create", new("subject")));
        let mut wire = home.wire();
        let (_, bytes) = wire.request(method, &params);
        wire.send_bytes(&bytes).unwrap();
        assert_died(&mut daemon, point);
        let daemon = home.start();
        let living = settled(&home, &daemon, point);
        let mut connection = home.connect();
        assert_whole(&mut connection, before.as_ref(), &living);
        clear(&mut connection);
        let left = settled(&home, &daemon, point);
        assert!(left.is_empty(), "{}: {left:?}", point.name());
    }
}

#[test]
fn a_session_is_forgotten_or_it_is_not() {
    let home = home();
    for &point in Point::ALL.iter().filter(|&&it| matches!(during(it), During::Forget)) {
        let mut daemon = doomed(&home, point);
        daemon.wait_until_it_answers(&home);
        let mut connection = home.connect();
        create(&mut connection, "subject", "exit 3");
        wait_for_end(&mut connection, "subject");
        eventually("its holder is gone", || home.holder_sockets().is_empty());
        let mut wire = home.wire();
        let (_, bytes) = wire.request("session.forget", &json!({"sessionId": "subject"}));
        wire.send_bytes(&bytes).unwrap();
        assert_died(&mut daemon, point);
        let daemon = home.start();
        assert!(settled(&home, &daemon, point).is_empty());
        let mut connection = home.connect();
        let left = listed(&mut connection, "subject");
        assert_eq!(left.is_some(), point == Point::ForgetWanted, "{}", point.name());
        clear(&mut connection);
    }
}

#[test]
fn a_daemon_that_dies_at_its_start_takes_no_session_along() {
    for &point in Point::ALL.iter().filter(|&&it| matches!(during(it), During::Start)) {
        let home = home();
        let daemon = home.start();
        let mut connection = home.connect();
        let names = ["one", "two", "three"];
        let made = names.map(|name| call(&mut connection, "session.create", new(name)));
        create(&mut connection, "over", "exit 3");
        let victim = create(&mut connection, "victim", STAYS);
        wait_for_end(&mut connection, "over");
        // The store takes one thing after the other: with this one every record is written.
        create(&mut connection, "short", "exit 0");
        wait_for_end(&mut connection, "short");
        call(&mut connection, "session.forget", json!({"sessionId": "short"}));
        daemon.kill();
        process::kill(pid(&victim, "holderPid"), Signal::KILL);
        eventually("its program is gone", || !process::lives(pid(&victim, "pid")));
        for _ in 0..2 {
            assert_died(&mut doomed(&home, point), point);
        }
        let daemon = home.start();
        let living = settled(&home, &daemon, point);
        let uuids = |all: &[Value]| -> BTreeSet<String> {
            all.iter().map(|it| it["uuid"].to_string()).collect()
        };
        assert_eq!(uuids(&living), uuids(&made), "{}", point.name());
        assert!(made.iter().all(|it| process::lives(pid(it, "pid"))));
        let mut connection = home.connect();
        assert_eq!(listed(&mut connection, "over").unwrap()["code"], 3);
        assert_eq!(listed(&mut connection, "victim").unwrap()["state"], "lost");
        clear(&mut connection);
        assert!(settled(&home, &daemon, point).is_empty());
    }
}

/// A session that the archive never heard of must not be forgotten with its holder, nor its number be
/// another's.
#[test]
fn a_session_the_archive_was_not_told_of_is_known_to_it_after_the_next_start() {
    let home = home();
    let mut doomed = doomed(&home, Point::CreateOpened);
    doomed.wait_until_it_answers(&home);
    let mut wire = home.wire();
    let (_, bytes) = wire.request("session.create", &new("subject"));
    wire.send_bytes(&bytes).unwrap();
    assert_died(&mut doomed, Point::CreateOpened);
    let daemon = home.start();
    let living = settled(&home, &daemon, Point::CreateOpened);
    let subject = living.first().expect("the holder had it").clone();
    let mut connection = home.connect();
    // The store takes one thing after the other.
    create(&mut connection, "short", "exit 0");
    wait_for_end(&mut connection, "short");
    call(&mut connection, "session.forget", json!({"sessionId": "short"}));
    daemon.kill();
    process::kill(pid(&subject, "holderPid"), Signal::KILL);
    eventually("its program is gone", || !process::lives(pid(&subject, "pid")));
    let _daemon = home.start();
    let mut connection = home.connect();
    let lost = listed(&mut connection, "subject").expect("it is remembered");
    assert_eq!((&lost["state"], &lost["number"]), (&json!("lost"), &subject["number"]));
    let next = create(&mut connection, "next", STAYS);
    assert!(next["number"].as_u64() > subject["number"].as_u64());
}

#[test]
fn who_asks_for_a_session_gets_one_whenever_the_daemon_is_killed() {
    let creates = [
        Point::CreateNumbered,
        Point::CreateStarted,
        Point::CreateAsked,
        Point::CreateIntroduced,
        Point::CreateOpened,
        Point::CreateStored,
        Point::CreateTold,
    ];
    for point in creates {
        let home = home();
        let mut daemon = doomed(&home, point);
        daemon.wait_until_it_answers(&home);
        let made = home.command(["new", "-d", "-n", "subject", "--", "cat"]).output().unwrap();
        assert!(made.status.success(), "{}: {made:?}", point.name());
        assert_eq!(daemon.wait_for_end().signal(), Some(9), "{}", point.name());
        assert_eq!(session_list(&mut home.connect(), true).len(), 1, "{}", point.name());
        let stopped = home.command(["daemon", "stop"]).output().unwrap();
        assert!(stopped.status.success(), "{stopped:?}");
        let mut daemon = doomed(&home, point);
        daemon.wait_until_it_answers(&home);
        let ran = home.path().join("ran");
        let script = format!("echo once >> '{}'; echo out; exit 9", ran.display());
        let run = home.command(["run", "--", "sh", "-c", &script]).output().unwrap();
        assert_eq!(daemon.wait_for_end().signal(), Some(9), "{}", point.name());
        assert_eq!(run.status.code(), Some(9), "{}: {run:?}", point.name());
        assert_eq!(run.stdout, b"out\r\n", "{}", point.name());
        assert_eq!(fs::read_to_string(&ran).unwrap(), "once\n", "{}", point.name());
    }
}
