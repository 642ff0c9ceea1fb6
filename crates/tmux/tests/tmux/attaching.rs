//! A client on a terminal of ours: what is typed arrives, what is drawn is read, and it goes.

use std::sync::Arc;
use std::time::Duration;

use greenroom_model::Size;
use rustix::process::{Pid, Signal};

use crate::house::{House, LOOK, Viewer, gone, until, within};

/// A program that answers every line.
const ANSWERS: &str = "while read line; do echo \"got:$line\"; done";

/// How long a terminal takes nothing before it counts as full.
const FULL: Duration = Duration::from_millis(500);

#[tokio::test]
async fn what_is_typed_arrives_and_the_answer_is_shown() {
    let house = House::new();
    house.run("x", ANSWERS).await;
    let mut viewer = Viewer::attach(&house, "x").await;
    // At once, before tmux has drawn anything: nothing is lost and nothing echoed twice.
    viewer.write("früh\r").await;
    viewer.shows("got:früh").await;
    viewer.write("late\r").await;
    viewer.shows("got:late").await;
    let session = house.session("x").await.unwrap();
    assert_eq!(session.attached, 1);
    assert!(session.last_attached_ms.is_some());
}

#[tokio::test]
async fn a_new_size_is_seen_by_the_program() {
    let house = House::new();
    house.run("x", "while read line; do stty size; done").await;
    let viewer = Viewer::attach(&house, "x").await;
    viewer.attachment.resize(Size::clamped(101, 38)).unwrap();
    // tmux tells a program only a while after it told us, lest it be told too often.
    until("the new size", async || {
        viewer.write("\r").await;
        let printed = house.tmux.scrollback("x").await.unwrap();
        String::from_utf8_lossy(&printed).contains("37 101")
    })
    .await;
    assert_eq!(house.session("x").await.unwrap().size, Size::clamped(101, 37));
}

#[tokio::test]
async fn the_terminal_is_what_it_is_told_to_be() {
    let house = House::new();
    house.run("x", "exec cat").await;
    let _first = house.tmux.attach("x", Size::DEFAULT, false).await.unwrap();
    let other = house.tmux.with_term("vt100");
    let _second = other.attach("x", Size::DEFAULT, false).await.unwrap();
    until("both clients", async || {
        let told = house.ask(&["list-clients", "-F", "#{client_termname} #{client_utf8}"]);
        let mut told: Vec<&str> = told.lines().collect();
        told.sort_unstable();
        told == ["vt100 1", "xterm-256color 1"]
    })
    .await;
}

#[tokio::test]
async fn the_end_of_the_session_is_the_end_of_the_output() {
    let house = House::new();
    house.run("other", "exec cat").await;
    house.run("x", "read line; echo last-words").await;
    let mut viewer = Viewer::attach(&house, "x").await;
    viewer.write("go\r").await;
    viewer.ends().await;
    assert!(viewer.text().contains("[exited]"), "{}", viewer.text());
    // And again whenever it is asked, and nothing can be typed.
    viewer.ends().await;
    let refused = within("refusal", viewer.attachment.write(b"x")).await.unwrap_err();
    assert!(matches!(refused.kind(), std::io::ErrorKind::BrokenPipe), "{refused}");
    house.run("y", "exec cat").await;
    let mut viewer = Viewer::attach(&house, "y").await;
    viewer.shows("\u{1b}").await;
    house.tmux.kill("y").await.unwrap();
    viewer.ends().await;
    assert_eq!(house.names().await, ["other"]);
}

#[tokio::test]
async fn two_attachments_see_the_same() {
    let house = House::new();
    house.run("x", ANSWERS).await;
    let mut one = Viewer::attach(&house, "x").await;
    let mut two = Viewer::attach(&house, "x").await;
    until("two clients", async || house.session("x").await.unwrap().attached == 2).await;
    one.write("from one\r").await;
    one.shows("got:from one").await;
    two.shows("got:from one").await;
    two.write("from two\r").await;
    one.shows("got:from two").await;
    drop(two);
    until("one client", async || house.session("x").await.unwrap().attached == 1).await;
    one.write("still\r").await;
    one.shows("got:still").await;
}

#[tokio::test]
async fn who_only_reads_cannot_type_and_does_not_count_for_the_size() {
    let house = House::new();
    house.run("x", ANSWERS).await;
    let mut writer = Viewer::attach(&house, "x").await;
    let mut reader = Viewer::observe(&house, "x").await;
    until("two clients", async || house.session("x").await.unwrap().attached == 2).await;
    reader.attachment.resize(Size::clamped(40, 10)).unwrap();
    reader.write("oops\r").await;
    writer.write("fine\r").await;
    reader.shows("got:fine").await;
    // It may leave, by tmux's own keys: all it typed before was taken by then. Keys that come at
    // once count as pasted, and a busy tmux takes them for that: pressed until it is seen.
    until("the prefix key", async || {
        reader.write("\u{2}").await;
        tokio::time::sleep(LOOK).await;
        house.ask(&["list-clients", "-F", "#{client_prefix}"]).contains('1')
    })
    .await;
    reader.write("d").await;
    reader.ends().await;
    writer.write("more\r").await;
    writer.shows("got:more").await;
    let printed = house.printed("x", "got:more").await;
    assert!(!printed.contains("oops"), "{printed}");
    assert_eq!(house.session("x").await.unwrap().size, Size::clamped(80, 23));
}

