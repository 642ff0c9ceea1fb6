//! Frames that are none, messages that are too large, connections that are too slow or too many
//! (N1 to N4, N6).

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use greenroom_testkit::{Signal, count, eventually, process};
use serde_json::json;
use tungstenite::Message;
use tungstenite::protocol::frame::coding::{Data, OpCode};
use tungstenite::protocol::frame::{Frame, FrameHeader};

use super::{SOON, Site};
use crate::support::{Random, mutated};

/// How much the daemon may grow while it is abused: what allocators keep.
const GROWTH_KIB: u64 = 8 * 1024;

fn assert_serves(site: &Site) {
    let begin = Instant::now();
    assert_eq!(site.owner("GET /api/me").status, 200);
    assert!(begin.elapsed() < SOON);
}

/// N1
#[test]
fn requests_that_are_none_end_alone() {
    let site = Site::new();
    let valid = vec![
        format!("GET /api/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n", site.token).into_bytes(),
        b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 7\r\n\r\ntoken=x".to_vec(),
        b"GET /ws/pty HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".to_vec(),
    ];
    let mut random = Random(11);
    for _ in 0..count(300, 10_000) {
        let mut bytes = mutated(&mut random, &valid);
        if random.below(4) == 0 {
            let length = random.below(200);
            bytes = random.bytes(length);
        }
        let mut stream = site.connect();
        stream.write_all(&bytes).unwrap_or_default();
        drop(stream);
    }
    assert_serves(&site);
}

/// N1
#[test]
fn frames_that_are_none_end_alone() {
    let site = Site::new();
    let mut random = Random(12);
    let (mut kept, _) = site.pty("");
    for _ in 0..count(60, 10_000) {
        for path in ["/ws/pty", "/ws/native"] {
            let path = if path == "/ws/pty" { "/ws/pty?provider=nope" } else { path };
            let mut socket = site.socket(path);
            let length = 1 + random.below(300);
            let bytes = random.bytes(length);
            socket.0.get_mut().write_all(&bytes).unwrap_or_default();
        }
    }
    kept.type_in("echo st''ill\n");
    kept.until("still");
    assert_serves(&site);
}

/// N2: what says that it is large is refused before it is kept.
#[test]
fn large_messages_are_refused_before_they_are_kept() {
    let site = Site::new();
    let (mut warm, _) = site.pty("");
    warm.type_in("echo wa''rm\n");
    warm.until("warm");
    let before = process::memory_kib(site.daemon.pid());
    for path in ["/ws/pty", "/ws/native"] {
        let mut socket = site.socket(path);
        // A header that promises a hundred megabytes, and some of them.
        let mut head = vec![0x82, 0xff];
        head.extend_from_slice(&(100_u64 << 20).to_be_bytes());
        head.extend_from_slice(&[0; 4]);
        socket.0.get_mut().write_all(&head).unwrap();
        socket.0.get_mut().write_all(&vec![b'x'; 1 << 20]).unwrap_or_default();
        let mut ended = false;
        while !ended {
            ended = match socket.0.read() {
                Ok(Message::Close(_)) | Err(_) => true,
                Ok(_) => false,
            };
        }
    }
    let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(20 << 20));
    assert!(matches!(site.raw(long.as_bytes()).status, 0 | 431));
    let promise =
        "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1073741824\r\n\r\ntoken=";
    let mut stream = site.connect();
    stream.write_all(promise.as_bytes()).unwrap();
    stream.write_all(&vec![b'x'; 1 << 20]).unwrap_or_default();
    let mut text = Vec::new();
    stream.read_to_end(&mut text).unwrap_or_default();
    let after = process::memory_kib(site.daemon.pid());
    assert!(after < before + GROWTH_KIB, "{before} KiB, then {after} KiB");
    assert_serves(&site);
}

/// N2: very many tiny fragments are one message that is too large, or one that is not.
#[test]
fn tiny_fragments_are_bounded() {
    let site = Site::new();
    let mut socket = site.socket("/ws/native");
    let mut sent = Ok(());
    for number in 0..count(20_000, 1_000_000) {
        let code = if number == 0 { Data::Binary } else { Data::Continue };
        let header =
            FrameHeader { is_final: false, opcode: OpCode::Data(code), ..FrameHeader::default() };
        sent = socket
            .0
            .write(Message::Frame(Frame::from_payload(set_mask(header), vec![b'x'].into())));
        if sent.is_err() {
            break;
        }
    }
    drop(sent);
    drop(socket);
    assert_serves(&site);
}

fn set_mask(mut header: FrameHeader) -> FrameHeader {
    header.mask = Some([1, 2, 3, 4]);
    header
}

