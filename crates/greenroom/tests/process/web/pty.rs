//! `/ws/pty`: every message, parameter and code of the contract.

use greenroom_testkit::{eventually, eventually_some};
use serde_json::json;
use tungstenite::Message;

use super::Site;
use crate::support::call;

const ID: &str = "3f0c8f0e-52a0-4a5c-8f4b-0a3d6c1e9b77";

#[test]
fn a_terminal_says_who_it_is_and_echoes_what_is_typed() {
    let site = Site::new();
    let (mut socket, id) = site.pty("provider=shell");
    assert_eq!(uuid(&id), 4);
    socket.type_in("echo $((40+2)) $TERM; stty size\n");
    let (text, seq) = socket.until("42 xterm-256color\r\n24 80");
    assert!(seq >= text.len() as u64 / 2);
    socket.say(&json!({"type": "ping"}));
    assert_eq!(socket.of_type("pong"), json!({"type": "pong"}));
    socket.say(&json!({"type": "ping", "request_id": 7}));
    assert_eq!(socket.of_type("pong")["request_id"], 7);
    socket.say(&json!({"type": "resize", "rows": 40, "cols": 9999}));
    socket.type_in("stty size\n");
    socket.until("40 500");
    socket.say(&json!({"type": "resize"}));
    socket.type_in("stty size; exit 3\n");
    socket.until("24 80");
    let exit = socket.of_type("exit");
    assert_eq!((&exit["code"], &exit["session_id"]), (&json!(3), &json!(id)));
    // The connection stays open, and what is typed now goes nowhere.
    socket.type_in("more\n");
    socket.say(&json!({"type": "ping"}));
    socket.of_type("pong");
}

fn uuid(text: &str) -> u32 {
    let parts: Vec<&str> = text.split('-').collect();
    assert_eq!(parts.iter().map(|it| it.len()).collect::<Vec<_>>(), [8, 4, 4, 4, 12], "{text}");
    parts[2][..1].parse().unwrap()
}

#[test]
fn all_output_comes_before_the_end() {
    let site = Site::with(
        "[websocket.providers.count]\ncommand = ['sh', '-c', 'seq 20000; kill -9 $$']\n",
    );
    let (mut socket, id) = site.pty("provider=count");
    let mut all = String::new();
    let exit = loop {
        let message = socket.json("the end");
        match message["type"].as_str().unwrap() {
            "output" | "history" => all += message["data"].as_str().unwrap(),
            "exit" => break message,
            other => panic!("{other}"),
        }
    };
    let expected: String = (1..=20000).map(|number| format!("{number}\r\n")).collect();
    assert_eq!(all, expected);
    assert_eq!(exit["code"], json!(null));
    assert_eq!(exit["signal"], 9);
    assert_eq!(exit["session_id"], json!(id));
}

#[test]
fn what_is_no_message_is_typed() {
    let site = Site::with(
        "[websocket.providers.cat]\ncommand = ['sh', '-c', 'stty -echo raw; echo ready; exec cat']\n",
    );
    let (mut socket, _) = site.pty("provider=cat");
    socket.until("ready");
    for raw in ["plain", "7", "[1,2]", "true", "{\"data\":\"x\"}", "{broken"] {
        socket.text(raw);
        let mut got = String::new();
        while got != raw {
            got += socket.of_type("output")["data"].as_str().unwrap();
            assert!(raw.starts_with(&got), "{raw}: {got}");
        }
    }
    socket.0.send(Message::binary(b"{\"type\":\"input\",\"data\":\"bin\"}".to_vec())).unwrap();
    socket.until("bin");
    socket.0.send(Message::binary(b"\xc3\xa4raw".to_vec())).unwrap();
    socket.until("äraw");
    socket.say(&json!({"type": "unheard-of", "data": "nothing"}));
    socket.say(&json!({"type": "input", "data": 5}));
    socket.text("after");
    let (all, _) = socket.until("after");
    assert!(!all.contains("nothing"), "{all}");
}

