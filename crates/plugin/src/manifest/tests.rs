//! Manifests in and out.

use serde_json::{Value, json};

use super::*;

const FULL: &str = r#"
name = "claude-code"
kind = "adapter"
version = "1.2.3"
runtime = "lua"
entrypoint = "main.lua"
permissions = ["session.spawn", "session.kill", "session.resize", "screen.read", "transcript.read",
               "input.write", "matcher.wait"]
[default_target]
program = "claude"
args = ["--x"]
rows = 60
cols = 200
env = { NO_COLOR = "1" }
required_env = { A = "b" }
"#;

fn minimal() -> Manifest {
    serde_json::from_value(json!({"name": "n", "kind": "macro", "version": "1"})).unwrap()
}

#[test]
fn toml_and_json_say_the_same() {
    let manifest: Manifest = toml::from_str(FULL).unwrap();
    manifest.validate().unwrap();
    assert_eq!(manifest.permissions, Permission::ALL);
    let json = serde_json::to_value(&manifest).unwrap();
    assert_eq!(json["default_target"]["required_env"], json!({"A": "b"}));
    assert_eq!(serde_json::from_value::<Manifest>(json).unwrap(), manifest);
}

#[test]
fn what_is_absent_is_null_or_left_out() {
    let json = serde_json::to_value(minimal()).unwrap();
    let expected = json!({"name": "n", "kind": "macro", "version": "1", "runtime": null,
        "entrypoint": null, "permissions": []});
    assert_eq!(json, expected);
    let target = Target { program: "p".into(), ..Target::default() };
    assert_eq!(serde_json::to_value(target).unwrap(), json!({"program": "p"}));
}

#[test]
fn permissions_are_spelled_as_they_are_shown() {
    for permission in Permission::ALL {
        assert_eq!(serde_json::to_value(permission).unwrap(), permission.to_string());
    }
}

#[test]
fn unknown_words_are_refused() {
    for (field, value) in [
        ("kind", json!("theme")),
        ("runtime", json!("js")),
        ("permissions", json!(["net.connect"])),
    ] {
        let mut manifest = serde_json::to_value(minimal()).unwrap();
        manifest[field] = value;
        assert!(serde_json::from_value::<Manifest>(manifest).is_err(), "{field}");
    }
}

#[test]
fn contradictions_are_named() {
    let check = |change: Value, expected: &str| {
        let mut manifest = serde_json::to_value(minimal()).unwrap();
        manifest.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let manifest: Manifest = serde_json::from_value(manifest).unwrap();
        assert_eq!(manifest.validate().unwrap_err().to_string(), expected);
    };
    check(json!({"name": " "}), "plugin name must not be empty");
    check(json!({"version": ""}), "plugin version must not be empty");
    check(json!({"name": "a\u{1b}[2Jb"}), "plugin name must not hold control characters");
    check(json!({"version": "1\n"}), "plugin version must not hold control characters");
    check(json!({"runtime": "lua"}), "plugin runtime requires an entrypoint");
    check(json!({"entrypoint": "a"}), "plugin entrypoint requires a runtime");
    let twice = json!({"permissions": ["screen.read", "screen.read"]});
    check(twice, "duplicate plugin permission: screen.read");
}
