//! The ptywright door under every fault: in the daemon, and in private servers.

mod adapters;
mod clients;
mod doors;
mod frames;
mod json;
mod notes;
mod order;
mod plugins;
mod raw;
mod secrets;
mod slow;
mod submit;
mod unread;

use greenroom_testkit::{Framing, Home, Rpc, Serving};
use serde_json::{Value, json};

/// A home whose processes are found whatever became of their server.
fn home() -> Home {
    Home::with_programs(env!("CARGO_BIN_EXE_greenroom"))
}

/// A private server and its client.
fn private(home: &Home) -> (Serving, Rpc) {
    Serving::start(home, Framing::Lines, &[])
}

/// Makes a session that runs a line of shell.
#[track_caller]
fn create(rpc: &mut Rpc, line: &str) -> String {
    let made = rpc.call("session.create", &shell(line));
    made["session"].as_str().unwrap().to_owned()
}

/// A line of shell, as `session.create` wants it.
fn shell(line: &str) -> Value {
    json!({"program": "sh", "args": ["-c", line]})
}

/// Waits until the transcript of a session has a text.
#[track_caller]
fn wait_for(rpc: &mut Rpc, session: &str, text: &str) -> Value {
    let matcher = json!({"type": "transcript_contains", "value": text});
    rpc.call("session.wait", &json!({"session": session, "matcher": matcher, "cells": false}))
}

/// Waits until a session has ended.
#[track_caller]
fn wait_for_end(rpc: &mut Rpc, session: &str) -> Value {
    let matcher = json!({"type": "process_exited"});
    rpc.call("session.wait", &json!({"session": session, "matcher": matcher, "cells": false}))
}

/// Types into a session.
#[track_caller]
fn type_in(rpc: &mut Rpc, session: &str, text: &str) {
    rpc.call("session.input", &typed(session, text));
}

/// What types a text into a session.
fn typed(session: &str, text: &str) -> Value {
    json!({"session": session, "action": {"type": "text", "value": text}})
}

/// What the notifications of a session's output say, up to one that ends with a text.
#[track_caller]
fn told_until(rpc: &mut Rpc, session: &str, end: &str) -> String {
    let mut told = String::new();
    while !told.ends_with(end) {
        let note = rpc.note(end, |note| {
            note["method"] == "session.output" && note["params"]["session"] == session
        });
        told.push_str(note["params"]["output"].as_str().unwrap());
    }
    told
}
