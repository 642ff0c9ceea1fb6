//! Processes that are stopped and go on later: the daemon under an attached person (K5), and a
//! holder under a daemon that comes.

use std::fs;
use std::time::{Duration, Instant};

use greenroom_client::{AttachOptions, Event, Lag, Stream};
use greenroom_testkit::{
    LINE, Lines, Signal, count, create, eventually, eventually_ok, eventually_some, next_event,
    process, session_list,
};
use serde_json::json;

use crate::support::{ANSWERS, assert_answers, call, enter, home, pid, screen, wait_for_text};
use crate::terminal::Terminal;

/// How soon a person is told after a key, on a machine with much else to do: it is two seconds.
const TOLD_WITHIN: Duration = Duration::from_secs(6);

/// Prints numbered lines all the time until there is a file `enough`; what is typed goes to a file
/// `typed`, so that nothing else is printed.
const PRINTS: &str = "stty -echo -onlcr; printf '\\033]2;my title\\007ready\\n'; read go; \
    (i=0; while [ ! -e enough ]; do seq -f 'LINE' $((i*10+1)) $(((i+1)*10)); i=$((i+1)); \
    sleep 0.02; done; echo $((i*10)) > lines) & \
    while read line; do echo $line >> typed; done";

fn wait_until_stopped(pid: u32) {
    eventually("the process is stopped", || process::state(pid) == Some('T'));
}

/// Waits until the title is one that will do.
#[track_caller]
fn titled(terminal: &mut Terminal, what: &str, will_do: impl Fn(&str) -> bool) {
    eventually_ok(what, || {
        terminal.look();
        let title = terminal.screen.title();
        if will_do(title) { Ok(()) } else { Err(format!("(it is `{title}`)")) }
    });
}

#[test]
fn a_person_is_told_of_a_stopped_daemon_and_loses_nothing() {
    let home = home();
    let daemon = home.start();
    let mut connection = home.connect();
    let script = PRINTS.replace("LINE", LINE);
    let params = json!({"name": "prints", "argv": ["sh", "-c", script], "cwd": home.path(),
        "cols": 80, "rows": 24});
    call(&mut connection, "session.create", params);
    wait_for_text(&mut connection, "prints", "ready");
    let mut viewer = home.connect();
    let options = AttachOptions { lag: Lag::Block, ..AttachOptions::default() };
    let mut stream = Stream::attach(&mut viewer, "prints", options).unwrap();
    let mut terminal = Terminal::start(&home, "80x24", &["attach", "prints"]);
    terminal.shows("ready");
    terminal.press(b"\r");
    terminal.shows("line 0000");
    titled(&mut terminal, "the session's title is shown", |it| it == "my title");

    daemon.signal(Signal::STOP);
    wait_until_stopped(daemon.pid());
    let typed = Instant::now();
    terminal.press(b"once\r");
    let waiting = |it: &str| it.contains("waiting for the daemon");
    titled(&mut terminal, "the title says that the daemon does not answer", waiting);
    assert!(typed.elapsed() < TOLD_WITHIN, "told after {:?}", typed.elapsed());
    let stop = Duration::from_secs(count(0, 30) as u64);
    eventually("the time of the stop is over", || typed.elapsed() >= stop);

    daemon.signal(Signal::CONT);
    titled(&mut terminal, "the notice is gone", |it| it == "my title");
    fs::write(home.path().join("enough"), "").unwrap();
    let total = eventually_some("the program says how much it printed", || {
        fs::read_to_string(home.path().join("lines")).ok()?.trim().parse().ok()
    });
    let mut lines = Lines::default();
    while lines.count() < total {
        let event = next_event(&mut viewer, "all lines").expect("the connection stays");
        stream.note(&event);
        match event {
            Event::Output { bytes, .. } => lines.feed(&bytes),
            Event::Redraw { .. } if lines.count() > 0 => panic!("a viewer was redrawn"),
            _ => {}
        }
    }
    eventually_ok("the terminal shows what the session has", || {
        terminal.look();
        let (shown, there) = (terminal.screen.text(), screen(&mut connection, "prints"));
        if shown == there { Ok(()) } else { Err(format!("{shown}\nbut:\n{there}")) }
    });
    terminal.press(b"twice\r");
    eventually_ok("each line was typed once", || {
        let typed = fs::read_to_string(home.path().join("typed")).unwrap_or_default();
        if typed == "once\ntwice\n" { Ok(()) } else { Err(typed) }
    });
}

