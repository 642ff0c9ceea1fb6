//! The real Claude Code, which talks to a stand-in of its API on loopback.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use greenroom_agents::Chats;
use serde_json::{Value, json};

use crate::support::{Guest, Room, until};

/// A picture of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A file of what runs Claude Code offline.
fn standin(file: &str) -> PathBuf {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/standin");
    let path = shared.join(file);
    assert!(path.exists(), "`{}` runs Claude Code offline: it is missing", path.display());
    path.canonicalize().unwrap()
}

/// The stand-in of its API, ended when this is dropped.
struct Api {
    child: Child,
    url: String,
}

impl Api {
    fn start() -> Api {
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

/// A room with Claude Code in it. The program is shared; what it remembers is not.
fn room(api: &Api) -> Room {
    let home = PathBuf::from(std::env::var_os("HOME").unwrap());
    let installed = home.join(".cache/claude-offline/node_modules");
    assert!(installed.exists(), "`cargo xtask test` installs Claude Code first");
    let mut room = Room::new(vec![standin("claude-offline").into_os_string()]);
    let folder = room.folder.path().join("claude");
    std::fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink(installed, folder.join("node_modules")).unwrap();
    trust(&folder, &room.project());
    let own = [
        ("CLAUDE_OFFLINE_DIR", folder.into_os_string()),
        ("CLAUDE_OFFLINE_URL", OsString::from(&api.url)),
        // It must not notice that it runs in another one.
        ("CLAUDECODE", OsString::from("1")),
    ];
    room.config.environment.extend(own.map(|(name, value)| (OsString::from(name), value)));
    room
}

/// Has the user trust the project: otherwise Claude Code ignores what is allowed in its files.
fn trust(folder: &Path, project: &Path) {
    let home = folder.join("home");
    std::fs::create_dir(&home).unwrap();
    let project = project.canonicalize().unwrap().into_os_string().into_string().unwrap();
    let state = json!({
        "hasCompletedOnboarding": true,
        "customApiKeyResponses": {"approved": ["sk-ant-standin"], "rejected": []},
        "projects": {project: {"hasTrustDialogAccepted": true}},
    });
    std::fs::write(home.join(".claude.json"), state.to_string()).unwrap();
}

impl Guest {
    /// Says something and waits for what was answered.
    async fn asks(&mut self, text: &str) -> String {
        self.turn(text).await;
        self.result().await
    }

    async fn result(&mut self) -> String {
        let result = self.until("result", "").await;
        result["result"].as_str().unwrap_or_default().to_owned()
    }

    async fn answers(&self, request: &Value, response: Value) {
        let id = &request["request_id"];
        self.say(json!({"type": "control_response", "request_id": id, "response": response})).await;
    }
}

/// Leaves no process behind.
async fn finish(chats: Chats) {
    chats.close().await;
    assert_eq!(chats.list(), []);
}

#[tokio::test]
async fn a_turn_with_permissions_questions_and_pictures() {
    let api = Api::start();
    let room = room(&api);
    let chats = room.chats();
    let mut guest = Guest::join(&chats, &[]).await;
    assert_eq!(guest.next().await.unwrap()["subtype"], "connected");
    assert_eq!(guest.asks("hello there").await, "echo: hello there");
    assert!(guest.heard.iter().any(|it| it["subtype"] == "init"));

    // Denied, by an alias and the shape of the contract.
    guest.turn("write no.txt: no").await;
    let request = guest.until("control_request", "").await;
    assert_eq!(request["request"]["tool_name"], "Write");
    guest.answers(&request, json!({"behavior": "reject", "message": "not today"})).await;
    assert_eq!(guest.result().await, "tool said: not today");
    assert!(!room.project().join("no.txt").exists());

    // Allowed by the old shape, without an input.
    guest.turn("write yes.txt: yes").await;
    let request = guest.until("control_request", "").await;
    let id = &request["request_id"];
    guest.say(json!({"type": "approval_response", "request_id": id, "decision": "grant"})).await;
    guest.result().await;
    assert_eq!(std::fs::read_to_string(room.project().join("yes.txt")).unwrap(), "yes");

    // Allowed with another input.
    guest.turn("write other.txt: first").await;
    let request = guest.until("control_request", "").await;
    let mut input = request["request"]["input"].clone();
    input["content"] = "second".into();
    guest.answers(&request, json!({"decision": "allow", "updated_input": input})).await;
    guest.result().await;
    assert_eq!(std::fs::read_to_string(room.project().join("other.txt")).unwrap(), "second");

    // A question, which is not a permission to clients.
    guest.turn("ask").await;
    let question = guest.until("control", "user_question_request").await;
    assert_eq!(question["questions"][0]["question"], "Pick a color");
    let answers = json!({"Pick a color": "Blue"});
    let id = &question["request_id"];
    guest.say(json!({"type": "control_response", "request_id": id, "answers": answers})).await;
    let said = guest.result().await;
    assert!(said.contains("\"Pick a color\"=\"Blue\""), "{said}");

    // A picture as pages send it, a command, and plain words.
    let images =
        json!([{"data": format!("data:image/png;base64,{PIXEL}"), "mimeType": "image/png"}]);
    guest.say(json!({"type": "user", "message": "see", "images": images})).await;
    assert_eq!(guest.result().await, "echo: see");
    guest.say(json!({"type": "command", "command": "/help"})).await;
    assert!(guest.result().await.contains("/help"));
    guest.client.say("just words".to_owned()).await;
    assert_eq!(guest.result().await, "echo: just words");
    finish(chats).await;
}

#[tokio::test]
async fn what_is_allowed_for_good_counts_at_once_and_is_kept() {
    let api = Api::start();
    let room = room(&api);
    let chats = room.chats();
    let mut guest = Guest::join(&chats, &[]).await;
    guest.turn("run: touch one").await;
    let request = guest.until("control_request", "").await;
    let rule = json!({
        "type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch:*"}],
        "behavior": "allow", "destination": "localSettings",
    });
    let mode = json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"});
    let response = json!({"behavior": "allow", "permission_suggestions": [rule, mode]});
    guest.answers(&request, response).await;
    let changed = guest.until("control", "set_permission_mode").await;
    assert_eq!(changed["mode"], "acceptEdits");
    guest.result().await;
    // Neither the command nor the file is asked for again.
    guest.asks("run: touch two").await;
    guest.asks("write three: x").await;
    for name in ["one", "two", "three"] {
        assert!(room.project().join(name).exists(), "{name}");
    }
    let path = room.project().join(".claude/settings.local.json");
    until("the rule is kept", || path.exists()).await;
    assert!(std::fs::read_to_string(&path).unwrap().contains("\"Bash(touch:*)\""));
    // A new conversation asks no more either.
    let mut other = Guest::join(&chats, &[]).await;
    other.asks("run: touch four").await;
    assert!(room.project().join("four").exists());
    finish(chats).await;
}

