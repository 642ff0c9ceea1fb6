//! Secrets: never in a notification, however slowly they are printed; never in any file (R5).

use std::collections::BTreeMap;
use std::fs;

use greenroom_testkit::{Framing, eventually};
use serde_json::json;

use super::{create, home, told_until, type_in, wait_for, wait_for_end};

/// Prints a text a byte at a time, with a pause behind each that is longer than text is held back.
fn slowly(text: &str) -> String {
    let bytes = text.bytes().map(|byte| format!("printf '\\{byte:03o}'; sleep 0.07; "));
    bytes.collect()
}

#[test]
fn a_token_that_is_printed_byte_by_byte_is_in_no_notification() {
    let home = home();
    let _daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    rpc.call("server.set_notifications", &json!({"enabled": true}));
    let secrets = [
        ("token=", "hunter2hunter2XYZ"),
        ("sk-", "abcdefghijklmnopqrstuv"),
        ("Authorization: Bearer ", "abcdefgh12345678"),
        ("", "AKIAIOSFODNN7EXAMPLE"),
    ];
    let sessions: Vec<String> = secrets
        .iter()
        .map(|(before, secret)| {
            create(&mut rpc, &format!("{} echo; echo over", slowly(&format!("{before}{secret}"))))
        })
        .collect();
    let mut told: BTreeMap<String, String> = BTreeMap::new();
    while told.values().filter(|it| it.ends_with("over\r\n")).count() < sessions.len() {
        let note = rpc.note("more output", |note| note["method"] == "session.output");
        let (session, output) = (&note["params"]["session"], &note["params"]["output"]);
        let told = told.entry(session.as_str().unwrap().to_owned()).or_default();
        told.push_str(output.as_str().unwrap());
    }
    for (session, (before, secret)) in sessions.iter().zip(secrets) {
        let told = &told[session];
        // A beginning shorter than this may be shown: nobody could tell what it would become.
        for piece in secret.as_bytes().windows(8) {
            let piece = str::from_utf8(piece).unwrap();
            assert!(!told.contains(piece), "{before}{secret}: {told:?}");
        }
    }
}

#[test]
fn a_token_that_is_printed_fast_is_in_no_notification_wherever_it_is_cut() {
    let home = home();
    let _daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    rpc.call("server.set_notifications", &json!({"enabled": true}));
    // Every write is one delta or a part of one; the shell writes each at once.
    let script = "i=0; while [ $i -lt 30 ]; do \
        printf 'password='; printf 'hunter2'; printf 'hunter2-%d\\n' $i; i=$((i+1)); done; echo over";
    let session = create(&mut rpc, script);
    let told = told_until(&mut rpc, &session, "over\r\n");
    assert!(!told.contains("hunter2"), "{told:?}");
    assert_eq!(told.matches("password=[REDACTED]").count(), 30, "{told:?}");
}

#[test]
fn the_rest_of_a_secret_whose_beginning_was_not_kept_is_in_no_notification() {
    let home = home();
    let _daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    let nothing = json!({"enabled": true, "sessions": ["s99"]});
    rpc.call("server.set_notifications", &nothing);
    let script = format!("printf 'token={} over'; read line", "a1b2c3d4".repeat(9));
    let shell = json!({"program": "sh", "args": ["-c", script], "transcript_max_chars": 30});
    let session = rpc.call("session.create", &shell)["session"].as_str().unwrap().to_owned();
    wait_for(&mut rpc, &session, "over");
    rpc.call("server.set_notifications", &json!({"enabled": true}));
    let note = rpc.note("the rest", |note| note["method"] == "session.output");
    assert_eq!(note["params"]["dropped"], true, "{note}");
    assert_eq!(note["params"]["output"], " over");
}

#[test]
fn the_rest_of_a_secret_that_a_client_comes_in_the_middle_of_is_in_no_notification() {
    let home = home();
    let _daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    let script =
        "stty -echo; printf 'token=a1b2c3d4'; read line; echo e5f6a7b8; echo over; read line";
    let session = create(&mut rpc, script);
    wait_for(&mut rpc, &session, "token");
    rpc.call("server.set_notifications", &json!({"enabled": true}));
    type_in(&mut rpc, &session, "\n");
    assert_eq!(told_until(&mut rpc, &session, "over\r\n"), "\r\nover\r\n");
}

#[test]
fn a_password_that_is_typed_without_echo_is_in_no_file() {
    let home = home();
    let _daemon = home.start();
    let mut rpc = home.ptywright(Framing::Lines);
    let raw = home.path().join("raw");
    let script = "stty -echo; printf 'Password: '; read password; stty echo; echo; echo thanks";
    let session = rpc.call(
        "session.create",
        &json!({"program": "sh", "args": ["-c", script], "raw_transcript_path": raw}),
    );
    let session = session["session"].as_str().unwrap();
    wait_for(&mut rpc, session, "Password: ");
    type_in(&mut rpc, session, "correct-horse-battery\n");
    wait_for_end(&mut rpc, session);
    let transcript = rpc.call("session.transcript", &json!({"session": session, "redact": false}));
    assert_eq!(transcript["text"], "Password: \r\nthanks\r\n");
    eventually("the raw transcript is whole", || {
        fs::read(&raw).unwrap() == b"Password: \r\nthanks\r\n"
    });
    let mut folders = vec![home.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                let bytes = fs::read(entry.path()).unwrap();
                let found = bytes.windows(21).any(|it| it == b"correct-horse-battery");
                assert!(!found, "{}", entry.path().display());
            }
        }
    }
}
