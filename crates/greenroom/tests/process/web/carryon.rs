//! carryOn's page: its own listener, its login, its raw terminals.

use greenroom_testkit::create;
use serde_json::json;
use tungstenite::Message;

use super::{Site, Socket};
use crate::support::call;

/// A port nobody has. Somebody could take it before we do; nobody does.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn bytes_until(socket: &mut Socket, text: &str) -> String {
    let mut all = Vec::new();
    loop {
        if let Message::Binary(bytes) = socket.next(text) {
            all.extend_from_slice(&bytes);
        }
        let shown = String::from_utf8_lossy(&all);
        if shown.contains(text) {
            return shown.into_owned();
        }
    }
}

#[test]
fn any_path_is_a_terminal_of_a_session() {
    let site = Site::new();
    let made = create(&mut site.home.connect(), "one", "echo hello-there; exec cat");
    let id = made["id"].as_str().unwrap();
    let mut socket = site.socket(&format!("/whatever?session={id}"));
    bytes_until(&mut socket, "hello-there");
    socket.0.send(Message::text("typed\n")).unwrap();
    bytes_until(&mut socket, "typed\r\ntyped");
    socket
        .0
        .send(Message::binary(b"\x01{\"type\":\"resize\",\"cols\":100,\"rows\":30}".to_vec()))
        .unwrap();
    socket.0.send(Message::binary(b"again\n".to_vec())).unwrap();
    bytes_until(&mut socket, "again\r\nagain");
    let info = call(&mut site.home.connect(), "session.info", json!({"sessionId": id}));
    assert_eq!((&info["cols"], &info["rows"]), (&json!(100), &json!(30)));
    // Somebody else types: they are asked for their size.
    let mut other = site.socket(&format!("/?session={id}"));
    other.0.send(Message::text("x\n")).unwrap();
    bytes_until(&mut other, "\u{1}{\"type\":\"resize_request\"}");
    call(&mut site.home.connect(), "session.kill", json!({"sessionId": id}));
    assert_eq!(socket.closed(), (1000, "session ended".to_owned()));
}

#[test]
fn a_session_that_is_none_is_told() {
    let site = Site::new();
    let refused = site.try_socket("/", &[("Authorization", &site.bearer())]).err();
    assert_eq!(refused, Some(400));
    let mut socket = site.socket("/?session=native-000000000000");
    assert_eq!(socket.closed(), (1011, "session not found: native-000000000000".to_owned()));
}

#[test]
fn carryons_settings_open_its_page() {
    let mut site = Site::new();
    let mut native = site.home.connect();
    create(&mut native, "one", "exec cat");
    let port = free_port();
    call(&mut native, "config.set", json!({"key": "local.port", "value": port.to_string()}));
    let set = call(&mut native, "config.set", json!({"key": "local.enabled", "value": "true"}));
    assert_eq!(set, json!({"ok": true}));
    assert_eq!(call(&mut native, "daemon.status", json!({}))["local"]["running"], true);
    call(&mut native, "local.set-password", json!({"password": "correct horse"}));
    site.port = port;
    let page = site.ask("GET /", &[], "");
    assert_eq!((page.status, page.header("location")), (302, Some("/login")));
    assert_eq!(site.ask("GET /api/sessions", &[], "").status, 401);
    assert_eq!(site.ask("POST /login", &[], "password=wrong").status, 401);
    let login = site.ask("POST /login", &[("Accept", "text/html")], "password=correct+horse");
    assert_eq!(login.status, 303);
    let set = login.header("set-cookie").unwrap();
    assert!(
        set.starts_with("carryon-session=") && set.contains("HttpOnly; SameSite=Strict"),
        "{set}"
    );
    let cookie = set.split(';').next().unwrap().to_owned();
    let sessions = site.ask("GET /api/sessions", &[("Cookie", &cookie)], "").json();
    assert_eq!(sessions[0]["name"], "one");
    assert!(sessions[0].get("clients").is_none());
    assert_eq!(site.ask("GET /", &[("Cookie", &cookie)], "").status, 200);
    // Another password: nobody is logged in any more.
    let origin = site.origin();
    let headers = [("Cookie", cookie.as_str()), ("Origin", origin.as_str())];
    let mut socket = site.try_socket("/?session=one", &headers).unwrap();
    call(&mut native, "local.set-password", json!({"password": "another horse"}));
    assert_eq!(socket.closed().0, 1001);
    assert_eq!(site.ask("GET /api/sessions", &[("Cookie", &cookie)], "").status, 401);
    site.restart();
    let mut native = site.home.connect();
    assert_eq!(call(&mut native, "daemon.status", json!({}))["local"]["running"], true);
    call(&mut native, "config.set", json!({"key": "local.enabled", "value": "false"}));
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
    assert_eq!(site.owner("GET /api/me").status, 200);
}
