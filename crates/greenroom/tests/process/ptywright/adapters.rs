//! Adapters at the daemon: they survive it, as their sessions do.

use greenroom_testkit::Framing;
use serde_json::{Value, json};

use super::{home, private};

/// Waits until the shell shows its prompt; gives what its adapter makes of it.
fn at_prompt(rpc: &mut greenroom_testkit::Rpc, adapter: &Value) -> Value {
    for _ in 0..10 {
        let wait = json!({"adapter": adapter, "timeout_ms": 20_000});
        let state = rpc.call("adapter.wait", &wait)["state"].clone();
        if state["state"] == "prompt" {
            return state;
        }
    }
    panic!("no prompt: {}", rpc.call("adapter.inspect", &json!({"adapter": adapter})));
}

#[test]
fn the_sequence_of_a_session_that_ended_counts_its_resizes_for_the_next_daemon() {
    let home = home();
    let mut daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    let create = json!({"program": "/bin/sh", "args": ["-c", "read line; echo $line"]});
    let session = rpc.call("session.create", &create)["session"].clone();
    for rows in [30, 31, 32] {
        let resize = json!({"session": session, "rows": rows, "cols": 80});
        rpc.call("session.resize", &resize);
    }
    let text = json!({"session": session, "action": {"type": "text", "value": "end\n"}});
    rpc.call("session.input", &text);
    let wait = json!({"session": session, "matcher": {"type": "process_exited"}, "cells": false});
    let sequence = rpc.call("session.wait", &wait)["sequence"].clone();
    drop(rpc);
    daemon.restart(&home);
    let mut rpc = home.ptywright(Framing::Lines);
    let look = json!({"session": session, "cells": false});
    assert_eq!(rpc.call("session.snapshot", &look)["sequence"], sequence);
}

#[test]
fn more_than_the_queue_takes_is_typed() {
    let home = home();
    let _daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    let script = "stty raw -echo; echo READY; head -c 3000000 | wc -c; exec cat > /dev/null";
    let create = json!({"program": "/bin/sh", "args": ["-c", script]});
    let session = rpc.call("session.create", &create)["session"].clone();
    let wait = |text: &str| {
        let matcher = json!({"type": "contains_text", "value": text});
        json!({"session": session, "matcher": matcher, "cells": false})
    };
    rpc.call("session.wait", &wait("READY"));
    let text = json!({"type": "text", "value": "x".repeat(3_000_000)});
    let sent = rpc.call("session.input", &json!({"session": session, "action": text}));
    assert_eq!(sent, json!({"sent": true}));
    rpc.call("session.wait", &wait("3000000"));
}

#[test]
fn a_shell_as_it_comes_tells_how_its_commands_ended() {
    let home = home();
    let _daemon = home.start();
    // A person's settings, which say nothing of marks.
    std::fs::write(home.path().join(".bashrc"), "PS1='mine> '\n").unwrap();
    let mut rpc = home.ptywright(Framing::Lines);
    let start = json!({"plugin": "shell", "env": {"HOME": home.path()}});
    let adapter = rpc.call("adapter.start", &start)["adapter"].clone();
    let first = at_prompt(&mut rpc, &adapter);
    assert_eq!(first["metadata"], Value::Null, "nothing ran yet: {first}");
    for (command, status) in [("sh -c 'exit 7'", 7), ("true", 0), ("false", 1)] {
        let send = json!({"intent": "run", "params": {"command": command}});
        rpc.call("adapter.turn", &json!({"adapter": adapter, "send": send}));
        let state = at_prompt(&mut rpc, &adapter);
        assert_eq!(state["metadata"], json!({"exit_status": status, "command": command}));
    }
    let screen = rpc.call("adapter.inspect", &json!({"adapter": adapter}))["plain_text"].clone();
    let screen = screen.as_str().unwrap();
    assert!(screen.starts_with("mine> sh -c 'exit 7'\nmine> true\n"), "{screen}");
}

