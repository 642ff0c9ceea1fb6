//! Logging in and out, by token, password and link.

use std::time::{Duration, Instant};

use greenroom_testkit::{count, create, eventually, process};
use serde_json::json;

use super::{Answer, Site};

/// The bcrypt hash of `correct horse`, with few rounds.
const HASH: &str = "$2b$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e";

fn cookie(answer: &Answer) -> String {
    let set = answer.header("set-cookie").expect("a cookie");
    set.split(';').next().unwrap().to_owned()
}

#[test]
fn a_login_by_token_is_a_cookie_nobody_else_gets() {
    let mut site = Site::new();
    let answer = site.ask("POST /login", &[], &format!("token={}", site.token));
    assert_eq!(answer.status, 204);
    let set = answer.header("set-cookie").unwrap();
    for flag in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=86400"] {
        assert!(set.contains(flag), "{set}");
    }
    assert!(set.starts_with("greenroom-session=") && !set.contains("Secure"), "{set}");
    let cookie = cookie(&answer);
    let me = site.ask("GET /api/me", &[("Cookie", &cookie)], "");
    assert_eq!(me.json()["scope"], "owner");
    // A cookie is sent by browsers, which say where they come from.
    assert_eq!(site.try_socket("/ws/pty", &[("Cookie", &cookie)]).err(), Some(403));
    assert_eq!(site.ask("POST /api/sessions", &[("Cookie", &cookie)], "").status, 403);
    let origin = site.origin();
    let headers = [("Cookie", cookie.as_str()), ("Origin", origin.as_str())];
    assert!(site.try_socket("/ws/pty", &headers).is_ok());
    eventually("it is written down", || {
        let kept = std::fs::read_to_string(site.home.path().join("state/web-logins.json"));
        kept.is_ok_and(|it| it.contains("untilMs"))
    });
    site.restart();
    assert_eq!(site.ask("GET /api/me", &[("Cookie", &cookie)], "").status, 200);
    let origin = site.origin();
    let headers = [("Cookie", cookie.as_str()), ("Origin", origin.as_str())];
    let mut socket = site.try_socket("/ws/native", &headers).unwrap();
    assert_eq!(site.ask("POST /logout", &headers, "").status, 204);
    assert_eq!(socket.closed().0, 1008);
    assert_eq!(site.ask("GET /api/me", &[("Cookie", &cookie)], "").status, 401);
}

#[test]
fn a_person_without_scripts_logs_in_by_a_form() {
    let site = Site::new();
    let form = site.ask("GET /login", &[], "");
    assert!(form.body.contains("name=token") && !form.body.contains("<script"), "{}", form.body);
    // Else the browser would not say that the form is ours.
    assert_eq!(form.header("referrer-policy"), Some("same-origin"));
    let origin = site.origin();
    let headers = [("Accept", "text/html"), ("Origin", origin.as_str())];
    let wrong = site.ask("POST /login", &headers, "token=wrong");
    assert_eq!(wrong.status, 401);
    assert!(wrong.body.contains("not right"));
    let right = site.ask("POST /login", &headers, &format!("token={}", site.token));
    assert_eq!((right.status, right.header("location")), (303, Some("/")));
}

#[test]
fn ten_thousand_tries_are_not_ten_thousand_chances() {
    let site = Site::with(&format!("auth = 'password'\npassword = '{HASH}'\n"));
    let begin = Instant::now();
    let tries = count(200, 10_000);
    let statuses: Vec<u16> = (0..tries)
        .map(|number| site.ask("POST /login", &[], &format!("password=wrong{number}")).status)
        .collect();
    assert!(statuses[..10].iter().all(|it| *it == 401), "{statuses:?}");
    assert!(statuses[10..].iter().all(|it| *it == 429), "{statuses:?}");
    eprintln!("{tries} tries took {:?}", begin.elapsed());
    // A failed try counts for a minute: had it taken longer, there would have been more chances.
    assert!(begin.elapsed() < Duration::from_secs(60));
    let late = site.ask("POST /login", &[], "password=correct+horse");
    assert_eq!(late.status, 429);
    assert!(late.header("retry-after").unwrap().parse::<u64>().unwrap() <= 61);
    // The token cannot be guessed, so who has it is not kept out.
    assert_eq!(site.ask("POST /login", &[], &format!("token={}", site.token)).status, 204);
}

