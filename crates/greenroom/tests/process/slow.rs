//! A client that does not read, and what output costs the daemon (B1).

use std::time::{Duration, Instant};

use greenroom_client::{Connection, Event, RedrawReason};
use greenroom_frame::binary::kind;
use greenroom_frame::binary::stream::{Output, Redraw};
use greenroom_model::Size;
use greenroom_screen::{Options, Screen};
use greenroom_testkit::{LINE, Wire, count, create, line, next_event, process};
use serde_json::json;

use crate::support::{
    ANSWERS, assert_answers, call, enter, home, note, screen, wait_for_text, wait_long_for_text,
};

/// How much a daemon may grow for a client that does not read, in KiB.
const GROWTH: u64 = 16 << 10;

/// Makes a printer that waits for Enter, and again at its end.
fn printer(connection: &mut Connection, session: &str, lines: usize) {
    let script = format!("stty -echo; echo ready; read go; seq -f '{LINE}' 1 {lines}; read end");
    create(connection, session, &script);
    wait_for_text(connection, session, "ready");
}

#[test]
fn a_client_that_does_not_read_harms_nobody_and_is_redrawn() {
    let home = home();
    let daemon = home.start();
    let mut connection = home.connect();
    let lines = count(400_000, 20_000_000);
    let last = line(lines as u64);
    let patience = Duration::from_secs(count(25, 300) as u64);
    create(&mut connection, "echo", ANSWERS);
    printer(&mut connection, "alone", lines);
    printer(&mut connection, "watched", lines);
    let mut slow = home.wire();
    let attach = json!({"sessionId": "watched", "stream": true});
    slow.call("session.attach", &attach).unwrap().unwrap();

    let memory = process::memory_kib(daemon.pid());
    let begin = Instant::now();
    enter(&mut connection, "alone");
    wait_long_for_text(&mut connection, "alone", &last, patience);
    let alone = begin.elapsed();
    let usual = process::memory_kib(daemon.pid()).saturating_sub(memory);

    let memory = process::memory_kib(daemon.pid());
    let begin = Instant::now();
    enter(&mut connection, "watched");
    // The other session answers while all that is printed.
    for round in 0..20 {
        assert_answers(&mut connection, "echo", round);
    }
    wait_long_for_text(&mut connection, "watched", &last, patience);
    let watched = begin.elapsed();
    let grown = process::memory_kib(daemon.pid()).saturating_sub(memory);
    assert!(grown <= usual + GROWTH, "the daemon grew by {grown} KiB, else by {usual}");
    // Only a run that takes some seconds can be compared with another one.
    if count(0, 1) == 1 {
        println!("{watched:?} with a slow client, {alone:?} without; grown by {grown} KiB");
        let most = alone.mul_f64(1.2) + Duration::from_secs(1);
        assert!(watched <= most, "{watched:?} with a slow client, {alone:?} without");
    }

    let expected = screen(&mut connection, "watched");
    let (shown, lagged) = read_until(&mut slow, &expected);
    assert_eq!(shown, expected);
    assert!(lagged, "it is told that bytes were left out");
}

/// Reads a stream, as a terminal would, until the screen is as expected.
fn read_until(slow: &mut Wire, expected: &str) -> (String, bool) {
    let mut terminal = Screen::new(Size::DEFAULT, Options::default());
    let mut lagged = false;
    loop {
        let frame = slow.frame().expect("a slow client is not cut off");
        match frame.kind {
            kind::OUTPUT => {
                terminal.feed(&Output::from_payload(frame.payload).unwrap().bytes);
            }
            kind::REDRAW => {
                let redraw = Redraw::from_payload(frame.payload).unwrap();
                lagged |= redraw.reason == RedrawReason::Lagged;
                terminal = Screen::new(Size::DEFAULT, Options::default());
                terminal.feed(&redraw.bytes);
            }
            _ => continue,
        }
        if terminal.text() == expected {
            return (terminal.text(), lagged);
        }
    }
}

#[test]
fn many_small_outputs_cost_little_memory() {
    let home = home();
    let daemon = home.start();
    let mut connection = home.connect();
    let bell = create(
        &mut connection,
        "spinner",
        "read go; \
         i=0; while [ $i -lt 20000 ]; do printf '\\r|'; i=$((i+1)); done; printf '\\007'; read end",
    );
    let memory = process::memory_kib(daemon.pid());
    enter(&mut connection, "spinner");
    note(&mut connection, "session.bell", bell["sessionId"].as_str().unwrap());
    let grown = process::memory_kib(daemon.pid()).saturating_sub(memory);
    assert!(grown <= GROWTH / 4, "40 kB of output made the daemon grow by {grown} KiB");
}

#[test]
fn a_hundred_clients_see_the_same() {
    let home = home();
    let _daemon = home.start();
    create(&mut home.connect(), "shown", "stty -echo; echo ready; read go; seq 1 100; read end");
    wait_for_text(&mut home.connect(), "shown", "ready");
    let attach = json!({"sessionId": "shown", "stream": true, "readOnly": true});
    let mut clients: Vec<Connection> = (0..100)
        .map(|_| {
            let mut client = home.connect();
            call(&mut client, "session.attach", attach.clone());
            client
        })
        .collect();
    enter(&mut home.connect(), "shown");
    for client in &mut clients {
        let mut seen = Vec::new();
        while !seen.ends_with(b"99\r\n100\r\n") {
            match next_event(client, "the last line").expect("the connection stays") {
                Event::Output { bytes, .. } => seen.extend_from_slice(&bytes),
                Event::Redraw { bytes, .. } => assert!(seen.is_empty(), "{bytes:?}"),
                _ => {}
            }
        }
        let expected: String = (1..=100).map(|number| format!("{number}\r\n")).collect();
        assert_eq!(String::from_utf8(seen).unwrap(), expected);
    }
}
