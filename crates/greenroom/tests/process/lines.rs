//! Lines to another machine that break, and those who are attached over them.

use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use greenroom_testkit::{LINE, Lines, Signal, create, eventually, eventually_ok, process};
use serde_json::json;

use crate::sshd::{Machines, parsed};
use crate::support::{screen, wait_for_text};
use crate::terminal::Terminal;

/// The key that detaches: ctrl+\.
const DETACH: &[u8] = b"\x1c";

/// How a title begins that is shown while the line is down, and how it ends.
const TITLE: &[u8] = b"\x1b]2;";
const TITLE_END: &[u8] = b"\x1b\\";

/// Takes what the session printed: all that was written but titles, of which it sets none. What may be
/// the beginning of one stays.
fn take_session(written: &mut Vec<u8>) -> Vec<u8> {
    let mut taken = Vec::new();
    while let Some(at) = written.iter().position(|it| *it == 0x1b) {
        taken.extend(written.drain(..at));
        let Some(end) = written.windows(2).skip(1).position(|it| it == TITLE_END) else {
            return taken;
        };
        assert!(written.starts_with(TITLE), "{:?}", String::from_utf8_lossy(written));
        written.drain(..end + 1 + TITLE_END.len());
    }
    taken.append(written);
    taken
}

#[test]
fn an_attached_terminal_survives_every_death_without_losing_or_repeating_a_byte() {
    let machines = Machines::start();
    let (pieces, piece) = (25, 100);
    let script = format!(
        "stty -echo -onlcr; echo ready; i=0; while read go; do j=0; while [ $j -lt {pieces} ]; do \
         seq -f '{LINE}' $((i+1)) $((i+{piece})); i=$((i+{piece})); j=$((j+1)); sleep 0.02; done; done"
    );
    let daemon = machines.there.start();
    create(&mut machines.there.connect(), "printer", &script);
    wait_for_text(&mut machines.there.connect(), "printer", "ready");
    let mut terminal =
        Terminal::start(&machines.here, "80x24", &["--host", "box", "attach", "printer"]);
    terminal.shows("ready");
    terminal.written.clear();
    let mut lines = Lines::default();
    // What the program prints in one go: in the midst of it something is killed.
    let mut batch = |number: u64, kill: &dyn Fn()| {
        terminal.press(b"\r");
        let (begin, end) = ((number * pieces + 3) * piece, (number + 1) * pieces * piece);
        let mut killed = false;
        eventually_ok("all lines came", || {
            terminal.look();
            lines.feed(&take_session(&mut terminal.written));
            if !killed && lines.count() > begin {
                kill();
                killed = true;
            }
            let count = lines.count();
            if count == end { Ok(()) } else { Err(format!("({count} of {end})")) }
        });
        assert!(killed, "it was killed in the midst");
    };
    let kill_line = || {
        let lines = machines.lines();
        assert!(!lines.is_empty());
        lines.into_iter().for_each(|it| assert!(process::kill(it, Signal::KILL)));
    };
    batch(0, &kill_line);
    batch(1, &|| machines.cut());
    batch(2, &|| daemon.signal(Signal::KILL));
    batch(3, &|| {
        kill_line();
        machines.cut();
    });
    batch(4, &|| {
        kill_line();
        let pid = machines.there.connect().hello().pid.unwrap();
        process::kill(pid, Signal::KILL);
    });
    assert_eq!(lines.begun().len(), 0);
    let session = screen(&mut machines.there.connect(), "printer");
    assert_eq!(terminal.screen.text(), session, "the terminal shows what the session has");
    terminal.press(DETACH);
    assert_eq!(terminal.end(), 0);
    let text = terminal.screen.text();
    assert!(text.contains("greenroom --host box attach printer"), "{text}");
}

#[test]
fn a_program_in_a_pipe_loses_nothing_with_the_line() {
    let machines = Machines::start();
    let script = format!(
        "stty -onlcr; for i in 0 1 2 3 4 5 6 7 8 9; do \
         seq -f '{LINE}' $((i*500+1)) $((i*500+500)); sleep 0.1; done; exit 9"
    );
    let words = ["--host", "box", "run", "--", "sh", "-c", &script];
    let mut child = machines.here.command(words).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (mut lines, mut killed, mut buffer) = (Lines::default(), false, [0; 4096]);
    loop {
        let count = stdout.read(&mut buffer).unwrap();
        if count == 0 {
            break;
        }
        lines.feed(&buffer[..count]);
        if !killed && lines.count() > 700 {
            machines.lines().into_iter().for_each(|it| assert!(process::kill(it, Signal::KILL)));
            killed = true;
        }
    }
    assert_eq!((lines.count(), lines.begun().len(), killed), (5000, 0, true));
    assert_eq!(child.wait().unwrap().code(), Some(9));
}

