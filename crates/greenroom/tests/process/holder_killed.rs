//! A holder is killed, or left alone with its log (K4, K2).

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use greenroom_client::{AttachOptions, ErrorKind, Event, Lag, Stream};
use greenroom_model::Size;
use greenroom_testkit::{
    LINE, Lines, Signal, create, eventually, line, next_event, process, session_list,
};
use serde_json::json;

use crate::support::{
    ANSWERS, assert_answers, call, enter, home, note, pid, wait_for_end, wait_for_text,
};

#[test]
fn a_killed_holder_takes_only_its_own_session_along() {
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    let victim = create(&mut connection, "victim", "trap '' HUP; echo up; exec sleep 1000");
    let total = 50_000;
    let script = format!("stty -echo; echo ready; read go; seq -f '{LINE}' 1 {total}; read end");
    create(&mut connection, "other", &script);
    wait_for_text(&mut connection, "other", "ready");
    let options = AttachOptions { lag: Lag::Block, ..AttachOptions::default() };
    let mut reader = home.connect();
    let mut stream = Stream::attach(&mut reader, "other", options).unwrap();
    enter(&mut connection, "other");

    let killed = Instant::now();
    process::kill(pid(&victim, "holderPid"), Signal::KILL);
    let told = note(&mut connection, "session.ended", victim["sessionId"].as_str().unwrap());
    assert!(killed.elapsed() < Duration::from_secs(1), "told after {:?}", killed.elapsed());
    assert_eq!(told["reason"], "lost");
    let info = call(&mut connection, "session.info", json!({"sessionId": "victim"}));
    assert_eq!(info["state"], "lost");
    let living = session_list(&mut connection, false);
    assert_eq!(living.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["other"]);
    // Its last screen is not lost.
    let read = call(&mut connection, "session.read", json!({"sessionId": "victim"}));
    assert_eq!(read["text"], "up");

    let mut lines = Lines::default();
    while lines.count() < total {
        let event = next_event(&mut reader, "lines of the other session").unwrap();
        if stream.note(&event)
            && let Event::Output { bytes, .. } = event
        {
            lines.feed(&bytes);
        }
    }
}

#[test]
fn who_waits_is_told_at_once_that_the_holder_was_killed() {
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    let victim = create(&mut connection, "victim", ANSWERS);
    // From here on the daemon looks at the terminal by itself while somebody waits.
    assert_answers(&mut connection, "victim", 0);
    let wait = json!({"sessionId": "victim", "for": {"text": "never"}, "timeoutMs": 25_000});
    let asked = connection.start("session.wait", &wait).unwrap();
    // Asked later, answered earlier: by then the session knows of the wait.
    call(&mut connection, "session.read", json!({"sessionId": "victim"}));
    let killed = Instant::now();
    process::kill(pid(&victim, "holderPid"), Signal::KILL);
    let error = loop {
        match next_event(&mut connection, "the end of the wait").expect("the connection stays") {
            Event::Answer { id, result } if id == asked => break result.unwrap_err(),
            _ => {}
        }
    };
    let took = killed.elapsed();
    assert_eq!(error.kind, ErrorKind::Lost, "{error:?}");
    assert!(took < Duration::from_secs(3), "told after {took:?}");
}

#[test]
fn a_terminal_that_is_gone_while_its_pipe_is_full_holds_up_nobody() {
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    // It answers once, and later prints more pieces than a pipe has places.
    let script = "stty -echo; read line; echo answer-to-${line#question-}; read go; \
                  for number in $(seq 40); do echo $number; sleep 0.01; done";
    let victim = create(&mut connection, "victim", script);
    assert_answers(&mut connection, "victim", 0);
    let wait = json!({"sessionId": "victim", "for": {"text": "never"}, "timeoutMs": 60_000});
    connection.start("session.wait", &wait).unwrap();
    call(&mut connection, "session.read", json!({"sessionId": "victim"}));
    // Nobody takes anything out of the pipe any more.
    process::kill(pid(&victim, "holderPid"), Signal::STOP);
    enter(&mut connection, "victim");
    eventually("the program has ended", || process::state(pid(&victim, "pid")) == Some('Z'));
    process::kill(pid(&victim, "holderPid"), Signal::KILL);
    let told = note(&mut connection, "session.ended", victim["sessionId"].as_str().unwrap());
    assert_eq!(told["reason"], "lost");
    call(&mut home.connect(), "session.list", json!({}));
}

