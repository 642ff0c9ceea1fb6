//! Who may come near: folders of others, sockets for everybody, strangers (S5, S6).

use std::env;
use std::fs::{self, Permissions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use greenroom_frame::binary::{encode, kind};
use greenroom_testkit::{Daemon, Home, create, eventually};
use serde_json::json;

use crate::support::{call, home, wait_for_text};

/// A user who owns nothing: `nobody` on every system there is.
const STRANGER: u32 = 65_534;

/// Tells the inner run which socket to try.
const SOCKET: &str = "GREENROOM_TEST_SOCKET";

/// Only root can be somebody else; for others there is nothing to test.
fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("left out: only root can act as another user");
    }
    root
}

/// A daemon does not start in this home, and says why.
#[track_caller]
fn refuses(home: &Home, why: &str) {
    let mut daemon = Daemon::begin(home, home.command(["daemon", "start", "--foreground"]));
    assert_eq!(daemon.wait_for_end().code(), Some(1), "{why}");
    let said = daemon.said();
    assert!(said.contains(why) && !said.contains("panicked"), "wanted `{why}`: {said}");
}

#[test]
fn a_folder_that_others_may_enter_is_refused() {
    for folder in ["run", "state"] {
        let home = home();
        let path = home.path().join(folder);
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o777)).unwrap();
        refuses(&home, "others may enter");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o777, "nothing is repaired");
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0, "nothing is put there");
    }
}

#[test]
fn a_link_or_a_file_in_place_of_a_folder_is_refused() {
    for folder in ["run", "state", "run/h"] {
        let home = home();
        let (path, elsewhere) = (home.path().join(folder), home.path().join("elsewhere"));
        fs::create_dir(&elsewhere).unwrap();
        fs::set_permissions(&elsewhere, Permissions::from_mode(0o700)).unwrap();
        let parent = path.parent().unwrap();
        fs::create_dir_all(parent).unwrap();
        fs::set_permissions(parent, Permissions::from_mode(0o700)).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        refuses(&home, "not a folder of its own");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0, "the link is not followed");
        fs::remove_file(&path).unwrap();
        fs::write(&path, "a file").unwrap();
        refuses(&home, "not a folder of its own");
        assert_eq!(fs::read_to_string(&path).unwrap(), "a file");
    }
}

#[test]
fn a_folder_of_somebody_else_is_refused() {
    if !is_root() {
        return;
    }
    let home = home();
    let path = home.path().join("run");
    fs::create_dir(&path).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
    std::os::unix::fs::chown(&path, Some(STRANGER), Some(STRANGER)).unwrap();
    refuses(&home, &format!("belongs to user {STRANGER}"));
    assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
}

/// Every file below a folder, folders included.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            found.extend(below(&entry.path()));
        }
        found.push(entry.path());
    }
    found
}

#[test]
fn without_a_umask_everything_is_still_ours_alone() {
    let home = home();
    let mut command = Command::new("sh");
    command.args(["-c", r#"umask 000; exec "$0" daemon start --foreground"#]).arg(home.binary());
    command.env_clear().envs(home.environment());
    let mut daemon = Daemon::begin(&home, command);
    daemon.wait_until_it_answers(&home);
    let mut connection = home.connect();
    create(&mut connection, "one", "umask; read line");
    wait_for_text(&mut connection, "one", "0000");
    create(&mut connection, "two", "exit 3");
    eventually("the store has something", || home.path().join("state/greenroom.db").exists());
    let mut sockets = 0;
    for folder in ["run", "state"] {
        let top = home.path().join(folder);
        for path in below(&top).into_iter().chain([top]) {
            let about = fs::symlink_metadata(&path).unwrap();
            let wanted = if about.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(about.mode() & 0o777, wanted, "{}", path.display());
            sockets += u32::from(about.file_type().is_socket());
        }
    }
    assert!(sockets >= 2, "the daemon's and a holder's");
}

/// What the socket says to another user.
fn as_stranger(home: &Home, socket: &Path) -> String {
    let program = home.path().join("stranger");
    if !program.exists() {
        // Where the stranger may run it, whatever the folder of the build allows.
        fs::copy(env::current_exe().unwrap(), &program).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    }
    let arguments = ["--exact", "access::inside_a_stranger", "--ignored", "--nocapture"];
    let mut command = Command::new(&program);
    command.args(arguments).env_clear().env(SOCKET, socket).uid(STRANGER).gid(STRANGER);
    let output = command.current_dir("/").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[ignore = "runs as another user"]
fn inside_a_stranger() {
    let Some(socket) = env::var_os(SOCKET) else { return };
    let mut stream = match UnixStream::connect(socket) {
        Ok(stream) => stream,
        Err(error) => return println!("STRANGER: no way in: {}", error.kind()),
    };
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let request = br#"{"jsonrpc":"2.0","id":1,"method":"session.list","params":{}}"#;
    stream.write_all(&encode(kind::JSON_RPC, "", request).unwrap()).unwrap_or_default();
    let mut heard = Vec::new();
    match stream.read_to_end(&mut heard) {
        Ok(_) => println!("STRANGER: closed after {} bytes", heard.len()),
        Err(error) => println!("STRANGER: {} after {} bytes", error.kind(), heard.len()),
    }
}

#[test]
fn another_user_is_cut_off_before_a_byte_is_read() {
    if !is_root() {
        return;
    }
    let home = home();
    let _daemon = home.start();
    let mut connection = home.connect();
    let session = create(&mut connection, "secret", "read line");
    let holder = home.path().join(format!("run/h/{}.sock", session["number"]));
    let open = |path: &Path, mode: u32| {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    };
    open(home.path(), 0o755);
    for socket in [&home.socket(), &holder] {
        let said = as_stranger(&home, socket);
        assert!(said.contains("no way in: permission denied"), "{said}");
    }
    // Somebody opens everything by mistake, while the daemon runs.
    open(&home.path().join("run"), 0o777);
    open(&home.path().join("run/h"), 0o777);
    for socket in [&home.socket(), &holder] {
        open(socket, 0o666);
        let said = as_stranger(&home, socket);
        let cut = said.contains("after 0 bytes") && said.contains("STRANGER");
        assert!(cut, "{}: {said}", socket.display());
    }
    // The client that was there before goes on, and the stranger was noticed.
    let logs = call(&mut connection, "daemon.logs", json!({"last": 100}));
    assert!(logs.to_string().contains("a stranger was turned away"), "{logs}");
    let info = call(&mut connection, "session.info", json!({"sessionId": "secret"}));
    assert_eq!(info["state"], "running");
}
