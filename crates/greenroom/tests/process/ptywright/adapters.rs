//! Adapters at the daemon: they survive it, as their sessions do.

use greenroom_testkit::{Framing, eventually};
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

/// Settings of a person that replace what the adapter brings along, one after the other and together.
#[test]
fn a_shell_marks_its_prompts_whatever_its_settings_replace() {
    for settings in [
        "PROMPT_COMMAND='sh -c \"exit 4\"'; PS1='mine> '",
        "PROMPT_COMMAND=(true false); PS1='mine> '",
        "PROMPT_COMMAND=\"true; $PROMPT_COMMAND\"",
        "unset PROMPT_COMMAND",
        "PS0='ran '; PS1='mine> '",
        "set -u",
    ] {
        let home = home();
        let (_server, mut rpc) = private(&home);
        std::fs::write(home.path().join(".bashrc"), format!("{settings}\n")).unwrap();
        let start = json!({"plugin": "shell", "env": {"HOME": home.path()}});
        let adapter = rpc.call("adapter.start", &start)["adapter"].clone();
        at_prompt(&mut rpc, &adapter);
        let mut run = |command: &str, status: u8| {
            let send = json!({"intent": "run", "params": {"command": command}});
            let wait = json!({"timeout_ms": 20_000, "params": {"completed_turn_stable_ms": 100}});
            rpc.call("adapter.turn", &json!({"adapter": adapter, "send": send, "wait": wait}));
            // On a slow machine the prompt before is still enough, too.
            eventually(&format!("`{command}` is over with {settings}"), || {
                let state =
                    rpc.call("adapter.state", &json!({"adapter": adapter}))["state"].clone();
                state["state"] == "prompt" && state["metadata"]["exit_status"] == status
            });
        };
        // Also when they are replaced later.
        for command in ["PROMPT_COMMAND=", "PROMPT_COMMAND='true'; PS1='other> '", "PS0="] {
            run("sh -c 'exit 7'", 7);
            run(command, 0);
            run("false", 1);
        }
    }
}

/// All that a dash takes from its environment is what it prints before a command.
#[test]
fn a_shell_that_marks_its_prompts_alone_tells_how_its_commands_ended() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let aid = "aid=greenroom-$$";
    let prompt = format!("\x1b]133;D;$?;{aid}\x07\x1b]133;A;{aid}\x07$ \x1b]133;B;{aid}\x07");
    let further = format!("\x1b]133;P;k=s;{aid}\x07> ");
    let env = json!({"HOME": home.path(), "PS1": prompt, "PS2": further});
    let start = json!({"plugin": "shell", "program": "dash", "env": env});
    let adapter = rpc.call("adapter.start", &start)["adapter"].clone();
    let first = at_prompt(&mut rpc, &adapter);
    assert_eq!(first["metadata"], Value::Null, "nothing ran yet: {first}");
    let mut run = |command: &str| {
        let send = json!({"intent": "run", "params": {"command": command}});
        rpc.call("adapter.turn", &json!({"adapter": adapter, "send": send}))["state"].clone()
    };
    for (command, status) in [
        ("false", json!(1)),
        ("printf '$ '; sleep 1; sh -c 'exit 7'", json!(7)),
        ("seq 9999; true", json!(0)),
        ("dash", Value::Null),
        ("exit 5", json!(5)),
    ] {
        let state = run(command);
        let metadata = &state["metadata"];
        assert_eq!(state["state"], "prompt", "{state}");
        assert_eq!((&metadata["exit_status"], &metadata["command"]), (&status, &json!(command)));
    }
    let state = run("for i in 1 2; do\nsleep 1\ndone; sh -c 'exit 3'");
    assert_eq!((&state["state"], &state["metadata"]["exit_status"]), (&json!("prompt"), &json!(3)));
    assert_eq!(run("echo \"abc")["state"], "continuation");
}

#[test]
fn a_shell_that_waits_for_the_next_line_of_a_command_is_not_at_its_prompt() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let start = json!({"plugin": "shell", "env": {"HOME": home.path()}});
    let adapter = rpc.call("adapter.start", &start)["adapter"].clone();
    at_prompt(&mut rpc, &adapter);
    let mut turn = |intent: &str, params: Value| {
        let send = json!({"intent": intent, "params": params});
        rpc.call("adapter.turn", &json!({"adapter": adapter, "send": send}))["state"].clone()
    };
    turn("run", json!({"command": "false"}));
    let state = turn("run", json!({"command": "echo \"abc"}));
    assert_eq!((&state["state"], &state["metadata"]), (&json!("continuation"), &Value::Null));
    let state = turn("run", json!({"command": "def\""}));
    assert_eq!((&state["state"], &state["metadata"]["exit_status"]), (&json!("prompt"), &json!(0)));
    turn("run", json!({"command": "echo \"abc"}));
    // Nothing ran, so nothing is told of how it ended.
    let state = turn("interrupt", json!({}));
    assert_eq!((&state["state"], &state["metadata"]), (&json!("prompt"), &Value::Null));
}

