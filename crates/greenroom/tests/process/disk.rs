//! The disk is full: sessions go on, and nothing that ended is lost.
//!
//! A small tmpfs in a mount namespace of its own, which the kernel takes down with the processes.
//! Where making one is not allowed there is nothing to test, and the test says so.

use std::env;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use greenroom_client::Connection;
use greenroom_testkit::{Home, create, eventually, eventually_ok, process};
use serde_json::json;

use crate::support::{
    ANSWERS, assert_answers, call, enter, home, pid, screen, wait_for_end, wait_for_text,
};

/// Tells the inner run where the small disk is.
const DISK: &str = "GREENROOM_TEST_DISK";

/// Mounts the disk, then runs the program in its place. The second word is the folder.
const SCRIPT: &str = r#"mount -t tmpfs -o size=4m,mode=700 none "$0" && exec "$@""#;

#[test]
fn a_full_disk_stops_nothing_but_the_archive() {
    // Whatever the inner run leaves is found by this home, which is around it.
    let around = home();
    let disk = around.path().join("d");
    fs::create_dir(&disk).unwrap();
    let unshare = |arguments: &[&str], program: &Path| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-c", SCRIPT]).arg(&disk);
        command.arg(program).args(arguments).env(DISK, &disk).env("TMPDIR", &disk).status()
    };
    if !unshare(&[], Path::new("true")).is_ok_and(|it| it.success()) {
        eprintln!("left out: no disk can be mounted here");
        return;
    }
    let arguments = ["--exact", "disk::inside", "--ignored", "--nocapture"];
    assert!(unshare(&arguments, &env::current_exe().unwrap()).unwrap().success());
}

/// A file that takes all the room there is.
fn fill(disk: &Path) -> PathBuf {
    let path = disk.join("ballast");
    let mut file = File::create(&path).unwrap();
    for size in [65_536, 4_096, 1] {
        let block = vec![1; size];
        let stopped = std::iter::repeat_with(|| file.write_all(&block)).find_map(Result::err);
        assert_eq!(stopped.unwrap().kind(), ErrorKind::StorageFull);
    }
    path
}

/// Waits until the daemon says that of its storage.
#[track_caller]
fn storage(home: &Home, ok: bool) {
    eventually_ok("the daemon says how its storage is", || {
        let status = call(&mut home.connect(), "daemon.status", json!({}));
        let storage = &status["storage"];
        match storage["ok"] == ok && storage["error"].is_null() == ok {
            true => Ok(()),
            false => Err(storage.to_string()),
        }
    });
}

fn assert_kept(connection: &mut Connection) {
    let info = wait_for_end(connection, "ending");
    assert_eq!((&info["state"], &info["code"]), (&"ended".into(), &3.into()));
    assert!(screen(connection, "ending").contains("last words"));
}

#[test]
#[ignore = "runs on the small disk"]
fn inside() {
    let Some(disk) = env::var_os(DISK).map(PathBuf::from) else { return };
    let home = home();
    let mut daemon = home.start();
    let mut connection = home.connect();
    create(&mut connection, "staying", ANSWERS);
    let ending = create(&mut connection, "ending", "echo up; read go; echo last words; exit 3");
    wait_for_text(&mut connection, "ending", "up");
    storage(&home, true);
    let ballast = fill(&disk);

    enter(&mut connection, "ending");
    assert_kept(&mut connection);
    storage(&home, false);
    assert_answers(&mut connection, "staying", 1);
    create(&mut connection, "new", "echo new; read line");
    wait_for_text(&mut connection, "new", "new");
    let holder = pid(&ending, "holderPid");
    assert!(process::lives(holder), "it keeps what the disk does not");

    // Also a daemon that starts now has everything.
    daemon.restart(&home);
    let mut connection = home.connect();
    assert_kept(&mut connection);
    assert_answers(&mut connection, "staying", 2);
    assert!(process::lives(holder));

    fs::remove_file(ballast).unwrap();
    storage(&home, true);
    eventually("the holder was let go", || !process::lives(holder));
    daemon.restart(&home);
    assert_kept(&mut home.connect());
    assert_answers(&mut home.connect(), "staying", 3);
}
