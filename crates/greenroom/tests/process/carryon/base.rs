//! The base folder: its files, at every moment.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use greenroom_testkit::{Daemon, Signal, count, eventually, eventually_some};
use serde_json::{Value, json};

use super::{base, call, client, compat_home, create};
use crate::support::home;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// The list of sessions; it must be whole whenever it is there.
#[track_caller]
fn saved(base: &Path) -> Option<Vec<Value>> {
    let text = fs::read(base.join("state/sessions.json")).ok()?;
    let value: Value = serde_json::from_slice(&text).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&text));
    });
    Some(value.as_array().expect("a list").clone())
}

fn names(base: &Path) -> Vec<String> {
    let saved = saved(base).unwrap_or_default();
    let mut names: Vec<String> =
        saved.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_files_are_where_clients_look_and_for_the_owner_alone() {
    let home = compat_home();
    let mut daemon = home.start();
    let base = base(&home);
    for (path, expected) in [
        ("", 0o700),
        ("state", 0o700),
        ("logs", 0o700),
        ("daemon.sock", 0o600),
        ("daemon.pid", 0o600),
        ("logs/daemon.log", 0o600),
    ] {
        let path = base.join(path);
        eventually(&format!("{} is there", path.display()), || path.exists());
        assert_eq!(mode(&path), expected, "{}", path.display());
    }
    assert_eq!(fs::read_to_string(base.join("daemon.pid")).unwrap(), daemon.pid().to_string());
    let mut wire = client(&home);
    let path = call(&mut wire, "config.path", json!({}));
    assert_eq!(path["path"], base.join("config.json").to_str().unwrap());
    call(&mut wire, "config.set", json!({"key": "local.port", "value": "9000"}));
    assert_eq!(mode(&base.join("config.json")), 0o600);
    let id = create(&mut wire, "one", "exec cat");
    let entry = eventually_some("the session is in the list", || {
        saved(&base)?.into_iter().find(|it| it["id"] == id.as_str())
    });
    for key in ["id", "name", "backend", "pid", "created", "lastAttached", "cwd", "command"] {
        assert!(entry.get(key).is_some(), "{key} of {entry}");
    }
    assert_eq!(entry["attachedClients"], 0);
    let log = eventually_some("something is logged", || {
        let text = fs::read_to_string(base.join("logs/daemon.log")).ok()?;
        text.lines().next().map(str::to_owned)
    });
    let line: Value = serde_json::from_str(&log).unwrap();
    for key in ["timestamp", "level", "component", "message"] {
        assert!(line.get(key).is_some(), "{key} of {line}");
    }
    daemon.signal(Signal::TERM);
    daemon.wait_for_end();
    assert!(!base.join("daemon.sock").exists() && !base.join("daemon.pid").exists());
    assert_eq!(names(&base), ["one"], "what the daemon knew stays");
}

#[test]
fn the_list_is_whole_at_every_moment_and_true_after_a_kill() {
    let home = compat_home();
    let mut daemon = home.start();
    let base = base(&home);
    let stop = Arc::new(AtomicBool::new(false));
    let reader = {
        let (base, stop) = (base.clone(), Arc::clone(&stop));
        std::thread::spawn(move || {
            let mut reads = 0;
            while !stop.load(Ordering::Relaxed) {
                reads += usize::from(saved(&base).is_some());
                std::thread::yield_now();
            }
            reads
        })
    };
    for round in 0..count(3, 20) {
        let mut wire = client(&home);
        for number in 0..5 {
            let id = create(&mut wire, &format!("s-{round}-{number}"), "exec cat");
            let name = format!("renamed-{round}-{number}");
            call(&mut wire, "session.rename", json!({"sessionId": id, "name": name}));
        }
        let listed = |wire: &mut greenroom_testkit::Wire| -> Vec<(String, String)> {
            let list = call(wire, "session.list", json!({}));
            let of = |it: &Value, key: &str| it[key].as_str().unwrap().to_owned();
            list.as_array().unwrap().iter().map(|it| (of(it, "id"), of(it, "name"))).collect()
        };
        let before = listed(&mut wire);
        drop(wire);
        daemon.restart(&home);
        assert_eq!(listed(&mut client(&home)), before, "the same sessions, the same names");
        eventually("the list is that of the daemon", || names(&base).len() == before.len());
    }
    stop.store(true, Ordering::Relaxed);
    assert!(reader.join().expect("the list was whole whenever it was read") > 0);
}

#[test]
fn the_list_is_not_written_while_nothing_changes() {
    let home = compat_home();
    let _daemon = home.start();
    let base = base(&home);
    let mut wire = client(&home);
    create(
        &mut wire,
        "one",
        "stty -echo; while read x; do printf '\\033]0;t\\007\\007out\\n'; done",
    );
    eventually("the session is in the list", || names(&base) == ["one"]);
    let written = || fs::metadata(base.join("state/sessions.json")).unwrap().modified().unwrap();
    let before = written();
    for _ in 0..5 {
        call(&mut wire, "session.send", json!({"sessionId": "one", "enter": true}));
        let wait = json!({"sessionId": "one", "for": {"text": "out"}, "timeoutMs": 20_000});
        call(&mut wire, "session.wait", wait);
    }
    assert_eq!(written(), before);
}

#[test]
fn somebody_elses_socket_is_not_taken() {
    let home = compat_home();
    let base = base(&home);
    fs::create_dir(&base).unwrap();
    fs::set_permissions(&base, fs::Permissions::from_mode(0o700)).unwrap();
    let _theirs = UnixListener::bind(base.join("daemon.sock")).unwrap();
    let command = home.command(["daemon", "start", "--foreground"]);
    let mut refused = Daemon::begin(&home, command);
    assert!(!refused.wait_for_end().success());
    assert!(refused.said().contains("somebody listens there already"), "{}", refused.said());
    // One that runs already says so to who asked, and goes on.
    home.configure("");
    let _daemon = home.start();
    let asked = json!({"name": "carryon", "base": base});
    let error = home.wire().call("compat.serve", &asked).unwrap().unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("somebody listens"), "{error}");
    let other = home.path().join("b");
    let served = json!({"name": "carryon", "base": other});
    call(&mut home.wire(), "compat.serve", served);
    let mut wire = greenroom_testkit::Wire::connect(&other.join("daemon.sock")).unwrap();
    call(&mut wire, "session.list", json!({}));
}