/// The first has no marks at its first prompt only, the second at none, the third is none that is known as a shell.
#[test]
fn a_shell_in_the_shell_is_at_its_prompt() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let script = "#!/bin/sh\nPS1='deep$ ' exec sh -i\n";
    std::fs::write(home.path().join("enter"), script).unwrap();
    let start = json!({"plugin": "shell", "cwd": home.path(), "env": {"HOME": home.path()}});
    let adapter = rpc.call("adapter.start", &start)["adapter"].clone();
    at_prompt(&mut rpc, &adapter);
    for command in ["bash --norc", "PS1='in$ ' sh -i", "sh ./enter"] {
        let mut run = |command: &str| {
            let send = json!({"intent": "run", "params": {"command": command}});
            let wait = json!({"timeout_ms": 20_000});
            let turn = json!({"adapter": adapter, "send": send, "wait": wait});
            rpc.call("adapter.turn", &turn)["state"].clone()
        };
        let state = run(command);
        assert_eq!(
            (&state["state"], &state["metadata"]["exit_status"]),
            (&json!("prompt"), &Value::Null)
        );
        assert!(state["confidence"].as_f64().unwrap() < 0.9, "{state}");
        assert_eq!(run("echo in''side")["state"], "prompt");
        let screen =
            rpc.call("adapter.inspect", &json!({"adapter": adapter}))["plain_text"].clone();
        assert!(screen.as_str().unwrap().contains("\ninside\n"), "{command}: {screen}");
        let mut run = |command: &str| {
            let send = json!({"intent": "run", "params": {"command": command}});
            rpc.call("adapter.turn", &json!({"adapter": adapter, "send": send}))["state"].clone()
        };
        let state = run("exit 5");
        assert_eq!(state["metadata"]["exit_status"], 5, "{command}: {state}");
    }
}

/// Who sends such a thing again must not have sent it twice.
#[test]
fn what_is_wrong_with_a_request_shows_before_anything_is_done() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let start = json!({"plugin": "shell", "env": {"HOME": home.path()}});
    let adapter = rpc.call("adapter.start", &start)["adapter"].clone();
    at_prompt(&mut rpc, &adapter);
    let send = json!({"intent": "run", "params": {"command": "echo typed"}});
    for (wait, code) in [
        (json!({"matcher": {"type": "screen_regex", "value": "("}}), -32602),
        (json!({"matcher": {"type": "bogus"}}), -32602),
        (json!({"params": 5}), -32602),
        (json!({"intent": "nope"}), -32603),
    ] {
        let turn = json!({"adapter": adapter, "send": send, "wait": wait});
        assert_eq!(rpc.refused("adapter.turn", &turn)["code"], code, "{wait}");
    }
    let odd = json!({"adapter": adapter, "intent": "run", "params": 5});
    assert_eq!(rpc.refused("adapter.send", &odd)["code"], -32602);
    let transcript = rpc.call("adapter.transcript", &json!({"adapter": adapter}));
    assert!(!transcript["text"].as_str().unwrap().contains("typed"), "{transcript}");
    let resume = json!({"plugin": "shell", "prior_adapter": adapter, "env": {"A=": "x"}});
    assert_eq!(rpc.refused("adapter.resume", &resume)["code"], -32602);
    assert_eq!(rpc.call("adapter.state", &json!({"adapter": adapter}))["state"]["state"], "prompt");
}

/// A shell that takes a paste as it comes, and one that another shell started.
#[test]
fn a_plain_shell_is_typed_to_and_gets_no_broken_marks() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let start =
        json!({"plugin": "shell", "program": "sh", "env": {"HOME": home.path(), "PS1": "plain$ "}});
    let adapter = rpc.call("adapter.start", &start)["adapter"].clone();
    at_prompt(&mut rpc, &adapter);
    let mut run = |command: &str| {
        let send = json!({"intent": "run", "params": {"command": command}});
        rpc.call("adapter.turn", &json!({"adapter": adapter, "send": send}));
        let seen = rpc.call("adapter.inspect", &json!({"adapter": adapter}));
        seen["plain_text"].as_str().unwrap().to_owned()
    };
    let screen = run("cat <<X\nfirst\nX\necho sec''ond");
    assert!(screen.contains("\nfirst\n") && screen.contains("second\n"), "{screen}");
    run("bash --norc");
    let screen = run("true");
    assert!(!screen.contains("not found"), "{screen}");
    let refused = json!({"adapter": adapter, "intent": "wait_turn_matcher", "params": {}});
    assert_eq!(rpc.refused("adapter.send", &refused)["code"], -32603);
}

