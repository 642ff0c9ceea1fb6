//! The system is out of something (R3, R4).

use std::fs;
use std::time::{Duration, Instant};

use greenroom_client::{Error, ErrorKind};
use greenroom_testkit::{
    HOLDER, Home, Wire, create, eventually, eventually_ok, process, session_list,
};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde_json::{Value, json};

use crate::support::{ANSWERS, assert_answers, call, home, wait_for_text};

/// Limits the open files of a process to so many; none is as many as may be.
pub(crate) fn limit_open_files(pid: u32, most: Option<u64>) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap());
    // The hard limit is ours as well, and stays: who is not root could not raise it again.
    let maximum = getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit { current: most.or(maximum), maximum };
    prlimit(pid, Resource::Nofile, limit).unwrap();
}

#[test]
fn without_descriptors_the_daemon_waits_and_recovers() {
    let home = home();
    let daemon = home.start();
    let mut connection = home.connect();
    create(&mut connection, "there", ANSWERS);
    assert_answers(&mut connection, "there", 0);
    let open = process::fds(daemon.pid()).len() as u64;
    limit_open_files(daemon.pid(), Some(open + 3));
    // The system takes them; the daemon has no descriptor for most.
    let waiting: Vec<Wire> = (0..20).map(|_| home.wire()).collect();
    eventually("there is no descriptor left", || {
        process::fds(daemon.pid()).len() as u64 >= open + 3
    });

    let (begin, ticks) = (Instant::now(), process::cpu_ticks(daemon.pid()));
    let window = Duration::from_secs(2);
    eventually("the time to look is over", || begin.elapsed() >= window);
    let used = process::cpu_ticks(daemon.pid()) - ticks;
    assert!(used <= 10, "{used} ticks of 10 ms in {window:?}: it spins");
    assert_answers(&mut connection, "there", 1);
    match connection.call("session.create", &json!({"argv": ["true"]})) {
        Err(Error::Refused(refusal)) => {
            let text = refusal.message.to_lowercase();
            assert!(text.contains("too many open files"), "{text}");
        }
        other => panic!("a session without descriptors: {other:?}"),
    }
    assert_eq!(session_list(&mut connection, true).len(), 1, "nothing half-made is listed");

    drop(waiting);
    eventually_ok("a new client is served", || home.try_connect().map(drop));
    limit_open_files(daemon.pid(), None);
    create(&mut connection, "again", "read line");
    assert_answers(&mut connection, "there", 2);
}

/// The refusal of a session that cannot be made.
#[track_caller]
fn refused(home: &Home, params: &Value) -> greenroom_client::Refusal {
    let begin = Instant::now();
    let refusal = match home.connect().call("session.create", params) {
        Err(Error::Refused(refusal)) => refusal,
        other => panic!("{params}: {other:?}"),
    };
    assert!(begin.elapsed() < Duration::from_secs(5), "it took {:?}", begin.elapsed());
    assert!(session_list(&mut home.connect(), true).is_empty(), "nothing is listed");
    assert!(home.holder_sockets().is_empty(), "no socket is left");
    refusal
}

#[test]
fn what_cannot_be_started_is_a_clear_error_and_leaves_nothing() {
    let home = home();
    let daemon = home.start();
    let program = refused(&home, &json!({"argv": ["/no/such/program"]}));
    assert_eq!(program.kind, ErrorKind::Spawn);
    assert!(program.message.contains("`/no/such/program`"), "{}", program.message);
    let folder = refused(&home, &json!({"argv": ["true"], "cwd": "/no/such/folder"}));
    assert_eq!(folder.kind, ErrorKind::Spawn);
    assert!(folder.message.contains("`/no/such/folder`"), "{}", folder.message);
    let file = refused(&home, &json!({"argv": ["/etc/passwd"]}));
    assert!(file.message.contains("permission denied"), "{}", file.message);
    let many = vec!["x".repeat(1 << 20); 2];
    let long = refused(&home, &json!({"argv": many}));
    assert_eq!(long.kind, ErrorKind::Limit);
    eventually("only the daemon is left", || home.processes() == [daemon.pid()]);
    eventually("no zombie is left", || process::children(daemon.pid()).is_empty());
}

#[test]
fn without_its_holder_the_daemon_says_what_is_missing() {
    let home = Home::with_programs(env!("CARGO_BIN_EXE_greenroom"));
    let daemon = home.start();
    let holder = home.binary().with_file_name(HOLDER);
    let aside = holder.with_extension("aside");
    fs::rename(&holder, &aside).unwrap();
    let missing = refused(&home, &json!({"argv": ["true"]}));
    assert!(missing.message.contains(HOLDER), "{}", missing.message);
    assert!(missing.hint.is_some());
    // Another program in its place says nothing and ends.
    fs::copy("/bin/true", &holder).unwrap();
    refused(&home, &json!({"argv": ["true"]}));
    fs::remove_file(&holder).unwrap();
    fs::rename(&aside, &holder).unwrap();
    let mut connection = home.connect();
    create(&mut connection, "works", "echo up; read line");
    wait_for_text(&mut connection, "works", "up");
    assert!(process::zombies(daemon.pid()).is_empty());
}

#[test]
fn the_limit_on_sessions_is_a_clear_error() {
    let home = home();
    home.configure("[limits]\nsessions = 3\nconnections = 8\n");
    let _daemon = home.start();
    let mut connection = home.connect();
    for number in 0..3 {
        create(&mut connection, &format!("session-{number}"), "read line");
    }
    let error = connection.call("session.create", &json!({"argv": ["true"]})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    call(&mut connection, "session.kill", json!({"sessionId": "session-0", "graceMs": 0}));
    create(&mut connection, "after", "read line");

    // Past the limit on connections one is closed, and the others are not.
    let mut others: Vec<_> = (0..7).map(|_| home.connect()).collect();
    assert!(home.try_connect().is_err());
    for other in &mut others {
        call(other, "daemon.status", json!({}));
    }
    drop(others);
    eventually_ok("there is room again", || home.try_connect().map(drop));
}