#[test]
fn one_can_leave_while_the_machine_is_gone_and_type_ahead_until_it_is_back() {
    let mut machines = Machines::start();
    machines
        .check("--host box new -d -n talks -- sh -c read${IFS}a;echo${IFS}got-$a;read${IFS}b", 0);
    let attach = ["--host", "box", "attach", "talks"];
    let mut leaves = Terminal::start(&machines.here, "80x24", &attach);
    let mut stays = Terminal::start(&machines.here, "80x24", &attach);
    eventually("both are attached", || {
        let info = machines.there.connect().call("session.info", &json!({"sessionId": "talks"}));
        info.unwrap()["attachedClients"] == 2
    });
    machines.unplug();
    eventually("the line is noticed to be gone", || machines.lines().is_empty());
    leaves.press(DETACH);
    assert_eq!(leaves.end(), 0);
    eventually_ok("the person who stays is told", || {
        stays.look();
        match stays.screen.title() {
            "greenroom: waiting for box (talks)" => Ok(()),
            other => Err(format!("but `{other}`:\n{}", stays.screen.text())),
        }
    });
    stays.press(b"typed\r");
    machines.plug_in();
    stays.shows("got-typed");
    stays.press(DETACH);
    assert_eq!(stays.end(), 0);
    machines.check("host close", 0);
    eventually("nothing is left behind", || machines.here.processes().is_empty());
}

#[test]
fn one_can_leave_while_a_line_is_being_made() {
    let machines = Machines::start();
    machines.check("--host box new -d -n stays -- sleep 1000", 0);
    let mut terminal =
        Terminal::start(&machines.here, "80x24", &["--host", "box", "attach", "stays"]);
    eventually("it is attached", || {
        let info = machines.there.connect().call("session.info", &json!({"sessionId": "stays"}));
        info.unwrap()["attachedClients"] == 1
    });
    machines.freeze();
    eventually("a new line is tried", || {
        let told = |pid: &u32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let tried = |pid| told(pid).windows(9).any(|it| it == b"'daemon' ");
        machines.here.processes().iter().any(tried)
    });
    terminal.press(DETACH);
    assert_eq!(terminal.end(), 0);
    eventually("its `ssh` is gone, too", || machines.here.processes().is_empty());
}

#[test]
fn many_at_once_share_what_they_can_and_all_succeed() {
    let machines = Machines::start();
    let start = |name: String| {
        let words = ["--host", "box", "new", "-d", "-n", &name, "--", "sleep", "1000"];
        machines.here.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let started: Vec<_> = (0..6).map(|number| start(format!("n{number}"))).collect();
    for child in started {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let list = parsed(&machines.check("--host box ls --json", 0));
    assert_eq!(list.as_array().unwrap().len(), 6);
    machines.check("host close", 0);
    eventually("nothing is left behind", || machines.here.processes().is_empty());
}

#[test]
fn who_is_killed_while_attached_leaves_nothing_but_the_line() {
    let machines = Machines::start();
    machines.check("--host box new -d -n stays -- sleep 1000", 0);
    let attached = |count: u64| {
        let info = machines.there.connect().call("session.info", &json!({"sessionId": "stays"}));
        info.unwrap()["attachedClients"] == count
    };
    let terminal = Terminal::start(&machines.here, "80x24", &["--host", "box", "attach", "stays"]);
    eventually("it is attached", || attached(1));
    drop(terminal);
    eventually("it is detached", || attached(0));
    assert_eq!(machines.here.processes(), machines.lines());
}

#[test]
fn commands_survive_lines_and_daemons_that_died() {
    let machines = Machines::start();
    machines.check("--host box new -d -n one -- sleep 1000", 0);
    let kill_daemon = || {
        let pid = machines.there.connect().hello().pid.unwrap();
        process::kill(pid, Signal::KILL);
        eventually("the daemon is gone", || !process::lives(pid));
    };
    kill_daemon();
    assert!(machines.check("--host box ls", 0).contains("one"));
    machines.lines().into_iter().for_each(|it| assert!(process::kill(it, Signal::KILL)));
    assert!(machines.check("--host box ls", 0).contains("one"));
    machines.lines().into_iter().for_each(|it| assert!(process::kill(it, Signal::KILL)));
    kill_daemon();
    assert!(machines.check("--host box ls", 0).contains("one"));
    // A line that takes connections and gives nothing back is closed and made anew.
    let stopped = machines.lines();
    stopped.iter().for_each(|it| assert!(process::kill(*it, Signal::STOP)));
    assert!(machines.check("--host box ls", 0).contains("one"));
    stopped.iter().for_each(|it| assert!(process::kill(*it, Signal::KILL)));
}