#[test]
fn a_shell_that_ended_tells_how() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    for (command, metadata) in
        [("exit 5", json!({"exit_status": 5})), ("kill -9 $$", json!({"signal": 9}))]
    {
        let start = json!({"plugin": "shell", "env": {"HOME": home.path()}});
        let adapter = rpc.call("adapter.start", &start)["adapter"].clone();
        at_prompt(&mut rpc, &adapter);
        let send = json!({"intent": "run", "params": {"command": command}});
        let wait = json!({"matcher": {"type": "process_exited"}});
        let ended =
            rpc.call("adapter.turn", &json!({"adapter": adapter, "send": send, "wait": wait}));
        assert_eq!(ended["state"]["state"], "exited");
        assert_eq!(ended["state"]["metadata"], metadata, "{ended}");
    }
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
    eventually("another dialog is there", || {
        let shot = rpc.call("adapter.snapshot", &named);
        shot["plain_text"].as_str().unwrap().contains("Fetch")
    });
    let approve = json!({"adapter": adapter, "intent": "approve", "params": {"dialog_id": first}});
    let error = rpc.refused("adapter.send", &approve);
    assert!(error["message"].as_str().unwrap().contains("stale_dialog"), "{error}");
}

/// The program asks for a permission as soon as something is pasted, and notes whether Enter answers it.
#[test]
fn a_dialog_that_comes_up_behind_a_paste_is_not_answered_by_its_enter() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugins/claude-code/fixtures");
    for (intent, screen) in [("send_prompt", "ready"), ("steer", "streaming")] {
        let home = home();
        let (_server, mut rpc) = private(&home);
        let answered = home.path().join("answered");
        let script = format!(
            "stty raw -echo -opost; show() {{ printf '\\033[H\\033[2J'; sed 's/$/\\r/' {fixtures}/$1.txt; }}; \
            show {screen}; dd bs=1 count=14 of=/dev/null 2>/dev/null; show permission_bash; \
            dd bs=1 count=1 of={} 2>/dev/null; exec cat",
            answered.display()
        );
        let start = json!({"plugin": "claude-code", "program": "sh", "args": ["-c", script]});
        let adapter = rpc.call("adapter.start", &start)["adapter"].clone();
        let shown =
            json!({"adapter": adapter, "matcher": {"type": "screen_regex", "value": "─{8}\\n❯"}});
        rpc.call("adapter.wait", &shown);
        // The brackets around a paste are twelve bytes.
        let params = json!({"prompt": "go"});
        let send = json!({"adapter": adapter, "intent": intent, "params": params});
        let error = rpc.refused("adapter.send", &send);
        assert!(error["message"].as_str().unwrap().contains("dialog_open"), "{error}");
        let state = rpc.call("adapter.state", &json!({"adapter": adapter}))["state"].clone();
        assert_eq!(state["state"], "waiting_for_permission", "{state}");
        assert_eq!(std::fs::read(&answered).unwrap(), b"", "{intent}");
    }
}

/// A program that shows screens of Claude Code one after the other, as `script` says, and is driven as such.
pub(super) fn showing(rpc: &mut greenroom_testkit::Rpc, script: &str) -> Value {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugins/claude-code/fixtures");
    let script = format!(
        "stty raw -echo -opost; show() {{ printf '\\033[H\\033[2J'; sed 's/$/\\r/' {fixtures}/$1.txt; }}; \
        take() {{ dd bs=1 count=$1 2>/dev/null; }}; {script}"
    );
    let start = json!({"plugin": "claude-code", "program": "sh", "args": ["-c", script]});
    rpc.call("adapter.start", &start)["adapter"].clone()
}

/// Waits until a pattern is on an adapter's screen: of its last row, for it to be there whole.
fn shown(rpc: &mut greenroom_testkit::Rpc, adapter: &Value, pattern: &str) -> Value {
    let matcher = json!({"type": "screen_regex", "value": pattern});
    rpc.call("adapter.wait", &json!({"adapter": adapter, "matcher": matcher}))["state"].clone()
}

#[test]
fn a_screen_that_is_only_read_is_left_before_a_prompt_is_typed() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let (first, typed) = (home.path().join("first"), home.path().join("typed"));
    // The composer comes back long after the Escape; the brackets around a paste are twelve bytes.
    let script = format!(
        "show usage; take 1 > {}; sleep 0.5; show ready; take 15 > {}; show completed; exec cat",
        first.display(),
        typed.display()
    );
    let adapter = showing(&mut rpc, &script);
    shown(&mut rpc, &adapter, "Esc to cancel");
    let send = json!({"intent": "send_prompt", "params": {"prompt": "go"}});
    let ended = rpc.call("adapter.turn", &json!({"adapter": adapter, "send": send}));
    assert_eq!(ended["state"]["state"], "completed_turn", "{ended}");
    assert_eq!(std::fs::read(&first).unwrap(), b"\x1b");
    assert_eq!(std::fs::read(&typed).unwrap(), b"\x1b[200~go\x1b[201~\r");
}

