//! A new daemon on an old holder.

use std::time::Duration;

use bytes::Bytes;
use greenroom_engine::{Attach, ErrorKind, Event, HouseEvent, Matcher, Pattern, State};
use greenroom_model::{ExitStatus, Offset};
use greenroom_proto::ToHolder;

use crate::fake::{Begin, ID, Viewer, World, next, size, told};

/// More than is kept for somebody who is away, and less than a socket takes.
const MUCH: usize = 140 << 10;

async fn checkpoint(world: &mut World) -> (Offset, Offset, Bytes) {
    world
        .hears(|message| match message {
            ToHolder::Checkpoint { at, keep, blob } => Some((at, keep, blob)),
            _ => None,
        })
        .await
}

#[tokio::test]
async fn a_screen_comes_back_from_checkpoint_and_log() {
    let mut world = World::new().await;
    let lines: String = (0..4000).map(|number| format!("line {number}\r\n")).collect();
    world.prints(&lines);
    let (at, keep, blob) = checkpoint(&mut world).await;
    assert_eq!(keep, at, "nobody is attached: nothing is kept for them");
    world.prints("\x1b[?1049h\x1b[5;5Hfull screen");
    let shown = world.shown().await;
    let log = b"\x1b[?1049h\x1b[5;5Hfull screen".to_vec();
    let begin = Begin { kept: at, log, checkpoint: Some((at, blob)), ..Begin::default() };
    let next = World::begin(begin).await;
    assert_eq!(next.shown().await, shown);
    let (old, new) = (
        world.engine.look(ID, |screen| screen.dump(greenroom_screen::Depth::All)).await.unwrap(),
        next.engine.look(ID, |screen| screen.dump(greenroom_screen::Depth::All)).await.unwrap(),
    );
    assert_eq!(old, new);
}

#[tokio::test]
async fn what_was_printed_before_is_past() {
    let log = b"\x07\x1b]2;old\x07done\r\n\x1b[6n".to_vec();
    let end = Offset(log.len() as u64);
    let begin = Begin { log, answered: end, ..Begin::default() };
    let mut world = World::begin(begin).await;
    let mut house = world.engine.events();
    assert_eq!(world.shown().await, "done");
    assert_eq!(world.engine.info("7").unwrap().title, "old");
    world.prints("\x07\x1b[5n");
    assert_eq!(world.typed().await, "\x1b[0n", "only the new query is answered");
    let mut told = Vec::new();
    while let Ok(event) = house.try_recv() {
        told.push(event);
    }
    assert_eq!(told, [HouseEvent::Bell(ID)], "only the new bell is told");
}

#[tokio::test]
async fn a_query_nobody_answered_is_answered() {
    let begin = Begin { log: b"\x1b[6n".to_vec(), ..Begin::default() };
    let mut world = World::begin(begin).await;
    assert_eq!(world.typed().await, "\x1b[1;1R");
}

#[tokio::test]
async fn a_holder_of_the_future_is_left_alone() {
    let world = World::begin(Begin { version: 99, ..Begin::default() }).await;
    assert!(world.engine.list().is_empty());
    assert!(world.folder.path().join("7.sock").exists());
}

#[tokio::test]
async fn a_holder_that_dies_is_a_session_lost() {
    let mut world = World::new().await;
    let mut house = world.engine.events();
    world.prints("last seen");
    world.shown().await;
    world.dies();
    while !matches!(house.recv().await.unwrap(), HouseEvent::Ended(..)) {}
    let info = world.engine.info("7").unwrap();
    assert!(matches!(info.state, State::Ended(greenroom_engine::End::Lost, _)));
    let text = world.engine.look(ID, greenroom_screen::Screen::text).await.unwrap();
    assert_eq!(text, "last seen");
}

#[tokio::test]
async fn a_holder_goes_only_when_its_session_is_kept() {
    let mut world = World::new().await;
    *world.archive.full.lock().unwrap() = true;
    world.prints("bye");
    world.ends(ExitStatus::Signal(9));
    let exit = world.engine.wait(ID, Matcher::Exit, None, None, told).await.unwrap();
    assert_eq!(exit.ended, Some(ExitStatus::Signal(9)));
    assert!(world.archive.ended.lock().unwrap().is_empty());
    *world.archive.full.lock().unwrap() = false;
    world.hears(|message| (message == ToHolder::Release).then_some(())).await;
    assert_eq!(world.archive.ended.lock().unwrap().len(), 1);
    let late = Matcher::Text(Pattern::literal("more", false).unwrap(), Default::default());
    let error = world.engine.wait(ID, late, None, None, told).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Ended);
}