#[test]
fn associations_and_settings_outlive_the_daemon() {
    let home = home();
    let mut daemon = home.start();
    let mut wire = home.wire();
    create(&mut wire, "one", "exec cat");
    let path = home.path().to_str().unwrap().to_owned();
    call(&mut wire, "project.associate", json!({"path": path, "sessionId": "one"}));
    call(&mut wire, "config.set", json!({"key": "default.shell", "value": "/bin/sh"}));
    call(&mut wire, "config.set", json!({"key": "logs.level", "value": "debug"}));
    // What is noted has reached the holder when the session has answered.
    call(&mut wire, "session.read", json!({"sessionId": "one"}));
    drop(wire);
    daemon.restart(&home);
    let mut wire = home.wire();
    let found = call(&mut wire, "project.terminals", json!({"path": path, "start": false}));
    assert_eq!(found["associated"][0]["name"], "one", "{found}");
    let value = call(&mut wire, "config.get", json!({"key": "default.shell"}));
    assert_eq!(value, "/bin/sh");
    // The level holds from the start: frames of a client that types at nothing are told of.
    call(&mut wire, "project.disassociate", json!({"path": path}));
    let found = call(&mut wire, "project.terminals", json!({"path": path, "start": false}));
    assert_eq!(found["associated"], json!([]));
}

#[test]
fn a_project_is_started_once_however_many_ask() {
    let home = home();
    let _daemon = home.start();
    let file = json!({"version": 1, "terminals": [
        {"name": "a", "command": "pwd; exec cat", "cwd": "sub", "color": "ansiRed"},
        [{"name": "b", "command": "exec cat"}, {"name": "c", "backend": "nowhere"}]]});
    fs::create_dir(home.path().join("sub")).unwrap();
    fs::write(home.path().join(".carryon.json"), file.to_string()).unwrap();
    let path = json!({"path": home.path()});
    let mut wires: Vec<_> = (0..8).map(|_| home.wire()).collect();
    let ids: Vec<u64> = wires
        .iter_mut()
        .map(|wire| {
            let (id, bytes) = wire.request("project.terminals", &path);
            wire.send_bytes(&bytes).unwrap();
            id
        })
        .collect();
    for (wire, id) in wires.iter_mut().zip(ids) {
        let answer = wire.answer(&id.into()).unwrap().unwrap();
        let declared = answer["declared"].as_array().unwrap();
        let running: Vec<&Value> = declared.iter().map(|it| &it["running"]).collect();
        assert_eq!(running, [true, true, false], "{answer}");
        assert_eq!(declared[2]["error"], "backend not available: nowhere");
        assert_eq!(declared[1]["group"], 1);
        assert_eq!(declared[0]["color"], "ansiRed");
        let sub = home.path().join("sub");
        assert_eq!(declared[0]["session"]["cwd"], sub.to_str().unwrap());
    }
    let list = call(&mut wires[0], "session.list", json!({}));
    assert_eq!(list.as_array().unwrap().len(), 2);
    // A file that is none is an error for who starts, and nothing for who looks.
    fs::write(home.path().join(".carryon.json"), "{").unwrap();
    let error = wires[0].call("project.terminals", &path).unwrap().unwrap_err();
    assert!(error["message"].as_str().unwrap().contains(".carryon.json"), "{error}");
    call(&mut wires[1], "client.identify", json!({"type": "vscode"}));
    let looked = call(&mut wires[1], "project.terminals", path);
    assert_eq!(looked["declared"], json!([]));
}