#[test]
fn nothing_is_typed_into_a_screen_that_escape_does_not_leave() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let typed = home.path().join("typed");
    let adapter = showing(&mut rpc, &format!("show help; exec cat > {}", typed.display()));
    shown(&mut rpc, &adapter, "Esc to cancel");
    for (intent, params) in
        [("send_prompt", json!({"prompt": "go"})), ("slash_command", json!({"command": "go"}))]
    {
        let send = json!({"adapter": adapter, "intent": intent, "params": params});
        let error = rpc.refused("adapter.send", &send);
        let why = error["message"].as_str().unwrap();
        assert!(why.contains("dialog_open: the state is `local_ui_screen`"), "{error}");
    }
    assert_eq!(std::fs::read(&typed).unwrap(), b"\x1b\x1b");
}

#[test]
fn a_dialog_that_was_answered_is_not_told_nor_answered_again() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let (go, more) = (home.path().join("go"), home.path().join("more"));
    let script = format!(
        "show permission_bash; take 1 > /dev/null; while ! [ -e {} ]; do sleep 0.01; done; show completed; \
        exec cat > {}",
        go.display(),
        more.display()
    );
    let adapter = showing(&mut rpc, &script);
    let asked = shown(&mut rpc, &adapter, "ctrl\\+e to explain");
    let params = json!({"dialog_id": asked["metadata"]["dialog_id"]});
    let approve = json!({"adapter": adapter, "intent": "approve", "params": params});
    assert_eq!(rpc.call("adapter.send", &approve)["state"]["state"], "thinking");
    let error = rpc.refused("adapter.send", &approve);
    assert!(error["message"].as_str().unwrap().contains("stale_dialog"), "{error}");
    let late = rpc.refused("adapter.wait", &json!({"adapter": adapter, "timeout_ms": 600}));
    assert_eq!(late["code"], -32001, "{late}");
    std::fs::write(&go, "").unwrap();
    let ended = rpc.call("adapter.wait", &json!({"adapter": adapter}));
    assert_ne!(ended["state"]["state"], "waiting_for_permission", "{ended}");
    assert_eq!(std::fs::read(&more).unwrap(), b"");
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

/// A wait by intent asks its plugin first, and meanwhile another client may close the adapter.
#[test]
fn who_waits_for_an_adapter_that_is_closed_is_told_so_and_of_no_session() {
    let home = home();
    let manifest = "name = \"slow\"\nkind = \"adapter\"\nversion = \"1\"\nruntime = \"lua\"\n\
        entrypoint = \"slow.lua\"\n\
        permissions = [\"session.spawn\", \"session.kill\", \"screen.read\", \"matcher.wait\"]\n\
        [default_target]\nprogram = \"cat\"\n";
    let source = "return {\n\
        classify = function() return { state = \"up\" } end,\n\
        wait_turn_matcher = function()\n\
          for i = 1, 100000 do end\n\
          return ptywright.matcher.contains_text(\"never\")\n\
        end,\n}\n";
    std::fs::write(home.path().join("slow.toml"), manifest).unwrap();
    std::fs::write(home.path().join("slow.lua"), source).unwrap();
    let (socket, plugin) = (home.path().join("own.sock"), home.path().join("slow.toml"));
    let (socket, plugin) = (socket.to_str().unwrap(), plugin.to_str().unwrap());
    let mut command = home.command(["serve", "--socket", socket, "--plugin", plugin]);
    command.env("TMPDIR", home.path());
    let _server = greenroom_testkit::Daemon::begin(&home, command);
    eventually("it listens", || std::os::unix::net::UnixStream::connect(socket).is_ok());
    let connect = || greenroom_testkit::Rpc::connect(socket.as_ref(), Framing::Lines).unwrap();
    let (mut rpc, mut others) = (connect(), [(); 8].map(|()| connect()));
    for _ in 0..10 {
        let adapter = rpc.call("adapter.start", &json!({"plugin": "slow"}))["adapter"].clone();
        let wait = json!({"adapter": adapter});
        let waits = others.each_mut().map(|other| other.begin("adapter.wait", &wait));
        rpc.call("adapter.close", &wait);
        for (other, wait) in others.iter_mut().zip(waits) {
            let error = other.answer(&wait).unwrap().unwrap_err();
            let unknown = format!("unknown adapter: {}", adapter.as_str().unwrap());
            assert!(error["code"] == -32002 || error["message"] == unknown, "{error}");
        }
    }
}