#[tokio::test]
async fn reading_and_typing_go_on_in_two_tasks() {
    let house = House::new();
    house.run("x", ANSWERS).await;
    let attachment = house.tmux.attach("x", Size::DEFAULT, false).await.unwrap();
    let attachment = Arc::new(attachment);
    let typist = Arc::clone(&attachment);
    let typing = tokio::spawn(async move {
        for number in 0..200 {
            let line = format!("line {number}\r");
            let mut rest = line.as_bytes();
            while !rest.is_empty() {
                rest = &rest[typist.write(rest).await.unwrap()..];
            }
        }
    });
    let mut shown = Vec::new();
    until("the last answer", async || {
        attachment.read(&mut shown).await.unwrap();
        String::from_utf8_lossy(&shown).contains("got:line 199")
    })
    .await;
    typing.await.unwrap();
}

#[tokio::test]
async fn dropped_it_leaves_no_client_and_no_zombie_but_the_session() {
    let house = House::new();
    house.run("x", ANSWERS).await;
    let mut viewer = Viewer::attach(&house, "x").await;
    viewer.write("one\r").await;
    viewer.shows("got:one").await;
    let [pid] = house.clients().try_into().unwrap();
    drop(viewer);
    gone(pid).await;
    until("no client", async || house.session("x").await.unwrap().attached == 0).await;
    // A client that ends by itself is no zombie either, while its attachment is held.
    let viewer = Viewer::attach(&house, "x").await;
    until("a client", async || house.clients().len() == 1).await;
    let [pid] = house.clients().try_into().unwrap();
    house.ask(&["detach-client", "-s", "=x"]);
    gone(pid).await;
    drop(viewer);
    assert_eq!(house.names().await, ["x"]);
}

#[tokio::test]
async fn very_much_typed_at_a_program_that_does_not_read_holds_nobody_up() {
    let house = House::new();
    house.run("x", "stty raw -echo; echo deaf; exec tail -f /dev/null").await;
    let mut viewer = Viewer::attach(&house, "x").await;
    viewer.shows("deaf").await;
    let [pid] = house.clients().try_into().unwrap();
    let keys = vec![b'k'; 1 << 20];
    let mut typed = 0;
    while typed < keys.len() {
        let taken = tokio::time::timeout(FULL, viewer.attachment.write(&keys[typed..])).await;
        let Ok(taken) = taken else { break };
        typed += taken.unwrap();
    }
    assert!(typed > 0);
    drop(viewer);
    gone(pid).await;
    until("no client", async || house.session("x").await.unwrap().attached == 0).await;
}

/// A stopped server, which goes on however the test ends.
struct Stopped(Pid);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _gone = rustix::process::kill_process(self.0, Signal::CONT);
    }
}

#[tokio::test]
async fn a_server_that_hangs_takes_no_more_and_its_client_still_goes() {
    let house = House::new();
    house.run("x", ANSWERS).await;
    let mut viewer = Viewer::attach(&house, "x").await;
    viewer.write("one\r").await;
    viewer.shows("got:one").await;
    let [pid] = house.clients().try_into().unwrap();
    let server = house.ask(&["display-message", "-p", "#{pid}"]).parse().unwrap();
    let server = Stopped(Pid::from_raw(server).unwrap());
    rustix::process::kill_process(server.0, Signal::STOP).unwrap();
    let keys = vec![b'k'; 1 << 20];
    let mut typed = 0;
    while let Ok(taken) = tokio::time::timeout(FULL, viewer.attachment.write(&keys[typed..])).await
    {
        typed += taken.unwrap();
        assert!(typed < keys.len(), "a terminal without end");
    }
    drop(viewer);
    gone(pid).await;
    drop(server);
    until("no client", async || house.session("x").await.unwrap().attached == 0).await;
}

#[tokio::test]
async fn a_client_killed_while_its_server_hangs_is_the_end() {
    let house = House::new();
    house.run("x", ANSWERS).await;
    let mut viewer = Viewer::attach(&house, "x").await;
    viewer.write("one\r").await;
    viewer.shows("got:one").await;
    let [pid] = house.clients().try_into().unwrap();
    let server = house.ask(&["display-message", "-p", "#{pid}"]).parse().unwrap();
    let server = Stopped(Pid::from_raw(server).unwrap());
    rustix::process::kill_process(server.0, Signal::STOP).unwrap();
    assert!(greenroom_pty::kill(pid, Signal::KILL.as_raw()));
    viewer.ends().await;
    within("refusal", viewer.attachment.write(b"x")).await.unwrap_err();
    drop(server);
}

#[tokio::test]
async fn a_flood_comes_to_its_end() {
    let house = House::new();
    let flood = "read line; head -c 10000000 /dev/zero | tr '\\0' x | fold -w 79; \
                 echo; echo flood-is-over; read line";
    house.run("x", flood).await;
    let mut viewer = Viewer::attach(&house, "x").await;
    viewer.write("go\r").await;
    viewer.shows("flood-is-over").await;
    viewer.write("end\r").await;
    viewer.ends().await;
}

#[tokio::test]
async fn a_flood_nobody_reads_can_be_left() {
    let house = House::new();
    house.run("x", "read line; echo begins; exec yes").await;
    let mut viewer = Viewer::attach(&house, "x").await;
    viewer.write("go\r").await;
    viewer.shows("y\r\n").await;
    let [pid] = house.clients().try_into().unwrap();
    drop(viewer);
    gone(pid).await;
    house.tmux.kill("x").await.unwrap();
}
