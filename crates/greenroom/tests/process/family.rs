//! What programs start with, and what is left of them (S7, R6, R7).

use std::collections::BTreeSet;
use std::path::PathBuf;

use greenroom_client::{Connection, Event};
use greenroom_testkit::{
    Daemon, count, create, eventually, eventually_ok, next_event, process, session_list,
};
use serde_json::{Value, json};

use crate::support::{call, home, pid, wait_for_end, wait_for_text};

/// The variables a program has, if the daemon's environment is that of a test.
const VARIABLES: [&str; 9] = [
    "COLORTERM",
    "GREENROOM_SESSION",
    "GREENROOM_SOCKET",
    "HOME",
    "LANG",
    "PATH",
    "SHELL",
    "TERM",
    "TERM_PROGRAM",
];

/// A program has its terminal three times, and nothing else of anybody.
#[track_caller]
fn assert_clean(session: &Value) {
    let program = pid(session, "pid");
    // A program that is just starting has its own files open for a moment.
    eventually_ok("a program has its terminal three times", || {
        let fds = process::fds(program);
        let is_terminal = |it: &(u32, PathBuf)| it.1.starts_with("/dev/pts") && it.1 == fds[0].1;
        let numbers: Vec<u32> = fds.iter().map(|it| it.0).collect();
        match numbers == [0, 1, 2] && fds.iter().all(is_terminal) {
            true => Ok(()),
            false => Err(format!("{fds:?}")),
        }
    });
    let variables = process::environment(program);
    let names: BTreeSet<&str> = variables.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(names, BTreeSet::from(VARIABLES));
}

#[test]
fn a_program_starts_with_its_terminal_and_the_documented_environment() {
    let home = home();
    let mut command = home.command(["daemon", "start", "--foreground"]);
    command.env("SECRET_TOKEN", "of the daemon").env("GREENROOM_STARTED_BY_HAND", "1");
    command.env("COLUMNS", "1").env("TERM", "of the daemon");
    let mut daemon = Daemon::begin(&home, command);
    daemon.wait_until_it_answers(&home);
    let params = json!({"argv": ["sleep", "1000"]});
    let mut connection = home.connect();
    for _ in 0..20 {
        assert_clean(&call(&mut connection, "session.create", params.clone()));
    }
    // Many at once, over several connections: no descriptor of one is caught by another.
    let mut connections: Vec<Connection> = (0..4).map(|_| home.connect()).collect();
    for connection in &mut connections {
        for _ in 0..25 {
            connection.start("session.create", &params).unwrap();
        }
    }
    for connection in &mut connections {
        let mut made = 0;
        while made < 25 {
            let event = next_event(connection, "a session").expect("the connection stays");
            let Event::Answer { result, .. } = event else { continue };
            assert_clean(&result.unwrap());
            made += 1;
        }
    }
    assert_eq!(session_list(&mut connection, false).len(), 120);
}

#[test]
fn a_kill_ends_everything_that_came_of_a_session() {
    let home = home();
    let daemon = home.start();
    let mut connection = home.connect();
    let script = "trap '' HUP TERM INT; \
         setsid sh -c 'trap \"\" HUP TERM; (setsid sleep 1001 &); sleep 1002 & sleep 1003' & \
         (nohup sleep 1004 > /dev/null 2>&1 &); sh -c 'sleep 1005 & setsid sleep 1006 &'; \
         echo up; while :; do sleep 1; done";
    create(&mut connection, "stubborn", script);
    create(&mut connection, "other", "read line");
    wait_for_text(&mut connection, "stubborn", "up");
    eventually("all of them run", || home.processes().len() >= 12);
    call(&mut connection, "session.kill", json!({"sessionId": "stubborn", "graceMs": 50}));
    let other = call(&mut connection, "session.info", json!({"sessionId": "other"}));
    let expected = BTreeSet::from([daemon.pid(), pid(&other, "pid"), pid(&other, "holderPid")]);
    eventually_ok("nobody of it is left", || {
        let left: BTreeSet<u32> = home.processes().into_iter().collect();
        if left == expected { Ok(()) } else { Err(format!("{left:?}, expected {expected:?}")) }
    });
}

/// Whoever started the daemon: a program begins with the umask of who made its session.
#[test]
fn files_of_a_program_are_as_open_as_those_of_who_made_its_session() {
    let home = home();
    let starts = home.command(["daemon", "start"]);
    let run = |umask: &str, command: &std::process::Command| {
        let words: Vec<_> =
            command.get_args().map(|it| it.to_string_lossy().into_owned()).collect();
        let mut shell = std::process::Command::new("sh");
        let line = format!("umask {umask}; exec \"$0\" \"$@\"");
        shell.args(["-c", &line]).arg(home.binary()).args(words);
        shell.env_clear().envs(home.environment()).stdin(std::process::Stdio::null());
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    run("000", &starts);
    for umask in ["0022", "0077", "0002"] {
        assert_eq!(run(umask, &home.command(["run", "--", "sh", "-c", "umask"])), umask);
    }
}

/// A session that is made, ends and is forgotten.
pub(crate) fn cycle(connection: &mut Connection, round: usize) {
    let name = format!("round-{round}");
    create(connection, &name, "echo round; exit 3");
    let info = wait_for_end(connection, &name);
    assert_eq!(info["code"], 3);
    call(connection, "session.forget", json!({"sessionId": name}));
    // What nobody asked for is read, so that it does not pile up here.
    while connection.next_event().unwrap().is_some() {}
}

#[test]
fn sessions_that_came_and_went_leave_nothing() {
    let home = home();
    let daemon = home.start();
    let mut connection = home.connect();
    let rounds = count(150, 5_000);
    (0..rounds).for_each(|round| cycle(&mut connection, round));
    let settled = |what: &str, most: usize| {
        eventually_ok(what, || {
            let (children, open) = (process::children(daemon.pid()), process::fds(daemon.pid()));
            match children.is_empty() && open.len() <= most {
                true => Ok(open.len()),
                false => Err(format!("({children:?} are children, {} descriptors)", open.len())),
            }
        })
    };
    let open = settled("the first holders are gone", usize::MAX);
    let memory = process::memory_kib(daemon.pid());
    (rounds..2 * rounds).for_each(|round| cycle(&mut connection, round));
    settled("all holders are gone", open);
    assert!(process::zombies(daemon.pid()).is_empty());
    let grown = process::memory_kib(daemon.pid()).saturating_sub(memory);
    // Two hundredths, and the granularity of the allocator.
    assert!(grown <= memory / 50 + 512, "the daemon grew by {grown} KiB from {memory}");
    assert!(home.holder_sockets().is_empty());
}
