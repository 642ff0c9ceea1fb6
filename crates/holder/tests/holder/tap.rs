//! Others read the terminal beside the holder, and the daemon still hears every byte once.

use std::sync::atomic::{AtomicBool, Ordering};

use greenroom_model::{Offset, Size};
use greenroom_proto::{FromHolder, ToHolder};
use greenroom_pty::Tap;

use crate::daemon::{Daemon, Holder, eventually, started};

#[test]
fn what_somebody_saw_is_of_the_past_to_the_next_daemon() {
    let (holder, mut daemon, _) = started("stty raw -echo; printf ready; exec cat");
    daemon.until("ready", Offset::START);
    let mut tap = daemon.tap();
    let (mut seen, mut at) = (Vec::new(), Offset::START);
    assert_eq!(tap.type_in(b"x").unwrap(), 1);
    eventually("a key's echo is seen by who typed it", || {
        seen.clear();
        at = tap.peek(Offset::START, &mut seen).unwrap().unwrap_or_default();
        seen.ends_with(b"x")
    });
    let mut next = holder.connect();
    let hello = next.hello();
    assert!(hello.end >= at + seen.len() as u64, "{hello:?}, seen up to {at} and {seen:?}");
    let mut output = Vec::new();
    let mut told = hello.kept;
    while told < at + seen.len() as u64 {
        assert_eq!(next.output(&mut told, &mut output), None);
    }
    let from = (at - hello.kept) as usize;
    assert_eq!(&output[from..from + seen.len()], seen);
}

#[test]
fn every_byte_once_while_others_pull() {
    const LINES: u64 = 200_000;
    let (_holder, mut daemon, _) = started(&format!("read go; seq {LINES}; exit 3"));
    let (mut tap, over) = (daemon.tap(), AtomicBool::new(false));
    daemon.type_in("\n");
    let mut expected = b"\r\n".to_vec();
    (1..=LINES).for_each(|line| expected.extend_from_slice(format!("{line}\r\n").as_bytes()));
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut seen = Vec::new();
            while !over.load(Ordering::Acquire) {
                seen.clear();
                // At the end the terminal is gone.
                let Ok(Some(Offset(at))) = tap.peek(Offset::START, &mut seen) else { continue };
                let at = at as usize;
                assert!(expected.get(at..at + seen.len()) == Some(&seen[..]), "{at}");
            }
        });
        let ended = daemon.until_ended(Offset::START);
        over.store(true, Ordering::Release);
        ended
    });
    assert_eq!(ended.status, greenroom_model::ExitStatus::Code(3));
    assert!(ended.text.as_bytes() == expected, "{} bytes", ended.text.len());
}

/// A daemon that looks at the terminal by itself, once the holder knows; and where it has seen to.
fn looking() -> (Holder, Daemon, Tap, Offset) {
    let (holder, mut daemon, _) = started("stty raw -echo; printf ready; exec cat");
    let seen = Offset(daemon.until("ready", Offset::START).len() as u64);
    let tap = daemon.tap();
    daemon.send(&ToHolder::Ahead { seen, looks: true });
    let size = Size::clamped(81, 25);
    daemon.send(&ToHolder::Resize { size, set: true });
    eventually("the holder has heard it", || daemon.size() == size);
    (holder, daemon, tap, seen)
}

/// Types something, and sees its echo; where that ends.
fn echo(tap: &mut Tap, text: &str) -> Offset {
    assert_eq!(tap.type_in(text.as_bytes()).unwrap(), text.len());
    let (mut seen, mut end) = (Vec::new(), Offset::START);
    eventually("the echo is seen", || {
        seen.clear();
        end = tap.peek(Offset::START, &mut seen).unwrap().unwrap_or_default() + seen.len() as u64;
        seen.ends_with(text.as_bytes())
    });
    end
}

#[test]
fn what_the_daemon_saw_is_taken_and_not_told_again() {
    let (_holder, mut daemon, mut tap, _) = looking();
    let one = echo(&mut tap, "one");
    daemon.send(&ToHolder::Ahead { seen: one, looks: true });
    echo(&mut tap, "two");
    daemon.send(&ToHolder::Ahead { seen: one, looks: false });
    match daemon.next("what was not seen") {
        Some(FromHolder::Output { at, bytes }) => assert_eq!((at, &bytes[..]), (one, &b"two"[..])),
        other => panic!("{other:?}"),
    }
    daemon.type_in("three");
    daemon.until("three", one + 3);
}

#[test]
fn a_daemon_that_goes_while_it_looks_leaves_everything_to_the_next() {
    let (holder, daemon, mut tap, begin) = looking();
    let end = echo(&mut tap, "seen");
    drop(daemon);
    // Nobody looks any more but the holder.
    assert_eq!(tap.type_in(b" and unseen").unwrap(), 11);
    let mut next = holder.connect();
    let hello = next.hello();
    assert!(hello.end >= end, "{hello:?}, seen up to {end}");
    let text = next.until(" and unseen", hello.kept);
    assert!(
        text.ends_with("readyseen and unseen"),
        "{text:?} from {}, begun at {begin}",
        hello.kept
    );
}

#[test]
fn a_daemon_that_says_it_looks_and_does_not_holds_up_nobody_for_long() {
    let (_holder, mut daemon, _tap, begin) = looking();
    daemon.type_in(&"x".repeat(3000));
    daemon.until(&"x".repeat(3000), begin);
}

#[test]
fn what_a_full_pipe_kept_from_the_daemon_is_taken_with_the_rest() {
    let (_holder, mut daemon, mut tap, begin) = looking();
    let began = std::time::Instant::now();
    // More pieces than a pipe has places.
    let mut end = begin;
    for letter in 'a'..='p' {
        // Another each time, or the one before would be taken for it.
        end = echo(&mut tap, &letter.to_string());
    }
    daemon.type_in("rest");
    eventually("its echo lies in the terminal", || daemon.has_unread());
    daemon.send(&ToHolder::Ahead { seen: end, looks: true });
    daemon.until("rest", end);
    // Not a bound on speed: after five seconds it would have looked by itself.
    assert!(began.elapsed() < std::time::Duration::from_secs(4), "{:?}", began.elapsed());
}