#[tokio::test]
async fn modes_models_and_interrupts_are_confirmed_and_the_process_lives_on() {
    let api = Api::start();
    let room = room(&api);
    let chats = room.chats();
    let mut guest = Guest::join(&chats, &[]).await;
    let id = guest.id();
    let mut other = Guest::join(&chats, &[("session_id", &id)]).await;
    guest.say(json!({"type": "control", "subtype": "set_permission_mode", "mode": "act"})).await;
    for it in [&mut guest, &mut other] {
        let changed = it.until("control", "set_permission_mode").await;
        assert_eq!((&changed["mode"], &changed["ui_mode"]), (&json!("acceptEdits"), &json!("act")));
    }
    guest.asks("write free.txt: no question").await;
    guest.say(json!({"type": "control", "subtype": "set_model", "model": "haiku"})).await;
    assert_eq!(guest.until("control", "set_model").await["model"], "haiku");
    let thinking = json!({"type": "control", "subtype": "set_max_thinking_tokens", "max_thinking_tokens": 1000});
    guest.say(thinking).await;
    guest.until("control", "set_max_thinking_tokens").await;
    let bypass =
        json!({"type": "control", "subtype": "set_permission_mode", "mode": "bypassPermissions"});
    guest.say(bypass).await;
    let refused = guest.until("system", "error").await;
    assert!(refused["message"].as_str().unwrap().contains("set_permission_mode"), "{refused}");
    guest.say(json!({"type": "control_request", "request_id": "mine", "request": {"subtype": "initialize"}})).await;
    let answer = guest.until("control_response", "").await;
    assert_eq!(answer["response"]["request_id"], "mine");
    assert!(answer["response"]["response"]["commands"].is_array(), "{answer}");

    guest.turn("long 4000").await;
    guest.until("system", "init").await;
    guest.say(json!({"type": "interrupt"})).await;
    assert_eq!(guest.until("system", "interrupted").await["session_id"], id);
    assert_eq!(guest.until("result", "").await["subtype"], "error_during_execution");
    assert_eq!(guest.asks("still there").await, "echo: still there");
    assert!(guest.heard.iter().all(|it| it["subtype"] != "restarted"), "{:#?}", guest.heard);
    finish(chats).await;
}