#[test]
fn an_adapter_goes_on_with_the_next_daemon() {
    let home = home();
    let mut daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    // A shell that marks its prompts and commands.
    let marks = r#"PS0='\e]133;C\a'; PS1='\e]133;D;$?\a\e]133;A\a$ \e]133;B\a'"#;
    let start = json!({"plugin": "shell", "program": "bash", "args": ["--norc", "-i"]});
    let adapter = rpc.call("adapter.start", &start)["adapter"].clone();
    at_prompt(&mut rpc, &adapter);
    let run = |command: &str| json!({"adapter": adapter, "intent": "run", "params": {"command": command}});
    rpc.call("adapter.send", &run(marks));
    at_prompt(&mut rpc, &adapter);
    rpc.call("adapter.send", &run("sh -c 'exit 3'"));
    let before = at_prompt(&mut rpc, &adapter);
    assert_eq!(before["metadata"]["exit_status"], 3, "{before}");
    drop(rpc);

    daemon.restart(&home);
    let mut rpc = home.ptywright(Framing::Headers);
    let live = rpc.call("adapter.live", &json!({}))["adapters"].clone();
    assert_eq!((&live[0]["adapter"], &live[0]["plugin"]), (&adapter, &json!("shell")), "{live}");
    let after = rpc.call("adapter.state", &json!({"adapter": adapter}))["state"].clone();
    for what in ["state", "sequence", "metadata"] {
        assert_eq!(after[what], before[what], "{what}: {after}");
    }
    // What it is sent now is the next turn of the same shell.
    rpc.call("adapter.send", &run("sh -c 'exit 4'"));
    assert_eq!(at_prompt(&mut rpc, &adapter)["metadata"]["exit_status"], 4);
    // It ends, and stays listed as ended also by the next daemon, with all that happened counted.
    rpc.call("adapter.send", &run("exit 0"));
    let exited = json!({"adapter": adapter, "matcher": {"type": "process_exited"}});
    rpc.call("adapter.wait", &exited);
    let ended = rpc.call("adapter.live", &json!({}))["adapters"].clone();
    assert_eq!(ended[0]["finished"], true, "{ended}");
    drop(rpc);
    daemon.restart(&home);
    let mut rpc = home.ptywright(Framing::Lines);
    assert_eq!(rpc.call("adapter.live", &json!({}))["adapters"], ended);
    rpc.call("adapter.snapshot", &json!({"adapter": adapter, "cells": false}));
    rpc.call("adapter.close", &json!({"adapter": adapter}));
    assert_eq!(rpc.call("adapter.live", &json!({}))["adapters"], json!([]));
    drop(rpc);

    // Its name never comes to mean another.
    daemon.restart(&home);
    let mut rpc = home.ptywright(Framing::Lines);
    let other = rpc.call("adapter.start", &start)["adapter"].clone();
    assert_ne!(other, adapter);
}

/// A dialog that was answered, and another in its place since the adapter was last asked what it sees.
#[test]
fn an_intent_is_planned_by_the_screen_of_now() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugins/claude-code/fixtures");
    let go = home.path().join("go");
    let script = format!(
        "stty raw -echo -opost; show() {{ printf '\\033[H\\033[2J'; sed 's/$/\\r/' {fixtures}/$1.txt; }}; \
        show permission_bash; while ! [ -e {} ]; do sleep 0.01; done; show permission_fetch; exec cat",
        go.display()
    );
    let start = json!({"plugin": "claude-code", "program": "sh", "args": ["-c", script]});
    let adapter = rpc.call("adapter.start", &start)["adapter"].clone();
    let named = json!({"adapter": adapter, "cells": false});
    let shown =
        json!({"adapter": adapter, "matcher": {"type": "screen_regex", "value": "3\\. No"}});
    let first = rpc.call("adapter.wait", &shown)["state"]["metadata"]["dialog_id"].clone();
    assert!(first.is_string(), "{first}");
    std::fs::write(&go, "").unwrap();
    greenroom_testkit::eventually("another dialog is there", || {
        let shot = rpc.call("adapter.snapshot", &named);
        shot["plain_text"].as_str().unwrap().contains("Fetch")
    });
    let approve = json!({"adapter": adapter, "intent": "approve", "params": {"dialog_id": first}});
    let error = rpc.refused("adapter.send", &approve);
    assert!(error["message"].as_str().unwrap().contains("stale_dialog"), "{error}");
}

/// A plugin whose program works until its screen has been still for so long.
const UNTIL_STILL: &str = r#"
local exports = {}
function exports.classify(input)
  local still = input.stable_ms and input.stable_ms >= STILL
  return { state = still and "done" or "busy", confidence = 1.0, evidence = "", candidates = {} }
end
function exports.wait_turn_matcher() return ptywright.matcher.contains_text("up") end
function exports.describe()
  return { intents = {}, wait_matchers = {}, states = { { name = "busy", working = true } } }
end
return exports
"#;

#[test]
fn a_wait_does_not_end_in_a_state_that_works() {
    let home = home();
    let mut arguments = Vec::new();
    for (name, still) in [("soon", "200"), ("never", "math.huge")] {
        let folder = home.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        let manifest = format!(
            "name = \"{name}\"\nkind = \"adapter\"\nversion = \"1\"\nruntime = \"lua\"\n\
            entrypoint = \"main.lua\"\npermissions = [\"session.spawn\", \"screen.read\", \"matcher.wait\"]\n"
        );
        std::fs::write(folder.join("main.lua"), UNTIL_STILL.replace("STILL", still)).unwrap();
        std::fs::write(folder.join("manifest.toml"), manifest).unwrap();
        arguments.push("--plugin".to_owned());
        arguments.push(folder.join("manifest.toml").display().to_string());
    }
    let (_server, mut rpc) = greenroom_testkit::Serving::start(&home, Framing::Lines, &arguments);
    let mut start = super::shell("printf up; exec cat");
    start["plugin"] = "soon".into();
    let adapter = rpc.call("adapter.start", &start)["adapter"].clone();
    // Nothing more is printed: it is the time alone that ends it.
    let waited = rpc.call("adapter.wait", &json!({"adapter": adapter, "timeout_ms": 20_000}));
    assert_eq!(waited["state"]["state"], "done", "{waited}");

    start["plugin"] = "never".into();
    let adapter = rpc.call("adapter.start", &start)["adapter"].clone();
    let late = rpc.refused("adapter.wait", &json!({"adapter": adapter, "timeout_ms": 300}));
    assert_eq!(late["code"], -32001, "{late}");
}