#[tokio::test]
async fn who_follows_a_session_hears_of_its_end_while_it_cannot_be_kept() {
    let mut world = World::new().await;
    *world.archive.full.lock().unwrap() = true;
    let mut changes = world.engine.changes(ID).unwrap();
    world.prints("bye");
    world.ends(ExitStatus::Code(0));
    while changes.changed().await.is_ok() {}
    let state = world.engine.info("7").unwrap().state;
    assert!(matches!(state, State::Ended(greenroom_engine::End::Exited(ExitStatus::Code(0)), _)));
    assert!(world.archive.ended.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_forgotten_session_is_gone_while_its_holder_still_leaves() {
    let mut world = World::new().await;
    let mut house = world.engine.events();
    world.ends(ExitStatus::Code(0));
    while !matches!(house.recv().await, Ok(HouseEvent::Ended(..))) {}
    assert!(!world.engine.is_gone(ID), "it can be read");
    world.engine.forget(&world.caller, ID).await.unwrap();
    assert!(world.engine.is_gone(ID));
}

#[tokio::test]
async fn a_client_goes_on_with_the_next_daemon() {
    let log = b"one two three".to_vec();
    let notes = vec![("attached".to_owned(), "1".to_owned())];
    let mut world = World::begin(Begin { log, notes, ..Begin::default() }).await;
    let attach = Attach { terminal: Some(size()), from: Some(Offset(4)), ..Attach::default() };
    let mut seen = world.engine.attach(&world.caller, ID, attach).await.unwrap();
    assert_eq!(seen.start, Offset(4));
    world.prints(" four");
    let mut viewer = Viewer::new(size());
    viewer.until(&mut seen, "four").await;
    assert_eq!((viewer.bytes.as_slice(), viewer.redraws), (b"two three four".as_slice(), 0));
}

#[tokio::test(start_paused = true)]
async fn who_comes_and_goes_does_not_prolong_a_programs_wait_for_another() {
    let note = |name: &str, count: &str| (name.to_owned(), count.to_owned());
    // Two were attached, and one of them is to miss nothing.
    let notes = vec![note("attached", "2"), note("blocking", "1")];
    let mut world = World::begin(Begin { notes, ..Begin::default() }).await;
    let begin = tokio::time::Instant::now();
    let much = "x".repeat(MUCH);
    world.prints(&much);
    let mut changes = world.engine.changes(ID).unwrap();
    changes.wait_for(|at| *at >= MUCH as u64).await.unwrap();
    // More than is kept for who is away: the program waits.
    world.prints("and on");
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_secs(3)).await;
        let attach = Attach { terminal: Some(size()), ..Attach::default() };
        drop(world.engine.attach(&world.caller, ID, attach).await.unwrap());
    }
    assert_eq!(*changes.borrow(), MUCH as u64, "it waits");
    changes.wait_for(|at| *at > MUCH as u64).await.unwrap();
    let waited = begin.elapsed();
    assert!((10..12).contains(&waited.as_secs()), "it waited for {waited:?}");
}

// The clock stands still while the holder listens: whoever is waited for is waited for without end.
#[tokio::test(start_paused = true)]
async fn a_session_that_was_killed_waits_for_nobody_who_was_cut_off() {
    let notes = vec![("attached".to_owned(), "1".to_owned())];
    let mut world = World::begin(Begin { notes, ..Begin::default() }).await;
    world.prints("last words");
    let (engine, caller) = (world.engine.clone(), world.caller.clone());
    let killed = tokio::spawn(async move { engine.kill(&caller, ID, None).await });
    world.hears(|message| matches!(message, ToHolder::Kill { .. }).then_some(())).await;
    world.ends(ExitStatus::Signal(1));
    world.hears(|message| (message == ToHolder::Release).then_some(())).await;
    killed.await.unwrap().unwrap();
    let back = Attach { terminal: Some(size()), from: Some(Offset(0)), ..Attach::default() };
    let mut seen = world.engine.attach(&world.caller, ID, back).await.unwrap();
    let mut viewer = Viewer::new(size());
    viewer.until(&mut seen, "last words").await;
    assert!(matches!(next(&mut seen).await, Event::Ended(_)), "and the end after it");
}

#[tokio::test]
async fn a_session_that_fails_by_our_mistake_is_taken_up_again_but_not_for_ever() {
    let mut world = World::new().await;
    world.prints("still here");
    assert_eq!(world.shown().await, "still here");
    for round in 1.. {
        let looked = world.engine.look(ID, |_| panic!("a mistake")).await;
        assert!(looked.is_err_and(|it: greenroom_engine::Error| it.kind() == ErrorKind::Ended));
        world.engine.recovery_wanted().await;
        assert!(world.engine.list().is_empty());
        if round == 3 {
            break;
        }
        let log = b"still here".to_vec();
        world.is_met(Begin { log, ..Begin::default() }).await;
        assert_eq!(world.shown().await, "still here");
    }
    let recovered = world.engine.recover().await.unwrap();
    assert_eq!(recovered.sessions, []);
    assert_eq!(recovered.refused[0].session, Some(ID));
}