#[tokio::test]
async fn a_conversation_goes_on_over_restarts_of_the_agent_and_of_the_daemon() {
    let api = Api::start();
    let room = room(&api);
    let chats = room.chats();
    let mut guest = Guest::join(&chats, &[]).await;
    let id = guest.id();
    // Before anything was said there is nothing to go on with.
    guest.say(json!({"type": "restart"})).await;
    guest.until("system", "restarted").await;
    assert_eq!(guest.asks("one").await, "echo: one");
    guest.say(json!({"type": "restart"})).await;
    assert_eq!(guest.until("system", "restarted").await["session_id"], id);
    assert_eq!(guest.asks("two").await, "echo: two");

    // A client that was away while a permission was asked for finds the question.
    guest.turn("write late.txt: late").await;
    guest.until("control_request", "").await;
    let seen = guest.seen();
    drop(guest);
    let mut again = Guest::join(&chats, &[("session_id", &id)]).await;
    assert_eq!(again.next().await.unwrap()["resumed"], true);
    let request = again.until("control_request", "").await;
    again.answers(&request, json!({"behavior": "allow"})).await;
    again.result().await;
    assert!(room.project().join("late.txt").exists());
    drop(again);
    let mut since = Guest::join(&chats, &[("session_id", &id), ("since", &seen.to_string())]).await;
    assert!(since.result().await.starts_with("tool said: "), "{:#?}", since.heard);
    drop(since);
    finish(chats).await;

    // A daemon that knows of it by its file, and one that has to find out.
    let state = room.config.state_file.clone().unwrap();
    for forgets in [false, true] {
        if forgets {
            std::fs::remove_file(&state).unwrap();
        }
        let chats = room.chats();
        let mut guest = Guest::join(&chats, &[("session_id", &id)]).await;
        assert_eq!(guest.next().await.unwrap()["resumed"], !forgets);
        assert_eq!(guest.asks("three").await, "echo: three");
        let init = guest.heard.iter().find(|it| it["subtype"] == "init").unwrap();
        assert_eq!(init["session_id"], id.as_str());
        drop(guest);
        finish(chats).await;
    }
    let stored = conversation_files(&room);
    assert_eq!(stored, [format!("{id}.jsonl")], "it is one conversation");
}

/// What Claude Code stored.
fn conversation_files(room: &Room) -> Vec<String> {
    let projects = room.folder.path().join("claude/home/.claude/projects");
    let folders = std::fs::read_dir(projects).unwrap().flatten();
    let files = folders.flat_map(|it| std::fs::read_dir(it.path()).unwrap().flatten());
    let names = files.map(|it| it.file_name().into_string().unwrap());
    names.filter(|it| it.ends_with(".jsonl")).collect()
}

#[tokio::test]
async fn one_that_was_never_there_is_begun_and_the_client_told() {
    let api = Api::start();
    let room = room(&api);
    let chats = room.chats();
    let id = "a1b2c3d4-0000-4000-8000-00000000000a";
    let mut guest = Guest::join(&chats, &[("session_id", id), ("resume", "1")]).await;
    guest.turn("hello").await;
    guest.until("system", "session_not_found").await;
    assert_eq!(guest.result().await, "echo: hello");
    assert!(guest.heard.iter().all(|it| it["subtype"] != "exit" && it["subtype"] != "stderr"));
    // Begun anew, it is another for Claude Code and the same for clients.
    let mut anew = Guest::join(&chats, &[("session_id", id), ("force_new", "1")]).await;
    assert_eq!(anew.asks("fresh").await, "echo: fresh");
    assert_eq!(anew.id(), id);
    let init = anew.heard.iter().find(|it| it["subtype"] == "init").unwrap();
    assert_ne!(init["session_id"], id);
    finish(chats).await;
}