#[test]
fn a_provider_or_an_id_that_is_none_is_told_after_accepting() {
    let site = Site::new();
    let mut socket = site.socket("/ws/pty?provider=nope");
    let (code, reason) = socket.closed();
    assert_eq!(code, 4003);
    assert_eq!(reason, "Unknown provider: nope. Available: ['shell', 'claude']");
    let mut socket = site.socket("/ws/pty?session_id=nope");
    assert_eq!(socket.closed(), (4004, "Invalid session_id (must be a UUID)".to_owned()));
}

#[test]
fn a_program_that_cannot_be_started_is_told_in_two_ways() {
    let site = Site::with("[websocket.providers.none]\ncommand = '/nonexistent/program'\n");
    let mut socket = site.socket("/ws/pty?provider=none");
    let error = socket.of_type("error");
    assert_eq!(error["error"]["type"], "spawn_failed");
    let reason = "PTY command not found or not executable: /nonexistent/program";
    assert_eq!(error["error"]["reason"], reason);
    assert!(error["data"].as_str().unwrap().starts_with("Failed to start session: "), "{error}");
    assert!(error["session_id"].is_string());
    // Nothing is left of it.
    assert_eq!(site.owner("GET /api/sessions").json()["sessions"], json!([]));
}

#[test]
fn a_session_is_come_back_to_with_its_history_first() {
    let site = Site::new();
    let (mut socket, id) = site.pty(&format!("session_id={{{}}}", ID.to_uppercase()));
    assert_eq!(id, ID);
    socket.type_in("printf 'gr\\303\\274n %s\\n' one\n");
    socket.until("grün one");
    socket.leave();
    let mut socket = site.socket(&format!("/ws/pty?session_id={ID}&resume=1"));
    let session = socket.json("which session");
    assert_eq!((&session["type"], &session["resumed"]), (&json!("session"), &json!(true)));
    let history = socket.json("the history");
    assert_eq!(history["type"], "history");
    assert_eq!(history["data"].as_str().unwrap().matches("grün one").count(), 1);
    socket.type_in("echo tw''o\n");
    let (live, _) = socket.until("two");
    assert!(!live.contains("one"), "the history is not repeated: {live}");
}

#[test]
fn to_resume_what_is_not_there_is_said_and_a_new_one_made() {
    let site = Site::new();
    let mut socket = site.socket(&format!("/ws/pty?session_id={ID}&resume=true"));
    assert_eq!(socket.json("the session")["session_id"], ID);
    let missing = socket.json("that it is new");
    assert_eq!(
        (&missing["type"], &missing["session_id"]),
        (&json!("session_not_found"), &json!(ID))
    );
    assert!(missing["data"].is_string());
    socket.type_in("echo wor''ks\n");
    socket.until("works");
}

#[test]
fn one_that_ended_can_be_seen_once_more_or_is_made_anew() {
    let site = Site::new();
    let (mut socket, _) = site.pty(&format!("session_id={ID}"));
    socket.type_in("echo l''ast; exit 5\n");
    socket.of_type("exit");
    socket.leave();
    let mut again = site.socket(&format!("/ws/pty?session_id={ID}&resume=1"));
    assert_eq!(again.json("the session")["session_id"], ID);
    assert!(again.json("the history")["data"].as_str().unwrap().contains("last"));
    assert_eq!(again.json("the end")["code"], 5);
    let (mut new, id) = site.pty(&format!("session_id={ID}"));
    assert_eq!(id, ID);
    new.type_in("echo al''ive\n");
    let (text, _) = new.until("alive");
    assert!(!text.contains("last"));
}

