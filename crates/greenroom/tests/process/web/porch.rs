//! Where strangers are met while there is a crowd of them (N5): nobody else notices.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;

use greenroom_testkit::{eventually, process};
use serde_json::json;

use super::{Answer, Site, answer};
use crate::limits::limit_open_files;
use crate::support::call;

/// How many wrong tokens are answered at once.
const BUDGET: usize = 20;

/// How many more make a crowd: it is one for so many seconds.
const MORE: usize = 8;

/// How many more make it one for as long as there may be.
const MANY: usize = 40;

const WRONG: (&str, &str) = ("Authorization", "Bearer wrong");

fn is_open(site: &Site) -> bool {
    process::threads(site.daemon.pid()).iter().any(|it| it == "porch")
}

/// A request on a connection that goes on.
fn request(token: &str) -> String {
    format!("GET /api/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n")
}

fn send(site: &Site, bytes: &[u8]) -> TcpStream {
    let mut stream = site.connect();
    stream.write_all(bytes).unwrap();
    stream
}

/// Says wrong tokens, and does not wait for the answers, until strangers are met on the porch.
fn crowd(site: &Site, more: usize) {
    let wrong = request("wrong");
    let _ignored: Vec<TcpStream> =
        (0..BUDGET + more).map(|_| send(site, wrong.as_bytes())).collect();
    eventually("the porch is open", || {
        assert_eq!(site.owner("GET /api/me").status, 200);
        is_open(site)
    });
}

/// The first answer on a connection that may go on.
fn first_answer(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let got = stream.read(&mut buffer).unwrap();
        bytes.extend_from_slice(&buffer[..got]);
        let now = answer(&bytes);
        let length = now.header("content-length").map(|it| it.parse::<usize>().unwrap());
        if got == 0 || length == Some(now.body.len()) {
            return now;
        }
    }
}

/// The headers of an answer, by their names, without those that say when it was.
fn timeless(answer: &Answer) -> Vec<(String, String)> {
    let lines = answer.head.lines().skip(1).filter_map(|line| line.split_once(": "));
    let mut all: Vec<_> = lines
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .filter(|(name, _)| !["date", "retry-after"].contains(&name.as_str()))
        .collect();
    all.sort();
    all
}

#[test]
fn who_says_all_they_want_at_once_is_answered_by_the_porch_or_without() {
    let site = Site::new();
    let ask = || {
        let mut stream = send(&site, request(&site.token).as_bytes());
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        first_answer(&mut stream).status
    };
    assert_eq!(ask(), 200);
    crowd(&site, MANY);
    assert_eq!(ask(), 200);
}

#[test]
fn on_the_porch_only_a_wrong_secret_is_refused() {
    let site = Site::with("metrics = true\n");
    // Who is in already is answered by the daemon itself.
    let mut inside = send(&site, request("wrong").as_bytes());
    assert_eq!(first_answer(&mut inside).status, 401);
    crowd(&site, MANY);
    assert_eq!(site.owner("GET /api/me").status, 200);
    let login = site.ask("POST /login", &[], &format!("token={}", site.token));
    assert_eq!(login.status, 204);
    let cookie = login.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    assert_eq!(site.ask("GET /api/me", &[("Cookie", &cookie)], "").status, 200);
    assert!(site.try_socket(&format!("/ws/native?token={}", site.token), &[]).is_ok());
    // Who says nothing has not guessed, and who is elsewhere is told that first.
    assert_eq!(site.ask("GET /api/me", &[], "").status, 401);
    assert_eq!(site.ask("GET /", &[], "").status, 200);
    assert_eq!(site.ask("GET /api/me", &[WRONG, ("Host", "evil.example")], "").status, 403);
    assert_eq!(site.ask("GET /", &[WRONG], "").status, 200);
    assert_eq!(site.raw(b"what is this\r\n\r\n").status, 400);
    assert!(is_open(&site), "that took too long");
    let host = ("Host", "localhost");
    let wrong = [
        site.ask("GET /api/me", &[host, WRONG], ""),
        site.ask("POST /api/sessions", &[host, WRONG], "{}"),
        site.ask("GET /api/me", &[host, ("Cookie", "greenroom-session=wrong")], ""),
    ];
    let before = number(&site, "put_off");
    inside.write_all(request("wrong").as_bytes()).unwrap();
    let by_daemon = first_answer(&mut inside);
    for answer in wrong {
        assert_eq!((answer.status, &answer.body), (429, &by_daemon.body));
        assert_eq!(timeless(&answer), timeless(&by_daemon));
        assert!(answer.header("retry-after").is_some_and(|it| it.parse::<u64>().is_ok()));
    }
    let head = site.ask("HEAD /api/me", &[WRONG], "");
    assert_eq!((head.status, head.body.as_str()), (429, ""));
    assert_eq!(number(&site, "put_off"), before + 2);
    assert!(number(&site, "refused") >= before + 2);
}

