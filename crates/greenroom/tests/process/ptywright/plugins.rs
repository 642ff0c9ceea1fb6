//! Plugins that do harm: nobody else notices (P1).

use std::fs;
use std::time::Instant;

use greenroom_testkit::{Framing, Home, Rpc, Serving, process};
use serde_json::{Value, json};

use super::{create, home, type_in, wait_for};
use crate::support::SERVED;

const MANIFEST: &str = r#"
name = "harm"
kind = "adapter"
version = "1"
runtime = "lua"
entrypoint = "harm.lua"
permissions = ["session.spawn", "session.kill", "screen.read", "input.write", "matcher.wait"]

[default_target]
program = "cat"
"#;

const SOURCE: &str = r#"
local M = {}
function M.classify() return { state = "here", confidence = 1, evidence = "always" } end
function M.forever() while true do end end
function M.stubborn() while true do pcall(function() while true do end end) end end
function M.huge() return { actions = {}, last_intent = ("x"):rep(1e9) } end
function M.grows() local all = {} for i = 1, 1e9 do all[i] = ("x"):rep(1000) .. i end end
function M.deep() local function f(n) return 1 + f(n + 1) end return f(1) end
function M.fails() error({ nobody = "knows" }) end
function M.escapes()
  local names = {}
  for _, name in ipairs({ "os", "io", "debug", "require", "package", "load", "loadfile", "dofile" }) do
    if _G[name] ~= nil then names[#names + 1] = name end
  end
  error("has: " .. table.concat(names, " "))
end
function M.says() print("it said", "token=abcdefgh1234") return { actions = {} } end
function M.predicate() while true do end end
function M.unknown() return nobody.knows end
function M.slow() for i = 1, 200000 do end return false end
function M.never() return false end
function M.settled(input) return (input.stable_ms or 0) > 300 end
for _, name in ipairs({ "predicate", "unknown", "slow", "never" }) do
  M[name .. "_matcher"] = function() return ptywright.matcher.lua("harm", name) end
end
return M
"#;

fn serve(home: &Home) -> (Serving, Rpc) {
    fs::write(home.path().join("harm.toml"), MANIFEST).unwrap();
    fs::write(home.path().join("harm.lua"), SOURCE).unwrap();
    let manifest = home.path().join("harm.toml").display().to_string();
    let arguments = ["--allow-plugin-load".to_owned(), "--plugin".to_owned(), manifest];
    Serving::start(home, Framing::Lines, &arguments)
}

/// An adapter whose program prints as fast as it can and never stops.
fn prints(rpc: &mut Rpc) -> Value {
    let line = "exec yes 'a line of a program that never stops'";
    let start = json!({"plugin": "harm", "program": "sh", "args": ["-c", line]});
    rpc.call("adapter.start", &start)["adapter"].clone()
}

/// Types into a session that echoes, and waits for it.
fn echoes(rpc: &mut Rpc, session: &str, what: &str) {
    type_in(rpc, session, &format!("{what}\n"));
    wait_for(rpc, session, &format!("heard-{what}-"));
}

#[test]
fn an_intent_that_does_harm_is_stopped_and_nobody_waits_for_it() {
    let home = home();
    let (server, mut rpc) = serve(&home);
    let echo = create(&mut rpc, "stty -echo; while read x; do echo heard-$x-; done");
    let memory = process::memory_kib(server.pid());
    for (round, intent) in
        ["forever", "stubborn", "huge", "grows", "deep", "fails"].into_iter().enumerate()
    {
        let started = rpc.call("adapter.start", &json!({"plugin": "harm"}));
        let send = json!({"adapter": started["adapter"], "intent": intent});
        let harm = rpc.begin("adapter.send", &send);
        let begin = Instant::now();
        rpc.call("session.snapshot", &json!({"session": echo, "cells": false}));
        assert!(begin.elapsed() <= SERVED, "{intent}: others waited for {:?}", begin.elapsed());
        type_in(&mut rpc, &echo, &format!("{round}\n"));
        wait_for(&mut rpc, &echo, &format!("heard-{round}-"));
        let error = rpc.answer(&harm).unwrap().unwrap_err();
        assert_eq!(error["code"], -32603, "{intent}: {error}");
        // The adapter is still there, whatever became of its plugin.
        rpc.call("adapter.close", &json!({"adapter": started["adapter"]}));
    }
    let grown = process::memory_kib(server.pid()).saturating_sub(memory);
    assert!(grown <= 128 << 10, "the server grew by {grown} KiB");
}

#[test]
fn a_plugin_reaches_nothing_but_what_it_is_given() {
    let home = home();
    let (_server, mut rpc) = serve(&home);
    rpc.call("adapter.start", &json!({"plugin": "harm"}));
    let error = rpc.refused("adapter.send", &json!({"adapter": "e1", "intent": "escapes"}));
    let message = error["message"].as_str().unwrap();
    for name in ["os", "io", "debug", "package", "load", "loadfile", "dofile"] {
        assert!(!message.split(' ').any(|it| it == name), "{name}: {message}");
    }
}

#[test]
fn a_predicate_that_never_ends_does_not_hold_and_the_wait_times_out() {
    let home = home();
    let (_server, mut rpc) = serve(&home);
    let echo = create(&mut rpc, "stty -echo; while read x; do echo heard-$x-; done");
    let lua = json!({"type": "lua", "value": {"plugin": "harm", "predicate": "predicate"}});
    let wait = json!({"session": echo, "matcher": lua, "timeout_ms": 100});
    let waits = rpc.begin("session.wait", &wait);
    type_in(&mut rpc, &echo, "this\n");
    wait_for(&mut rpc, &echo, "heard-this-");
    assert_eq!(rpc.answer(&waits).unwrap().unwrap_err()["code"], -32001);
}

#[test]
fn a_predicate_that_goes_by_the_time_is_asked_while_nothing_happens() {
    let home = home();
    let (_server, mut rpc) = serve(&home);
    let quiet = create(&mut rpc, "echo here; exec sleep 1000");
    wait_for(&mut rpc, &quiet, "here");
    // Nothing that is printed makes it hold: only the time does.
    let lua = json!({"type": "lua", "value": {"plugin": "harm", "predicate": "settled"}});
    // For longer than anybody has the patience for.
    let wait = json!({"session": quiet, "matcher": lua, "timeout_ms": 86_400_000});
    assert_eq!(rpc.call("session.wait", &wait)["matched"], true);
}

#[test]
fn a_wait_for_a_plugin_that_is_not_there_yet_notices_when_it_is_loaded() {
    let home = home();
    fs::write(home.path().join("harm.toml"), MANIFEST).unwrap();
    fs::write(home.path().join("harm.lua"), SOURCE).unwrap();
    let (_server, mut rpc) =
        Serving::start(&home, Framing::Lines, &["--allow-plugin-load".to_owned()]);
    let quiet = create(&mut rpc, "echo here; exec sleep 1000");
    wait_for(&mut rpc, &quiet, "here");
    let lua = json!({"type": "lua", "value": {"plugin": "harm", "predicate": "settled"}});
    let wait = json!({"session": quiet, "matcher": lua, "timeout_ms": 86_400_000});
    let waits = rpc.begin("session.wait", &wait);
    rpc.call("plugin.load", &json!({"manifest_path": home.path().join("harm.toml")}));
    assert_eq!(rpc.answer(&waits).unwrap().unwrap()["matched"], true);
}

#[test]
fn a_plugin_that_is_asked_about_every_output_of_a_program_that_never_stops_slows_nobody() {
    let home = home();
    let (server, mut rpc) = serve(&home);
    let echo = create(&mut rpc, "stty -echo; while read x; do echo heard-$x-; done");
    let adapter = prints(&mut rpc);
    let mut memory = 0;
    for intent in ["unknown_matcher", "slow_matcher", "never_matcher"] {
        let wait = |n| json!({"adapter": adapter, "intent": intent, "wait_id": format!("{n}")});
        let waits: Vec<_> = (0..64).map(|n| rpc.begin("adapter.wait", &wait(n))).collect();
        for round in 0..10 {
            echoes(&mut rpc, &echo, &format!("{intent}{round}"));
        }
        for (n, waits) in waits.iter().enumerate() {
            let cancelled = rpc.call("adapter.cancel_wait", &json!({"wait_id": format!("{n}")}));
            assert_eq!(cancelled["cancelled"], true, "{intent}: it had ended");
            assert_eq!(rpc.answer(waits).unwrap().unwrap_err()["code"], -32005, "{intent}");
        }
        // What the first of them leaves behind is there for all.
        let now = process::memory_kib(server.pid());
        assert!(memory == 0 || now <= memory + (64 << 10), "{intent}: {memory} to {now} KiB");
        memory = memory.max(now);
    }
    rpc.call("adapter.close", &json!({"adapter": adapter}));
}

#[test]
fn a_plugin_that_does_harm_at_every_output_is_disabled_and_who_waits_is_told_why() {
    let home = home();
    let (_server, mut rpc) = serve(&home);
    let echo = create(&mut rpc, "stty -echo; while read x; do echo heard-$x-; done");
    let adapter = prints(&mut rpc);
    let wait = json!({"adapter": adapter, "intent": "predicate_matcher"});
    let waits: Vec<_> = (0..8).map(|_| rpc.begin("adapter.wait", &wait)).collect();
    echoes(&mut rpc, &echo, "this");
    for waits in waits {
        let error = rpc.answer(&waits).unwrap().unwrap_err().to_string();
        assert!(error.contains("plugin `harm` is disabled: `predicate`: "), "{error}");
        assert!(error.contains("limit exceeded, 3 times in a row"), "{error}");
    }
    echoes(&mut rpc, &echo, "that");
}

#[test]
fn an_adapter_whose_plugin_does_harm_is_disabled_and_says_why() {
    let home = home();
    let (_server, mut rpc) = serve(&home);
    for intent in ["forever", "stubborn", "grows"] {
        let adapter = rpc.call("adapter.start", &json!({"plugin": "harm"}))["adapter"].clone();
        for _ in 0..3 {
            rpc.refused("adapter.send", &json!({"adapter": adapter, "intent": intent}));
        }
        let state = rpc.call("adapter.state", &json!({"adapter": adapter})).to_string();
        let why = format!("plugin `harm` is disabled: `{intent}`: ");
        assert!(state.contains(&why), "{state}");
        rpc.call("adapter.close", &json!({"adapter": adapter}));
    }
}

#[test]
fn what_a_plugin_logs_is_in_the_log_without_secrets() {
    let home = home();
    let (mut server, mut rpc) = serve(&home);
    let adapter = rpc.call("adapter.start", &json!({"plugin": "harm"}))["adapter"].clone();
    rpc.call("adapter.send", &json!({"adapter": adapter, "intent": "says"}));
    rpc.finish();
    assert!(server.wait_for_end().success());
    let logs = fs::read_dir(home.path().join(".ptywright/logs")).unwrap();
    let logs: String = logs.map(|log| fs::read_to_string(log.unwrap().path()).unwrap()).collect();
    assert!(logs.contains("it said token=[REDACTED]"), "{logs}");
    assert!(!logs.contains("abcdefgh"), "{logs}");
}

#[test]
fn a_plugin_that_is_loaded_again_and_again_in_vain_slows_nobody() {
    let home = home();
    let (_server, mut rpc) = serve(&home);
    let echo = create(&mut rpc, "stty -echo; while read x; do echo heard-$x-; done");
    let write = |name: &str, text: &str| fs::write(home.path().join(name), text).unwrap();
    write("deep.toml", &MANIFEST.replace("harm", "deep"));
    write("deep.lua", "local function f() return 1 + f() end f()");
    let load = json!({"manifest_path": home.path().join("deep.toml")});
    let loads: Vec<_> = (0..7).map(|_| rpc.begin("plugin.load", &load)).collect();
    echoes(&mut rpc, &echo, "this");
    for load in loads {
        let error = rpc.answer(&load).unwrap().unwrap_err().to_string();
        assert!(error.contains("stack overflow"), "{error}");
    }
    write("deep.lua", "return {}");
    assert_eq!(rpc.call("plugin.load", &load), json!({"plugin": "deep"}));
}
