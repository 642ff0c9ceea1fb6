//! Private servers and the daemon: what each sees of sessions, and what they leave.

use greenroom_testkit::{
    Framing, Rpc, Serving, Signal, create as create_native, eventually, process,
};
use serde_json::{Value, json};

use super::{create, home, private, type_in, wait_for, wait_for_end};

#[test]
fn a_private_server_that_is_killed_leaves_no_process() {
    let home = home();
    let (mut server, mut rpc) = private(&home);
    create(
        &mut rpc,
        "trap '' HUP TERM INT; (setsid sleep 1000 &); echo up; while :; do sleep 1; done",
    );
    create(&mut rpc, "exec cat");
    wait_for(&mut rpc, "s1", "up");
    assert!(home.processes().len() >= 5);
    server.signal(Signal::KILL);
    server.wait_for_end();
    eventually("its processes are gone", || home.processes().is_empty());
}

#[test]
fn a_private_server_ends_with_its_input_and_with_a_signal() {
    let home = home();
    let (mut server, mut rpc) = private(&home);
    create(&mut rpc, "exec cat");
    let id = rpc.begin("session.list", &json!({}));
    rpc.finish();
    assert_eq!(rpc.answer(&id).unwrap().unwrap(), json!({"sessions": ["s1"]}));
    assert!(server.wait_for_end().success());
    assert_eq!(server.said(), "", "nothing is said that nobody asked for");

    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let (mut server, mut rpc) = private(&home);
        create(&mut rpc, "exec cat");
        server.signal(signal);
        assert_eq!(server.wait_for_end().code(), Some(code));
    }
    eventually("its processes are gone", || home.processes().is_empty());
    let left = std::fs::read_dir(home.path()).unwrap().flatten();
    let folders = left.filter(|it| it.file_name().to_string_lossy().contains("greenroom-serve"));
    assert_eq!(folders.count(), 0);
}

#[test]
fn a_private_server_has_no_session_of_the_daemon() {
    let home = home();
    let _daemon = home.start();
    create_native(&mut home.connect(), "native", "exec cat");
    let (_server, mut rpc) = private(&home);
    assert_eq!(rpc.call("session.list", &json!({})), json!({"sessions": []}));
    create(&mut rpc, "exec cat");
    let listed = home.connect().call("session.list", &json!({})).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1);
}

