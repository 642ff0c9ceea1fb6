//! The daemon is killed or stopped: nothing is lost, nothing comes twice (K1, K5).

use std::fs;
use std::io::Read as _;
use std::os::unix::net::UnixListener;
use std::process::Stdio;
use std::time::{Duration, Instant};

use greenroom_client::{AttachOptions, Connection, Ended, Event, Stream};
use greenroom_model::{ExitStatus, Offset, Size};
use greenroom_screen::{Options, Screen};
use greenroom_testkit::{Daemon, LINE, Signal, count, create, eventually_some, line, next_event};
use serde_json::{Value, json};

use crate::reader::Reader;
use crate::support::{call, enter, home, screen, wait_for_end, wait_for_text};

/// How long a client may wait for its stream from the next daemon. A build that is not optimised
/// draws a screen about ten times slower.
const TAKEOVER: Duration = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 });

/// A program that prints numbered lines once Enter is pressed, and fails if it saw any harm.
fn printer(lines: u64) -> String {
    format!(
        "trap 'echo HUP; exit 9' HUP; stty -echo -onlcr; printf 'ready\\n'; read go; \
         seq -f '{LINE}' 1 {lines} || exit 8; printf done"
    )
}

/// As [`printer`], but it ends only after another Enter.
fn patient_printer(lines: u64) -> String {
    format!("{}; read end", printer(lines))
}

/// What the screen of the printer must be at its end.
fn reference(lines: u64) -> Screen {
    let mut screen = Screen::new(Size::DEFAULT, Options::default());
    screen.feed(b"ready\n");
    // Line ends come as they were printed: the printer turned the translation off.
    for number in 1..=lines {
        screen.feed(format!("{}\n", line(number)).as_bytes());
    }
    screen.feed(b"done");
    screen
}

fn read_all(connection: &mut Connection, session: &str) -> Value {
    call(connection, "session.read", json!({"sessionId": session, "what": "all"}))
}

#[test]
fn a_stream_is_whole_however_often_the_daemon_is_killed() {
    let megabytes = count(25, 100) as u64;
    let kills = count(25, 200) as u64;
    let total = megabytes * 1_000_000 / (line(1).len() as u64 + 1);
    let home = home();
    let mut daemon = home.start();
    create(&mut home.connect(), "printer", &patient_printer(total));
    wait_for_text(&mut home.connect(), "printer", "ready");
    let mut reader = Reader::attach(&home, "printer");
    enter(&mut reader.connection, "printer");
    let mut killed = 0;
    while !reader.is_done {
        // Spread over the stream; every third one dies before it has sent a byte.
        if killed < kills && reader.lines.count() >= total * killed / (kills + 1) {
            daemon.restart(&home);
            killed += 1;
            if killed % 3 == 0 && killed < kills {
                daemon.restart(&home);
                killed += 1;
            }
        }
        if !reader.take() {
            reader.reconnect();
        }
    }
    enter(&mut reader.connection, "printer");
    while reader.stream.ended().is_none() {
        assert!(reader.take());
    }
    assert_eq!(reader.stream.ended(), Some(&Ended::Program(ExitStatus::Code(0))));
    assert_eq!((reader.lines.count(), reader.is_done), (total, true));
    assert_eq!(killed, kills);
    assert_eq!(reader.redraws, 1, "a stream that goes on has no need of a redraw");
    println!("{killed} daemons were killed; the slowest reattach took {:?}", reader.slowest);
    assert!(reader.slowest <= TAKEOVER, "a reattach took {:?}", reader.slowest);

    let mut connection = home.connect();
    let reference = reference(total);
    let end = read_all(&mut connection, "printer");
    let rows = reference.first_row()..reference.top_row() + u64::from(Size::DEFAULT.rows());
    let expected = reference.text_of(rows, greenroom_screen::Wrap::Rows);
    assert_eq!(end["text"].as_str().unwrap(), expected.trim_end_matches('\n'));
    assert_eq!(end["offset"], reference.offset().0);
    assert_eq!(end["cursor"]["col"], reference.cursor().col);
    drop(daemon);
}

/// The program ends while the client is away, with so many lines that the client has not got.
fn the_end_reaches_the_client(total: u64) {
    let home = home();
    let mut daemon = home.start();
    create(&mut home.connect(), "printer", &printer(total));
    wait_for_text(&mut home.connect(), "printer", "ready");
    let mut reader = Reader::attach(&home, "printer");
    enter(&mut home.connect(), "printer");
    while reader.lines.count() == 0 {
        assert!(reader.take());
    }
    // The client notices nothing of this until later: what is on its way to it is still read.
    daemon.restart(&home);
    while reader.take() {}
    daemon.restart(&home);
    reader.reconnect();
    while reader.stream.ended().is_none() {
        assert!(reader.take());
    }
    assert_eq!((reader.lines.count(), reader.redraws), (total, 1));
    assert_eq!(reader.stream.ended(), Some(&Ended::Program(ExitStatus::Code(0))));
}

#[test]
fn the_end_reaches_a_client_that_was_cut_off() {
    the_end_reaches_the_client(10_000);
}

#[test]
fn much_output_and_the_end_reach_a_client_that_was_cut_off() {
    the_end_reaches_the_client(100_000);
}

