//! The socket of a session: the screen, every byte once, the exit code; many clients, slow and gone.

use std::io::{ErrorKind as Io, Read as _, Write as _};

use greenroom_model::Size;
use greenroom_screen::{Options, Screen};
use greenroom_testkit::{LINE, Lines, count, eventually, eventually_ok, line, process};
use serde_json::json;

use super::{Attached, attach, base, call, client, compat_home, connect, create, kind};
use crate::support::{ANSWERS, assert_answers, home, note, wait_for_text};

#[test]
fn every_byte_comes_once_and_then_the_exit_code() {
    let home = home();
    home.configure("[clients]\nlag_bytes = 67108864\n");
    let _daemon = home.start();
    let mut wire = home.wire();
    // More than a holder keeps: that nobody reads the frames of the first connection holds up nothing.
    let lines = count(400_000, 1_000_000);
    let script = format!("stty -echo; echo ready; read go; seq -f '{LINE}' 1 {lines}; exit 7");
    let id = create(&mut wire, "numbered", &script);
    wait_for_text(&mut home.connect(), "numbered", "ready");
    let path = attach(&mut wire, &id);
    let mut attached = Attached::connect(&path);
    let greeting = &attached.greeting;
    assert_eq!((greeting.cols, greeting.rows, greeting.command.as_str()), (80, 24, &*script));
    assert!(process::lives(greeting.pid) && process::lives(greeting.holder_pid));
    assert!(!greeting.cwd.is_empty());
    assert!(String::from_utf8_lossy(&greeting.screen).contains("ready"));
    attached.send(kind::DATA, b"\r");
    let (code, output) = attached.until_exit();
    assert_eq!(code, 7);
    let mut numbered = Lines::default();
    numbered.feed(&output);
    assert_eq!(numbered.count(), lines as u64);
    eventually("the socket of an ended session is gone", || !path.exists());
}

#[test]
fn who_comes_in_the_middle_of_a_flood_gets_no_gap_and_no_repeat() {
    let home = home();
    home.configure("[clients]\nlag_bytes = 67108864\n");
    let _daemon = home.start();
    let mut wire = home.wire();
    let script = format!("echo ready; read go; seq -f '{LINE}' 1 30000; sleep 0.2; exit 0");
    let id = create(&mut wire, "flood", &script);
    let path = attach(&mut wire, &id);
    call(&mut wire, "session.send", json!({"sessionId": id, "enter": true}));
    let mut attached = Attached::connect(&path);
    let mut screen = Screen::new(Size::DEFAULT, Options::default());
    screen.feed(&attached.greeting.screen);
    let (code, output) = attached.until_exit();
    screen.feed(&output);
    assert_eq!(code, 0);
    // The last rows follow one another: the cut was exact, and the tail is there.
    let text = screen.text();
    let numbers: Vec<&str> = text.lines().filter(|it| it.starts_with("line")).collect();
    let expected: Vec<String> = (30_001 - numbers.len() as u64..=30_000).map(line).collect();
    assert_eq!(numbers, expected);
}

#[test]
fn a_signal_is_minus_one_and_an_end_before_the_connection_is_not_missed() {
    let home = home();
    let _daemon = home.start();
    let mut wire = home.wire();
    let killed = create(&mut wire, "killed", "read go; echo last words; kill -9 $$");
    let path = attach(&mut wire, &killed);
    let mut attached = Attached::connect(&path);
    attached.send(kind::DATA, b"\r");
    let (code, output) = attached.until_exit();
    assert_eq!(code, -1);
    assert!(String::from_utf8_lossy(&output).contains("last words"));

    let late = create(&mut wire, "late", "read go; echo last words; exit 5");
    let path = attach(&mut wire, &late);
    call(&mut wire, "session.send", json!({"sessionId": late, "enter": true}));
    let exit = json!({"sessionId": late, "for": {"exit": true}, "timeoutMs": 20_000});
    call(&mut wire, "session.wait", exit);
    let mut attached = Attached::connect(&path);
    assert!(String::from_utf8_lossy(&attached.greeting.screen).contains("last words"));
    assert_eq!(attached.until_exit().0, 5);
    eventually("its socket is gone", || !path.exists());
}