#[test]
fn force_new_ends_the_old_one() {
    let site = Site::new();
    let (mut old, _) = site.pty(&format!("session_id={ID}"));
    old.type_in("echo $$-\n");
    let (mut new, id) = site.pty(&format!("session_id={ID}&force_new=1"));
    assert_eq!(id, ID);
    assert!(old.of_type("exit")["signal"].is_number());
    new.type_in("echo ne''w\n");
    new.until("new");
    assert_eq!(site.owner("GET /api/sessions").json()["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn everybody_at_one_session_sees_and_types_the_same() {
    let site = Site::new();
    let (mut one, id) = site.pty("session_name=pair");
    let (mut other, same) = site.pty(&format!("session_id={id}"));
    assert_eq!(id, same);
    one.type_in("echo fr''om-one\n");
    other.until("from-one");
    other.type_in("echo fr''om-other\n");
    one.until("from-other");
    other.until("from-other");
    // It is a session like any other, for the other doors, too.
    let mut native = site.home.connect();
    let info = call(&mut native, "session.info", json!({"sessionId": "pair"}));
    assert_eq!(info["state"], "running");
    call(&mut native, "session.send", json!({"sessionId": "pair", "text": "echo from-na''tive\n"}));
    one.until("from-native");
    // And one of another door can be seen here, by its own UUID.
    let made = greenroom_testkit::create(&mut native, "other", "echo hello-there; exec cat");
    let (mut seen, _) = site.pty(&format!("session_id={}", made["uuid"].as_str().unwrap()));
    seen.until("hello-there");
}

#[test]
fn to_go_on_from_a_number_repeats_nothing_and_misses_nothing() {
    let site = Site::with(
        "[websocket.providers.cat]\ncommand = ['sh', '-c', 'stty -echo; echo ready; exec cat']\n",
    );
    let (mut socket, id) = site.pty("provider=cat");
    socket.until("ready\r\n");
    socket.type_in("first\n");
    let (_, seq) = socket.until("first\r\n");
    // Cut off, not left: what it misses is kept.
    drop(socket);
    let mut native = site.home.connect();
    let number = site.owner("GET /api/sessions").json()["sessions"][0]["name"].clone();
    call(&mut native, "session.send", json!({"sessionId": number, "text": "missed-it\n"}));
    crate::support::wait_for_text(&mut native, number.as_str().unwrap(), "missed-it");
    let mut socket = site.socket(&format!("/ws/pty?session_id={id}&since={seq}"));
    assert_eq!(socket.json("the session")["resumed"], true);
    let missed = socket.json("what was missed");
    assert_eq!((&missed["type"], &missed["data"]), (&json!("output"), &json!("missed-it\r\n")));
    socket.type_in("live\n");
    assert_eq!(socket.of_type("output")["data"], "live\r\n");
}

#[test]
fn a_number_that_is_not_known_any_more_gives_the_history() {
    let site = Site::new();
    let (mut socket, id) = site.pty("");
    socket.type_in("echo som''ething\n");
    socket.until("something");
    let mut other = site.socket(&format!("/ws/pty?session_id={id}&since=999999999"));
    other.json("the session");
    assert_eq!(other.json("the history")["type"], "history");
}

#[test]
fn a_session_nobody_uses_goes() {
    let site = Site::with("[websocket]\nidle_ttl_secs = 1\n");
    let (mut socket, _) = site.pty("");
    socket.type_in("echo he''re\n");
    socket.until("here");
    let (mut used, _) = site.pty("");
    let count = || site.owner("GET /api/sessions").json()["sessions"].as_array().unwrap().len();
    assert_eq!(count(), 2);
    socket.leave();
    eventually("it is gone", || count() == 1);
    used.type_in("echo st''ill\n");
    used.until("still");
}

#[test]
fn at_the_bound_an_unused_one_makes_room_and_used_ones_do_not() {
    let site = Site::with("[websocket]\nmax_sessions = 2\nidle_ttl_secs = 3600\n");
    let (mut kept, first) = site.pty("");
    kept.type_in("echo o''ne\n");
    kept.until("one");
    let (other, second) = site.pty("");
    let mut refused = site.socket("/ws/pty");
    assert_eq!(refused.closed(), (4004, "Maximum sessions reached".to_owned()));
    // Who comes back to one that is there needs no room.
    site.pty(&format!("session_id={first}")).0.leave();
    other.leave();
    let ids = || {
        let sessions = site.owner("GET /api/sessions").json()["sessions"].take();
        let ids = sessions.as_array().unwrap().iter().map(|it| it["id"].clone());
        ids.collect::<Vec<_>>()
    };
    let (_third, third) = eventually_some("the last one has left", || {
        let mut socket = site.socket("/ws/pty");
        match socket.next("a session or a refusal") {
            Message::Text(text) => {
                let value: serde_json::Value = serde_json::from_str(&text).unwrap();
                Some((socket, value["session_id"].as_str().unwrap().to_owned()))
            }
            _ => None,
        }
    });
    assert_eq!(ids().len(), 2);
    assert!(!ids().contains(&json!(second)) && ids().contains(&json!(third)), "{:?}", ids());
}

#[test]
fn what_a_program_asks_its_terminal_does_not_reach_the_browser() {
    let site = Site::with(
        "[websocket.providers.asks]\ncommand = ['sh', '-c', 'printf \"a\\033[cb\\033[6nc\\033]52;c;eHg=\\007d\\n\"; exec cat']\n",
    );
    let (mut socket, id) = site.pty("provider=asks");
    let (text, _) = socket.until("abcd");
    assert!(!text.contains('\u{1b}'), "{text:?}");
    let (mut again, _) = site.pty(&format!("session_id={id}"));
    let (text, _) = again.until("abcd");
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn a_history_is_cut_to_its_bound_and_whole() {
    let site = Site::with(
        "[websocket]\nhistory_bytes = 1000\n[websocket.providers.many]\ncommand = ['sh', '-c', 'seq 1 3000 | sed s/^/ü/; exec cat']\n",
    );
    let (mut socket, id) = site.pty("provider=many");
    socket.until("ü3000");
    let mut again = site.socket(&format!("/ws/pty?session_id={id}"));
    again.json("the session");
    let history = again.json("the history");
    let text = history["data"].as_str().unwrap();
    assert!(text.starts_with('ü') && text.contains("ü3000"), "{text}");
    assert!(!text.contains('\u{fffd}'));
}

#[test]
fn the_small_routes_say_what_the_contract_says() {
    let site = Site::new();
    let capabilities = site.owner("GET /api/capabilities").json();
    assert_eq!(capabilities["version"], "0.1.0");
    assert_eq!(capabilities["features"]["pty"], true);
    assert_eq!(capabilities["features"]["stream"], capabilities["features"]["chat_claude_code"]);
    let pty = &capabilities["routers"][0];
    assert_eq!(
        (&pty["name"], &pty["prefix"], &pty["enabled"]),
        (&json!("pty"), &json!("/ws"), &json!(true))
    );
    let health = site.owner("GET /health").json();
    assert_eq!((&health["status"], &health["workspace_mode"]), (&json!("ok"), &json!("local")));
    let root = site.home.path().display().to_string();
    assert_eq!(site.owner("GET /api/project").json(), json!({"root": root}));
    let config = site.owner("GET /api/config").json();
    assert_eq!(
        config,
        json!({"workspace_root": root, "workspace_mode": "local",
        "pty_providers": ["shell", "claude"], "paths": {"files": "."}})
    );
    let minted = site.owner("POST /api/sessions").json();
    assert_eq!(uuid(minted["session_id"].as_str().unwrap()), 4);
    let (mut socket, id) = site.pty("");
    let listed = site.owner("GET /api/sessions").json()["sessions"][0].clone();
    assert_eq!((&listed["id"], &listed["type"]), (&json!(id), &json!("pty")));
    assert_eq!((&listed["alive"], &listed["clients"]), (&json!(true), &json!(1)));
    assert_eq!(site.owner(&format!("DELETE /api/sessions/{id}")).json()["ok"], true);
    socket.of_type("exit");
    assert_eq!(site.owner(&format!("DELETE /api/sessions/{id}")).status, 404);
    assert_eq!(site.owner("GET /api/nothing").status, 404);
}