/// Draws what a full-screen program draws: alternate screen, colours, a box, modes, a title.
const EDITOR: &str = r"stty -echo; printf '\033]7;file:///usr/share\007before\r\n'
printf '\033[?1049h\033[22;0t\033]2;a file - EDITOR\007\033[?1h\033=\033[?2004h\033[?1006h\033[?1002h'
printf '\033[2J\033[3;20r\033[1;1H\033[44;97m top bar \033[K\033[m\033[5;7H\033[38;2;9;8;7mcoloured\033[m'
printf '\033[10;3H\346\227\245\346\234\254 wide \033[4:3mcurly\033[m\033(0lqqk\033(B\033[24;1H-- INSERT --\033[12;34H\033[5 q'
printf '\033[?25l'; read line; printf '\033[?1049l'; printf 'back %s\r\n' $line; read line";

/// The bytes that bring a fresh terminal to the session's screen.
fn repaint(connection: &mut Connection, session: &str) -> (Offset, Vec<u8>) {
    let options = AttachOptions { size: Some(Size::DEFAULT), ..AttachOptions::default() };
    let stream = Stream::attach(connection, session, options).unwrap();
    let redraw = loop {
        if let Some(Event::Redraw { offset, bytes, .. }) = next_event(connection, "a redraw") {
            break (offset, bytes.to_vec());
        }
    };
    stream.detach(connection).unwrap();
    redraw
}

#[test]
fn an_alternate_screen_at_rest_is_repainted_exactly() {
    let home = home();
    let mut daemon = home.start();
    let mut connection = home.connect();
    create(&mut connection, "editor", EDITOR);
    let styled = json!({"sessionId": "editor", "styled": true});
    let idle = json!({"sessionId": "editor", "after": 0, "timeoutMs": 25_000,
        "for": {"all": [{"text": "-- INSERT --", "in": "screen"}, {"idle": 50}]}});
    call(&mut connection, "session.wait", idle);
    let before = call(&mut connection, "session.read", styled.clone());
    let info = call(&mut connection, "session.info", json!({"sessionId": "editor"}));
    let painted = repaint(&mut connection, "editor");
    assert_eq!((&before["alternate"], &before["title"]), (&true.into(), &"a file - EDITOR".into()));
    assert_eq!(info["cwd"], "/usr/share");

    for _ in 0..3 {
        daemon.restart(&home);
        let mut connection = home.connect();
        assert_eq!(call(&mut connection, "session.read", styled.clone()), before);
        let now = call(&mut connection, "session.info", json!({"sessionId": "editor"}));
        for field in ["title", "cwd", "cols", "rows", "pid", "name", "created", "alternate"] {
            assert_eq!(now[field], info[field], "{field}");
        }
        let repainted = repaint(&mut connection, "editor");
        assert_eq!(repainted.0, painted.0);
        assert_same_terminal(&repainted.1, &painted.1);
    }

    // What was beneath is there, too, and the program noticed nothing.
    let mut connection = home.connect();
    call(&mut connection, "session.send", json!({"sessionId": "editor", "text": "x\n"}));
    wait_for_text(&mut connection, "editor", "back x");
    assert!(screen(&mut connection, "editor").starts_with("before\nback x"));
    drop(daemon);
}

/// Two ways of painting bring a terminal to the same state, in everything it knows.
#[track_caller]
fn assert_same_terminal(left: &[u8], right: &[u8]) {
    let painted = |bytes: &[u8]| {
        let mut screen = Screen::new(Size::DEFAULT, Options::default());
        screen.feed(bytes);
        let rows = screen.first_row()..screen.top_row() + 24;
        (screen.styled(rows), screen.cursor(), screen.modes(), screen.title().to_owned())
    };
    assert_eq!(painted(left), painted(right));
}

#[test]
fn a_stopped_daemon_loses_nothing() {
    let total = 100_000;
    let home = home();
    let daemon: Daemon = home.start();
    create(&mut home.connect(), "printer", &printer(total));
    wait_for_text(&mut home.connect(), "printer", "ready");
    let mut reader = Reader::attach(&home, "printer");
    enter(&mut reader.connection, "printer");
    while reader.lines.count() < total / 3 {
        assert!(reader.take());
    }
    daemon.signal(Signal::STOP);
    let stopped = Instant::now();
    let pause = Duration::from_secs(count(2, 30) as u64);
    eventually_some("the pause is over", || (stopped.elapsed() >= pause).then_some(()));
    daemon.signal(Signal::CONT);
    while reader.stream.ended().is_none() {
        assert!(reader.take(), "the connection outlives the pause");
    }
    assert_eq!((reader.lines.count(), reader.redraws), (total, 1));
    let info = wait_for_end(&mut home.connect(), "printer");
    assert_eq!(info["code"], 0);
}

/// A daemon that is gone with a question in its hands is no reason not to answer it.
#[test]
fn what_only_reads_is_asked_again() {
    let home = home();
    let daemon = home.start();
    let mut connection = home.connect();
    create(&mut connection, "one", "echo said; read line");
    wait_for_text(&mut connection, "one", "said");
    daemon.kill();
    for line in ["ls", "read one", "search one said", "info one", "read"] {
        // In the place of the daemon, one that hears the question and ends.
        fs::remove_file(home.socket()).unwrap_or_default();
        let listener = UnixListener::bind(home.socket()).unwrap();
        let mut command = home.command(line.split(' '));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut heard, _) = listener.accept().unwrap();
        heard.read_exact(&mut [0]).unwrap();
        drop(listener);
        drop(heard);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("said"), "{line}: {output:?}");
        // The one that was started for the answer.
        let stopped = home.command(["daemon", "stop"]).output().unwrap();
        assert!(stopped.status.success(), "{stopped:?}");
    }
}
