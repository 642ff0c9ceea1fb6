//! Files of settings, changed and left alone.

use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::options::Mode;

fn allow(rules: &[&str]) -> Suggestion {
    let rules = rules.iter().map(|&it| it.to_owned()).collect();
    Suggestion::Rules { change: Change::Add, list: "allow", rules }
}

fn places(folder: &Path) -> Places {
    Places { project: folder.join("project"), user: Some(folder.join("home/.claude")) }
}

#[test]
fn a_rule_is_added_and_the_rest_stays_as_it_was() {
    let old = br#"{"zebra": {"b":1,  "a":2}, "permissions": {"deny":["X"], "allow": ["Read"]}, "env": {}}"#;
    let new = changed(old, &allow(&["Bash(ls:*)", "Read"])).unwrap();
    let expected = r#"{
  "zebra": {"b":1,  "a":2},
  "permissions": {
    "deny": ["X"],
    "allow": [
      "Read",
      "Bash(ls:*)"
    ]
  },
  "env": {}
}
"#;
    assert_eq!(new, expected);
    assert_eq!(changed(new.as_bytes(), &allow(&["Read"])).unwrap(), expected, "twice is once");
}

#[test]
fn rules_are_replaced_and_removed_and_modes_and_folders_kept() {
    let old = br#"{"permissions":{"allow":["A","B"]}}"#;
    let rules = |change, name: &str| Suggestion::Rules {
        change,
        list: "allow",
        rules: vec![name.to_owned()],
    };
    let value = |suggestion| -> serde_json::Value {
        serde_json::from_str(&changed(old, &suggestion).unwrap()).unwrap()
    };
    let list = |suggestion| value(suggestion)["permissions"]["allow"].to_string();
    assert_eq!(list(rules(Change::Remove, "A")), r#"["B"]"#);
    assert_eq!(list(rules(Change::Replace, "C")), r#"["C"]"#);
    let mode = value(Suggestion::Mode(Mode::AcceptEdits));
    assert_eq!(mode["permissions"]["defaultMode"], "acceptEdits");
    let folders = vec!["/srv".to_owned()];
    let folders = value(Suggestion::Folders { change: Change::Add, folders });
    assert_eq!(folders["permissions"]["additionalDirectories"][0], "/srv");
}

#[test]
fn files_are_made_where_claude_code_looks() {
    let folder = tempfile::tempdir().unwrap();
    let places = places(folder.path());
    fs::create_dir_all(&places.project).unwrap();
    for place in [Place::Project, Place::Local, Place::User] {
        keep(&places, place, &allow(&["Read"])).unwrap();
    }
    let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
    let paths = [
        "project/.claude/settings.json",
        "project/.claude/settings.local.json",
        "home/.claude/settings.json",
    ];
    for path in paths {
        assert!(read(path).contains("\"Read\""), "{path}");
    }
    let mode = fs::metadata(folder.path().join(paths[2])).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(!folder.path().join("project/CLAUDE.md").exists());
    assert_eq!(fs::read_dir(places.project.join(".claude")).unwrap().count(), 2, "nothing beside");
}

#[test]
fn a_file_that_is_something_else_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let places = places(folder.path());
    let path = places.project.join(".claude/settings.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    for text in ["not json", "[1]", r#"{"permissions":3}"#, r#"{"permissions":{"allow":"x"}}"#] {
        fs::write(&path, text).unwrap();
        let error = keep(&places, Place::Project, &allow(&["Read"])).unwrap_err();
        assert!(matches!(error, SettingsError::Shape(_)), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_linked_file_stays_a_link_and_keeps_its_mode() {
    let folder = tempfile::tempdir().unwrap();
    let places = places(folder.path());
    let real = folder.path().join("real.json");
    fs::write(&real, "{}").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    let path = places.project.join(".claude/settings.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&real, &path).unwrap();
    keep(&places, Place::Project, &allow(&["Read"])).unwrap();
    assert!(path.is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("Read"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
}
