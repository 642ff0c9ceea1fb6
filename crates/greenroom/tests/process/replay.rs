//! What a new daemon is told of the past is past: nobody is called for it (K11).

use std::fs;

use greenroom_client::{Error, ErrorKind, Event};
use greenroom_testkit::{LINE, Signal, create, eventually, next_event};
use serde_json::{Value, json};

use crate::support::{call, enter, home, wait_for_text};

fn wait_for_marker(timeout_ms: u64) -> Value {
    json!({"sessionId": "ringer", "for": {"text": "marker"}, "timeoutMs": timeout_ms})
}

#[test]
fn waits_and_bells_do_not_fire_on_replayed_output() {
    let home = home();
    let mut daemon = home.start();
    let (go, done) = (home.path().join("go"), home.path().join("done"));
    // The ringing is in front of much else, so that it is replayed while clients are there.
    let ring = "printf '\\033]2;ringing\\007\\007marker\\n'";
    let script = format!(
        "stty -echo; echo ready; while [ ! -e {} ]; do sleep 0.01; done; \
         {ring}; seq -f '{LINE}' 1 40000; echo > {}; read go; {ring}; read end",
        go.display(),
        done.display()
    );
    create(&mut home.connect(), "ringer", &script);
    wait_for_text(&mut home.connect(), "ringer", "ready");
    daemon.signal(Signal::KILL);
    daemon.wait_for_end();
    fs::write(&go, "").unwrap();
    eventually("everything is printed while there is no daemon", || done.exists());
    daemon.restart(&home);

    let mut connection = home.connect();
    match connection.call("session.wait", &wait_for_marker(1_000)) {
        Err(Error::Refused(refusal)) if refusal.kind == ErrorKind::Timeout => {}
        other => panic!("a wait for what was before it: {other:?}"),
    }
    let read = call(&mut connection, "session.read", json!({"sessionId": "ringer"}));
    assert!(read["text"].as_str().unwrap().contains("000040000"), "all was replayed by now");
    assert_eq!(read["title"], "ringing");
    while let Some(event) = connection.next_event().unwrap() {
        assert!(!is_bell(&event), "a bell of the past rang");
    }

    // The same, now: it is called for.
    let mut waiter = home.connect();
    let waits = waiter.start("session.wait", &wait_for_marker(25_000)).unwrap();
    call(&mut waiter, "daemon.status", json!({}));
    enter(&mut connection, "ringer");
    loop {
        match next_event(&mut waiter, "the marker").expect("the connection stays") {
            Event::Answer { id, result } if id == waits => {
                assert_eq!(result.unwrap()["matched"], true);
                break;
            }
            _ => {}
        }
    }
    loop {
        if is_bell(&next_event(&mut connection, "the bell").expect("the connection stays")) {
            break;
        }
    }
}

fn is_bell(event: &Event) -> bool {
    matches!(event, Event::Notification { method, .. } if method == "session.bell")
}

#[test]
fn a_wait_does_not_take_an_echo_of_the_last_daemons_days_for_an_answer() {
    let home = home();
    let mut daemon = home.start();
    let run = |arguments: &[&str]| home.command(arguments).output().unwrap();
    let go = home.path().join("go");
    assert!(run(&["new", "-n", "one", "-d", "--", "bash", "--norc"]).status.success());
    assert!(run(&["wait", "one", "--text", "bash-", "--timeout", "20"]).status.success());
    let line = format!("until [ -e '{}' ]; do sleep 0.01; done; echo 'done'-now", go.display());
    // Long enough to be wrapped; what is waited for is in it.
    let line = format!("{line} '{}' done", "x".repeat(200));
    assert!(run(&["send", "one", "--enter", &line]).status.success());
    assert!(run(&["wait", "one", "--text", "never", "--timeout", "0.1"]).status.code() == Some(4));
    // Killed, and stopped in good order: the next daemons know where it was typed.
    for _ in 0..2 {
        daemon.restart(&home);
        let early = run(&["wait", "one", "--text", "done", "--timeout", "0.3"]);
        assert_eq!(early.status.code(), Some(4), "{early:?}");
    }
    std::fs::write(&go, "").unwrap();
    let answered = run(&["wait", "one", "--text", "done-now", "--timeout", "20"]);
    assert!(answered.status.success(), "{answered:?}");
}
