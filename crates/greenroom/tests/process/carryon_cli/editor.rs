//! What an editor's extension does when it starts, step by step: it runs `carryon`, speaks at the
//! socket in carryOn's folder, and shows sessions in terminals that run `carryon attach`.

use greenroom_testkit::{Wire, eventually, eventually_some};
use serde_json::{Value, json};

use super::{base, link, says};
use crate::support::home;
use crate::terminal::Terminal;

/// Calls a method that must succeed.
#[track_caller]
fn ask(wire: &mut Wire, method: &str, params: Value) -> Value {
    let answer = wire.call(method, &params).expect("the connection stays");
    answer.unwrap_or_else(|error| panic!("`{method}` {params}: {error}"))
}

#[test]
fn an_editor_starts_lists_makes_and_shows_sessions() {
    let home = home();
    assert!(says(&home, &["--version"]).starts_with("carryon "));
    says(&home, &["status"]);
    says(&home, &["start"]);
    let mut wire = Wire::connect(&base(&home).join("daemon.sock")).unwrap();
    let who = json!({"type": "vscode", "name": "VS Code", "pid": std::process::id()});
    assert_eq!(ask(&mut wire, "client.identify", who), json!({"ok": true}));
    assert_eq!(ask(&mut wire, "session.list", json!({})), json!([]));
    let status = ask(&mut wire, "daemon.status", json!({}));
    assert!(status["pid"].is_u64() && status["local"]["enabled"] == false, "{status}");
    assert!(status["backends"].as_array().is_some_and(|it| it[0]["id"] == "native"), "{status}");
    let schema = ask(&mut wire, "config.schema", json!({}));
    assert_eq!(
        (&schema["schemaVersion"], &schema["groups"][0]["key"]),
        (&1.into(), &"default".into())
    );
    assert_eq!(ask(&mut wire, "remote.status", json!({}))["connected"], false);
    assert_eq!(ask(&mut wire, "remote.devices", json!({})), json!([]));
    let folder = home.path().to_str().unwrap();
    let project = ask(&mut wire, "project.terminals", json!({"path": folder}));
    assert!(project["declared"].is_array() && project["matched"].is_array(), "{project}");
    assert_eq!(ask(&mut wire, "session.list", json!({})), json!([]), "it only looked");

    let made = ask(&mut wire, "session.create", json!({"name": "from the editor", "cwd": folder}));
    let id = made["id"].as_str().unwrap();
    let editor = [("CARRYON_CLIENT_TYPE", "vscode"), ("CARRYON_CLIENT_NAME", "VS Code")];
    let mut terminal =
        Terminal::start_program(&home, &link(&home), "80x24", &["attach", id], &editor);
    let viewer = eventually_some("the terminal is among the clients", || {
        let list = ask(&mut wire, "session.list", json!({}));
        list[0]["clients"].get(0).cloned()
    });
    assert_eq!(viewer["pid"], terminal.pid());
    assert_eq!((&viewer["type"], &viewer["name"]), (&"vscode".into(), &"VS Code".into()));
    terminal.press(b"echo in-$((20+1)); pwd\r");
    terminal.shows("in-21");
    terminal.shows(folder);
    let text = ask(&mut wire, "session.scrollback", json!({"sessionId": id}));
    assert!(text.as_str().unwrap().contains("in-21"), "{text}");
    ask(&mut wire, "session.rename", json!({"sessionId": id, "name": "another"}));
    assert!(says(&home, &["ls"]).starts_with("another          1 client "));
    ask(&mut wire, "session.kill", json!({"sessionId": id}));
    terminal.shows("[local] session ended");
    assert_eq!(terminal.end(), 0);
    eventually("nothing is listed", || ask(&mut wire, "session.list", json!({})) == json!([]));
}
