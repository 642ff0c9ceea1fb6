//! Adapters at the daemon: they survive it, as their sessions do.

use greenroom_testkit::Framing;
use serde_json::{Value, json};

use super::home;

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
    rpc.call("adapter.close", &json!({"adapter": adapter}));

    // Its name never comes to mean another.
    daemon.restart(&home);
    let mut rpc = home.ptywright(Framing::Lines);
    let other = rpc.call("adapter.start", &start)["adapter"].clone();
    assert_ne!(other, adapter);
}