#[test]
fn an_end_at_any_moment_of_the_greeting_is_told() {
    let home = home();
    let _daemon = home.start();
    let mut wire = home.wire();
    for round in 0..count(40, 1_000) {
        let id = create(&mut wire, &format!("brief-{round}"), "read go; echo tail; exit 3");
        let path = attach(&mut wire, &id);
        let (_, enter) = wire.request("session.send", &json!({"sessionId": id, "enter": true}));
        wire.send_bytes(&enter).unwrap();
        let mut attached = Attached::connect(&path);
        let mut all = attached.greeting.screen.clone();
        let (code, output) = attached.until_exit();
        all.extend(output);
        assert_eq!(code, 3, "round {round}");
        let all = String::from_utf8_lossy(&all).into_owned();
        assert_eq!(all.matches("tail").count(), 1, "round {round}: {all:?}");
    }
}

#[test]
fn two_clients_see_the_same_and_ask_each_other_for_sizes() {
    let home = home();
    let _daemon = home.start();
    let mut wire = home.wire();
    call(&mut wire, "client.identify", json!({"type": "cli", "name": "Terminal"}));
    let id = create(&mut wire, "shared", "echo up; exec cat");
    let path = attach(&mut wire, &id);
    let (mut one, mut two) = (Attached::connect(&path), Attached::connect(&path));
    // One program that looks in several ways is one client; here it is two at the session itself.
    let info = call(&mut wire, "session.info", json!({"sessionId": id}));
    assert_eq!(info["attachedClients"], 2, "{info}");
    assert_eq!(info["clients"][0]["type"], "cli");
    assert_eq!(info["clients"][0]["name"], "Terminal");
    assert_eq!(info["clients"][0]["pid"], std::process::id());

    // Nobody has said a size: nobody is asked. Then one has, and two types.
    two.send(kind::DATA, b"first\r");
    // By its echo: the clients' frames come by different ways, and a screen alone has letters.
    two.until_text("first");
    one.resize(100, 30);
    two.send(kind::STATUS, b"");
    eventually_ok("the session has the size", || {
        two.send(kind::STATUS, b"");
        let (status, _) = two.until(kind::STATUS_IS);
        match &status[8..12] {
            [0, 100, 0, 30] => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    two.send(kind::STATUS, b"");
    let (status, _) = two.until(kind::STATUS_IS);
    assert_eq!((status.len(), &status[12..14]), (14, &[0, 3][..]), "two here, one at the daemon");
    two.send(kind::DATA, b"y");
    assert_eq!(two.until(kind::RESIZE_REQUEST).0, b"");
    two.resize(90, 20);
    one.send(kind::DATA, b"z");
    assert_eq!(one.until(kind::RESIZE_REQUEST).0, b"");
    // Who sized last left: nobody is asked.
    one.resize(100, 30);
    drop(one);
    eventually("one has left", || {
        let info = call(&mut wire, "session.info", json!({"sessionId": id}));
        info["attachedClients"] == 1
    });
    two.send(kind::DATA, b"\rlast\r");
    loop {
        match two.frame().expect("the socket stays open") {
            (kind::DATA, bytes) if String::from_utf8_lossy(&bytes).contains("last") => break,
            (kind, _) => assert_ne!(kind, kind::RESIZE_REQUEST),
        }
    }
}

#[test]
fn a_program_at_both_sockets_has_one_size() {
    let home = home();
    home.configure("size_policy = \"smallest\"\n");
    let _daemon = home.start();
    let mut wire = home.wire();
    let id = create(&mut wire, "one", "exec cat");
    let mut attached = Attached::connect(&attach(&mut wire, &id));
    attached.resize(120, 40);
    eventually("the session is as large as the one terminal", || {
        call(&mut wire, "session.info", json!({"sessionId": id}))["cols"] == 120
    });
}

#[test]
fn who_types_without_a_size_sizes_nothing() {
    let home = home();
    let _daemon = home.start();
    let mut wire = home.wire();
    let id = create(&mut wire, "one", "exec cat");
    let path = attach(&mut wire, &id);
    let (mut one, mut two) = (Attached::connect(&path), Attached::connect(&path));
    one.resize(120, 40);
    eventually("the session has the size", || {
        call(&mut wire, "session.info", json!({"sessionId": id}))["cols"] == 120
    });
    two.send(kind::DATA, b"typed\r");
    assert_eq!(two.until(kind::RESIZE_REQUEST).0, b"");
    two.until_text("typed");
    let info = call(&mut wire, "session.info", json!({"sessionId": id}));
    assert_eq!((&info["cols"], &info["rows"]), (&json!(120), &json!(40)));
}

#[test]
fn who_comes_after_the_end_gets_the_screen_and_the_code() {
    let home = home();
    let _daemon = home.start();
    let mut wire = home.wire();
    let id = create(&mut wire, "quick", "echo all of it; exit 3");
    eventually("it has ended", || {
        call(&mut wire, "session.info", json!({"sessionId": id}))["state"] == "ended"
    });
    let mut attached = Attached::connect(&attach(&mut wire, &id));
    let screen = String::from_utf8_lossy(&attached.greeting.screen).into_owned();
    assert!(screen.contains("all of it"), "{screen:?}");
    assert_eq!(attached.until_exit().0, 3);
}

#[test]
fn those_who_come_and_go_are_told_of() {
    let home = home();
    let _daemon = home.start();
    let mut watcher = home.connect();
    let mut wire = home.wire();
    let id = create(&mut wire, "seen", "exec cat");
    let path = attach(&mut wire, &id);
    note(&mut watcher, "client.attached", &id);
    let attached = Attached::connect(&path);
    let came = note(&mut watcher, "client.attached", &id);
    assert_eq!(came["clientType"], "unknown", "the same process, which said nothing of itself");
    drop(attached);
    let left = note(&mut watcher, "client.detached", &id);
    assert_eq!(left["clientType"], "unknown");
}

#[test]
fn a_client_that_does_not_read_harms_nobody_and_gets_the_end() {
    let home = home();
    let daemon = home.start();
    let mut connection = home.connect();
    greenroom_testkit::create(&mut connection, "echo", ANSWERS);
    let mut wire = home.wire();
    let lines = count(400_000, 1_000_000);
    let script = format!("stty -echo; read go; seq -f '{LINE}' 1 {lines}; echo the tail; exit 4");
    let id = create(&mut wire, "flood", &script);
    let path = attach(&mut wire, &id);
    let mut slow = Attached::connect(&path);
    drop(wire);
    let memory = process::memory_kib(daemon.pid());
    slow.send(kind::DATA, b"\r");
    for round in 0..20 {
        assert_answers(&mut connection, "echo", round);
    }
    crate::support::wait_for_end(&mut connection, "flood");
    let grown = process::memory_kib(daemon.pid()).saturating_sub(memory);
    assert!(grown <= 32 << 10, "the daemon grew by {grown} KiB");
    let (code, output) = slow.until_exit();
    assert_eq!(code, 4);
    let mut screen = Screen::new(Size::DEFAULT, Options::default());
    screen.feed(&slow.greeting.screen);
    screen.feed(&output);
    assert!(screen.text().contains("the tail"), "{}", screen.text());
    assert!(screen.text().contains(&line(lines as u64)), "{}", screen.text());
}

#[test]
fn clients_that_die_at_any_point_leave_nothing_behind() {
    let home = home();
    let daemon = home.start();
    let mut wire = home.wire();
    let id = create(&mut wire, "target", "seq 1 500; exec cat");
    let path = attach(&mut wire, &id);
    let mut first = Attached::connect(&path);
    first.until_text("500");
    // What typing is counted with stays with the session.
    first.send(kind::DATA, b"typed\r");
    first.until_text("typed");
    drop(first);
    let settled = || call(&mut home.wire(), "daemon.status", json!({}));
    settled();
    let open = process::fds(daemon.pid()).len();
    for round in 0..count(200, 5_000) {
        let mut stream = connect(&path);
        let mut some = vec![0; round * 17 % 3_000];
        if stream.read(&mut some).is_ok() && round % 3 == 0 {
            // Half a frame, and gone.
            stream.write_all(&[0, 0, 0, 1, 0, b'x'][..round % 6]).unwrap();
        }
    }
    // A frame that is too long, and kinds nobody knows.
    let mut greedy = Attached::connect(&path);
    greedy.stream.write_all(&[kind::DATA, 0, 0x80, 0, 1]).unwrap();
    while greedy.frame().is_some() {}
    let mut odd = Attached::connect(&path);
    odd.send(0x77, b"whatever");
    odd.send(kind::RESIZE, b"short");
    odd.send(kind::DATA, b"still here\r");
    odd.until_text("still here");
    drop((odd, greedy));
    eventually_ok("all connections are gone", || match process::fds(daemon.pid()).len() {
        now if now <= open => Ok(()),
        now => Err(format!("({now} descriptors, {open} before)")),
    });
    let info = call(&mut wire, "session.info", json!({"sessionId": id}));
    assert_eq!(info["attachedClients"], 1);
}

/// B2, at the session's own socket.
#[test]
fn typing_at_a_program_that_never_reads_is_bounded() {
    let home = home();
    let daemon = home.start();
    let mut connection = home.connect();
    greenroom_testkit::create(&mut connection, "echo", ANSWERS);
    let mut wire = home.wire();
    let id = create(&mut wire, "deaf", "stty raw -echo; echo deaf; exec sleep 1000");
    wait_for_text(&mut connection, "deaf", "deaf");
    let path = attach(&mut wire, &id);
    let mut typist = Attached::connect(&path);
    let memory = process::memory_kib(daemon.pid());
    let frame = [&[kind::DATA, 0, 0, 0x80, 0][..], &[b'x'; 32 << 10]].concat();
    typist.stream.set_nonblocking(true).unwrap();
    let (mut typed, mut refused) = (0, 0);
    let mut left: &[u8] = &frame;
    eventually("the daemon takes no more", || {
        match typist.stream.write(left) {
            Ok(count) => {
                (typed, refused) = (typed + count, 0);
                left = if count == left.len() { &frame } else { &left[count..] };
            }
            Err(error) if error.kind() == Io::WouldBlock => refused += 1,
            Err(error) => panic!("the typist was cut off: {error}"),
        }
        assert!(typed < 100 << 20, "all of it was taken");
        refused >= 100
    });
    assert!(typed < 8 << 20, "{typed} bytes were taken for a program that never reads");
    let grown = process::memory_kib(daemon.pid()).saturating_sub(memory);
    assert!(grown <= 16 << 10, "the daemon grew by {grown} KiB");
    assert_answers(&mut connection, "echo", 1);
    // Gone in the middle of it, it is noticed.
    drop(typist);
    eventually("the typist has left", || {
        let info = call(&mut wire, "session.info", json!({"sessionId": id}));
        info["clients"].as_array().unwrap().len() == 1
    });
}

#[test]
fn a_path_that_is_too_long_for_a_socket_leaves_the_frames() {
    let home = compat_home();
    let long = home.path().join("x".repeat(85 - home.path().as_os_str().len()));
    home.configure("");
    let _daemon = home.start();
    let mut wire = home.wire();
    let served = json!({"name": "carryon", "base": long});
    assert_eq!(
        call(&mut wire, "compat.serve", served)["socket"],
        long.join("daemon.sock").to_str().unwrap()
    );
    let id = create(&mut wire, "one", "exec cat");
    let answer = call(&mut wire, "session.attach", json!({"sessionId": id}));
    assert!(answer.get("holderSocket").is_none(), "{answer}");
    assert!(answer["streamId"].is_string());
}

#[test]
fn sockets_that_a_killed_daemon_left_are_removed() {
    let home = compat_home();
    let mut daemon = home.start();
    let id = create(&mut client(&home), "one", "exec cat");
    let path = attach(&mut client(&home), &id);
    assert_eq!(path, base(&home).join("holders").join(format!("{id}.sock")));
    daemon.restart(&home);
    assert!(!path.exists(), "it is made again when somebody attaches");
    let mut attached = Attached::connect(&attach(&mut client(&home), &id));
    attached.send(kind::DATA, b"hello\r");
    attached.until_text("hello");
    daemon.signal(greenroom_testkit::Signal::TERM);
    daemon.wait_for_end();
    assert!(!path.exists(), "a daemon that ends takes its sockets along");
}