#[test]
fn requests_to_a_stopped_daemon_are_answered_once_when_it_goes_on() {
    let home = home();
    let daemon = home.start();
    let mut connection = home.connect();
    create(&mut connection, "answers", ANSWERS);
    assert_answers(&mut connection, "answers", 0);
    daemon.signal(Signal::STOP);
    wait_until_stopped(daemon.pid());
    let mut wanted = Vec::new();
    for number in 1..=20 {
        let text = format!("question-{number}\n");
        let params = json!({"sessionId": "answers", "text": text});
        wanted.push(connection.start("session.send", &params).unwrap());
        connection.flush().unwrap();
    }
    daemon.signal(Signal::CONT);
    let mut answered = Vec::new();
    while answered.len() < wanted.len() {
        let event = next_event(&mut connection, "all answers").expect("the connection stays");
        if let Event::Answer { id, result } = event {
            result.unwrap();
            answered.push(id);
        }
    }
    assert_eq!(answered, wanted);
    wait_for_text(&mut connection, "answers", "answer-to-20");
    let text = screen(&mut connection, "answers");
    for number in 1..=20 {
        let line = format!("answer-to-{number}");
        assert_eq!(text.lines().filter(|it| *it == line).count(), 1, "{line} in:\n{text}");
    }
}

#[test]
fn a_stopped_holder_is_named_by_the_doctor_and_found_again() {
    let home = home();
    let mut daemon = home.start();
    let session = create(&mut home.connect(), "stopped", ANSWERS);
    create(&mut home.connect(), "other", ANSWERS);
    assert_answers(&mut home.connect(), "stopped", 0);
    let holder = pid(&session, "holderPid");
    process::kill(holder, Signal::STOP);
    wait_until_stopped(holder);
    daemon.restart(&home);
    let mut connection = home.connect();
    let names = |list: Vec<greenroom_client::Session>| -> Vec<String> {
        list.into_iter().map(|it| it.name).collect()
    };
    assert_eq!(names(session_list(&mut connection, true)), ["other"]);
    assert_answers(&mut connection, "other", 1);

    let status = call(&mut connection, "daemon.status", json!({}));
    let refused = status["refused"].as_array().unwrap();
    assert_eq!(refused.len(), 1, "{status}");
    assert_eq!(
        (&refused[0]["number"], &refused[0]["holderPid"]),
        (&session["number"], &holder.into())
    );
    let doctor = home.command(["doctor"]).output().unwrap();
    let said = String::from_utf8(doctor.stdout).unwrap();
    assert_eq!(doctor.status.code(), Some(1), "{said}");
    let number = &session["number"];
    assert!(said.contains(&format!("bad  session {number}: not listed")), "{said}");
    assert!(said.contains(&format!("kill -CONT {holder}")), "{said}");
    let shown = home.command(["daemon", "status"]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("a session is out of reach"), "{shown}");

    // What the doctor said helps, and the next list has it.
    process::kill(holder, Signal::CONT);
    eventually("it is listed again", || session_list(&mut connection, false).len() == 2);
    assert_answers(&mut connection, "stopped", 2);
    let status = call(&mut connection, "daemon.status", json!({}));
    assert_eq!(status["refused"], json!([]));
    assert!(home.command(["doctor"]).output().unwrap().status.success());
}

#[test]
fn what_is_typed_after_a_resize_finds_the_new_size_whatever_the_holder_does() {
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    let script = "echo ready; while read line; do stty size >> sizes; done";
    let session = create(&mut connection, "sized", script);
    wait_for_text(&mut connection, "sized", "ready");
    let holder = pid(&session, "holderPid");
    process::kill(holder, Signal::STOP);
    wait_until_stopped(holder);
    for cols in [100, 90] {
        let size = json!({"sessionId": "sized", "cols": cols, "rows": 30});
        call(&mut connection, "session.resize", size);
        enter(&mut connection, "sized");
        let line = format!("30 {cols}\n");
        let sizes = home.path().join("sizes");
        eventually("the program has looked", || {
            fs::read_to_string(&sizes).is_ok_and(|it| it.ends_with('\n') && it.contains(&line))
        });
    }
    // It hears of both, and does not set the first again.
    process::kill(holder, Signal::CONT);
    enter(&mut connection, "sized");
    eventually("the program has looked again", || {
        let sizes = fs::read_to_string(home.path().join("sizes")).unwrap();
        assert!(sizes.starts_with("30 100\n30 90\n") && !sizes.contains("24 80"), "{sizes}");
        sizes.ends_with("30 90\n30 90\n")
    });
}

#[test]
fn a_stopped_holder_that_is_killed_is_a_session_lost() {
    let home = home();
    let mut daemon = home.start();
    let session = create(&mut home.connect(), "stopped", "read line");
    let holder = pid(&session, "holderPid");
    process::kill(holder, Signal::STOP);
    wait_until_stopped(holder);
    // Not killed: the store is to know of the session by then.
    daemon.signal(Signal::TERM);
    daemon.wait_for_end();
    daemon.restart(&home);
    let mut connection = home.connect();
    assert!(session_list(&mut connection, true).is_empty());
    process::kill(holder, Signal::KILL);
    eventually("the list says that it was lost", || {
        session_list(&mut connection, true).iter().any(|it| it.name == "stopped")
    });
    let info = call(&mut connection, "session.info", json!({"sessionId": "stopped"}));
    assert_eq!(info["state"], "lost");
    assert!(home.holder_sockets().is_empty());
}
