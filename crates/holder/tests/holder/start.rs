//! A child starts with what it was given and nothing else, or somebody is told why not.

use std::io::Read as _;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::time::Instant;

use greenroom_model::{ExitStatus, Offset, SessionId, Size};
use greenroom_proto::{FromHolder, Spawn, Stage, ToHolder, VERSION};

use crate::daemon::{Holder, shell, started};

const ENOENT: i32 = 2;
const EACCES: i32 = 13;
const ENOTDIR: i32 = 20;
const EINVAL: i32 = 22;
const ENAMETOOLONG: i32 = 36;
const EADDRINUSE: i32 = 98;

/// Starts something that cannot be started, and wants this and no trace of it.
#[track_caller]
fn fails(spawn: Spawn, stage: Stage, errno: i32) {
    let began = Instant::now();
    let (mut holder, mut daemon) = Holder::start(spawn);
    assert_eq!(daemon.next("a failure"), Some(FromHolder::Failed { stage, errno }));
    assert!(daemon.closes());
    assert!(!holder.wait());
    assert!(!holder.socket().exists());
    assert!(began.elapsed().as_millis() < 2000, "at once");
}

#[test]
fn a_program_that_is_not_there() {
    fails(Spawn { program: b"no-such-program".to_vec(), ..shell("") }, Stage::Program, ENOENT);
    fails(Spawn { program: b"/etc/passwd".to_vec(), ..shell("") }, Stage::Program, EACCES);
    fails(Spawn { program: b"a\0b".to_vec(), ..shell("") }, Stage::Program, EINVAL);
}

#[test]
fn a_folder_that_is_not_there() {
    fails(Spawn { cwd: b"/no/such/folder".to_vec(), ..shell("") }, Stage::Cwd, ENOENT);
    fails(Spawn { cwd: b"/etc/passwd".to_vec(), ..shell("") }, Stage::Cwd, ENOTDIR);
    let both = Spawn { cwd: b"/no".to_vec(), program: b"no-such-program".to_vec(), ..shell("") };
    fails(both, Stage::Cwd, ENOENT);
}

#[test]
fn a_socket_that_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    let try_at = |socket: &[u8], errno| {
        let (mut holder, mut daemon) = Holder::silent();
        let spawn = Spawn { socket: socket.to_vec(), ..shell("") };
        daemon.send(&ToHolder::Spawn(Box::new(spawn)));
        let failed = FromHolder::Failed { stage: Stage::Socket, errno };
        assert_eq!(daemon.next("a failure"), Some(failed));
        assert!(!holder.wait());
    };
    try_at(b"relative", EINVAL);
    try_at(&[b'/'; 200], ENAMETOOLONG);
    let path = |name: &str| folder.path().join(name);
    let bytes = |name: &str| path(name).as_os_str().as_encoded_bytes().to_vec();
    try_at(&bytes("no/folder"), ENOENT);
    std::fs::write(path("file"), "mine").unwrap();
    try_at(&bytes("file"), EADDRINUSE);
    symlink("file", path("link")).unwrap();
    try_at(&bytes("link"), EADDRINUSE);
    assert_eq!(std::fs::read_to_string(path("link")).unwrap(), "mine");
    let _listening = UnixListener::bind(path("taken")).unwrap();
    try_at(&bytes("taken"), EADDRINUSE);
    assert!(path("taken").exists());
}

