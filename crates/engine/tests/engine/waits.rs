//! Waiting for something to happen.

use std::sync::Arc;
use std::time::Duration;

use greenroom_engine::{Area, ErrorKind, Matcher, Pattern, Scene, Typed, Waited};
use greenroom_model::{ExitStatus, Offset};

use crate::fake::{ID, World, told};

fn text(text: &str) -> Matcher {
    Matcher::Text(Pattern::literal(text, false).unwrap(), Area::Output)
}

const SHORT: Option<Duration> = Some(Duration::from_millis(50));

#[tokio::test]
async fn a_wait_ends_with_the_byte_that_fulfils_it() {
    let mut world = World::new().await;
    let engine = world.engine.clone();
    let wait = tokio::spawn(async move { engine.wait(ID, text("READY"), None, None, told).await });
    world.prints("not yet: REA");
    world.shown().await;
    assert!(!wait.is_finished());
    world.prints("DY");
    let waited = wait.await.unwrap().unwrap();
    assert_eq!((waited.outcome.text(), waited.offset), (Some("READY"), Offset(14)));
}

#[tokio::test]
async fn who_waits_one_after_the_other_sees_the_same_and_not_a_copy() {
    let mut world = World::new().await;
    world.prints("READY");
    world.shown().await;
    let wait = || {
        let look = |_: &Waited, scene: Scene<'_>| {
            (scene.snapshot(), Arc::clone(scene.shared_text()), scene.excerpt().alone())
        };
        world.engine.wait(ID, text("READY"), SHORT, Some(Offset::START), look)
    };
    let (one, two) = (wait().await.unwrap(), wait().await.unwrap());
    assert!(Arc::ptr_eq(&one.0, &two.0));
    assert!(Arc::ptr_eq(&one.1, &two.1) && Arc::ptr_eq(&one.2, &two.2));
    world.prints("!");
    world.shown().await;
    let three = world.engine.scene(ID, |scene| scene.snapshot()).await.unwrap();
    assert!(!Arc::ptr_eq(&one.0, &three), "it has changed");
    assert!(world.shown().await.contains("READY!"));
}

#[tokio::test]
async fn the_echo_does_not_fulfil_it() {
    let mut world = World::new().await;
    world.prints("$ ");
    world.shown().await;
    let line = Typed::Text("echo READY\n".to_owned());
    world.engine.type_in(&world.caller, ID, line, false).await.unwrap();
    world.prints("echo READY\r\n");
    world.shown().await;
    let error = world.engine.wait(ID, text("READY"), SHORT, None, told).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    world.prints("READY\r\n");
    world.engine.wait(ID, text("READY"), None, None, told).await.unwrap();
}

#[tokio::test]
async fn text_that_scrolled_by_in_one_turn_is_found() {
    let mut world = World::new().await;
    let engine = world.engine.clone();
    let wait = tokio::spawn(async move { engine.wait(ID, text("NEEDLE"), None, None, told).await });
    tokio::task::yield_now().await;
    world.prints(format!("NEEDLE\r\n{}", "hay\r\n".repeat(200)));
    wait.await.unwrap().unwrap();
    assert!(!world.shown().await.contains("NEEDLE"));
}

#[tokio::test]
async fn nothing_is_matched_in_the_middle_of_an_update() {
    let mut world = World::new().await;
    world.prints("\x1b[?2026hERROR");
    let screen = Matcher::Text(Pattern::literal("ERROR", false).unwrap(), Area::Screen);
    let engine = world.engine.clone();
    let wait = tokio::spawn(async move { engine.wait(ID, screen, SHORT, None, told).await });
    world.prints("\rfine \x1b[?2026l");
    assert_eq!(wait.await.unwrap().unwrap_err().kind(), ErrorKind::Timeout);
}

#[tokio::test]
async fn the_end_fulfils_some_and_ends_all() {
    let mut world = World::new().await;
    let engine = world.engine.clone();
    let any = Matcher::Any(vec![text("never"), Matcher::Exit]);
    let one = tokio::spawn({
        let engine = engine.clone();
        async move { engine.wait(ID, any, None, None, told).await }
    });
    let two = tokio::spawn(async move { engine.wait(ID, text("never"), None, None, told).await });
    world.shown().await;
    world.ends(ExitStatus::Code(0));
    let waited = one.await.unwrap().unwrap();
    assert_eq!((waited.outcome.index(), waited.ended), (Some(1), Some(ExitStatus::Code(0))));
    assert_eq!(two.await.unwrap().unwrap_err().kind(), ErrorKind::Ended);
}

#[tokio::test]
async fn quiet_is_measured_from_the_last_byte() {
    let mut world = World::new().await;
    world.prints("busy");
    world.shown().await;
    let quiet = Matcher::Idle(Duration::from_millis(80));
    let begin = std::time::Instant::now();
    world.engine.wait(ID, quiet, None, None, told).await.unwrap();
    // Not a bound on speed: less than this would be wrong.
    assert!(begin.elapsed() >= Duration::from_millis(40));
}

/// Thousands of states at once, on a text of noughts and ones that nobody can foresee.
const SLOW: &str = "[01]{40}[^01]{0,3}1[01]{100}2";

#[tokio::test]
async fn who_can_look_elsewhere_does_when_a_look_takes_long() {
    let mut world = World::new().await;
    let large = greenroom_model::Size::new(1000, 300).unwrap();
    world.engine.resize(&world.caller, ID, large).await.unwrap();
    let mut random = 1_u64;
    let digits: String = (0..200_000)
        .map(|_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if random >> 63 == 0 { '0' } else { '1' }
        })
        .collect();
    world.prints(&digits);
    world.shown().await;
    let slow = || Matcher::Text(Pattern::regex_of_all(SLOW).unwrap(), Area::Contents);
    assert!(slow().most_steps(digits.len()) > 100_000_000);
    let guest = world.engine.wait_as_guest(ID, slow(), None, told).await.unwrap();
    assert!(guest.is_none());
    // Who cannot waits on.
    let error = world.engine.wait(ID, slow(), SHORT, None, told).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    let quick = Matcher::Text(Pattern::literal("0", false).unwrap(), Area::Contents);
    let guest = world.engine.wait_as_guest(ID, quick, None, told).await.unwrap();
    assert!(guest.is_some());
}

#[tokio::test]
async fn a_wait_for_too_much_is_refused() {
    let world = World::new().await;
    let many = Matcher::Any((0..1000).map(|_| Matcher::Exit).collect());
    let error = world.engine.wait(ID, many, None, None, told).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}
