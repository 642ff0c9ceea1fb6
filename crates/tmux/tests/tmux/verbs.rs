//! What is asked of tmux is seen in tmux.

use std::path::Path;

use greenroom_model::Size;
use greenroom_tmux::{Error, New};

use crate::house::{House, until};

#[tokio::test]
async fn without_a_server_there_are_no_sessions_and_none_is_started() {
    let house = House::new();
    assert_eq!(house.tmux.list().await.unwrap(), []);
    assert!(matches!(house.tmux.kill("x").await, Err(Error::NoSession(name)) if name == "x"));
    assert!(matches!(house.tmux.rename("x", "y").await, Err(Error::NoSession(_))));
    assert!(matches!(house.tmux.resize("x", Size::DEFAULT).await, Err(Error::NoSession(_))));
    assert!(matches!(house.tmux.scrollback("x").await, Err(Error::NoSession(_))));
    let attached = house.tmux.attach("x", Size::DEFAULT, false).await;
    assert!(matches!(attached, Err(Error::NoSession(_))));
    assert!(!house.folder().join("socket").exists());
}

#[tokio::test]
async fn a_session_is_made_as_asked_and_listed() {
    let house = House::new();
    let made = house.run("work", "echo \"it's $((6 * 7)) #{pid}\"; exec cat;").await;
    assert_eq!((made.name.as_str(), made.attached), ("work", 0));
    assert_eq!((made.cwd.as_path(), made.size), (house.folder(), Size::DEFAULT));
    assert_eq!(made.last_attached_ms, None);
    assert!(made.created_ms > 1_600_000_000_000);
    house.printed("work", "it's 42 #{pid}").await;
    until("`cat` in the foreground", async || {
        house.session("work").await.unwrap().command == "cat"
    })
    .await;
    let listed = house.session("work").await.unwrap();
    assert_eq!((&listed.id, listed.pid, &listed.cwd), (&made.id, made.pid, &made.cwd));
    assert!(listed.start_command.starts_with("/bin/sh -c "), "{}", listed.start_command);
    assert!(Path::new("/proc").join(listed.pid.unwrap().to_string()).exists());
}

#[tokio::test]
async fn a_session_without_wishes_gets_a_name_and_a_shell() {
    let house = House::new();
    let new =
        New { name: None, cwd: Path::new("/"), command: None, shell: None, size: Size::DEFAULT };
    let first = house.tmux.create(&new).await.unwrap();
    let second = house.tmux.create(&new).await.unwrap();
    assert_ne!(first.name, second.name);
    assert_eq!(first.start_command, "");
    // The shell that is asked for runs itself, not inside another.
    let asked = house.shell("asked").await;
    until("the shell", async || house.session("asked").await.unwrap().command == "sh").await;
    let pid = asked.pid.unwrap();
    assert_eq!(greenroom_pty::descendants(pid), []);
}

#[tokio::test]
async fn a_command_that_ends_in_a_semicolon_or_backslash_arrives_whole() {
    let house = House::new();
    house.run("one", "echo one; exec cat;").await;
    house.run("two", "echo 'two\\;'; exec cat; echo \\;").await;
    house.printed("one", "one").await;
    house.printed("two", "two\\;").await;
}

