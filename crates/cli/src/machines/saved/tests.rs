//! What is saved is found again, and what cannot be understood is left alone.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// A state folder that is removed at the end.
struct State(PathBuf);

impl State {
    fn new(name: &str) -> State {
        let folder = std::env::temp_dir().join(format!("grt-saved-{}-{name}", std::process::id()));
        State(folder)
    }

    fn saved(&self) -> Saved {
        Saved::below(&self.0)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}

fn machine(name: &str) -> Machine {
    Machine { name: name.to_owned(), ..Machine::new("me@box").unwrap() }
}

#[test]
fn what_is_saved_is_found_again_and_forgotten() {
    let state = State::new("found");
    let saved = state.saved();
    assert!(saved.all().unwrap().is_empty());
    let full = Machine {
        program: Some("~/bin/greenroom".to_owned()),
        port: Some(2222),
        identity: Some("/keys/id".into()),
        options: vec!["Compression=yes".to_owned()],
        ..machine("full")
    };
    saved.add(&full).unwrap();
    saved.add(&machine("bare")).unwrap();
    assert_eq!(saved.all().unwrap(), [machine("bare"), full.clone()]);
    assert_eq!(saved.find("full").unwrap(), Some(full.clone()));
    assert_eq!(saved.add(&full).unwrap_err().exit().0, 2, "twice");
    let mode = fs::metadata(&saved.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    saved.remove("full").unwrap();
    assert_eq!(saved.find("full").unwrap(), None);
    assert_eq!(saved.remove("full").unwrap_err().exit().0, 3);
}

#[test]
fn a_file_that_cannot_be_understood_is_left_alone() {
    let state = State::new("broken");
    let saved = state.saved();
    saved.add(&machine("one")).unwrap();
    let broken = [
        "",
        "{",
        "[]",
        "null",
        "{\"version\":2,\"hosts\":{}}",
        "{\"version\":1}",
        "{\"version\":1,\"hosts\":{\"a\":{}}}",
        "{\"version\":1,\"hosts\":{\"a\":{\"destination\":\"-oProxyCommand=x\"}}}",
        "{\"version\":1,\"hosts\":{\"a\":{\"destination\":\"b\",\"port\":70000}}}",
        "{\"version\":1,\"hosts\":{\"a\":{\"destination\":\"b\",\"options\":[1]}}}",
    ];
    for text in broken {
        fs::write(&saved.path, text).unwrap();
        assert_eq!(saved.all().unwrap_err().exit().0, 1, "{text}");
        assert!(saved.add(&machine("two")).is_err() && saved.remove("a").is_err(), "{text}");
        assert_eq!(fs::read_to_string(&saved.path).unwrap(), text);
    }
}

#[test]
fn what_a_later_version_wrote_stays() {
    let state = State::new("later");
    let saved = state.saved();
    saved.add(&machine("one")).unwrap();
    let text = fs::read_to_string(&saved.path).unwrap();
    fs::write(&saved.path, text.replace("\"version\"", "\"more\": 7, \"version\"")).unwrap();
    saved.add(&machine("two")).unwrap();
    assert!(fs::read_to_string(&saved.path).unwrap().contains("\"more\": 7"));
}

#[test]
fn names_are_plain_and_bounded() {
    let state = State::new("names");
    let saved = state.saved();
    for name in ["", "-a", ".a", "a b", "a/b", "local", "a\n", "\u{1b}[2J", &"x".repeat(65)] {
        assert_eq!(saved.add(&machine(name)).unwrap_err().exit().0, 2, "{name:?}");
    }
    for number in 0..MAX_HOSTS {
        saved.add(&machine(&format!("h{number}"))).unwrap();
    }
    assert!(saved.add(&machine("more")).is_err());
}
