//! Somebody sets the clock, by a day and more: nothing is waited for by it, and nothing that ended
//! just now is old (R8).
//!
//! The clock of the calendar is a function of the C library's that the test puts its own before.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use greenroom_client::{Connection, Error, ErrorKind, Event};
use greenroom_testkit::{
    Daemon, Home, create, eventually, eventually_ok, next_event, session_list,
};
use serde_json::json;

use crate::support::{call, enter, home, wait_for_end, wait_for_text};

/// The clock that is put before the C library's.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/process/clock.c");

/// A day, and so much more that a day's retention notices.
const JUMP: i64 = 25 * 60 * 60;

/// How long things may take that do not wait for a clock that jumped.
const SOON: Duration = Duration::from_secs(10);

/// A daemon whose clock can be set.
struct Clocked {
    home: Home,
    _daemon: Daemon,
    file: PathBuf,
}

impl Clocked {
    fn start() -> Clocked {
        let home = home();
        home.configure("[retention]\ndays = 1\n");
        let (library, file) = (home.path().join("clock.so"), home.path().join("clock"));
        let mut compile = Command::new("cc");
        compile.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(SOURCE);
        let compiled = compile.status().expect("`cc`, which Rust links with");
        assert!(compiled.success(), "{compiled}");
        let mut command = home.command(["daemon", "start", "--foreground"]);
        command.env("LD_PRELOAD", &library).env("GREENROOM_TEST_CLOCK", &file);
        let mut daemon = Daemon::begin(&home, command);
        daemon.wait_until_it_answers(&home);
        Clocked { home, _daemon: daemon, file }
    }

    /// Sets the daemon's clock so many seconds off, and sees that it is.
    fn set(&self, off: i64) {
        // In one step: half a number would be another one.
        let new = self.file.with_extension("new");
        fs::write(&new, off.to_string()).unwrap();
        fs::rename(&new, &self.file).unwrap();
        let mut connection = self.home.connect();
        let created = create(&mut connection, "dated", "read line")["created"].as_i64().unwrap();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
        let is = (created - i64::try_from(now).unwrap()) / 1000;
        assert!((is - off).abs() < 30, "the clock is {is} s off, not {off}");
        let dated = json!({"sessionId": "dated", "graceMs": 0});
        call(&mut connection, "session.kill", dated.clone());
        call(&mut connection, "session.forget", dated);
    }

    /// A session ends and is kept; whatever is too old by then is let go of with it.
    fn end_one(&self, name: &str) {
        let mut connection = self.home.connect();
        create(&mut connection, name, "exit 3");
        assert_eq!(wait_for_end(&mut connection, name)["code"], 3);
        eventually_ok("what ended is kept", || {
            let left = self.home.holder_sockets();
            if left.len() <= 1 { Ok(()) } else { Err(format!("{left:?}")) }
        });
    }

    /// These have ended and are all there.
    #[track_caller]
    fn assert_kept(&self, names: &[&str]) {
        // What is old goes when something ends; twice, for it need not be kept by then.
        for _ in 0..2 {
            self.end_one("last");
            call(&mut self.home.connect(), "session.forget", json!({"sessionId": "last"}));
        }
        let list = session_list(&mut self.home.connect(), true);
        let there: Vec<&str> = list.iter().map(|it| it.name.as_str()).collect();
        for name in names {
            assert!(there.contains(name), "`{name}` is gone: {there:?}");
        }
    }
}

/// A wait that is not over waits on; one that is over by its own time is over.
fn assert_waits(waiter: &mut Connection, home: &Home, mark: &str, jump: impl FnOnce()) {
    let wait = json!({"sessionId": "marker", "for": {"text": mark}, "timeoutMs": 25_000});
    let id = waiter.start("session.wait", &wait).unwrap();
    call(waiter, "daemon.status", json!({}));
    jump();
    call(waiter, "daemon.status", json!({}));
    while let Some(event) = waiter.next_event().unwrap() {
        assert!(!matches!(event, Event::Answer { .. }), "the wait was over: {event:?}");
    }
    enter(&mut home.connect(), "marker");
    loop {
        match next_event(waiter, "the marker").expect("the connection stays") {
            Event::Answer { id: it, result } if it == id => {
                assert_eq!(result.unwrap()["matched"], true);
                break;
            }
            _ => {}
        }
    }
    let begin = Instant::now();
    let wait = json!({"sessionId": "marker", "for": {"text": "never"}, "timeoutMs": 200});
    match home.connect().call("session.wait", &wait) {
        Err(Error::Refused(refusal)) if refusal.kind == ErrorKind::Timeout => {}
        other => panic!("a wait for nothing: {other:?}"),
    }
    assert!((Duration::from_millis(200)..SOON).contains(&begin.elapsed()), "{:?}", begin.elapsed());
}

/// A program that ignores what it can is killed when its grace is over, and not before.
fn assert_grace(home: &Home) {
    let mut connection = home.connect();
    let script = "trap '' HUP TERM; echo deaf; while :; do sleep 1; done";
    create(&mut connection, "stubborn", script);
    wait_for_text(&mut connection, "stubborn", "deaf");
    let begin = Instant::now();
    call(&mut connection, "session.kill", json!({"sessionId": "stubborn", "graceMs": 200}));
    assert!((Duration::from_millis(200)..SOON).contains(&begin.elapsed()), "{:?}", begin.elapsed());
    call(&mut connection, "session.forget", json!({"sessionId": "stubborn"}));
}

fn jump_and_back(jump: i64) {
    let clocked = Clocked::start();
    let home = &clocked.home;
    let mut connection = home.connect();
    create(
        &mut connection,
        "marker",
        "stty -echo; i=0; while read go; do i=$((i+1)); echo mark-$i; done",
    );
    clocked.end_one("before");
    assert_waits(&mut connection, home, "mark-1", || clocked.set(jump));
    assert_grace(home);
    clocked.end_one("meanwhile");
    clocked.assert_kept(&["before", "meanwhile"]);
    // Somebody notices, and sets it right.
    assert_waits(&mut connection, home, "mark-2", || clocked.set(0));
    assert_grace(home);
    clocked.assert_kept(&["before", "meanwhile"]);
    eventually("nothing else runs", || home.holder_sockets().len() == 1);
}

#[test]
fn a_clock_that_jumps_forward_ends_no_wait_and_makes_nothing_old() {
    jump_and_back(JUMP);
}

#[test]
fn a_clock_that_jumps_back_prolongs_no_wait_and_makes_nothing_old() {
    jump_and_back(-JUMP);
}
