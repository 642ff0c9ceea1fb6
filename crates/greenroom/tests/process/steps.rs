//! The daemon is killed in the middle of a request: a session is there or it is not (K3).
//!
//! The kill comes a little later each round, so that over the rounds it hits any step of a request, also
//! one that has no name; `points` has those with names. What is asserted holds wherever it hits.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::time::{Duration, Instant};

use greenroom_testkit::{
    Daemon, HOLDER, Home, count, create, eventually_ok, process, session_list,
};
use serde_json::{Value, json};

use crate::support::{call, pid};

/// How much later the kill comes each round.
const STEP: Duration = Duration::from_micros(if cfg!(debug_assertions) { 500 } else { 200 });

/// A program that is one process and stays.
pub(crate) const STAYS: &str = "exec sleep 1000";

fn home() -> Home {
    Home::with_programs(env!("CARGO_BIN_EXE_greenroom"))
}

/// The holders of a home, whether or not they listen.
fn holders(home: &Home) -> BTreeSet<u32> {
    let is_holder =
        |pid: &u32| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|it| it.ends_with(HOLDER));
    home.processes().into_iter().filter(is_holder).collect()
}

/// Whether the list, the sockets and the processes say the same.
pub(crate) fn agree(home: &Home, daemon: &Daemon) -> Result<Vec<Value>, String> {
    let mut connection = home.try_connect().map_err(|error| error.to_string())?;
    let list = call(&mut connection, "session.list", json!({}));
    let list = list.as_array().unwrap().clone();
    let mut numbers: Vec<u64> = list.iter().map(|it| it["number"].as_u64().unwrap()).collect();
    numbers.sort_unstable();
    let sockets = home.holder_sockets();
    if numbers != sockets {
        return Err(format!("listed are {numbers:?}, sockets are there of {sockets:?}"));
    }
    let listed: BTreeSet<u32> = list.iter().map(|it| pid(it, "holderPid")).collect();
    let running = holders(home);
    if listed != running {
        return Err(format!("holders listed: {listed:?}, running: {running:?}"));
    }
    let mut expected: BTreeSet<u32> = list.iter().map(|it| pid(it, "pid")).collect();
    expected.extend(listed);
    expected.insert(daemon.pid());
    let there: BTreeSet<u32> = home.processes().into_iter().collect();
    match there == expected {
        true => Ok(list),
        false => Err(format!("processes: {there:?}, expected: {expected:?}")),
    }
}

/// The size the kernel knows of the terminal of a process.
pub(crate) fn kernel_size(pid: u32) -> (u64, u64) {
    let terminal = File::open(format!("/proc/{pid}/fd/0")).unwrap();
    let size = rustix::termios::tcgetwinsize(terminal).unwrap();
    (size.ws_col.into(), size.ws_row.into())
}

/// Sends a request and kills the daemon `later`, then starts the next one.
fn interrupt(home: &Home, daemon: &mut Daemon, method: &str, params: &Value, later: Duration) {
    let mut wire = home.wire();
    let (_, bytes) = wire.request(method, params);
    wire.send_bytes(&bytes).unwrap();
    let begin = Instant::now();
    // Not a wait for something: this is the moment of the kill.
    while begin.elapsed() < later {
        std::hint::spin_loop();
    }
    daemon.restart(home);
}

fn rounds() -> u32 {
    u32::try_from(count(20, 100)).unwrap()
}

#[test]
fn a_session_is_made_whole_or_not_at_all() {
    let home = home();
    let mut daemon = home.start();
    let mut made = 0;
    for round in 0..rounds() {
        let name = format!("new-{round}");
        let params = json!({"name": name, "argv": ["sh", "-c", STAYS]});
        interrupt(&home, &mut daemon, "session.create", &params, STEP * round);
        let list = eventually_ok("list, sockets and processes agree", || agree(&home, &daemon));
        let Some(session) = list.iter().find(|it| it["name"] == name) else { continue };
        assert!(process::lives(pid(session, "pid")));
        made += 1;
    }
    assert!(made > 0, "the last rounds are late enough for a session");
}

#[test]
fn a_session_has_one_size_whenever_the_daemon_dies() {
    let home = home();
    let mut daemon = home.start();
    create(&mut home.connect(), "sized", STAYS);
    let mut old = 80;
    for round in 0..rounds() {
        let new = 100 + u64::from(round);
        let params = json!({"sessionId": "sized", "cols": new, "rows": 30});
        interrupt(&home, &mut daemon, "session.resize", &params, STEP * round / 2);
        let list = eventually_ok("list, sockets and processes agree", || agree(&home, &daemon));
        let (cols, rows) = (list[0]["cols"].as_u64().unwrap(), list[0]["rows"].as_u64().unwrap());
        assert!(cols == old || cols == new, "{cols} is neither {old} nor {new}");
        assert_eq!(kernel_size(pid(&list[0], "pid")), (cols, rows));
        old = cols;
    }
    assert!(old > 80, "the last rounds are late enough for a new size");
}

#[test]
fn a_session_has_one_name_whenever_the_daemon_dies() {
    let home = home();
    let mut daemon = home.start();
    let mut old = "first".to_owned();
    create(&mut home.connect(), &old, STAYS);
    for round in 0..rounds() {
        let new = format!("name-{round}");
        let params = json!({"sessionId": "1", "name": new});
        interrupt(&home, &mut daemon, "session.rename", &params, STEP * round / 2);
        let list = eventually_ok("list, sockets and processes agree", || agree(&home, &daemon));
        let name = list[0]["name"].as_str().unwrap();
        assert!(name == old || name == new, "{name} is neither {old} nor {new}");
        old = name.to_owned();
    }
    assert_ne!(old, "first", "the last rounds are late enough for a new name");
}

#[test]
fn a_killed_session_ends_or_lives_whenever_the_daemon_dies() {
    let home = home();
    let mut daemon = home.start();
    let mut ended = 0;
    for round in 0..rounds() {
        let name = format!("victim-{round}");
        let session = create(&mut home.connect(), &name, STAYS);
        let params = json!({"sessionId": name, "graceMs": 0});
        interrupt(&home, &mut daemon, "session.kill", &params, STEP * round / 2);
        // A holder that was told goes on killing without a daemon.
        let list = eventually_ok("list, sockets and processes agree", || agree(&home, &daemon));
        let lives = list.iter().any(|it| it["name"] == name);
        assert_eq!(lives, process::lives(pid(&session, "pid")));
        let all = session_list(&mut home.connect(), true);
        assert!(all.iter().any(|it| it.name == name), "it is not forgotten either way");
        ended += u32::from(!lives);
    }
    assert!(ended > 0, "the last rounds are late enough for an end");
}