#[tokio::test]
async fn a_folder_with_anything_in_its_name_is_kept() {
    let house = House::new();
    let folder = house.folder().join("a #{pid}#[b##(c)\n\t\u{1b}[1m;");
    std::fs::create_dir(&folder).unwrap();
    let new = New {
        name: Some("x"),
        cwd: &folder,
        command: Some("exec cat"),
        shell: None,
        size: Size::DEFAULT,
    };
    house.tmux.create(&new).await.unwrap();
    house.run("y", "exec cat").await;
    until("the folder", async || house.session("x").await.unwrap().cwd == folder).await;
    assert_eq!(house.names().await, ["x", "y"]);
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_refused() {
    let house = House::new();
    let file = house.folder().join("file");
    std::fs::write(&file, "").unwrap();
    for cwd in [Path::new("/no/such/folder"), &file, Path::new(".")] {
        let new = New { name: None, cwd, command: None, shell: None, size: Size::DEFAULT };
        let refused = house.tmux.create(&new).await;
        assert!(matches!(refused, Err(Error::Cwd(..))), "{refused:?}");
    }
    assert_eq!(house.tmux.list().await.unwrap(), []);
}

#[tokio::test]
async fn nothing_of_the_caller_gets_into_a_session() {
    let house = House::with_variables(&[
        ("GREENROOM_HOME", "leak"),
        ("GREENROOM_SESSION", "leak"),
        ("TMUX", "/leak,1,1"),
        ("TMUX_PANE", "%leak"),
        ("KEPT", "yes"),
    ]);
    house.run("x", "env; echo end-of-list; exec cat").await;
    let printed = house.printed("x", "end-of-list").await;
    assert!(printed.contains("KEPT=yes") && !printed.contains("leak"), "{printed}");
}

#[tokio::test]
async fn a_session_is_ended_and_no_other() {
    let house = House::new();
    house.run("one", "exec cat").await;
    house.run("one more", "exec cat").await;
    house.tmux.kill("one").await.unwrap();
    assert_eq!(house.names().await, ["one more"]);
    assert!(matches!(house.tmux.kill("one").await, Err(Error::NoSession(_))));
    house.tmux.kill("one more").await.unwrap();
    assert_eq!(house.names().await, [""; 0]);
    // The server ends with its last session; another one is started, in whatever moment.
    house.run("again", "exec cat").await;
    assert_eq!(house.names().await, ["again"]);
}

#[tokio::test]
async fn a_session_is_renamed_unless_the_name_is_taken() {
    let house = House::new();
    let made = house.run("one", "exec cat").await;
    house.run("two", "exec cat").await;
    house.tmux.rename("one", "uno").await.unwrap();
    assert_eq!(house.session("uno").await.unwrap().id, made.id);
    let taken = house.tmux.rename("uno", "two").await;
    assert!(matches!(taken, Err(Error::Taken(name)) if name == "two"));
    let new = New {
        name: Some("two"),
        cwd: house.folder(),
        command: None,
        shell: None,
        size: Size::DEFAULT,
    };
    assert!(matches!(house.tmux.create(&new).await, Err(Error::Taken(_))));
    assert_eq!(house.names().await, ["two", "uno"]);
}

#[tokio::test]
async fn a_window_nobody_looks_at_gets_the_size_and_follows_clients_later() {
    let house = House::new();
    house.run("x", "exec cat").await;
    let size = Size::clamped(132, 50);
    house.tmux.resize("x", size).await.unwrap();
    assert_eq!(house.session("x").await.unwrap().size, size);
    let _viewer = house.tmux.attach("x", Size::clamped(90, 31), false).await.unwrap();
    // One row is tmux's status line.
    until("the size of the client", async || {
        house.session("x").await.unwrap().size == Size::clamped(90, 30)
    })
    .await;
}

#[tokio::test]
async fn what_was_printed_is_given_with_colours_and_line_drawing() {
    let house = House::new();
    house
        .run(
            "x",
            "printf '\\033[31mred\\033[m \\033(0q\\033(B\\n'; seq 3000; printf '$ '; exec cat",
        )
        .await;
    let printed = house.printed("x", "\r\n3000\r\n$").await;
    let lines: Vec<&str> = printed.split("\r\n").collect();
    assert!((2000..=2024).contains(&lines.len()), "{}", lines.len());
    assert!(!printed.contains("\r\n\r\n"));
    house.run("y", "printf '\\033[31mred\\033[m \\033(0q\\033(B\\n'; exec cat").await;
    let printed = house.printed("y", "red").await;
    assert!(printed.contains("\u{1b}[31mred") && printed.contains("\u{1b}(0q"), "{printed:?}");
}
