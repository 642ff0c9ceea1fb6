//! What is set, what is refused, and what a file does.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn settings(text: Option<&str>) -> (tempfile::TempDir, Settings) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    if let Some(text) = text {
        std::fs::write(&path, text).unwrap();
    }
    (folder, Settings::load(path))
}

fn refusal(key: &str, text: &str) -> String {
    find(key).unwrap().parse(text).unwrap_err()
}

#[test]
fn values_are_typed_and_checked_in_the_words_clients_know() {
    assert_eq!(find("local.port").unwrap().parse("9000"), Ok(json!(9000)));
    assert_eq!(find("local.enabled").unwrap().parse("true"), Ok(json!(true)));
    assert_eq!(refusal("local.port", "many"), "must be an integer");
    assert_eq!(refusal("local.port", "80"), "must be >= 1024");
    assert_eq!(refusal("local.port", "70000"), "must be <= 65535");
    assert_eq!(refusal("logs.level", "loud"), "must be one of: [debug info warn error]");
    assert_eq!(refusal("default.backend", "x"), "must be one of: [native tmux]");
    assert_eq!(refusal("local.expose", "yes"), "must be 'true' or 'false'");
    assert!(find("no.such").is_none());
}

#[test]
fn what_is_set_is_kept_for_its_owner_alone() {
    let (folder, settings) = settings(None);
    assert!(settings.set(find("local.port").unwrap(), json!(9000)).unwrap());
    assert!(!settings.set(find("local.port").unwrap(), json!(9000)).unwrap());
    let path = folder.path().join("config.json");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\n  \"local.port\": 9000\n}\n");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(Settings::load(path).number("local.port"), 9000);
}

#[test]
fn keys_nobody_knows_are_dropped_at_load_and_kept_at_reload() {
    let (folder, settings) = settings(Some(r#"{"their.key": 1, "local.port": 2000}"#));
    settings.set(find("local.enabled").unwrap(), json!(true)).unwrap();
    let path = folder.path().join("config.json");
    assert!(!std::fs::read_to_string(&path).unwrap().contains("their.key"));
    std::fs::write(&path, r#"{"their.key": 1, "local.port": 3000, "logs.maxFiles": "x"}"#).unwrap();
    let changed: Vec<&str> = settings.reload().unwrap().iter().map(|it| it.key).collect();
    assert_eq!(changed, ["local.enabled", "local.port"]);
    settings.set(find("local.enabled").unwrap(), json!(true)).unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().contains("their.key"));
    assert_eq!(settings.number("logs.maxFiles"), 5);
}

#[test]
fn a_corrupt_file_is_set_aside_and_the_defaults_hold() {
    let (folder, settings) = settings(Some("{ half"));
    assert_eq!(settings.get("local.port"), json!(8384));
    let aside = folder.path().join("config.json.corrupt");
    assert_eq!(std::fs::read_to_string(aside).unwrap(), "{ half");
}

#[test]
fn another_place_takes_the_settings_along_unless_it_has_its_own() {
    let (folder, settings) = settings(None);
    settings.set(find("local.port").unwrap(), json!(9000)).unwrap();
    assert!(settings.move_to(folder.path().join("other.json")).is_empty());
    assert_eq!(Settings::load(folder.path().join("other.json")).number("local.port"), 9000);
    std::fs::write(folder.path().join("third.json"), r#"{"local.port": 7000}"#).unwrap();
    let changed = settings.move_to(folder.path().join("third.json"));
    assert_eq!(changed.iter().map(|it| it.key).collect::<Vec<_>>(), ["local.port"]);
    assert_eq!(settings.number("local.port"), 7000);
}

#[test]
fn the_schema_has_groups_in_order_and_no_password() {
    let (_folder, settings) = settings(None);
    let schema = settings.schema();
    let groups = schema["groups"].as_array().unwrap();
    let names: Vec<&str> = groups.iter().map(|it| it["key"].as_str().unwrap()).collect();
    assert_eq!(names, ["default", "local", "remote", "logs", "updates"]);
    assert!(!schema.to_string().contains("local.password"));
    assert_eq!(groups[1]["settings"][1]["max"], 65535);
}
