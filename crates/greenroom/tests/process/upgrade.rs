//! Another build of the daemon, and holders of other versions (K8).

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::thread::JoinHandle;

use bytes::Bytes;
use greenroom_model::{Offset, SessionId, Size};
use greenroom_proto::{Description, FromHolder, Hello, VERSION};
use greenroom_pty::Master;
use greenroom_testkit::{Daemon, Home, create, eventually_ok, session_list};
use serde_json::json;

use crate::support::{call, enter, home, screen, wait_for_text};

#[test]
fn sessions_live_on_under_another_build_of_the_daemon() {
    let home = home();
    let other = home.bring_programs("other");
    let daemon = home.start();
    let before =
        create(&mut home.connect(), "old", "echo here; read line; echo got $line; read end");
    wait_for_text(&mut home.connect(), "old", "here");
    daemon.kill();
    let daemon = Daemon::start_of(&home, &other);
    let mut connection = home.connect();
    let now = call(&mut connection, "session.info", json!({"sessionId": "old"}));
    for field in ["pid", "holderPid", "uuid", "created", "name"] {
        assert_eq!(now[field], before[field], "{field}");
    }
    let send = json!({"sessionId": "old", "text": "it", "enter": true});
    call(&mut connection, "session.send", send);
    wait_for_text(&mut connection, "old", "got it");
    // New sessions have the holder that came with this daemon.
    create(&mut connection, "new", "echo new; read line");
    wait_for_text(&mut connection, "new", "new");
    daemon.kill();

    // And back again.
    let daemon = home.start();
    let mut connection = home.connect();
    assert_eq!(session_list(&mut connection, false).len(), 2);
    assert!(screen(&mut connection, "old").contains("got it"));
    enter(&mut connection, "new");
    drop(daemon);
}

/// A holder of some other version, as far as a daemon meets one.
struct Fake {
    socket: PathBuf,
    _terminal: Master,
    /// What it heard from the daemon until that hung up.
    heard: JoinHandle<Vec<u8>>,
}

impl Fake {
    fn start(home: &Home, session: u64, version: u16) -> Fake {
        let socket = home.path().join(format!("run/h/{session}.sock"));
        let listener = UnixListener::bind(&socket).unwrap();
        let (terminal, slave) = greenroom_pty::open(Size::DEFAULT).unwrap();
        let given = terminal.as_fd().try_clone_to_owned().unwrap();
        let heard = std::thread::spawn(move || {
            let (mut daemon, _) = listener.accept().unwrap();
            introduce(&mut daemon, given.as_fd(), session, version);
            let mut heard = Vec::new();
            daemon.read_to_end(&mut heard).unwrap_or_default();
            drop(slave);
            heard
        });
        Fake { socket, _terminal: terminal, heard }
    }
}

/// Says hello with a field more than today's, and something that nobody knows today.
fn introduce(
    daemon: &mut UnixStream,
    terminal: std::os::fd::BorrowedFd<'_>,
    session: u64,
    version: u16,
) {
    let hello = Hello {
        version,
        session: SessionId(session),
        holder_pid: std::process::id(),
        child_pid: std::process::id(),
        size: Size::DEFAULT,
        kept: Offset(0),
        end: Offset(5),
        answered: Offset(0),
        checkpoint: false,
        grouped: false,
        tallies: false,
    };
    let mut bytes = Vec::new();
    FromHolder::Hello(hello).encode(&mut bytes);
    bytes.extend_from_slice(b"more");
    let payload = u32::try_from(bytes.len() - 5).unwrap();
    bytes[1..5].copy_from_slice(&payload.to_be_bytes());
    bytes.extend_from_slice(&[200, 0, 0, 0, 3, 1, 2, 3]);
    let description = Description {
        id: SessionId(session),
        uuid: [7; 16],
        name: format!("version-{version}"),
        created_ms: 1,
        attached_ms: 0,
        cwd: "/".to_owned(),
        command: vec!["of another time".to_owned()],
        notes: vec![("unknown".to_owned(), "note".to_owned())],
    };
    FromHolder::Description(Bytes::from(description.encode())).encode(&mut bytes);
    FromHolder::Output { at: Offset(0), bytes: Bytes::from_static(b"hello") }.encode(&mut bytes);
    let sent = greenroom_pty::send_with_fds(&*daemon, &bytes, &[terminal]).unwrap();
    // A daemon that refuses hangs up before it has read everything.
    daemon.write_all(&bytes[sent..]).unwrap_or_default();
}

#[test]
fn a_holder_of_today_with_news_is_taken_up_and_one_of_tomorrow_is_left_alone() {
    let home = home();
    let daemon = home.start();
    daemon.kill();
    let today = Fake::start(&home, 70, VERSION);
    let tomorrow = Fake::start(&home, 71, VERSION + 1);
    let daemon = home.start();
    let mut connection = home.connect();
    let list = session_list(&mut connection, true);
    let names: Vec<&str> = list.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, [format!("version-{VERSION}")]);
    eventually_ok("its screen is shown", || {
        let text = screen(&mut connection, "70");
        if text == "hello" { Ok(()) } else { Err(text) }
    });
    // A new session does not take the number of one that lives.
    let new = create(&mut connection, "new", "read line");
    assert!(new["number"].as_u64().unwrap() > 70, "{}", new["number"]);

    let heard = tomorrow.heard.join().unwrap();
    assert!(heard.is_empty(), "nothing was said to it: {heard:?}");
    assert!(fs::symlink_metadata(&tomorrow.socket).is_ok(), "its socket is left alone");
    let logs = call(&mut connection, "daemon.logs", json!({"level": "error"}));
    let text = logs.to_string();
    assert!(text.contains("left alone") && text.contains("71.sock"), "{text}");
    drop(daemon);
    today.heard.join().unwrap();
}
