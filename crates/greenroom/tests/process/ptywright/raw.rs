//! Raw transcripts: every byte, in a file for its owner alone, also over the death of the daemon.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use greenroom_testkit::{
    Daemon, Framing, Home, LINE, Lines, Rpc, Signal, count, eventually, eventually_ok,
};
use serde_json::json;

use super::{create, home, private, type_in, wait_for, wait_for_end};
use crate::strace::Tampered;

fn record(rpc: &mut Rpc, script: &str, path: &Path, append: bool) -> String {
    let made = rpc.call(
        "session.create",
        &json!({"program": "sh", "args": ["-c", script], "raw_transcript_path": path,
            "raw_transcript_append": append}),
    );
    made["session"].as_str().unwrap().to_owned()
}

#[track_caller]
fn is_whole(path: &Path, expected: &[u8]) {
    eventually_ok("the raw transcript is whole", || match fs::read(path).unwrap() {
        bytes if bytes == expected => Ok(()),
        bytes => Err(String::from_utf8_lossy(&bytes).chars().take(200).collect::<String>()),
    });
}

#[test]
fn a_raw_transcript_is_what_was_printed_for_its_owner_alone() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let path = home.path().join("raw");
    // Escape sequences, secrets and bytes that are no text, as they are.
    let script = "stty -opost; printf '\\033[1mtoken=hunter2hunter2\\377\\000\\n'";
    let session = record(&mut rpc, script, &path, false);
    wait_for_end(&mut rpc, &session);
    let printed: &[u8] = b"\x1b[1mtoken=hunter2hunter2\xff\0\n";
    is_whole(&path, printed);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);

    // A file that is there is not overwritten; it is appended to if that is wanted, as it is.
    let again = json!({"program": "true", "raw_transcript_path": path});
    assert_eq!(rpc.refused("session.create", &again)["code"], -32603);
    is_whole(&path, printed);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let session = record(&mut rpc, "stty -opost; echo more", &path, true);
    wait_for_end(&mut rpc, &session);
    is_whole(&path, &[printed, b"more\n"].concat());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn several_sessions_write_one_file_without_a_byte_lost() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let path = home.path().join("raw");
    let script = |word: &str| format!("stty -opost -echo; echo {word}1; read go; echo {word}2");
    let first = record(&mut rpc, &script("a"), &path, false);
    wait_for(&mut rpc, &first, "a1");
    let second = record(&mut rpc, &script("b"), &path, true);
    wait_for(&mut rpc, &second, "b1");
    is_whole(&path, b"a1\nb1\n");
    for session in [&first, &second] {
        type_in(&mut rpc, session, "go\n");
        wait_for_end(&mut rpc, session);
    }
    is_whole(&path, b"a1\nb1\na2\nb2\n");
}

#[test]
fn a_session_that_cannot_begin_leaves_no_file() {
    let home = home();
    let (_server, mut rpc) = private(&home);
    let path = home.path().join("raw");
    let wrong = json!({"program": "/no/such/program", "raw_transcript_path": path});
    rpc.refused("session.create", &wrong);
    assert!(!path.exists());
    // What was there before stays.
    fs::write(&path, "before").unwrap();
    let wrong = json!({"program": "/no/such/program", "raw_transcript_path": path,
        "raw_transcript_append": true});
    rpc.refused("session.create", &wrong);
    assert_eq!(fs::read(&path).unwrap(), b"before");
}

#[test]
fn nothing_is_lost_of_much_that_is_printed() {
    let home = home();
    let _daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    let path = home.path().join("raw");
    let lines = count(50_000, 2_000_000);
    let session = record(&mut rpc, &format!("seq -f '{LINE}' 1 {lines}"), &path, false);
    wait_for_end(&mut rpc, &session);
    eventually("all of it is in the file", || {
        fs::metadata(&path).unwrap().len() == 51 * lines as u64
    });
    let mut whole = Lines::default();
    whole.feed(&fs::read(&path).unwrap());
    assert_eq!(whole.count(), lines as u64);
}

