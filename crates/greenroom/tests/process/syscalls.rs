//! Every system call of making, using and ending a session fails once (R4).
//!
//! What must hold wherever it hits: nobody waits for ever, a session is there and works or is not
//! there at all, an error says what the system said, and the next client is served.

use std::time::{Duration, Instant};

use greenroom_client::{AttachOptions, Error, Session, Stream};
use greenroom_testkit::{Daemon, Home, count, create, eventually, eventually_ok, session_list};
use serde_json::json;

use crate::steps::agree;
use crate::strace::{Fault, Holders, Tampered, thread};
use crate::support::{ANSWERS, assert_answers, call};

/// How many calls of a kind fail in the suite. Most kinds have fewer.
const SUITE: usize = 12;

/// More than any kind has, in a holder with its start or in the daemon.
const ALL: usize = 1_000;

/// How many lives may pass until a call is met for the first time.
const TIMES: usize = 5;

/// How long a session's life may take with a fault on the way: far more than it does, and less than
/// a request may.
const SOON: Duration = Duration::from_secs(20);

/// Kinds of calls, how they fail, and the file they are about, if only some are meant.
type Kinds = [(&'static str, &'static str, Option<&'static str>)];

/// The terminal, which the daemon types into. What else it writes so is its own alarm clock, whose
/// writes the kernel cannot fail, and tokio relies on that.
const TERMINAL: Option<&str> = Some("/dev/ptmx");

/// Any file.
const ANY: Option<&str> = None;

/// What the system says to an error.
fn words(error: &str) -> &'static str {
    match error {
        "EIO" => "input/output error",
        "ENOMEM" => "cannot allocate memory",
        "ENOBUFS" => "no buffer space available",
        "EMFILE" => "too many open files",
        "EAGAIN" => "resource temporarily unavailable",
        other => panic!("`{other}` has no words"),
    }
}

/// A home and what runs in it, where one call after another fails.
struct Stage {
    home: Home,
    daemon: Daemon,
    rounds: u32,
    /// Whether sessions that ended are forgotten, or left to the store.
    forgets: bool,
}

/// What the runtime says before it gives up: it does not go on if it cannot read the pipe by which it hears of
/// signals. No system fails that; a fault that is put into every call now and then does.
const SELF_PIPE: &str = "self-pipe";

impl Stage {
    fn new(home: Home) -> Stage {
        let daemon = home.start();
        create(&mut home.connect(), "other", ANSWERS);
        Stage { home, daemon, rounds: 0, forgets: true }
    }

    /// Lets the calls fail one after another, until one is not met any more. `life` lives with a
    /// fault and says whether it was met.
    fn fail(&mut self, kinds: &Kinds, mut life: impl FnMut(&mut Stage, Fault, &str) -> bool) {
        for &(call, error, file) in kinds {
            let mut lives = |nth, time| {
                let name = format!("victim-{call}-{nth}-{time}");
                life(self, Fault { call, error, nth, file }, &name)
            };
            // Not every life has every call.
            let is_met = (0..TIMES).any(|time| lives(1, time));
            assert!(is_met, "there is no `{call}` to fail");
            let _last = (2..=count(SUITE, ALL)).find(|&nth| !lives(nth, 0));
        }
    }

    /// Makes a session, attaches, types, resizes and ends it. `made` is called in between.
    fn life(&mut self, name: &str, fault: Fault, made: impl FnOnce(&mut Stage)) {
        let begin = Instant::now();
        let lived = self.use_it(name, made);
        let took = begin.elapsed();
        assert!(took < SOON, "{fault:?}: {took:?}: {lived:?}");
        match lived {
            // A connection that fails is closed, and the client comes again.
            Ok(()) | Err(Error::Lost(_)) => {}
            Err(Error::Refused(refusal)) => {
                let text = refusal.message.to_lowercase();
                // A holder that does not even start cannot say why.
                let is_told = text.contains(words(fault.error)) || text.contains("hung up");
                assert!(is_told, "{fault:?}: `{text}`");
            }
            Err(other) => panic!("{fault:?}: {other}"),
        }
    }

    fn use_it(&mut self, name: &str, made: impl FnOnce(&mut Stage)) -> Result<(), Error> {
        let argv = json!(["sh", "-c", ANSWERS]);
        let new = json!({"name": name, "argv": argv});
        self.home.try_connect()?.call("session.create", &new)?;
        made(self);
        let mut viewer = self.home.try_connect()?;
        Stream::attach(&mut viewer, name, AttachOptions::default())?;
        let mut connection = self.home.try_connect()?;
        let send = json!({"sessionId": name, "text": "question-0\n"});
        let sent = connection.call("session.send", &send)?;
        let wait = json!({"sessionId": name, "for": {"text": "answer-to-0\n"},
            "after": sent["offset"], "timeoutMs": 15_000});
        connection.call("session.wait", &wait)?;
        connection.call("session.resize", &json!({"sessionId": name, "cols": 90, "rows": 30}))?;
        connection.call("session.kill", &json!({"sessionId": name, "graceMs": 0}))?;
        Ok(())
    }

    /// List, sockets and processes agree, every session works, and none was lost. Then all but the
    /// other one are ended.
    #[track_caller]
    fn assert_whole(&mut self, fault: Fault) {
        self.rounds += 1;
        let mut connected = self.home.try_connect();
        if connected.is_err() && self.daemon.said().contains(SELF_PIPE) {
            // The next daemon loses none either.
            self.daemon.wait_for_end();
            self.daemon = self.home.start();
            connected = self.home.try_connect();
        }
        let mut connection = connected.unwrap_or_else(|error| {
            panic!("{fault:?}: {error}; the daemon said: {}", self.daemon.said())
        });
        let lost = |it: &Session| it.state.name() == "lost";
        let all = session_list(&mut connection, true);
        assert!(!all.iter().any(lost), "{fault:?}: {all:?}");
        // A holder waits for viewers that were cut off; nobody wants those any more.
        let ended = all.iter().filter(|it| self.forgets && it.ended.is_some());
        for session in ended {
            call(&mut connection, "session.forget", json!({"sessionId": session.id}));
        }
        let what = format!("after {fault:?} list, sockets and processes agree");
        let list = eventually_ok(&what, || agree(&self.home, &self.daemon));
        assert!(list.iter().any(|it| it["name"] == "other"), "{fault:?}: {list:?}");
        for session in &list {
            let name = session["name"].as_str().unwrap();
            assert_answers(&mut connection, name, self.rounds);
            if name != "other" {
                call(&mut connection, "session.kill", json!({"sessionId": name, "graceMs": 0}));
            }
        }
    }
}

/// Fails calls of a thread of the daemon; none is the one that does nearly everything.
fn fail_in_daemon(mut stage: Stage, thread_name: Option<&str>, kinds: &Kinds) {
    stage.fail(kinds, |stage, fault, name| {
        let pid = stage.daemon.pid();
        let traced = thread_name.map_or(pid, |name| thread(pid, name));
        let tampered = Tampered::attach(&stage.home, traced, fault);
        stage.life(name, fault, |_| {});
        if thread_name.is_some() {
            // The store writes in its own time; the holder goes when it has written.
            eventually("all is stored", || stage.home.holder_sockets().len() == 1);
        }
        let is_met = tampered.detach();
        stage.assert_whole(fault);
        is_met
    });
}

/// Fails calls of a holder, from its first on; another daemon comes in the middle of its life.
fn fail_in_holder(kinds: &Kinds) {
    let home = home();
    let holders = Holders::of(&home);
    let mut stage = Stage::new(home);
    stage.fail(kinds, |stage, fault, name| {
        holders.tamper(fault);
        stage.life(name, fault, |stage| {
            stage.daemon.restart(&stage.home);
            let params = json!({"sessionId": name});
            eventually_ok("the next daemon has the session", || {
                stage.home.try_connect()?.call("session.info", &params)
            });
        });
        let is_met = holders.leave_alone();
        stage.assert_whole(fault);
        is_met
    });
}

fn home() -> Home {
    Home::with_programs(env!("CARGO_BIN_EXE_greenroom"))
}

#[test]
fn a_daemon_that_cannot_read_loses_no_session() {
    fail_in_daemon(
        Stage::new(home()),
        None,
        &[("recvfrom", "ENOMEM", ANY), ("recvmsg", "ENOMEM", ANY)],
    );
}

#[test]
fn a_daemon_that_cannot_write_loses_no_session() {
    let kinds =
        [("sendto", "ENOBUFS", ANY), ("sendmsg", "ENOBUFS", ANY), ("write", "EIO", TERMINAL)];
    fail_in_daemon(Stage::new(home()), None, &kinds);
}

#[test]
fn a_daemon_that_gets_nothing_new_loses_no_session() {
    let kinds = [
        ("clone3", "EAGAIN", ANY),
        ("socketpair", "EMFILE", ANY),
        ("openat", "EMFILE", ANY),
        ("accept4", "EMFILE", ANY),
        ("epoll_ctl", "ENOMEM", ANY),
        ("fcntl", "EIO", ANY),
        ("ioctl", "EIO", ANY),
        ("mmap", "ENOMEM", ANY),
    ];
    fail_in_daemon(Stage::new(home()), None, &kinds);
}

#[test]
fn a_store_that_cannot_write_loses_no_session() {
    let home = home();
    // With every end an earlier one is let go of, and the space given back: that is when it syncs.
    home.configure("[retention]\nsessions = 0\n");
    let mut stage = Stage::new(home);
    stage.forgets = false;
    let kinds = [("pwrite64", "EIO", ANY), ("fsync", "EIO", ANY), ("ftruncate", "EIO", ANY)];
    fail_in_daemon(stage, Some("store"), &kinds);
}

#[test]
fn a_holder_that_gets_nothing_new_is_whole_or_gone() {
    let kinds = [
        ("clone", "EAGAIN", ANY),
        ("openat", "EMFILE", ANY),
        ("ioctl", "EIO", ANY),
        ("socket", "EMFILE", ANY),
        ("bind", "ENOMEM", ANY),
        ("listen", "ENOMEM", ANY),
        ("accept4", "EMFILE", ANY),
    ];
    fail_in_holder(&kinds);
}

#[test]
fn a_holder_that_cannot_read_is_whole_or_gone() {
    fail_in_holder(&[("read", "EIO", ANY)]);
}

#[test]
fn a_holder_that_cannot_write_is_whole_or_gone() {
    fail_in_holder(&[
        ("sendmsg", "ENOBUFS", ANY),
        ("sendmsg", "ENOBUFS", ANY),
        ("write", "EIO", ANY),
    ]);
}

#[test]
fn a_holder_without_memory_is_whole_or_gone() {
    fail_in_holder(&[("mmap", "ENOMEM", ANY)]);
}
