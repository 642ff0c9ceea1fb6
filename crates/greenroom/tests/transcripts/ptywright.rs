//! The ptywright door: in the daemon and in private servers, in lines and behind headers.
//!
//! A file that begins with `! private ARGUMENTS` is for private servers with these arguments, one that
//! begins with `! daemon` for the daemon; any other is for both. The plugins of
//! `crates/door-ptywright/tests/plugins` are in `{folder}/plugins`.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use greenroom_testkit::{Framing, Home, Party, Rpc, Serving, play, transcripts};
use serde_json::{Map, Value};

use crate::{folder, home};

struct Client {
    rpc: Rpc,
    next: u64,
}

impl Party for Client {
    fn send(&mut self, message: &str) {
        self.rpc.send(message.as_bytes()).unwrap();
    }

    fn message(&mut self) -> Value {
        self.rpc.message().expect("the server does not hang up")
    }

    fn complete(&mut self, request: &mut Map<String, Value>) {
        self.next += 1;
        request.entry("jsonrpc").or_insert_with(|| "2.0".into());
        request.entry("id").or_insert_with(|| self.next.into());
    }

    fn wait_for_output(&mut self, text: &str) {
        panic!("this door has no streams, where would `{text}` come from?");
    }
}

/// What a transcript says of its server.
fn wanted(text: &str) -> Option<(&str, &str)> {
    let line = text.lines().find_map(|line| line.strip_prefix("! "))?;
    Some(line.split_once(' ').unwrap_or((line, "")))
}

/// Brings the plugins to a home.
fn bring_plugins(home: &Home) {
    let plugins = folder("door-ptywright").with_file_name("plugins");
    fs::create_dir(home.path().join("plugins")).unwrap();
    for entry in fs::read_dir(plugins).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, home.path().join("plugins").join(path.file_name().unwrap())).unwrap();
    }
}

fn all() -> Vec<(String, String)> {
    let all = transcripts(&folder("door-ptywright"));
    assert!(all.len() > 30, "only {} transcripts were found", all.len());
    all
}

/// After how many that do not hold the rest is not played: each may have waited for long.
const ENOUGH: usize = 3;

/// Plays transcripts, also behind one that does not hold.
fn each(mut play: impl FnMut(&str, &str)) {
    let mut failed = Vec::new();
    for (name, text) in all() {
        if catch_unwind(AssertUnwindSafe(|| play(&name, &text))).is_err() {
            failed.push(name);
        }
        assert!(failed.len() < ENOUGH, "these do not hold, among others: {failed:?}");
    }
    assert!(failed.is_empty(), "these do not hold: {failed:?}");
}

fn with_private_servers(framing: Framing) {
    each(|name, text| {
        let arguments = match wanted(text) {
            None => "",
            Some(("private", arguments)) => arguments,
            Some(_) => return,
        };
        let home = home();
        bring_plugins(&home);
        let folder = home.path().display().to_string();
        let arguments: Vec<String> =
            arguments.split_whitespace().map(|it| it.replace("{folder}", &folder)).collect();
        let (_server, rpc) = Serving::start(&home, framing, &arguments);
        play(name, text, home.path(), &mut Client { rpc, next: 0 });
    });
}

fn with_daemons(framing: Framing) {
    each(|name, text| {
        if wanted(text).is_some_and(|it| it.0 != "daemon") {
            return;
        }
        let home = home();
        bring_plugins(&home);
        let _daemon = home.start();
        play(name, text, home.path(), &mut Client { rpc: home.ptywright(framing), next: 0 });
    });
}

#[test]
fn transcripts_hold_in_lines() {
    with_private_servers(Framing::Lines);
}

#[test]
fn transcripts_hold_behind_headers() {
    with_private_servers(Framing::Headers);
}

#[test]
fn transcripts_hold_with_the_daemon_in_lines() {
    with_daemons(Framing::Lines);
}

#[test]
fn transcripts_hold_with_the_daemon_behind_headers() {
    with_daemons(Framing::Headers);
}
