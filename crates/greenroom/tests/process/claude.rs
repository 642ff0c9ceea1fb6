//! The real Claude Code, driven through the ptywright door as its clients do. It talks to a stand-in of
//! its API on loopback.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use greenroom_testkit::{Framing, Home, Rpc, Serving};
use serde_json::{Value, json};

use crate::support::home;

/// How long Claude Code may take for anything, on a busy machine.
const PATIENCE_MS: u64 = 25_000;

/// A file of what runs Claude Code offline.
pub(crate) fn standin(file: &str) -> PathBuf {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/standin");
    let path = shared.join(file);
    assert!(path.exists(), "`{}` runs Claude Code offline: it is missing", path.display());
    path.canonicalize().unwrap()
}

/// The stand-in of its API, ended when this is dropped. Not the one that the program would start by
/// itself: that one complains on the very terminal we look at.
pub(crate) struct Api {
    child: Child,
    pub(crate) url: String,
}

impl Api {
    pub(crate) fn start() -> Api {
        let mut command = Command::new("python3");
        command.arg(standin("messages_api.py")).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("starting the stand-in of the API");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").expect("it says where").to_owned();
        Api { child, url }
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}

/// Where it was installed.
pub(crate) fn installed() -> PathBuf {
    let home = PathBuf::from(std::env::var_os("HOME").unwrap());
    let folder = home.join(".cache/claude-offline/node_modules");
    assert!(folder.exists(), "`cargo xtask test` installs Claude Code first");
    folder
}

/// Claude Code with an adapter.
struct Driven {
    rpc: Rpc,
    adapter: Value,
}

impl Driven {
    fn start(mut rpc: Rpc, home: &Home, api: &Api, project: &Path) -> Driven {
        // The program is shared; what it remembers is not.
        let folder = home.path().join("claude");
        std::fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink(installed(), folder.join("node_modules")).unwrap();
        let params = json!({
            "plugin": "claude-code", "program": standin("claude-offline"), "args": [], "cwd": project,
            "env": {"CLAUDE_OFFLINE_DIR": folder, "CLAUDE_OFFLINE_URL": api.url},
        });
        let adapter = rpc.call("adapter.start", &params)["adapter"].clone();
        Driven { rpc, adapter }
    }

    #[track_caller]
    fn call(&mut self, method: &str, mut params: Value) -> Value {
        params["adapter"] = self.adapter.clone();
        self.rpc.call(method, &params)
    }

    /// Waits by one of the plugin's matchers until the adapter is in a state; what it is on the way to
    /// it, such as thinking, is waited through.
    #[track_caller]
    fn until(&mut self, matcher: &str, state: &str) -> Value {
        for _ in 0..10 {
            let params = json!({"intent": matcher, "timeout_ms": PATIENCE_MS});
            let answer = self.call("adapter.wait", params);
            if answer["state"]["state"] == state {
                return answer["state"].clone();
            }
        }
        let seen = self.call("adapter.inspect", json!({}));
        panic!("not `{state}`: {}\n{}", seen["state"], seen["plain_text"].as_str().unwrap());
    }

    #[track_caller]
    fn send(&mut self, intent: &str, params: Value) -> Value {
        self.call("adapter.send", json!({"intent": intent, "params": params}))["state"].clone()
    }

