//! Plugins that do harm: nobody else notices (P1).

use std::fs;
use std::time::Instant;

use greenroom_testkit::{Framing, Home, Rpc, Serving, process};
use serde_json::json;

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
function M.predicate() while true do end end
return M
"#;

fn serve(home: &Home) -> (Serving, Rpc) {
    fs::write(home.path().join("harm.toml"), MANIFEST).unwrap();
    fs::write(home.path().join("harm.lua"), SOURCE).unwrap();
    let manifest = home.path().join("harm.toml").display().to_string();
    Serving::start(home, Framing::Lines, &["--plugin".to_owned(), manifest])
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
