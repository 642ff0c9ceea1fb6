//! A writer that is killed loses nothing it has acknowledged, and gives out no number twice.
//!
//! The writer is this test program again, running only [`writer`]; it prints a line after each
//! call that returned.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it is")]

use std::collections::BTreeSet;
use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use greenroom_model::{ExitStatus, Offset, SessionId, Size};
use greenroom_store::{AuditEntry, End, Ended, Kind, Session, Store, StoreError};

/// Tells the writer where the store is.
const PATH: &str = "GREENROOM_TEST_STORE";

/// How many writers are killed: enough to meet every step of a write, in about a second.
const ROUNDS: u64 = 40;

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let (mut ended, mut reserved, mut audited) = (BTreeSet::new(), BTreeSet::new(), 0);
    for round in 0..ROUNDS {
        for line in lines_of_a_killed_writer(&path, round * 7 % 23) {
            let (what, number) = line.split_once(' ').unwrap();
            let number = number.parse().unwrap();
            match what {
                "reserved" => assert!(reserved.insert(number), "{number} was given out twice"),
                "ended" => assert!(ended.insert(number)),
                "audited" => audited += 1,
                _ => panic!("{line}"),
            }
        }
        // Only sometimes: a new writer must cope with what the killed one left.
        if round % 4 == 3 {
            check(&path, &ended, audited);
        }
    }
    check(&path, &ended, audited);
}

#[test]
fn a_second_process_is_told_that_the_store_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut writer = start(&path);
    // Kept until the end, for without a reader the writer would stop.
    let mut printed = BufReader::new(writer.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(printed.any(|line| line.starts_with("ended")));
    let error = Store::open(&path).unwrap_err();
    assert_eq!(error.kind(), Kind::Busy);
    assert_eq!(error.to_string(), "another process uses the store");
    writer.kill().unwrap();
    writer.wait().unwrap();
    drop(printed);
    Store::open(&path).unwrap();
}

/// Starts a writer, kills it after some lines and returns all it has printed.
fn lines_of_a_killed_writer(path: &Path, lines: u64) -> Vec<String> {
    let mut writer = start(path);
    let mut printed = BufReader::new(writer.stdout.take().unwrap()).lines();
    let mut seen = Vec::new();
    for line in printed.by_ref() {
        let line = line.unwrap();
        if line.starts_with("reserved") || line.starts_with("ended") || line.starts_with("audited")
        {
            seen.push(line);
            if seen.len() as u64 > lines {
                break;
            }
        }
    }
    assert!(!seen.is_empty(), "the writer could not start");
    writer.kill().unwrap();
    writer.wait().unwrap();
    // A line cut by the kill was not acknowledged, but each is written with one call.
    seen.extend(printed.map_while(Result::ok));
    seen
}

fn start(path: &Path) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "writer", "--ignored", "--nocapture", "--test-threads=1"])
        .env(PATH, path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn check(path: &Path, ended: &BTreeSet<u64>, audited: usize) {
    let store = Store::open(path).unwrap();
    let kept: BTreeSet<u64> =
        store.list_ended().unwrap().iter().map(|it| it.session.id.0).collect();
    assert!(ended.is_subset(&kept), "lost: {:?}", ended.difference(&kept));
    for id in kept {
        let bytes = store.checkpoint_of(SessionId(id)).unwrap().unwrap();
        assert_eq!(bytes, checkpoint(id), "the checkpoint of {id} is whole");
    }
    assert!(store.audit_tail(u64::MAX).unwrap().len() >= audited);
}

#[test]
#[ignore = "is the process that the other test kills"]
fn writer() {
    let Some(path) = env::var_os(PATH) else { return };
    let mut store = Store::open(Path::new(&path)).unwrap();
    loop {
        write_one(&mut store).unwrap();
    }
}

fn write_one(store: &mut Store) -> Result<(), StoreError> {
    let id = store.reserve_id()?;
    acknowledge("reserved", id);
    let record = record(id);
    store.alive(&record.session)?;
    store.ended(&record, Some(&checkpoint(id.0)))?;
    acknowledge("ended", id);
    store.audit(&AuditEntry {
        at_ms: 1,
        who: "writer".to_owned(),
        what: "end".to_owned(),
        session: Some(id),
        allowed: true,
        detail: String::new(),
    })?;
    acknowledge("audited", id);
    Ok(())
}

fn acknowledge(what: &str, id: SessionId) {
    io::stdout().write_all(format!("{what} {id}\n").as_bytes()).unwrap();
}

fn record(id: SessionId) -> Ended {
    let session = Session {
        id,
        uuid: [id.0 as u8; 16],
        name: id.to_string(),
        created_ms: 1,
        attached_ms: 0,
        cwd: "/".to_owned(),
        command: vec!["true".to_owned()],
        size: Size::DEFAULT,
        title: String::new(),
        offset: Offset(id.0),
        resizes: 0,
        notes: Vec::new(),
    };
    Ended { session, ended_ms: 2, end: End::Exited(ExitStatus::Code(0)) }
}

/// Some pages of bytes that tell their session.
fn checkpoint(id: u64) -> Vec<u8> {
    (0..30_000_u64).map(|at| (at * 31 + id) as u8).collect()
}
