//! What somebody who attaches sees.

use greenroom_engine::{Attach, Event, HouseEvent, Why};
use greenroom_model::{ExitStatus, Offset, Size};

use crate::fake::{ID, Viewer, World, next, size};

fn terminal() -> Attach {
    Attach { terminal: Some(size()), ..Attach::default() }
}

#[tokio::test]
async fn a_late_subscriber_sees_no_gap() {
    let mut world = World::new().await;
    world.prints("one\r\n\x1b[31mtwo");
    world.shown().await;
    let mut late = world.engine.attach(&world.caller, ID, terminal()).await.unwrap();
    let mut viewer = Viewer::new(size());
    world.prints(" three");
    viewer.until(&mut late, "three").await;
    assert_eq!(viewer.screen.text(), "one\ntwo three");
    assert_eq!((viewer.redraws, viewer.offset), (1, Offset(19)));
}

#[tokio::test]
async fn a_terminal_gets_no_queries_and_the_daemon_answers() {
    let mut world = World::new().await;
    let mut seen = world.engine.attach(&world.caller, ID, terminal()).await.unwrap();
    world.prints("a\x1b[6nb");
    let mut viewer = Viewer::new(size());
    viewer.until(&mut seen, "ab").await;
    assert_eq!(viewer.bytes, b"ab");
    assert_eq!(world.typed().await, "\x1b[1;2R");
}

#[tokio::test]
async fn a_sequence_cut_in_two_reaches_a_late_terminal_whole() {
    let mut world = World::new().await;
    world.prints("x\x1b[3");
    world.shown().await;
    let mut seen = world.engine.attach(&world.caller, ID, terminal()).await.unwrap();
    world.prints("1my\x1b[6");
    world.prints("nz");
    let mut viewer = Viewer::new(size());
    viewer.until(&mut seen, "z").await;
    assert_eq!(viewer.bytes, b"\x1b[31myz");
    assert_eq!(viewer.screen.text(), "xyz");
}

#[tokio::test]
async fn a_client_goes_on_where_it_was() {
    let mut world = World::new().await;
    let mut seen = world.engine.attach(&world.caller, ID, terminal()).await.unwrap();
    let mut viewer = Viewer::new(size());
    world.prints("one ");
    viewer.until(&mut seen, "one").await;
    drop(seen);
    world.prints("two \x1b[6nthree");
    world.shown().await;
    let again = Attach { from: Some(viewer.offset), ..terminal() };
    let mut seen = world.engine.attach(&world.caller, ID, again).await.unwrap();
    viewer.until(&mut seen, "three").await;
    assert_eq!((viewer.redraws, viewer.bytes.as_slice()), (1, b"one two three".as_slice()));
}

#[tokio::test]
async fn who_attaches_sizes_unless_they_only_look() {
    let mut world = World::new().await;
    let small = Size::new(20, 5).unwrap();
    let watch = Attach { terminal: Some(small), read_only: true, ..Attach::default() };
    let mut watcher = world.engine.attach(&world.caller, ID, watch).await.unwrap();
    world.prints("12345678901234567890-more");
    world.shown().await;
    assert_eq!(world.engine.info("7").unwrap().size, size());
    let mut viewer = Viewer::new(small);
    viewer.until(&mut watcher, "more").await;
    assert_eq!(viewer.screen.text(), "78901234567890-more", "the part around the cursor is shown");
    let typed = Attach { terminal: Some(small), ..Attach::default() };
    let _typist = world.engine.attach(&world.caller, ID, typed).await.unwrap();
    assert_eq!(world.engine.info("7").unwrap().size, small);
}

#[tokio::test]
async fn who_comes_back_with_the_size_it_had_sizes_nothing_until_it_types() {
    let world = World::new().await;
    let small = Size::new(20, 5).unwrap();
    let back = Attach { terminal: Some(small), quiet: true, ..Attach::default() };
    let seen = world.engine.attach(&world.caller, ID, back).await.unwrap();
    assert_eq!(world.engine.info("7").unwrap().size, size());
    let key = bytes::Bytes::from_static(b"x");
    world.engine.input(&world.caller, ID, seen.id, key).await.unwrap();
    world.shown().await;
    assert_eq!(world.engine.info("7").unwrap().size, small);
}

#[tokio::test]
async fn all_output_comes_before_the_end_and_the_end_comes_once() {
    let mut world = World::new().await;
    let mut house = world.engine.events();
    let mut seen = world.engine.attach(&world.caller, ID, Attach::default()).await.unwrap();
    world.prints("last words");
    world.ends(ExitStatus::Code(3));
    let mut printed = Vec::new();
    let end = loop {
        match next(&mut seen).await {
            Event::Output { bytes, .. } => printed.extend_from_slice(&bytes),
            Event::Redraw { why, .. } => assert_eq!(why, Why::Attached),
            Event::Ended(end) => break end,
            _ => {}
        }
    };
    assert_eq!(printed, b"last words");
    assert_eq!(end, greenroom_engine::End::Exited(ExitStatus::Code(3)));
    assert!(seen.next().await.is_none());
    let mut ends = 0;
    while let Ok(event) = house.try_recv() {
        ends += usize::from(matches!(event, HouseEvent::Ended(..)));
    }
    assert_eq!(ends, 1);
}

#[tokio::test]
async fn a_bell_and_a_title_are_told_once_a_turn() {
    let mut world = World::new().await;
    let mut house = world.engine.events();
    world.prints("\x07\x07\x07\x1b]2;one\x07\x1b]2;two\x07");
    world.shown().await;
    let mut told = Vec::new();
    while let Ok(event) = house.try_recv() {
        told.push(event);
    }
    assert_eq!(told, [HouseEvent::Title(ID, "two".to_owned()), HouseEvent::Bell(ID)]);
    assert_eq!(world.engine.info("seven").unwrap().title, "two");
}
