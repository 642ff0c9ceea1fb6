//! The plugins that come with the program, on screens of the real programs.
//!
//! A fixture is what a program showed, as text, and what the plugin must make of it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use greenroom_plugin::{Adapter, Registry, Sight};
use serde_json::Value;

/// How long nothing has changed on a fixture, and how long that has to be for a turn to be over.
const STABLE_MS: u64 = 300;

/// How sure a plugin must be, unless the fixture says otherwise.
const MIN_CONFIDENCE: f64 = 0.6;

fn folder(plugin: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins").join(plugin)
}

async fn started(plugin: &str) -> Adapter {
    let registry = Registry::new(Vec::new()).unwrap();
    registry.load(&folder(plugin).join("manifest.toml")).await.unwrap();
    registry.start(plugin).await.unwrap()
}

/// The body and the status of a screen, as the host cuts it.
fn split(text: &str) -> (&str, &str) {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= 6 {
        return (text, "");
    }
    let status: usize = lines[lines.len() - 3..].iter().map(|line| line.len() + 1).sum();
    let cut = text.trim_end_matches('\n').len() + 1 - status;
    (&text[..cut - 1], &text[cut..])
}

async fn check(adapter: &Adapter, screen: &Path) -> Result<(), String> {
    let name = screen.file_stem().unwrap().to_string_lossy().into_owned();
    let text = fs::read_to_string(screen).unwrap();
    let text = text.trim_end_matches('\n');
    let expected = fs::read_to_string(screen.with_extension("expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&expected).unwrap();
    let transcript = fs::read_to_string(screen.with_extension("transcript")).unwrap_or_default();
    let (body, status) = split(text);
    let sight = Sight {
        screen: text.into(),
        body_text: body.into(),
        status_text: status.into(),
        transcript: Arc::from(transcript),
        ..Sight::default()
    };
    let last_intent = expected["last_intent"].as_str();
    let state = adapter.classify(&sight, last_intent, Some(STABLE_MS), STABLE_MS).await;
    let state = state.map_err(|error| format!("{name}: {error}"))?.to_json();
    let wrong =
        |what: &str| Err(format!("{name}: {what}\n  expected {expected}\n  got      {state}"));
    let least = expected["min_confidence"].as_f64().unwrap_or(MIN_CONFIDENCE);
    if state["state"] != expected["state"] {
        return wrong("state");
    }
    if expected.get("evidence").is_some_and(|it| *it != state["evidence"]) {
        return wrong("evidence");
    }
    if state["confidence"].as_f64().is_none_or(|it| it < least) {
        return wrong("confidence");
    }
    match expected.get("metadata") {
        Some(metadata) if *metadata != state["metadata"] => wrong("metadata"),
        _ => Ok(()),
    }
}

fn all(plugin: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut screens: Vec<PathBuf> = fs::read_dir(folder(plugin).join("fixtures"))
            .unwrap()
            .map(|it| it.unwrap().path())
            .filter(|it| it.extension().is_some_and(|it| it == "txt"))
            .collect();
        screens.sort();
        assert!(screens.len() > 3, "{screens:?}");
        let mut wrong = Vec::new();
        // Each in a VM of its own: what one screen taught it must not help with the next.
        for screen in &screens {
            wrong.extend(check(&started(plugin).await, screen).await.err());
        }
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), screens.len(), wrong.join("\n"));
    });
}

#[test]
fn claude_code_is_recognised() {
    all("claude-code");
}

#[test]
fn a_shell_is_recognised() {
    all("shell");
}

/// What an intent makes of a screen: its actions, or why it does nothing.
async fn plan(screen: &str, intent: &str) -> Result<Vec<Value>, String> {
    let adapter = started("claude-code").await;
    let path = folder("claude-code").join("fixtures").join(screen).with_extension("txt");
    let text = fs::read_to_string(path).unwrap();
    let sight = Sight { screen: text.trim_end_matches('\n').into(), ..Sight::default() };
    adapter.classify(&sight, None, Some(STABLE_MS), STABLE_MS).await.unwrap();
    let params = serde_json::json!({"prompt": "no", "command": "no", "index": 1});
    let planned = adapter.intent(intent, params).await;
    planned.map(|plan| plan.actions).map_err(|error| error.to_string())
}

#[tokio::test]
async fn no_prompt_answers_a_dialog() {
    for (screen, state) in [
        ("permission_bash", "waiting_for_permission"),
        ("permission_write_80x24", "waiting_for_permission"),
        ("plan_approval", "waiting_for_plan_approval"),
        ("trust", "waiting_for_trust"),
        ("question", "waiting_for_user_input"),
        ("model", "waiting_for_model_select"),
        ("login_method", "waiting_for_login"),
        ("editor", "waiting_for_external_editor"),
    ] {
        for intent in ["send_prompt", "steer", "slash_command"] {
            let why = plan(screen, intent).await.expect_err(screen);
            assert!(why.contains("dialog_open") && why.contains(state), "{screen}: {why}");
        }
    }
    for screen in ["ready", "completed", "usage", "slash_menu"] {
        assert!(!plan(screen, "send_prompt").await.unwrap().is_empty(), "{screen}");
    }
    assert!(!plan("thinking", "steer").await.unwrap().is_empty());
}

#[tokio::test]
async fn an_answer_needs_its_dialog() {
    for (screen, intent) in [
        ("ready", "choose_option"),
        ("completed", "choose_option"),
        ("ready", "approve_trust"),
        ("ready", "deny_trust"),
        ("permission_bash", "approve_trust"),
    ] {
        let why = plan(screen, intent).await.expect_err(screen);
        assert!(why.contains("no_dialog"), "{screen}: {why}");
    }
    assert!(plan("permission_bash", "choose_option").await.is_ok());
    assert!(plan("trust", "deny_trust").await.is_ok());
}