#[test]
fn a_lost_session_stays_lost_for_the_next_daemon() {
    let home = home();
    let mut daemon = home.start();
    let mut connection = home.connect();
    let victim = create(&mut connection, "victim", "exec sleep 1000");
    // The store takes one thing after the other: when this is forgotten, the victim is written.
    create(&mut connection, "short", "exit 0");
    wait_for_end(&mut connection, "short");
    call(&mut connection, "session.forget", json!({"sessionId": "short"}));
    daemon.signal(Signal::KILL);
    daemon.wait_for_end();
    process::kill(pid(&victim, "holderPid"), Signal::KILL);
    eventually("the holder is gone", || !process::lives(pid(&victim, "holderPid")));
    daemon.restart(&home);
    let mut connection = home.connect();
    let info = call(&mut connection, "session.info", json!({"sessionId": "victim"}));
    assert_eq!(info["state"], "lost");
    assert!(home.holder_sockets().is_empty(), "the socket nobody answers at is removed");
    eventually("the program has ended", || !process::lives(pid(&victim, "pid")));
}

/// How many chunks the printer left alone has printed.
fn progress(file: &Path) -> u64 {
    fs::read_to_string(file).ok().and_then(|it| it.trim().parse().ok()).unwrap_or(0)
}

/// What a holder keeps in this test, the least there is.
const KEPT: u64 = 4 << 20;

#[test]
fn without_a_daemon_a_program_prints_until_the_log_is_full_and_loses_nothing() {
    let home = home();
    home.configure("[holder]\nkeep_mebibytes = 4\n");
    let mut daemon = home.start();
    let (go, file) = (home.path().join("go"), home.path().join("progress"));
    let (chunk, chunks) = (2_000, 100_u64);
    let script = format!(
        "stty -echo -onlcr; echo ready; while [ ! -e {} ]; do sleep 0.01; done; i=0; \
         while [ $i -lt {chunks} ]; do seq -f '{LINE}' $((i*{chunk}+1)) $(((i+1)*{chunk})); \
         i=$((i+1)); echo $i > {}; done; read end",
        go.display(),
        file.display()
    );
    create(&mut home.connect(), "printer", &script);
    wait_for_text(&mut home.connect(), "printer", "ready");
    let mut reader = home.connect();
    let size = Some(Size::DEFAULT);
    let options = AttachOptions { lag: Lag::Block, size, ..AttachOptions::default() };
    let mut stream = Stream::attach(&mut reader, "printer", options).unwrap();
    stream.note(&next_event(&mut reader, "the first redraw").unwrap());
    daemon.signal(Signal::KILL);
    daemon.wait_for_end();
    fs::write(&go, "").unwrap();

    let bytes = chunk * (line(1).len() as u64 + 1);
    eventually("as much as the log holds is printed", || progress(&file) * bytes >= KEPT - bytes);
    let (mut last, mut same) = (0, 0);
    eventually("the program waits", || {
        let now = progress(&file);
        same = if now == last { same + 1 } else { 0 };
        last = now;
        same >= 100
    });
    let most = KEPT + (1 << 20);
    assert!(last * bytes <= most, "{last} chunks of {bytes} bytes were taken without a daemon");

    daemon.restart(&home);
    let mut reader = home.connect();
    stream.resume(&mut reader).unwrap();
    let mut lines = Lines::default();
    while lines.count() < chunk * chunks {
        let event = next_event(&mut reader, "the lines").expect("the connection stays");
        if !stream.note(&event) {
            continue;
        }
        match event {
            Event::Output { bytes, .. } => lines.feed(&bytes),
            Event::Redraw { .. } => panic!("bytes were left out"),
            _ => {}
        }
    }
}
