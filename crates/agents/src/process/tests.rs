//! Real processes: what they print, how they end, and what is left of them.

use std::time::Instant;

use super::*;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn shell(script: &str) -> Process {
    let command = ["sh", "-c", script].map(OsString::from);
    let environment = [(OsString::from("PATH"), std::env::var_os("PATH").unwrap())];
    let start = Start {
        command: &command,
        arguments: &[],
        folder: Path::new("/"),
        environment: &environment,
    };
    Process::start(&start).unwrap()
}

async fn all(process: &mut Process) -> Vec<Heard> {
    let mut heard = Vec::new();
    while let Some(it) = tokio::time::timeout(PATIENCE, process.heard()).await.unwrap() {
        heard.push(it);
    }
    heard
}

fn line(text: &str) -> Heard {
    Heard::Line(text.to_owned())
}

#[tokio::test]
async fn everything_printed_comes_before_the_end() {
    let mut process = shell("printf 'a\\n\\nb'; exit 3");
    assert_eq!(all(&mut process).await, [line("a"), line("b"), Heard::Ended(Some(3))]);
    let mut process = shell("echo no >&2; kill -9 $$");
    let heard = all(&mut process).await;
    assert_eq!(heard, [Heard::Complaint("no".to_owned()), Heard::Ended(None)]);
}

#[tokio::test]
async fn what_is_written_is_read() {
    let mut process = shell("read one; echo \"got $one\"");
    process.write("hello").unwrap();
    assert_eq!(all(&mut process).await, [line("got hello"), Heard::Ended(Some(0))]);
}

#[tokio::test]
async fn a_line_past_all_bounds_is_left_out_and_the_next_is_heard() {
    let mut process = shell("head -c 17000000 /dev/zero | tr '\\0' x; echo; echo after");
    assert_eq!(all(&mut process).await, [Heard::TooLong, line("after"), Heard::Ended(Some(0))]);
}

#[tokio::test]
async fn one_that_does_not_read_is_not_written_to_for_ever() {
    let process = shell("exec sleep 60");
    let line = "x".repeat(8 << 20);
    let refused = (0..20).find_map(|_| process.write(&line).err());
    assert!(matches!(refused, Some(WriteError::Full)), "{refused:?}");
    process.end().await;
}

#[tokio::test]
async fn one_that_ignores_the_request_is_ended_with_all_it_started() {
    let mut process = shell("trap '' TERM INT; sleep 60 & echo $!; wait; sleep 60");
    let Some(Heard::Line(child)) = process.heard().await else { panic!("no line") };
    let from = Instant::now();
    process.end().await;
    assert!(from.elapsed() < PATIENCE);
    let is_alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        // A zombie whose parent is not us has ended all the same.
        !stat.is_empty() && !stat.contains(") Z ")
    };
    while is_alive() {
        assert!(from.elapsed() < PATIENCE, "the process it started lives on");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn something_left_with_the_pipe_does_not_hide_the_end() {
    let mut process = shell("sleep 60 & echo done");
    assert_eq!(all(&mut process).await, [line("done"), Heard::Ended(Some(0))]);
}
