//! Others read the terminal beside the holder, and the daemon still hears every byte once.

use std::sync::atomic::{AtomicBool, Ordering};

use greenroom_model::Offset;

use crate::daemon::{eventually, started};

#[test]
fn what_somebody_saw_is_of_the_past_to_the_next_daemon() {
    let (holder, mut daemon, _) = started("stty raw -echo; printf ready; exec cat");
    daemon.until("ready", Offset::START);
    let mut tap = daemon.tap();
    let (mut seen, mut at) = (Vec::new(), Offset::START);
    assert_eq!(tap.type_in(b"x").unwrap(), 1);
    eventually("a key's echo is seen by who typed it", || {
        seen.clear();
        at = tap.peek(&mut seen).unwrap().unwrap_or_default();
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
                let Ok(Some(Offset(at))) = tap.peek(&mut seen) else { continue };
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
