//! A disk that is really full: a small tmpfs in a mount namespace of its own, which the kernel
//! takes down with the process, however that ends.
//!
//! Where making one is not allowed there is nothing to test: the stand-in for a full disk in the
//! crate's own tests runs everywhere.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it is")]

use std::env;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use greenroom_model::{ExitStatus, Offset, SessionId, Size};
use greenroom_store::{End, Ended, Keeper, Kind, Session, Store};

/// Tells the inner run where the small disk is.
const DISK: &str = "GREENROOM_TEST_DISK";

/// Longer than the keeper's first tries take together; reaching it fails the test.
const PATIENCE: Duration = Duration::from_secs(30);

/// Mounts the disk, then runs the program in its place. The second word is the folder.
const SCRIPT: &str = r#"mount -t tmpfs -o size=2m,mode=700 none "$0" && exec "$@""#;

/// Runs the ignored test `name` with a small disk.
fn with_a_small_disk(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let unshare = |more: &[&str], program: &Path| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--map-root-user"]).args(["sh", "-c", SCRIPT]);
        command.arg(folder.path()).arg(program).args(more).env(DISK, folder.path()).status()
    };
    if !unshare(&[], Path::new("true")).is_ok_and(|it| it.success()) {
        return;
    }
    let arguments = ["--exact", name, "--ignored", "--nocapture"];
    assert!(unshare(&arguments, &env::current_exe().unwrap()).unwrap().success());
}

#[test]
fn a_full_disk_stops_writing_and_nothing_else() {
    with_a_small_disk("inside_store");
}

#[test]
fn the_keeper_gets_through_a_full_disk() {
    with_a_small_disk("inside_keeper");
}

/// A file that takes all the room there is, and gives it back.
struct Ballast(PathBuf);

impl Ballast {
    fn fill(disk: &Path) -> Ballast {
        let path = disk.join("ballast");
        let mut file = File::create(&path).unwrap();
        for size in [65_536, 4_096, 1] {
            let block = vec![1; size];
            let stopped = std::iter::repeat_with(|| file.write_all(&block)).find_map(Result::err);
            assert_eq!(stopped.unwrap().kind(), ErrorKind::StorageFull);
        }
        Ballast(path)
    }

    fn remove(self) {
        fs::remove_file(self.0).unwrap();
    }
}

fn record(id: u64) -> Ended {
    let session = Session {
        id: SessionId(id),
        uuid: [id as u8; 16],
        name: id.to_string(),
        created_ms: 1,
        attached_ms: 0,
        cwd: "/".to_owned(),
        command: vec!["true".to_owned()],
        size: Size::DEFAULT,
        title: String::new(),
        offset: Offset(id),
        resizes: 0,
        notes: Vec::new(),
    };
    Ended { session, ended_ms: 2, end: End::Exited(ExitStatus::Signal(9)) }
}

fn ids(store: &Store) -> Vec<u64> {
    store.list_ended().unwrap().iter().map(|it| it.session.id.0).collect()
}

#[test]
#[ignore = "runs on the small disk"]
fn inside_store() {
    let Some(disk) = env::var_os(DISK).map(PathBuf::from) else { return };
    let path = disk.join("store.db");
    let mut store = Store::open(&path).unwrap();
    store.ended(&record(1), Some(&[1; 50_000])).unwrap();
    let ballast = Ballast::fill(&disk);
    for id in 2..40 {
        let error = store.ended(&record(id), Some(&[2; 100_000])).unwrap_err();
        assert_eq!(error.kind(), Kind::Full, "{}", error.full_text());
    }
    assert_eq!(ids(&store), [1]);
    // Also a daemon that starts now can read what is there.
    drop(store);
    let mut store = Store::open(&path).unwrap();
    assert_eq!(ids(&store), [1]);
    assert_eq!(store.checkpoint_of(SessionId(1)).unwrap().unwrap(), [1; 50_000]);
    assert_eq!(store.ended(&record(2), Some(&[2; 100_000])).unwrap_err().kind(), Kind::Full);
    let fresh = Store::open(&disk.join("other.db")).unwrap_err();
    assert_eq!(fresh.kind(), Kind::Full, "{}", fresh.full_text());

    ballast.remove();
    store.ended(&record(2), Some(&[2; 100_000])).unwrap();
    assert_eq!(ids(&store), [1, 2]);
    drop(store);
    assert_eq!(ids(&Store::open(&path).unwrap()), [1, 2]);
}

#[test]
#[ignore = "runs on the small disk"]
fn inside_keeper() {
    let Some(disk) = env::var_os(DISK).map(PathBuf::from) else { return };
    let path = disk.join("store.db");
    let (health, told) = mpsc::channel();
    let (keeper, _) = Keeper::start(&path, move |it| health.send(it.clone()).unwrap()).unwrap();
    let ballast = Ballast::fill(&disk);
    let (sender, answers) = mpsc::channel();
    let again = sender.clone();
    keeper.ended(record(1), Some(vec![3; 100_000]), move |it| sender.send(it).unwrap());
    let refused = answers.recv_timeout(PATIENCE).expect("an answer").unwrap_err();
    assert_eq!(refused.kind(), Kind::Full);
    keeper.alive(record(2).session);
    assert!(!told.recv_timeout(PATIENCE).expect("told that it is ill").ok);

    ballast.remove();
    assert!(told.recv_timeout(PATIENCE).expect("told that it is well").ok);
    keeper.ended(record(1), Some(vec![3; 100_000]), move |it| again.send(it).unwrap());
    answers.recv_timeout(PATIENCE).expect("an answer").unwrap();
    assert_eq!(keeper.close().pending, 0);
    let store = Store::open(&path).unwrap();
    assert_eq!((ids(&store), store.living().unwrap().len()), (vec![1], 1));
}
