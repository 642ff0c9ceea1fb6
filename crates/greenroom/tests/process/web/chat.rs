//! Conversations with agents: the real Claude Code, and scripts that behave worse.

use greenroom_testkit::{Home, eventually};
use serde_json::{Value, json};
use tungstenite::Message;

use super::{Site, Socket};
use crate::claude::{Api, installed, standin};
use crate::support::call;

/// An agent that shows every line it gets.
const ECHO: &str =
    r#"while IFS= read -r line; do printf '{"type":"got","line":%s}\n' "$line"; done"#;

/// A site whose agent is a shell script.
fn scripted(script: &str) -> Site {
    let site = Site::new();
    let path = site.home.path().join("agent.sh");
    std::fs::write(&path, script).unwrap();
    with_agent(site, &format!("sh {}", path.display()))
}

/// The same site with another program for conversations.
fn with_agent(mut site: Site, command: &str) -> Site {
    let command = json!(command);
    site.home.configure(&format!(
        "[doors.web]\nenabled = true\nport = 0\n[websocket]\nclaude_command = {command}\n"
    ));
    site.restart();
    site
}

/// A site with Claude Code. The program is shared; what it remembers is not.
fn with_claude(api: &Api) -> Site {
    let site = Site::new();
    let folder = offline(&site.home);
    let (folder, url, program) = (folder.display(), &api.url, standin("claude-offline"));
    let program = program.display();
    let command = format!("env CLAUDE_OFFLINE_DIR={folder} CLAUDE_OFFLINE_URL={url} {program}");
    with_agent(site, &command)
}

fn offline(home: &Home) -> std::path::PathBuf {
    let folder = home.path().join("claude");
    std::fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink(installed(), folder.join("node_modules")).unwrap();
    folder
}

impl Site {
    fn chat(&self, query: &str) -> (Socket, Value) {
        let mut socket = self.socket(&format!("/ws/claude-stream?{query}"));
        let connected = socket.json("the greeting");
        assert_eq!(connected["subtype"], "connected", "{connected}");
        (socket, connected)
    }
}

impl Socket {
    fn turn(&mut self, text: &str) {
        self.say(&json!({"type": "user", "message": text}));
    }

    #[track_caller]
    fn subtype(&mut self, subtype: &str) -> Value {
        loop {
            let message = self.json(subtype);
            if message["subtype"] == subtype {
                return message;
            }
        }
    }
}

#[test]
fn claude_code_is_talked_to_from_a_browser_and_again_after_the_daemon_was_killed() {
    let api = Api::start();
    let mut site = with_claude(&api);
    let (mut socket, connected) = site.chat("");
    let id = connected["session_id"].as_str().unwrap().to_owned();
    socket.turn("hello");
    assert_eq!(socket.of_type("result")["result"], "echo: hello");

    socket.turn("write made.txt: by hand");
    let request = socket.of_type("control_request");
    let allow = json!({"behavior": "allow"});
    let id_of = |request: &Value| request["request_id"].clone();
    let answer =
        json!({"type": "control_response", "request_id": id_of(&request), "response": allow});
    socket.say(&answer);
    assert!(socket.of_type("result")["result"].as_str().unwrap().starts_with("tool said: File"));

    socket.say(&json!({"type": "control", "subtype": "set_permission_mode", "mode": "plan"}));
    assert_eq!(socket.subtype("set_permission_mode")["ui_mode"], "plan");
    socket.turn("long 4000");
    socket.subtype("init");
    socket.say(&json!({"type": "interrupt"}));
    assert_eq!(socket.subtype("interrupted")["session_id"], id.as_str());
    let last = socket.of_type("result")["seq"].as_u64().unwrap();

    let listed = site.owner("GET /api/sessions").json();
    let chats: Vec<&Value> =
        listed["sessions"].as_array().unwrap().iter().filter(|it| it["type"] == "stream").collect();
    assert_eq!(chats.len(), 1, "{listed}");
    assert_eq!((&chats[0]["id"], &chats[0]["clients"]), (&json!(id), &json!(1)));

    // The process goes with the daemon; what was said in it does not.
    site.restart();
    let (mut socket, connected) = site.chat(&format!("session_id={id}&resume=1&since={last}"));
    assert_eq!((&connected["session_id"], &connected["resumed"]), (&json!(id), &json!(true)));
    assert_eq!(socket.subtype("lagged")["missed"], Value::Null);
    socket.turn("again");
    assert_eq!(socket.subtype("init")["session_id"], id.as_str());
    assert_eq!(socket.of_type("result")["result"], "echo: again");
    let ended = site.owner(&format!("DELETE /api/sessions/{id}"));
    assert_eq!(ended.status, 200, "{ended:?}");
    assert_eq!(socket.closed().0, 1000);
}