/// A counter, as the owner sees it.
fn number(site: &Site, name: &str) -> u64 {
    let numbers = site.owner("GET /metrics").body;
    let start = format!("greenroom_web_{name}_total ");
    let found = numbers.lines().find_map(|line| line.strip_prefix(&start));
    found.unwrap_or_else(|| panic!("{numbers}")).parse().unwrap()
}

#[test]
fn a_head_in_pieces_or_a_long_one_is_judged_as_any() {
    let site = Site::new();
    crowd(&site, MANY);
    let fill = format!("X: {}\r\n", "x".repeat(1000));
    let long =
        |token: &str| request(token).replace("\r\n\r\n", &format!("\r\n{}\r\n", fill.repeat(40)));
    for (token, status) in [(site.token.as_str(), 200), ("wrong", 429)] {
        let mut stream = site.connect();
        stream.set_nodelay(true).unwrap();
        for piece in request(token).as_bytes().chunks(3) {
            stream.write_all(piece).unwrap();
            thread::yield_now();
        }
        assert_eq!(first_answer(&mut stream).status, status);
        assert_eq!(first_answer(&mut send(&site, long(token).as_bytes())).status, status);
    }
    // Who hangs up, or never comes to an end, is in nobody's way.
    let half = request("wrong").replace("\r\n\r\n", "");
    let _slow: Vec<TcpStream> = (0..200).map(|_| send(&site, half.as_bytes())).collect();
    (0..200).for_each(|_| drop(send(&site, half.as_bytes())));
    assert_eq!(site.owner("GET /api/me").status, 200);
    assert!(is_open(&site), "that took too long");
}

#[test]
fn the_porch_is_there_only_while_there_is_a_crowd() {
    let site = Site::new();
    assert!(!is_open(&site));
    let before = process::fds(site.daemon.pid()).len();
    crowd(&site, MORE);
    eventually("the porch is closed", || !is_open(&site));
    assert_eq!(site.owner("GET /api/me").status, 200);
    assert!(!is_open(&site));
    eventually("the descriptors are free", || process::fds(site.daemon.pid()).len() <= before + 2);
    crowd(&site, MORE);
}

#[test]
fn a_door_that_is_closed_takes_its_porch_along() {
    let site = Site::new();
    crowd(&site, MANY);
    let mut owner = site.home.connect();
    call(&mut owner, "web.close", json!({}));
    assert!(TcpStream::connect(("127.0.0.1", site.port)).is_err());
    eventually("the porch is closed", || !is_open(&site));
    call(&mut owner, "web.open", json!({"port": site.port}));
    assert_eq!(site.owner("GET /api/me").status, 200);
    assert_eq!(site.ask("GET /api/me", &[WRONG], "").status, 429);
}

/// R3
#[test]
fn without_descriptors_for_a_porch_strangers_are_met_as_others_are() {
    let site = Site::new();
    let wrong = request("wrong");
    let mut inside: Vec<TcpStream> = (0..8).map(|_| site.connect()).collect();
    for _ in 0..BUDGET {
        inside[0].write_all(wrong.as_bytes()).unwrap();
        assert_eq!(first_answer(&mut inside[0]).status, 401);
    }
    let open: Vec<u32> = process::fds(site.daemon.pid()).iter().map(|it| it.0).collect();
    let free = (0..).filter(|it| !open.contains(it)).nth(2).unwrap();
    limit_open_files(site.daemon.pid(), Some(free.into()));
    // These are in already, and their answers are late.
    inside.iter_mut().for_each(|it| it.write_all(wrong.as_bytes()).unwrap());
    assert_eq!(site.owner("GET /api/me").status, 200);
    assert_eq!(site.ask("GET /api/me", &[WRONG], "").status, 429);
    assert!(!is_open(&site));
    limit_open_files(site.daemon.pid(), None);
    assert_eq!(first_answer(&mut inside[7]).status, 429);
    crowd(&site, 0);
}
