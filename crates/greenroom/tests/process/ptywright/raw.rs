//! Raw transcripts: every byte, in a file for its owner alone, also over the death of the daemon.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use greenroom_testkit::{Framing, Home, LINE, Lines, Rpc, count, eventually, eventually_ok};
use serde_json::json;

use super::{create, home, private, type_in, wait_for, wait_for_end};

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

/// A script that is piped in: the server ends as soon as it has answered.
#[test]
fn a_raw_transcript_is_whole_when_its_private_server_has_ended() {
    let home = home();
    for round in 0..4 {
        let (mut server, mut rpc) = private(&home);
        let path = home.path().join(format!("raw{round}"));
        let lines = 300_000;
        let session = record(&mut rpc, &format!("seq -f '{LINE}' 1 {lines}"), &path, false);
        let matcher = json!({"type": "process_exited"});
        let ends = json!({"session": session, "matcher": matcher, "evidence": false});
        rpc.begin("session.wait", &ends);
        rpc.finish();
        assert!(server.wait_for_end().success());
        assert_eq!(fs::metadata(&path).unwrap().len(), 51 * lines);
    }
}