/// N3
#[test]
fn json_that_is_absurd_is_typed_or_ignored() {
    let site = Site::with(
        "[websocket.providers.cat]\ncommand = ['sh', '-c', 'stty -echo raw; echo ready; exec cat >/dev/null']\n",
    );
    let (mut socket, _) = site.pty("provider=cat");
    socket.until("ready");
    for text in [
        "{\"a\":".repeat(100_000),
        "[".repeat(100_000),
        r#"{"type":"resize","rows":1e999,"cols":-1e999}"#.to_owned(),
        r#"{"type":"input","type":"resize","data":"\ud800"}"#.to_owned(),
        r#"{"type":"input","data":"\u0000"}"#.to_owned(),
        format!("{{\"type\":\"ping\"{}}}", ",\"k\":1".repeat(100_000)),
    ] {
        socket.text(&text);
    }
    socket.say(&json!({"type": "ping", "request_id": "last"}));
    while socket.of_type("pong")["request_id"] != "last" {}
}

/// N4: who sends a byte now and then is cut, and who is known is not kept waiting.
#[test]
fn slow_headers_are_cut() {
    let site = Site::new();
    let (mut known, _) = site.pty("");
    let begin = Instant::now();
    let mut slow: Vec<TcpStream> = (0..count(100, 500)).map(|_| site.connect()).collect();
    for stream in &mut slow {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: local").unwrap_or_default();
        stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    }
    assert_serves(&site);
    known.type_in("echo no''ne\n");
    known.until("none");
    while !slow.is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(12), "{} are still there", slow.len());
        slow.retain_mut(|stream| {
            stream.write_all(b"h").unwrap_or_default();
            let mut byte = [0; 64];
            match stream.read(&mut byte) {
                Ok(0) => false,
                Ok(_) => true,
                Err(error) => {
                    matches!(
                        error.kind(),
                        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                    )
                }
            }
        });
    }
}

/// N6: a peer that vanishes, in whatever way, is let go of.
#[test]
fn peers_that_vanish_are_let_go_of() {
    let site = Site::new();
    let before = process::fds(site.daemon.pid()).len();
    let (silent, _) = site.pty("");
    for _ in 0..10 {
        drop(site.socket("/ws/native"));
        drop(site.connect());
    }
    eventually("those that hung up are gone", || {
        process::fds(site.daemon.pid()).len() <= before + 4
    });
    // It never reads, so it never answers a ping; nobody closes it but the daemon.
    let mut native = site.home.connect();
    eventually("the silent one is gone", || {
        let list = crate::support::call(&mut native, "session.list", json!({}));
        list[0]["attachedClients"] == 0
    });
    drop(silent);
}

#[test]
fn what_is_counted_is_shown_when_that_is_wanted() {
    let off = Site::new();
    assert_eq!(off.owner("GET /metrics").status, 404);
    let site = Site::with("metrics = true\n");
    let (_socket, _) = site.pty("");
    let text = site.owner("GET /metrics").body;
    assert!(
        text.contains("greenroom_sessions 1\n") && text.contains("greenroom_web_sockets 1\n"),
        "{text}"
    );
    assert_eq!(site.ask("GET /metrics", &[], "").status, 401);
}

/// Who answers pings is not silent, however little there is to say.
#[test]
fn a_quiet_peer_that_listens_stays() {
    let site = Site::new();
    let (mut listener, _) = site.pty("");
    let begin = Instant::now();
    let mut pings = 0;
    // Longer than silence is borne.
    while begin.elapsed() < Duration::from_secs(23) || pings < 3 {
        match listener.0.read().unwrap() {
            Message::Ping(_) => pings += 1,
            Message::Close(frame) => panic!("closed after {:?}: {frame:?}", begin.elapsed()),
            _ => {}
        }
    }
    listener.type_in("echo he''re\n");
    listener.until("here");
}

/// While we are stopped nobody is asked anything: it is not their silence.
#[test]
fn a_peer_outlives_a_pause_of_the_daemon() {
    let site = Site::new();
    let (mut listener, _) = site.pty("");
    let mut native = site.socket("/ws/native");
    site.daemon.signal(Signal::STOP);
    let begin = Instant::now();
    // Longer than silence is borne.
    eventually("the pause is over", || begin.elapsed() > Duration::from_secs(23));
    site.daemon.signal(Signal::CONT);
    for socket in [&mut listener, &mut native] {
        // The ping that was due meanwhile comes first, or the end would.
        loop {
            match socket.0.read().unwrap() {
                Message::Ping(_) => break,
                Message::Close(frame) => panic!("closed after a pause: {frame:?}"),
                _ => {}
            }
        }
    }
    listener.type_in("echo he''re\n");
    listener.until("here");
}
