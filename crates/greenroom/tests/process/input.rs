//! A program that never reads, and a client that types without end (B2).

use std::io::{ErrorKind as Io, Write as _};
use std::time::Duration;

use greenroom_client::ErrorKind;
use greenroom_frame::binary::{encode, kind};
use greenroom_testkit::{create, eventually, process};
use serde_json::json;

use crate::support::{ANSWERS, assert_answers, call, home, wait_for_text};

/// What is on its way at most, from the client's socket to the terminal.
const BOUND: usize = 8 << 20;

/// How much a daemon may grow for it, in KiB.
const GROWTH: u64 = 16 << 10;

/// What the client would like to type.
const WANTED: usize = 100 << 20;

#[test]
fn typing_into_a_program_that_never_reads_harms_only_who_types() {
    let home = home();
    let daemon = home.start();
    let mut connection = home.connect();
    create(&mut connection, "deaf", "stty raw -echo; echo deaf; exec sleep 1000");
    create(&mut connection, "echo", ANSWERS);
    wait_for_text(&mut connection, "deaf", "deaf");
    let memory = process::memory_kib(daemon.pid());

    let mut typist = home.wire();
    let attach = json!({"sessionId": "deaf", "stream": true});
    let answer = typist.call("session.attach", &attach).unwrap().unwrap();
    let stream = answer["streamId"].as_str().unwrap();
    let frame = encode(kind::INPUT, stream, &[b'x'; 32 << 10]).unwrap();
    typist.stream().set_nonblocking(true).unwrap();
    let (mut typed, mut refused) = (0, 0);
    let mut left: &[u8] = &frame;
    eventually("the daemon takes no more", || {
        match typist.stream().write(left) {
            Ok(count) => {
                (typed, refused) = (typed + count, 0);
                left = if count == left.len() { &frame } else { &left[count..] };
            }
            Err(error) if error.kind() == Io::WouldBlock => refused += 1,
            Err(error) => panic!("the typist was cut off: {error}"),
        }
        assert!(typed < WANTED, "all of it was taken");
        refused >= 100
    });
    assert!(typed < BOUND, "{typed} bytes were taken for a program that never reads");
    let grown = process::memory_kib(daemon.pid()).saturating_sub(memory);
    assert!(grown <= GROWTH, "the daemon grew by {grown} KiB");

    // Nobody else notices, also who talks about the same session.
    assert_answers(&mut connection, "echo", 1);
    call(&mut connection, "session.read", json!({"sessionId": "deaf"}));
    let more = json!({"sessionId": "deaf", "text": "y".repeat(64 << 10)});
    let error = connection.call_within("session.send", &more, Duration::from_secs(10));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Busy);

    // When the session ends, the typist is heard again.
    call(&mut connection, "session.kill", json!({"sessionId": "deaf", "graceMs": 0}));
    typist.stream().set_nonblocking(false).unwrap();
    typist.send_bytes(left).unwrap();
    assert!(typist.call("daemon.status", &json!({})).unwrap().is_ok());
}