/// What the daemon's death in the middle leaves is gone on with by the next daemon.
fn survives(home: &Home, ends_meanwhile: bool) {
    let mut daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    let path = home.path().join("raw");
    fs::write(&path, "before\n").unwrap();
    let go = home.path().join("go");
    let until = format!("while ! [ -e {} ]; do sleep 0.01; done", go.display());
    let script = format!(
        "stty -echo -opost; seq 1 2000; echo half; {until}; seq 2001 4000; \
        echo done; {}",
        if ends_meanwhile { "" } else { "read x" }
    );
    let session = record(&mut rpc, &script, &path, true);
    wait_for(&mut rpc, &session, "half");
    drop(rpc);
    if ends_meanwhile {
        // The program prints the rest, and ends, while there is no daemon.
        daemon.signal(greenroom_testkit::Signal::KILL);
        daemon.wait_for_end();
        fs::write(&go, "").unwrap();
        eventually("the program has ended", || !runs(home, "seq") && !runs(home, "sleep"));
        daemon = home.start();
    } else {
        daemon.restart(home);
        fs::write(&go, "").unwrap();
    }
    let numbers = |range: std::ops::RangeInclusive<u32>| -> String {
        range.map(|number| format!("{number}\n")).collect()
    };
    let expected = format!("before\n{}half\n{}done\n", numbers(1..=2000), numbers(2001..=4000));
    is_whole(&path, expected.as_bytes());
    drop(daemon);
}

/// Whether a program of that name runs in a home.
fn runs(home: &Home, name: &str) -> bool {
    home.processes().iter().any(|pid| {
        fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|it| it.trim() == name)
    })
}

#[test]
fn a_raw_transcript_goes_on_when_the_daemon_is_killed() {
    survives(&home(), false);
}

#[test]
fn a_raw_transcript_is_whole_though_the_program_ended_while_there_was_no_daemon() {
    survives(&home(), true);
}

#[test]
fn a_path_that_nobody_reads_holds_up_nobody() {
    let home = home();
    let _daemon = home.start();
    let pipe = home.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut rpc = home.ptywright(Framing::Lines);
    create(&mut rpc, "exec cat");
    let mut other = home.ptywright(Framing::Lines);
    let begun = rpc.begin(
        "session.create",
        &json!({"program": "true", "raw_transcript_path": pipe, "raw_transcript_append": true}),
    );
    // The daemon may refuse a pipe, or wait for its reader beside everything else.
    assert_eq!(other.call("session.list", &json!({}))["sessions"][0], "s1");
    type_in(&mut other, "s1", "x");
    drop(begun);
}

/// A session that prints its last line as soon as Enter is pressed, into a file on a slow disk.
struct Slow {
    session: String,
    path: PathBuf,
    _disk: Tampered,
}

impl Slow {
    fn new(home: &Home, rpc: &mut Rpc, server: u32, then: &str) -> Slow {
        let path = home.path().join("raw");
        let script = format!("stty -echo -opost; echo first; read x; echo last; {then}");
        let session = record(rpc, &script, &path, false);
        is_whole(&path, b"first\n");
        let disk = Tampered::slow_disk(home, server, &path);
        Slow { session, path, _disk: disk }
    }

    /// Has it print its last line; that it did is known before it is in the file.
    fn print(&self, rpc: &mut Rpc) {
        type_in(rpc, &self.session, "\n");
        wait_for(rpc, &self.session, "last");
        assert_eq!(self.written(), "first\n", "the disk is not slow enough for this test");
    }

    fn written(&self) -> String {
        fs::read_to_string(&self.path).unwrap()
    }
}

/// A script that is piped in: the server ends as soon as it has answered.
#[test]
fn a_raw_transcript_is_whole_when_its_private_server_has_ended() {
    let home = home();
    let (mut server, mut rpc) = private(&home);
    let slow = Slow::new(&home, &mut rpc, server.pid(), "read x");
    slow.print(&mut rpc);
    rpc.finish();
    assert!(server.wait_for_end().success());
    assert_eq!(slow.written(), "first\nlast\n");
}

#[test]
fn a_raw_transcript_is_whole_when_a_signal_has_ended_its_server() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let home = home();
        let (mut server, mut rpc) = private(&home);
        let slow = Slow::new(&home, &mut rpc, server.pid(), "read x");
        slow.print(&mut rpc);
        server.signal(signal);
        assert_eq!(server.wait_for_end().code(), Some(128 + signal.as_raw()));
        assert_eq!(slow.written(), "first\nlast\n");
    }
}

#[test]
fn a_raw_transcript_is_whole_when_its_server_at_a_socket_has_ended() {
    let home = home();
    let path = home.path().join("own.sock");
    let mut command = home.command(["serve", "--socket", path.to_str().unwrap()]);
    command.env("TMPDIR", home.path());
    let mut server = Daemon::begin(&home, command);
    let mut rpc = eventually_ok("it listens", || Rpc::connect(&path, Framing::Lines));
    let slow = Slow::new(&home, &mut rpc, server.pid(), "read x");
    slow.print(&mut rpc);
    server.signal(Signal::TERM);
    assert_eq!(server.wait_for_end().code(), Some(143), "{}", server.said());
    assert_eq!(slow.written(), "first\nlast\n");
}