/// What is kept of logins is bounded, whoever makes them.
#[test]
fn very_many_logins_leave_the_last_ones() {
    let site = Site::new();
    let log_in = || cookie(&site.ask("POST /login", &[], &format!("token={}", site.token)));
    let first = log_in();
    let fds = process::fds(site.daemon.pid()).len();
    let (logins, memory) = (count(300, 10_000), process::memory_kib(site.daemon.pid()));
    let begin = Instant::now();
    let last = (0..logins).fold(String::new(), |_, _| log_in());
    let grown = process::memory_kib(site.daemon.pid()).saturating_sub(memory);
    eprintln!("{logins} logins took {:?}; the daemon grew by {grown} KiB", begin.elapsed());
    let status = |cookie: &str| site.ask("GET /api/me", &[("Cookie", cookie)], "").status;
    assert_eq!((status(&first), status(&last)), (401, 200));
    eventually("the last ones are written down", || {
        let kept = std::fs::read_to_string(site.home.path().join("state/web-logins.json"));
        kept.is_ok_and(|it| it.matches("untilMs").count() == 256)
    });
    eventually("no descriptor is left", || process::fds(site.daemon.pid()).len() <= fds + 2);
    assert!(grown < 16 * 1024, "{grown} KiB");
}

#[test]
fn a_password_opens_as_well() {
    let site = Site::with(&format!("auth = 'password'\npassword = '{HASH}'\n"));
    assert!(site.ask("GET /login", &[], "").body.contains("name=password"));
    assert_eq!(site.ask("POST /login", &[], "password=Correct+horse").status, 401);
    let right = site.ask("POST /login", &[], "password=correct+horse");
    assert_eq!(right.status, 204);
    let me = site.ask("GET /api/me", &[("Cookie", &cookie(&right))], "");
    assert_eq!(me.json()["scope"], "owner");
}

#[test]
fn a_link_shows_one_session_until_it_is_removed() {
    let site = Site::new();
    let mut native = site.home.connect();
    create(&mut native, "shown", "echo visible; exec cat");
    create(&mut native, "hidden", "echo secret; exec cat");
    let out = site.home.command(["share", "shown", "--json"]).output().unwrap();
    let link: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let secret = link["open"].as_str().unwrap().split_once("#share=").unwrap().1.to_owned();
    let bearer = format!("Bearer {secret}");
    let me = site.ask("GET /api/me", &[("Authorization", &bearer)], "").json();
    assert_eq!((&me["scope"], &me["write"]), (&json!("session"), &json!(false)));
    for path in ["/api/sessions", "/api/config", "/metrics"] {
        let answer = site.ask(&format!("GET {path}"), &[("Authorization", &bearer)], "");
        assert_eq!(answer.status, 403, "{path}");
    }
    for path in ["/ws/pty", "/?session=hidden", "/ws/claude-stream"] {
        let refused = site.try_socket(path, &[("Authorization", &bearer)]).err();
        assert!(matches!(refused, Some(403 | 404)), "{path}: {refused:?}");
    }
    let login = site.ask("POST /login", &[], &format!("token={secret}"));
    let (cookie, origin) = (cookie(&login), site.origin());
    let headers = [("Cookie", cookie.as_str()), ("Origin", origin.as_str())];
    let mut socket = site.try_socket("/ws/native", &headers).unwrap();
    let list = site.home.command(["share", "ls"]).output().unwrap();
    let id = link["id"].as_str().unwrap();
    assert!(String::from_utf8_lossy(&list.stdout).contains(id));
    assert!(site.home.command(["share", "rm", id]).status().unwrap().success());
    assert_eq!(socket.closed().0, 1008);
    assert_eq!(site.ask("GET /api/me", &[("Cookie", &cookie)], "").status, 401);
    assert_eq!(site.ask("GET /api/me", &[("Authorization", &bearer)], "").status, 401);
    assert!(!site.home.command(["share", "rm", id]).status().unwrap().success());
}

#[test]
fn a_link_ends_by_itself() {
    let site = Site::new();
    create(&mut site.home.connect(), "shown", "exec cat");
    let out = site.home.command(["share", "shown", "--for", "2s"]).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let bearer = format!("Bearer {}", text.trim().split_once("#share=").unwrap().1);
    let mut socket = site.try_socket("/ws/native", &[("Authorization", &bearer)]).unwrap();
    assert_eq!(socket.closed().0, 1008);
    assert_eq!(site.ask("GET /api/me", &[("Authorization", &bearer)], "").status, 401);
}
