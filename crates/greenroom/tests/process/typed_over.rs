//! What is typed over the end of a daemon: every byte of it arrives once, in order.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use greenroom_client::{AttachOptions, Stream};
use greenroom_testkit::{
    Daemon, Home, Lines, Signal, count, create, eventually, eventually_some, line,
};

use crate::support::{home, wait_for_text};
use crate::terminal::Terminal;

/// Numbered lines.
fn typed(lines: u64) -> Vec<u8> {
    (1..=lines).flat_map(|number| format!("{}\n", line(number)).into_bytes()).collect()
}

/// A program that says it is ready, waits until it may, and writes all it is sent into a file.
fn reader(home: &Home) -> String {
    let folder = home.path().display();
    format!(
        "stty -echo; echo ready; until test -e '{folder}/go'; do sleep 0.02; done; cat > '{folder}/got'"
    )
}

fn got(home: &Home) -> PathBuf {
    home.path().join("got")
}

fn lets_it_read(home: &Home) {
    fs::write(home.path().join("go"), "").unwrap();
}

/// The program in a pipe.
fn run(home: &Home) -> Child {
    let mut command = home.command(["run", "--", "sh", "-c", &reader(home)]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
}

#[track_caller]
fn ends_well(child: &mut Child) {
    let status = eventually_some("the program has read all", || child.try_wait().unwrap());
    assert!(status.success(), "{status}");
}

#[track_caller]
fn assert_arrived(home: &Home, lines: u64) {
    let mut arrived = Lines::default();
    arrived.feed(&fs::read(got(home)).unwrap());
    assert_eq!((arrived.count(), arrived.begun()), (lines, &b""[..]));
}

#[test]
fn every_line_arrives_once_however_often_the_daemon_is_killed() {
    let total = count(100_000, 1_000_000) as u64;
    let kills = count(15, 100) as u64;
    let home = home();
    let mut daemon = home.start();
    lets_it_read(&home);
    let mut child = run(&home);
    let mut input = child.stdin.take().unwrap();
    let all = typed(total);
    let length = all.len() as u64;
    let typing = std::thread::spawn(move || input.write_all(&all).unwrap());
    for killed in 0..kills {
        eventually("more of it arrives", || {
            let arrived = fs::metadata(got(&home)).map_or(0, |it| it.len());
            arrived > length * killed / (kills + 1)
        });
        daemon.restart(&home);
    }
    ends_well(&mut child);
    typing.join().unwrap();
    assert_arrived(&home, total);
}

#[test]
fn what_no_program_has_read_yet_is_not_lost_with_the_daemon() {
    // More than a terminal takes, and less than a daemon and a pipe.
    const LINES: u64 = 10_000;
    let ends: [fn(&mut Daemon); 2] =
        [|daemon| daemon.signal(Signal::KILL), |daemon| daemon.signal(Signal::TERM)];
    for end in ends {
        let home = home();
        let mut daemon = home.start();
        let mut child = run(&home);
        let mut input = child.stdin.take().unwrap();
        input.write_all(&typed(LINES)).unwrap();
        // Also the end of input waits there.
        drop(input);
        for _ in 0..3 {
            end(&mut daemon);
            daemon.wait_for_end();
            daemon = home.start();
        }
        lets_it_read(&home);
        ends_well(&mut child);
        assert_arrived(&home, LINES);
    }
}

#[test]
fn a_paste_into_an_attached_session_survives_the_daemon() {
    const LINES: u64 = 6_000;
    let home = home();
    let mut daemon = home.start();
    create(&mut home.connect(), "reader", &reader(&home));
    wait_for_text(&mut home.connect(), "reader", "ready");
    let mut terminal = Terminal::start(&home, "80x24", &["attach", "reader"]);
    terminal.shows("ready");
    let all = typed(LINES);
    let (mut rest, mut kills) = (&all[..], 0);
    eventually("all of it is pasted", || {
        terminal.look();
        rest = &rest[terminal.press_some(rest)..];
        let pasted = all.len() - rest.len();
        if kills < 3 && pasted > all.len() * (kills + 1) / 4 {
            daemon.restart(&home);
            kills += 1;
        }
        rest.is_empty()
    });
    daemon.restart(&home);
    lets_it_read(&home);
    eventually("all of it arrives", || {
        terminal.look();
        fs::metadata(got(&home)).is_ok_and(|it| it.len() >= all.len() as u64)
    });
    terminal.press(b"\x04");
    terminal.end();
    assert_arrived(&home, LINES);
}

#[test]
fn what_was_typed_before_leaving_is_typed() {
    // More than a daemon has room for: some of it waits in front of the session.
    const LINES: u64 = 30_000;
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    create(&mut connection, "reader", &reader(&home));
    wait_for_text(&mut connection, "reader", "ready");
    let options = AttachOptions { counts: true, ..AttachOptions::default() };
    let mut stream = Stream::attach(&mut connection, "reader", options).unwrap();
    let all = typed(LINES);
    for piece in all.chunks(64 << 10) {
        stream.send_input(&mut connection, piece).unwrap();
    }
    lets_it_read(&home);
    stream.detach(&mut connection).unwrap();
    eventually("all of it arrives", || {
        fs::metadata(got(&home)).is_ok_and(|it| it.len() >= all.len() as u64)
    });
    assert_arrived(&home, LINES);
}
