//! Whose socket it is, and what happens when there is none.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;

use super::*;
use crate::ErrorKind;

fn identity() -> Identity {
    Identity { client: "test 1".into(), kind: "cli".into(), name: "Terminal".into() }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    folder
}

#[track_caller]
fn refused(path: &Path, why: &str) {
    let error = Endpoint::new(path).stream().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    assert!(error.to_string().contains(why), "{error}");
}

#[test]
fn our_own_socket_is_connected_to() {
    let folder = folder();
    let path = folder.path().join("s");
    let _listener = UnixListener::bind(&path).unwrap();
    Endpoint::new(&path).stream().unwrap();
}

#[test]
fn no_folder_no_socket_and_nobody_listening_are_unreachable() {
    let folder = folder();
    let stale = folder.path().join("stale");
    drop(UnixListener::bind(&stale).unwrap());
    for path in [folder.path().join("no/s"), folder.path().join("s"), stale] {
        let error = Endpoint::new(&path).connect(&identity()).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Unreachable, "{error}");
    }
}

#[test]
fn a_folder_others_may_write_to_is_refused() {
    let folder = folder();
    let path = folder.path().join("s");
    let _listener = UnixListener::bind(&path).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    refused(&path, "mode 777");
}

#[test]
fn links_and_files_are_refused() {
    let folder = folder();
    let path = folder.path().join("s");
    let _listener = UnixListener::bind(&path).unwrap();
    let link = folder.path().join("link");
    symlink(&path, &link).unwrap();
    refused(&link, "not a socket");
    fs::write(folder.path().join("file"), "").unwrap();
    refused(&folder.path().join("file"), "not a socket");
    let linked = tempfile::tempdir().unwrap();
    symlink(folder.path(), linked.path().join("run")).unwrap();
    refused(&linked.path().join("run/s"), "not a folder");
}

#[test]
fn a_folder_of_another_user_is_refused() {
    if our_uid() != 0 {
        return;
    }
    let folder = folder();
    let path = folder.path().join("s");
    let _listener = UnixListener::bind(&path).unwrap();
    std::os::unix::fs::chown(folder.path(), Some(65534), None).unwrap();
    refused(&path, "belongs to user 65534");
}

#[test]
fn a_daemon_that_does_not_start_says_why() {
    let folder = folder();
    let endpoint = Endpoint::new(folder.path().join("s"));
    let mut start = || Err("the disk is full".to_owned());
    let error = endpoint.connect_or_start(&identity(), &mut start).err().unwrap();
    assert_eq!(error.to_string(), "the daemon did not start: the disk is full");
    assert_eq!(error.kind(), ErrorKind::Unreachable);
}

#[test]
fn a_daemon_that_was_started_is_waited_for() {
    let folder = folder();
    let path = folder.path().join("s");
    let endpoint = Endpoint::new(&path);
    let mut daemons = Vec::new();
    let mut start = || {
        std::fs::remove_file(&path).unwrap_or_default();
        let path = path.clone();
        // It speaks nothing: that it was reached is what the test wants to see.
        daemons.push(thread::spawn(move || drop(UnixListener::bind(&path).unwrap().accept())));
        Ok(())
    };
    let error = endpoint.connect_or_start(&identity(), &mut start).err().unwrap();
    assert!(matches!(error, Error::Lost(_)), "{error}");
    assert!(!daemons.is_empty());
    daemons.into_iter().for_each(|it| it.join().unwrap());
}