#[test]
fn an_agent_that_cannot_run_is_an_error_and_an_ordinary_close() {
    let site = with_agent(Site::new(), "/nowhere/claude");
    let mut socket = site.socket("/ws/claude-stream");
    let error = socket.json("the error");
    assert!(error["message"].as_str().unwrap().starts_with("Failed to start session"), "{error}");
    assert_eq!(socket.closed().0, 1000);
    let site = with_agent(site, "false");
    let mut socket = site.socket("/ws/claude-stream");
    let error = socket.subtype("error");
    let expected = "Claude process exited unexpectedly. Session may be in use.";
    assert_eq!(error["message"], expected);
    assert_eq!(socket.closed().0, 1000);
}

#[test]
fn whatever_a_browser_sends_is_text_or_refused() {
    let site = scripted(ECHO);
    let (mut socket, connected) = site.chat("");
    for text in ["words", "7", "[1]", "null", "{\"a\":1}"] {
        socket.text(text);
        assert_eq!(socket.of_type("got")["line"]["message"]["content"][0]["text"], text);
    }
    socket.0.send(Message::binary(b"{\"type\":\"ping\"}".to_vec())).unwrap();
    assert_eq!(socket.json("pong"), json!({"type": "pong"}));
    // A hundred megabytes are refused by their length, and the conversation goes on without them.
    let huge = Message::text("x".repeat(100 << 20));
    socket.0.send(huge).unwrap_or_default();
    while socket.0.read().is_ok() {}
    let id = connected["session_id"].as_str().unwrap();
    let (mut socket, connected) = site.chat(&format!("session_id={id}"));
    assert_eq!(connected["resumed"], true);
    socket.turn("still");
    socket.of_type("got");
}

#[test]
fn strangers_do_not_reach_an_agent() {
    let site = scripted(ECHO);
    let path = "/ws/claude-stream";
    let bearer = site.bearer();
    let evil = [("Authorization", bearer.as_str()), ("Origin", "http://evil.example")];
    assert_eq!(site.try_socket(path, &evil).err(), Some(403));
    assert_eq!(site.try_socket(path, &[]).err(), Some(401));
    let own = site.origin();
    assert_eq!(site.try_socket(path, &[("Origin", &own)]).err(), Some(401));
    let listed = site.owner("GET /api/sessions").json();
    assert_eq!(listed["sessions"], json!([]), "nobody started anything");
}

/// Whether a process is there and has not ended.
fn is_alive(pid: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

#[test]
fn an_agent_ends_with_its_daemon_however_that_ends() {
    let echo = format!("echo \"{{\\\"type\\\":\\\"pid\\\",\\\"pid\\\":$$}}\"; {ECHO}");
    let mut site = scripted(&echo);
    let (mut socket, _) = site.chat("");
    let pid = socket.of_type("pid")["pid"].as_u64().unwrap();
    site.restart();
    eventually("the agent of a killed daemon is gone", || !is_alive(pid));
    let (mut socket, _) = site.chat("");
    let pid = socket.of_type("pid")["pid"].as_u64().unwrap();
    call(&mut site.home.connect(), "daemon.stop", json!({}));
    assert!(matches!(socket.closed().0, 1000 | 1001));
    eventually("the agent of a stopped daemon is gone", || !is_alive(pid));
}

#[test]
fn a_browser_that_does_not_read_costs_the_others_nothing() {
    // Sixty megabytes in lines of a kilobyte.
    let flood = format!(
        "line=$(head -c 1000 /dev/zero | tr '\\0' x); read first; i=0
         while [ $i -lt 60000 ]; do echo \"{{\\\"type\\\":\\\"x\\\",\\\"n\\\":$i,\\\"x\\\":\\\"$line\\\"}}\"; i=$((i + 1)); done
         {ECHO}"
    );
    let site = scripted(&flood);
    let (mut quick, connected) = site.chat("");
    let id = connected["session_id"].as_str().unwrap();
    let (mut slow, _) = site.chat(&format!("session_id={id}"));
    quick.turn("go");
    let mut next = 0;
    while next < 60_000 {
        let message = quick.json("a line");
        if message["subtype"] == "lagged" {
            next += message["missed"].as_u64().unwrap();
            continue;
        }
        assert_eq!(message["n"], next, "in order, and nothing missed that was not said");
        next += 1;
    }
    // Whoever was asleep is told what it missed, and goes on.
    let lagged = slow.subtype("lagged");
    assert!(lagged["missed"].as_u64().unwrap() > 1000, "{lagged}");
    quick.turn("last");
    slow.of_type("got");
}