/// Hears that a session has ended.
type Heard = fn(&mut Rpc, &str);

/// Whoever hears that a session has ended, in whatever way, may read its file.
#[test]
fn a_raw_transcript_is_whole_when_the_end_of_its_session_is_told() {
    let ends: &[(&str, Heard)] = &[
        ("a wait for it", |rpc, session| assert_eq!(wait_for_end(rpc, session)["exit_code"], 3)),
        ("a wait in vain", |rpc, session| {
            let matcher = json!({"type": "contains_text", "value": "never"});
            let refused =
                rpc.refused("session.wait", &json!({"session": session, "matcher": matcher}));
            assert_eq!(refused["code"], -32002);
        }),
        ("a notification", |rpc, _| {
            rpc.note("its end", |note| note["method"] == "session.exited");
        }),
    ];
    for (how, heard) in ends {
        let home = home();
        let (server, mut rpc) = private(&home);
        rpc.call("server.set_notifications", &json!({"enabled": true}));
        let slow = Slow::new(&home, &mut rpc, server.pid(), "exit 3");
        type_in(&mut rpc, &slow.session, "\n");
        heard(&mut rpc, &slow.session);
        assert_eq!(slow.written(), "first\nlast\n", "{how}");
    }
}

#[test]
fn a_raw_transcript_is_whole_when_its_session_was_killed() {
    for kill in ["session.kill", "session.close"] {
        let home = home();
        let (server, mut rpc) = private(&home);
        let slow = Slow::new(&home, &mut rpc, server.pid(), "read x");
        slow.print(&mut rpc);
        rpc.call(kill, &json!({"session": slow.session}));
        assert_eq!(slow.written(), "first\nlast\n", "{kill}");
    }
}

#[test]
fn who_listens_and_who_ends_a_session_hear_that_the_disk_was_full() {
    let home = home();
    let mut daemon = home.start();
    let path = home.path().join("raw");
    let mut rpc = home.ptywright(Framing::Lines);
    rpc.call("server.set_notifications", &json!({"enabled": true}));
    let script = "stty -echo -opost; echo first; read x; echo second; read x; echo third; read x";
    let session = record(&mut rpc, script, &path, false);
    is_whole(&path, b"first\n");
    let disk = Tampered::full_disk(&home, daemon.pid(), &path);
    type_in(&mut rpc, &session, "\n");
    let is_flaw = |note: &serde_json::Value| note["method"] == "session.raw_transcript_error";
    let note = rpc.note("the disk is full", is_flaw);
    let flaw = json!({"session": session, "written": 6, "missing": 0, "stopped": true,
        "error": "io error: No space left on device (os error 28)"});
    assert_eq!(note["params"], flaw);
    assert!(disk.detach());
    wait_for(&mut rpc, &session, "second");

    // There is room again, but the file would have a hole; also the next daemon knows.
    daemon.restart(&home);
    let mut rpc = home.ptywright(Framing::Lines);
    rpc.call("server.set_notifications", &json!({"enabled": true}));
    assert_eq!(rpc.note("the disk was full", is_flaw)["params"], flaw);
    type_in(&mut rpc, &session, "\n");
    wait_for(&mut rpc, &session, "third");
    type_in(&mut rpc, &session, "\n");
    let exited = json!({"session": session, "matcher": {"type": "process_exited"}});
    let exited = rpc.call("session.wait", &exited);
    assert_eq!(exited["raw_transcript_error"], flaw["error"]);
    let closed = rpc.call("session.close", &json!({"session": session}));
    assert_eq!(closed, json!({"closed": true, "raw_transcript_error": flaw["error"]}));
    let exited = rpc.note("its end", |note| note["method"] == "session.exited");
    assert_eq!(exited["params"]["raw_transcript_error"], flaw["error"]);
    assert_eq!(fs::read(&path).unwrap(), b"first\n");

    // Who comes after it was closed hears nothing of it.
    let mut late = home.ptywright(Framing::Lines);
    late.call("server.set_notifications", &json!({"enabled": true}));
    record(&mut late, "echo other", &home.path().join("other"), false);
    let note = late.note("of another", |note| note["method"] != "session.changed");
    assert_ne!(note["params"]["session"], session, "{note}");
}