#[test]
fn a_socket_nobody_listens_at_is_replaced() {
    let (holder, mut daemon) = Holder::silent();
    drop(UnixListener::bind(holder.socket()).unwrap());
    assert!(holder.socket().exists());
    daemon.send(&holder.order(shell("read line")));
    daemon.hello();
    holder.connect().hello();
    let mode = std::fs::metadata(holder.socket()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{mode:o}");
}

#[test]
fn hello_tells_who_it_is() {
    let (holder, daemon, hello) = started("read line");
    assert!(daemon.has_terminal());
    assert_eq!((hello.version, hello.session), (VERSION, SessionId(7)));
    assert_eq!(hello.holder_pid, holder.pid());
    assert_eq!(hello.size, Size::DEFAULT);
    assert_eq!((hello.kept, hello.end, hello.answered), (Offset(0), Offset(0), Offset(0)));
    let name = std::fs::read_to_string(format!("/proc/{}/comm", hello.child_pid)).unwrap();
    assert_eq!(name, "sh\n");
    let words = std::fs::read(format!("/proc/{}/cmdline", holder.pid())).unwrap();
    assert!(!String::from_utf8(words).unwrap().contains("read line"), "argv tells nothing");
}

#[test]
fn a_child_has_three_descriptors() {
    // `ls` has one more, of the folder it lists.
    let (_holder, mut daemon, _) = started("cd /proc/self/fd; echo *; ls -l /proc/$$/fd");
    let ended = daemon.until_ended(Offset(0));
    assert!(ended.text.contains("/dev/pts/"), "{}", ended.text);
    let listed: Vec<&str> = ended.text.lines().skip(2).collect();
    let terminals = listed.iter().filter(|line| line.contains("/dev/pts/")).count();
    assert_eq!((listed.len(), terminals), (3, 3), "{}", ended.text);
}

#[test]
fn a_child_has_its_environment_and_no_more() {
    let env = vec![
        (b"A".to_vec(), b"1 2\n3".to_vec()),
        (b"B".to_vec(), b"\xff\xfe".to_vec()),
        (b"PATH".to_vec(), b"/nowhere:/bin:/usr/bin".to_vec()),
    ];
    let (program, arg0) = (b"cat".to_vec(), b"cat".to_vec());
    let args = vec![b"-v".to_vec(), b"/proc/self/environ".to_vec()];
    let (_holder, mut daemon) = Holder::start(Spawn { env, program, arg0, args, ..shell("") });
    daemon.hello();
    let text = daemon.until_ended(Offset(0)).text;
    assert_eq!(text, "A=1 2\r\n3^@B=M-^?M-~^@PATH=/nowhere:/bin:/usr/bin^@");
}

#[test]
fn a_child_leads_its_session_on_a_terminal_of_its_size() {
    let size = Size::new(91, 17).unwrap();
    let script = "stty size; stty -a | grep -o -w iutf8; ps -o pid=,pgid=,sid=,tty= -p $$; ulimit -n; umask; \
                  pwd; grep -E '^Sig(Blk|Ign)' /proc/self/status; echo $0";
    let spawn = Spawn {
        size,
        open_files: 99,
        cwd: b"/usr".to_vec(),
        arg0: b"-its name".to_vec(),
        ..shell(script)
    };
    let (_holder, mut daemon) = Holder::start(spawn);
    let hello = daemon.hello();
    let text = daemon.until_ended(Offset(0)).text;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(&lines[..2], ["17 91", "iutf8"]);
    let ids: Vec<&str> = lines[2].split_whitespace().collect();
    let pid = hello.child_pid.to_string();
    assert_eq!(ids[..3], [&pid, &pid, &pid]);
    assert!(ids[3].starts_with("pts/"));
    assert_eq!(lines[3], "99");
    // The child's umask is what the holder was started with, not what it set for itself.
    assert_eq!(lines[4], umask());
    assert_eq!(lines[5], "/usr");
    for line in &lines[6..8] {
        assert!(line.ends_with("\t0000000000000000"), "{line}");
    }
    assert_eq!(lines[8], "-its name");
}

fn umask() -> String {
    let mut output = String::new();
    let mut child = std::process::Command::new("sh")
        .args(["-c", "umask"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    child.wait().unwrap();
    output.trim().to_owned()
}

#[test]
fn the_program_is_looked_up_in_the_childs_path() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("only-here");
    std::fs::write(&program, "#!/bin/sh\necho found\n").unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o700)).unwrap();
    let path = folder.path().as_os_str().as_encoded_bytes().to_vec();
    let env = vec![(b"PATH".to_vec(), path)];
    let spawn = Spawn { env, program: b"only-here".to_vec(), args: vec![], ..shell("") };
    let (_holder, mut daemon) = Holder::start(spawn);
    daemon.hello();
    let ended = daemon.until_ended(Offset(0));
    assert_eq!((ended.text.as_str(), ended.status), ("found\r\n", ExitStatus::Code(0)));
}

#[test]
fn a_daemon_that_says_nothing_leaves_nothing() {
    let (mut holder, daemon) = Holder::silent();
    drop(daemon);
    assert!(!holder.wait());
    let (mut holder, mut daemon) = Holder::silent();
    daemon.send(&ToHolder::Release);
    assert!(daemon.closes());
    assert!(!holder.wait());
}
