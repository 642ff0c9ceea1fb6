//! Foreign pages, foreign names, forged tokens (S1 to S4).

use std::fs;

use greenroom_testkit::{create, eventually};

use super::Site;

/// S1: no page of somebody else's gets a socket, and none without the token.
#[test]
fn a_foreign_page_gets_no_socket() {
    let site = Site::new();
    let (bearer, own) = (site.bearer(), site.origin());
    let evil = [
        "http://evil.example",
        "null",
        "",
        "http://127.0.0.1",
        "https://127.0.0.1.evil.example",
        "http://localhost:1",
        "file://",
    ];
    for path in ["/ws/pty", "/ws/native", "/?session=1", "/anything?session=1"] {
        for origin in evil {
            let headers = [("Authorization", bearer.as_str()), ("Origin", origin)];
            assert_eq!(site.try_socket(path, &headers).err(), Some(403), "{path} {origin}");
        }
        assert_eq!(site.try_socket(path, &[]).err(), Some(401), "{path}");
        assert_eq!(site.try_socket(path, &[("Origin", own.as_str())]).err(), Some(401), "{path}");
    }
    let with = [("Authorization", bearer.as_str()), ("Origin", own.as_str())];
    // Waited for: a session that is being made while its home goes would be left behind.
    site.try_socket("/ws/pty", &with).unwrap().of_type("session");
    let query = format!("/ws/native?token={}", site.token);
    assert!(site.try_socket(&query, &[]).is_ok());
    // A token in an address is for sockets only: addresses are written down.
    assert_eq!(site.ask(&format!("GET /api/me?token={}", site.token), &[], "").status, 401);
}

/// S1: neither does a form or a script of such a page do anything.
#[test]
fn a_foreign_page_changes_nothing() {
    let site = Site::new();
    let bearer = site.bearer();
    let headers = [("Authorization", bearer.as_str()), ("Origin", "http://evil.example")];
    assert_eq!(site.ask("POST /api/sessions", &headers, "").status, 403);
    assert_eq!(site.ask("DELETE /api/sessions/x", &headers, "").status, 403);
    let login = site.ask("POST /login", &[("Origin", "http://evil.example")], "token=x");
    assert_eq!(login.status, 403);
}

/// S2: whatever name a browser was made to believe, only ours are ours.
#[test]
fn a_foreign_name_reaches_nothing() {
    let site = Site::with("hosts = ['room.example']\n");
    let bearer = site.bearer();
    for (host, status) in [
        ("evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost.evil.example", 403),
        ("10.1.2.3", 403),
        ("", 400),
        ("local host", 400),
        ("localhost", 200),
        ("LOCALHOST:9999", 200),
        ("[::1]:80", 200),
        ("room.example", 200),
    ] {
        for path in ["/", "/health", "/api/me", "/login"] {
            let origin = format!("http://{host}");
            let headers = [("Host", host), ("Origin", &origin), ("Authorization", &bearer)];
            let answer = site.ask(&format!("GET {path}"), &headers, "");
            assert_eq!(answer.status, status, "{host} {path}");
        }
    }
    let twice = b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert_eq!(site.raw(twice).status, 400);
    assert_eq!(site.raw(b"GET /health HTTP/1.1\r\nConnection: close\r\n\r\n").status, 400);
    let proxy =
        b"GET http://evil.example/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(site.raw(proxy).status, 400);
}

#[test]
fn no_token_no_entry() {
    let site = Site::new();
    let last = if site.token.ends_with('0') { "1" } else { "0" };
    let near = format!("Bearer {}{last}", &site.token[..63]);
    let forged = ["Bearer", "Bearer ", "Basic eDp4", &near, "Bearer \u{7f}"];
    for path in ["/api/me", "/api/sessions", "/api/config", "/metrics"] {
        assert_eq!(site.ask(&format!("GET {path}"), &[], "").status, 401, "{path}");
        for forged in forged {
            let answer = site.ask(&format!("GET {path}"), &[("Authorization", forged)], "");
            assert!(matches!(answer.status, 400 | 401), "{path} {forged}");
        }
    }
    // The page has no secrets in it, and says nothing of sessions.
    assert_eq!(site.ask("GET /", &[], "").status, 200);
    assert_eq!(site.ask("GET /health", &[], "").json(), serde_json::json!({"status": "ok"}));
}

#[test]
fn without_a_token_host_and_origin_are_still_asked_for() {
    let site = Site::with("auth = 'none'\n");
    let own = site.origin();
    assert_eq!(site.ask("GET /api/me", &[], "").status, 200);
    site.try_socket("/ws/pty", &[("Origin", own.as_str())]).unwrap().of_type("session");
    assert_eq!(site.try_socket("/ws/pty", &[]).err(), Some(403));
    assert_eq!(site.try_socket("/ws/pty", &[("Origin", "http://evil.example")]).err(), Some(403));
    assert_eq!(site.ask("GET /api/me", &[("Host", "evil.example")], "").status, 403);
}

#[test]
fn pages_may_run_our_scripts_only() {
    let site = Site::new();
    for path in ["/", "/login", "/api/me", "/nothing"] {
        let answer = site.ask(&format!("GET {path}"), &[], "");
        let policy = answer.header("content-security-policy").unwrap();
        let scripts = policy.split(';').find(|it| it.trim().starts_with("script-src")).unwrap();
        let mut words = scripts.split_whitespace();
        assert!(
            words.all(|it| !["'unsafe-inline'", "'unsafe-eval'", "*"].contains(&it)),
            "{scripts}"
        );
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("default-src 'none'"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        let referrer = answer.header("referrer-policy").unwrap();
        assert!(["no-referrer", "same-origin"].contains(&referrer), "{referrer}");
    }
}

/// S4: the token and the cookies are in no log, no command line and no environment.
#[test]
fn the_token_is_nowhere_to_be_found() {
    let site = Site::with("[logs]\nlevel = 'trace'\n");
    let (mut socket, _) = site.pty(&format!("token={}", site.token));
    socket.type_in("echo se''en\n");
    socket.until("seen");
    create(&mut site.home.connect(), "other", "exec cat");
    let login = site.ask("POST /login", &[], &format!("token={}", site.token));
    let cookie = login.header("set-cookie").unwrap().split(['=', ';']).nth(1).unwrap().to_owned();
    assert_eq!(cookie.len(), 64);
    let printed = site.home.command(["web"]).output().unwrap();
    assert!(String::from_utf8_lossy(&printed.stdout).contains(&format!("#token={}", site.token)));
    let log = site.home.path().join("state/daemon.log");
    eventually("something is logged", || fs::read_to_string(&log).is_ok_and(|it| !it.is_empty()));
    let has = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.contains(&site.token) || text.contains(&cookie)
    };
    for entry in fs::read_dir(site.home.path().join("state")).unwrap().flatten() {
        let own = entry.file_name() == "web-token";
        let bytes = fs::read(entry.path()).unwrap_or_default();
        assert!(own || !has(&bytes), "{:?}", entry.path());
    }
    for pid in site.home.processes() {
        for file in ["cmdline", "environ"] {
            let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            assert!(!has(&bytes), "{file} of {pid}");
        }
    }
}