    #[track_caller]
    fn turn(&mut self, prompt: &str) -> Value {
        let send = json!({"intent": "send_prompt", "params": {"prompt": prompt}});
        let wait = json!({"timeout_ms": PATIENCE_MS});
        self.call("adapter.turn", json!({"send": send, "wait": wait}))["state"].clone()
    }
}

#[test]
fn claude_code_is_driven_through_its_adapter() {
    let home = home();
    let project = home.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let (mut serving, rpc) = Serving::start(&home, Framing::Lines, &[]);
    let api = Api::start();
    let mut claude = Driven::start(rpc, &home, &api, &project);

    claude.until("wait_turn_matcher", "waiting_for_trust");
    claude.send("approve_trust", json!({}));
    claude.until("wait_ready_matcher", "waiting_for_user_input");

    let state = claude.turn("hello there");
    assert_eq!(state["state"], "completed_turn", "{state}");
    assert_eq!(state["metadata"]["turn"]["text"], "echo: hello there", "{state}");

    // One permission is given.
    let state = claude.turn("run: echo one > one.txt");
    assert_eq!(state["state"], "waiting_for_permission", "{state}");
    let permission = &state["metadata"]["permission"];
    assert_eq!(
        (&permission["tool"], &permission["summary"]),
        (&json!("Bash"), &json!("echo one > one.txt"))
    );
    let dialog = state["metadata"]["dialog_id"].clone();
    claude.send("approve", json!({"dialog_id": dialog}));
    claude.until("wait_turn_matcher", "completed_turn");
    assert_eq!(std::fs::read_to_string(project.join("one.txt")).unwrap(), "one\n");

    // Another is not; and an answer to a dialog that is gone is refused.
    let state = claude.turn("write two.txt: two");
    assert_eq!(state["state"], "waiting_for_permission", "{state}");
    let stale =
        json!({"adapter": claude.adapter, "intent": "approve", "params": {"dialog_id": dialog}});
    let refused = claude.rpc.refused("adapter.send", &stale);
    assert!(refused["message"].as_str().unwrap().contains("stale_dialog"), "{refused}");
    claude.send("deny", json!({}));
    claude.until("wait_turn_matcher", "completed_turn");
    assert!(!project.join("two.txt").exists());

    // A turn is cancelled.
    let state = claude.send("send_prompt", json!({"prompt": "long 4000"}));
    assert_eq!(state["state"], "thinking", "{state}");
    claude.send("cancel", json!({}));
    claude.until("wait_cancel_settled_matcher", "waiting_for_user_input");

    // A prompt of two hundred thousand bytes and hundreds of lines is submitted once and whole.
    let long: Vec<String> =
        (0..300).map(|line| format!("line {line} {}", "word ".repeat(130))).collect();
    let state = claude.turn(&long.join("\n"));
    assert_eq!(state["state"], "completed_turn", "{state}");
    let text = claude.call("adapter.snapshot", json!({"cells": false, "history_lines": 2000}));
    let shown =
        format!("{}{}", text["history"].as_str().unwrap(), text["plain_text"].as_str().unwrap());
    assert!(shown.contains("line 299 "), "{shown}");

    claude.call("adapter.close", json!({}));
    claude.rpc.finish();
    assert!(serving.wait_for_end().success());
}

/// Prompts from the first moment to the last: before there is a composer, with a file, with what a menu completes, and
/// the one that ends the program.
#[test]
fn claude_code_gets_its_prompts_as_they_were_written() {
    let home = home();
    let project = home.path().join("project");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(project.join("main.py"), "").unwrap();
    let (mut serving, rpc) = Serving::start(&home, Framing::Lines, &[]);
    let api = Api::start();
    let mut claude = Driven::start(rpc, &home, &api, &project);

    // Nothing is there yet; then a dialog is.
    let send = json!({"intent": "send_prompt", "params": {"prompt": "too early"}});
    let early = json!({"adapter": claude.adapter, "send": send});
    let refused = claude.rpc.refused("adapter.turn", &early);
    let why = refused["message"].as_str().unwrap();
    assert!(why.contains("dialog_open: the state is `waiting_for_trust`"), "{refused}");
    claude.send("approve_trust", json!({}));
    let said = |state: Value| state["metadata"]["turn"]["text"].clone();
    assert_eq!(said(claude.turn("at once")), "echo: at once");

    for path in ["/etc/hostname", "/etc/hosts"] {
        claude.send("attach_file", json!({"path": path}));
    }
    assert_eq!(said(claude.turn("read")), "echo: /etc/hostname /etc/hosts read");
    assert_eq!(said(claude.turn("look at @ma")), "echo: look at @ma");
    assert_eq!(said(claude.turn("mail me @")), "echo: mail me @");
    assert_eq!(said(claude.turn("\n\nlines")), "echo: lines");
    let unknown = said(claude.turn("/logoutx"));
    assert!(unknown.as_str().unwrap().starts_with("Unknown command: /logoutx"), "{unknown}");
    let state = claude.call("adapter.state", json!({}))["state"].clone();
    assert_eq!(state["state"], "completed_turn", "{state}");

    // Where nothing works there is nothing to cancel.
    claude.send("force_cancel", json!({}));
    assert_eq!(said(claude.turn("and on")), "echo: and on");

    // A prompt does not end it; who wants that says so.
    let send = json!({"intent": "send_prompt", "params": {"prompt": "exit"}});
    let exit = json!({"adapter": claude.adapter, "send": send});
    let refused = claude.rpc.refused("adapter.turn", &exit);
    assert!(refused["message"].as_str().unwrap().contains("would end at the prompt"), "{refused}");
    let send = json!({"intent": "slash_command", "params": {"command": "exit"}});
    let state = claude.call("adapter.turn", json!({"send": send}))["state"].clone();
    assert_eq!(
        (&state["state"], &state["metadata"]["ended"]["exit_code"]),
        (&json!("error"), &json!(0))
    );
    claude.call("adapter.close", json!({}));
    claude.rpc.finish();
    assert!(serving.wait_for_end().success());
}