#[test]
fn sessions_are_seen_and_used_through_both_doors() {
    let home = home();
    let _daemon = home.start();
    let mut native = home.connect();
    let mut rpc = home.ptywright(Framing::Headers);
    create_native(&mut native, "native", "stty -echo; read x; echo heard-$x; read x");
    create(&mut rpc, "stty -echo; read x; echo heard-$x; read x");
    assert_eq!(rpc.call("session.list", &json!({})), json!({"sessions": ["s1", "s2"]}));
    let listed = native.call("session.list", &json!({})).unwrap();
    let numbers: Vec<&Value> = listed.as_array().unwrap().iter().map(|it| &it["number"]).collect();
    assert_eq!(numbers, [1, 2]);
    let shown = home.command(["ls"]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert_eq!(
        shown.lines().filter(|line| line.contains("stty") || line.contains("sh")).count(),
        2,
        "{shown}"
    );

    // Typed at one door, seen at the other.
    type_in(&mut rpc, "s1", "ptywright\n");
    crate::support::wait_for_text(&mut native, "1", "heard-ptywright");
    native.call("session.send", &json!({"sessionId": "2", "text": "native\n"})).unwrap();
    wait_for(&mut rpc, "s2", "heard-native");

    // What one closes is gone at the other.
    rpc.call("session.close", &json!({"session": "s1"}));
    let listed = native.call("session.list", &json!({"ended": true})).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    native.call("session.kill", &json!({"sessionId": "2"})).unwrap();
    native.call("session.forget", &json!({"sessionId": "2"})).unwrap();
    assert_eq!(rpc.call("session.list", &json!({})), json!({"sessions": []}));
    assert_eq!(rpc.refused("session.snapshot", &json!({"session": "s2"}))["code"], -32602);
}

#[test]
fn sessions_of_an_earlier_daemon_are_there_with_their_numbers() {
    let home = home();
    let mut daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    create(&mut rpc, "stty -echo; echo first; read x; echo heard-$x; read x");
    wait_for(&mut rpc, "s1", "first");
    daemon.restart(&home);
    let mut rpc = home.ptywright(Framing::Lines);
    assert_eq!(rpc.call("session.list", &json!({})), json!({"sessions": ["s1"]}));
    let shot = rpc.call("session.snapshot", &json!({"session": "s1", "cells": false}));
    assert_eq!((&shot["plain_text"], &shot["sequence"]), (&json!("first"), &json!(7)));
    type_in(&mut rpc, "s1", "again\n");
    wait_for(&mut rpc, "s1", "heard-again");
    assert_eq!(create(&mut rpc, "exec cat"), "s2");
}

#[test]
fn a_private_socket_serves_many_and_goes_with_its_server() {
    let home = home();
    let path = home.path().join("own.sock");
    let mut command = home.command(["serve", "--socket", path.to_str().unwrap()]);
    command.env("TMPDIR", home.path());
    let mut server = greenroom_testkit::Daemon::begin(&home, command);
    eventually("it listens", || std::os::unix::net::UnixStream::connect(&path).is_ok());
    let connect = || greenroom_testkit::Rpc::connect(&path, Framing::Lines).unwrap();
    let (mut one, mut other) = (connect(), connect());
    create(&mut one, "exec cat");
    assert_eq!(other.call("session.list", &json!({})), json!({"sessions": ["s1"]}));
    server.signal(Signal::TERM);
    assert_eq!(server.wait_for_end().code(), Some(143), "{}", server.said());
    assert!(!path.exists());
    assert!(!process::lives(server.pid()));
    eventually("its processes are gone", || home.processes().is_empty());
}

#[test]
fn framings_of_a_private_server_are_what_it_was_told() {
    let home = home();
    let (_server, mut rpc) = Serving::start(&home, Framing::Headers, &[]);
    assert_eq!(rpc.call("session.list", &json!({})), json!({"sessions": []}));
    let (mut server, mut rpc) = Serving::start(&home, Framing::Headers, &[]);
    rpc.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.list\"}\n\n").unwrap();
    assert!(rpc.message().is_none(), "a line is no header");
    server.wait_for_end();
}

#[test]
fn what_ended_stays_listed_by_the_next_daemon_until_it_is_closed() {
    let home = home();
    let daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    let ended = create(&mut rpc, "exit 3");
    wait_for_end(&mut rpc, &ended);
    let running = create(&mut rpc, "cat");
    daemon.kill();
    let _daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    let listed = |rpc: &mut Rpc| rpc.call("session.list", &json!({}))["sessions"].clone();
    assert_eq!(listed(&mut rpc), json!([ended, running]));
    rpc.call("session.close", &json!({"session": ended}));
    assert_eq!(listed(&mut rpc), json!([running]));
}

/// Whoever forgets a session, its adapter is no more, and with it what it takes.
#[test]
fn an_adapter_goes_with_its_session_whichever_door_forgets_that() {
    let home = home();
    let _daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    let started = rpc.call(
        "adapter.start",
        &json!({"plugin": "shell", "program": "sh", "args": ["-c", "exit 0"]}),
    );
    let exit = json!({"type": "process_exited"});
    rpc.call("adapter.wait", &json!({"adapter": started["adapter"], "matcher": exit}));
    let number = started["session"].as_str().unwrap().trim_start_matches('s').to_owned();
    home.connect().call("session.forget", &json!({"sessionId": number})).unwrap();
    let live = |rpc: &mut Rpc| rpc.call("adapter.live", &json!({}))["adapters"].clone();
    eventually("the adapter is gone", || live(&mut rpc) == json!([]));
    let error = rpc.refused("adapter.state", &json!({"adapter": started["adapter"]}));
    assert_eq!(error["code"], -32602, "{error}");
}
