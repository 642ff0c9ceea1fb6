//! A tmux that is not there, hangs, or says something else.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use greenroom_model::Size;
use greenroom_tmux::{Error, New, Server, Tmux};

use crate::house::{gone, until, within};

/// A folder with a script called `tmux`.
struct Fake {
    tmux: Tmux,
    folder: tempfile::TempDir,
}

impl Fake {
    fn new(script: &str) -> Fake {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("tmux");
        // By another process: a file that any of ours has open for writing cannot be run.
        let write = "printf '%s\\n' \"$1\" > \"$0\" && chmod +x \"$0\"";
        let mut command = Command::new("/bin/sh");
        command.args(["-c", write]).arg(&program).arg(script);
        assert!(command.status().unwrap().success());
        let own = folder.path().as_os_str();
        assert!(Tmux::find(Some(own), Server::Default).unwrap().is_available());
        let path = std::env::var_os("PATH").unwrap();
        let tmux = Tmux::find(Some(own), Server::Default).unwrap();
        let env = [("PATH".into(), path), ("FOLDER".into(), own.to_owned())];
        Fake { tmux: tmux.with_environment(env), folder }
    }

    async fn pid(&self) -> u32 {
        let file = self.folder.path().join("pid");
        let mut pid = None;
        until("a pid", async || {
            pid = std::fs::read_to_string(&file).ok().and_then(|it| it.trim().parse().ok());
            pid.is_some()
        })
        .await;
        pid.unwrap()
    }
}

#[test]
fn no_program_is_no_tmux() {
    let empty = tempfile::tempdir().unwrap();
    std::fs::create_dir(empty.path().join("tmux")).unwrap();
    assert!(Tmux::find(None, Server::Default).is_none());
    assert!(Tmux::find(Some(OsStr::new("")), Server::Default).is_none());
    assert!(Tmux::find(Some(empty.path().as_os_str()), Server::Default).is_none());
    std::fs::remove_dir(empty.path().join("tmux")).unwrap();
    std::fs::write(empty.path().join("tmux"), "not executable").unwrap();
    assert!(Tmux::find(Some(empty.path().as_os_str()), Server::Default).is_none());
}

#[tokio::test]
async fn a_program_that_went_away_is_told() {
    let fake = Fake::new("#!/bin/sh\nexit 0");
    std::fs::remove_file(fake.folder.path().join("tmux")).unwrap();
    assert!(!fake.tmux.is_available());
    assert!(matches!(fake.tmux.list().await, Err(Error::Start(_))));
}

#[tokio::test]
async fn a_tmux_that_hangs_is_given_up_and_ended_with_all_it_started() {
    let fake = Fake::new("#!/bin/sh\nsleep 1000 & echo $! > \"$FOLDER/pid\"; wait");
    let begun = Instant::now();
    assert!(matches!(fake.tmux.list().await, Err(Error::TimedOut("list-sessions"))));
    assert!(begun.elapsed() < Duration::from_secs(30));
    gone(fake.pid().await).await;
}

#[tokio::test]
async fn who_does_not_wait_for_an_answer_leaves_no_process() {
    let fake = Fake::new("#!/bin/sh\nsleep 1000 & echo $! > \"$FOLDER/pid\"; wait");
    let tmux = fake.tmux.clone();
    let asked = tokio::spawn(async move { tmux.list().await });
    let pid = fake.pid().await;
    asked.abort();
    assert!(asked.await.unwrap_err().is_cancelled());
    gone(pid).await;
}

#[tokio::test(start_paused = true)]
async fn every_verb_is_given_up_in_time() {
    let fake = Fake::new("#!/bin/sh\nexec sleep 1000");
    let tmux = &fake.tmux;
    let new =
        New { name: None, cwd: Path::new("/"), command: None, shell: None, size: Size::DEFAULT };
    assert!(matches!(tmux.create(&new).await, Err(Error::TimedOut(_))));
    assert!(matches!(tmux.kill("x").await, Err(Error::TimedOut(_))));
    assert!(matches!(tmux.rename("x", "y").await, Err(Error::TimedOut(_))));
    assert!(matches!(tmux.resize("x", Size::DEFAULT).await, Err(Error::TimedOut(_))));
    assert!(matches!(tmux.scrollback("x").await, Err(Error::TimedOut(_))));
    assert!(matches!(tmux.attach("x", Size::DEFAULT, false).await, Err(Error::TimedOut(_))));
}

#[tokio::test]
async fn what_is_no_answer_is_an_error_with_tmuxs_own_words_if_it_has_any() {
    let listed = async |script: &str| Fake::new(script).tmux.list().await.unwrap_err();
    assert!(matches!(listed("#!/bin/sh\necho hello").await, Error::Garbage("list-sessions")));
    assert!(matches!(listed("#!/bin/sh\nhead -c 100000 /dev/urandom").await, Error::Garbage(_)));
    let endless = listed("#!/bin/sh\nexec yes").await;
    assert!(matches!(endless, Error::TooMuch("list-sessions")), "{endless:?}");
    let refused = listed("#!/bin/sh\necho 'the moon is full' >&2; exit 1").await;
    assert_eq!(refused.to_string(), "tmux refused `list-sessions`: the moon is full");
    let silent = listed("#!/bin/sh\nkill -9 $$").await;
    assert!(matches!(silent, Error::Refused { .. }), "{silent:?}");
    let complaining = listed("#!/bin/sh\nhead -c 9000000 /dev/zero >&2; exit 1").await;
    assert!(matches!(&complaining, Error::Refused { text, .. } if text.len() < 10_000));
    assert!(matches!(listed("#!/no/such/interpreter").await, Error::Start(_)));
}

#[tokio::test]
async fn a_socket_nobody_may_use_or_is_no_socket_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let tmux = |socket: PathBuf| Tmux::find(Some(&path), Server::Socket(socket)).unwrap();
    // A plain file refuses connections, as the socket of a server that was killed does.
    assert_eq!(within("answer", tmux(file).list()).await.unwrap(), []);
    let long = tmux(folder.path().join("x".repeat(200))).list().await.unwrap_err();
    assert!(matches!(&long, Error::Refused { text, .. } if text.contains("too long")), "{long:?}");
}
