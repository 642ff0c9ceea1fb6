//! What is typed, and who may.

use std::time::Duration;

use bytes::Bytes;
use greenroom_engine::{Area, Attach, Caller, ErrorKind, Matcher, Pattern, Rights, Typed};
use greenroom_model::Offset;
use greenroom_proto::ToHolder;

use crate::fake::{ID, World, size, told};

#[tokio::test]
async fn keys_are_encoded_as_the_program_asked() {
    let mut world = World::new().await;
    let up = || Typed::Keys(vec!["up".parse().unwrap()]);
    world.engine.type_in(&world.caller, ID, up(), false).await.unwrap();
    assert_eq!(world.typed().await, "\x1b[A");
    world.prints("\x1b[?1h");
    world.shown().await;
    world.engine.type_in(&world.caller, ID, up(), true).await.unwrap();
    assert_eq!(world.typed().await, "\x1bOA\r");
}

#[tokio::test]
async fn who_only_looks_cannot_type() {
    let mut world = World::new().await;
    let looks = Caller { rights: Rights::NONE, ..world.caller.clone() };
    let text = Typed::Text("rm".to_owned());
    let error = world.engine.type_in(&looks, ID, text, false).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    let attach = Attach { terminal: Some(size()), read_only: true, ..Attach::default() };
    let seen = world.engine.attach(&world.caller, ID, attach).await.unwrap();
    let typed = Bytes::from_static(b"rm");
    world.engine.input(&world.caller, ID, seen.id, typed).await.unwrap();
    world.engine.type_in(&world.caller, ID, Typed::Text("ls".to_owned()), false).await.unwrap();
    assert_eq!(world.typed().await, "ls", "nothing of the watcher's came before");
}

#[tokio::test]
async fn a_program_that_does_not_read_is_an_error_to_who_types() {
    let world = World::new().await;
    // Typed by an attached client, it fills the terminal and then the queue.
    let attach = Attach { terminal: Some(size()), ..Attach::default() };
    let seen = world.engine.attach(&world.caller, ID, attach).await.unwrap();
    let engine = world.engine.clone();
    let (caller, id) = (world.caller.clone(), seen.id);
    let flood = tokio::spawn(async move {
        let bytes = Bytes::from(vec![b'x'; 4 << 20]);
        engine.input(&caller, ID, id, bytes).await
    });
    loop {
        let one = Typed::Text("y".repeat(2048));
        match world.engine.type_in(&world.caller, ID, one, false).await {
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Busy);
                break;
            }
            Ok(_) => tokio::task::yield_now().await,
        }
    }
    assert!(!flood.is_finished(), "the one who types on waits");
    assert_eq!(world.engine.info("7").unwrap().name, "seven", "everything else goes on");
    flood.abort();
}

#[tokio::test]
async fn a_selector_finds_by_number_name_and_beginning() {
    let world = World::new().await;
    for selector in ["7", "s7", "seven", "07070707", "native-0707"] {
        assert_eq!(world.engine.find(selector).unwrap(), ID, "{selector}");
    }
    for selector in ["8", "sev", "070", "native-"] {
        assert_eq!(world.engine.find(selector).unwrap_err().kind(), ErrorKind::NotFound);
    }
}

#[tokio::test]
async fn a_holder_that_lends_no_terminal_keeps_nobody_waiting() {
    let mut world = World::new().await;
    let attach = Attach { terminal: Some(size()), ..Attach::default() };
    let seen = world.engine.attach(&world.caller, ID, attach).await.unwrap();
    for _ in 0..3 {
        assert!(world.engine.tap(&world.caller, ID, seen.id, 0).await.unwrap().is_none());
    }
    world.hears(|it| matches!(it, ToHolder::Tap).then_some(())).await;
    let looks = Caller { rights: Rights::NONE, ..world.caller.clone() };
    let denied = world.engine.tap(&looks, ID, seen.id, 0).await.unwrap_err();
    assert_eq!(denied.kind(), ErrorKind::Denied);
}

#[tokio::test]
async fn a_wait_begins_where_something_was_typed_though_that_is_told_later() {
    let mut world = World::new().await;
    let attach = Attach { terminal: Some(size()), ..Attach::default() };
    let seen = world.engine.attach(&world.caller, ID, attach).await.unwrap();
    let (master, _slave) = greenroom_pty::open(size()).unwrap();
    world.lends(&greenroom_pty::Intake::new(&master, Offset::START).unwrap());
    world.prints("$ ");
    world.shown().await;
    assert!(world.engine.tap(&world.caller, ID, seen.id, 0).await.unwrap().is_some());
    assert!(world.engine.tap(&world.caller, ID, seen.id, 9).await.unwrap().is_none(), "it typed 9");
    let at = Offset(2);
    // The client typed `make` by itself, and its echo and the output came before it said so.
    world.prints("make\r\ndone\r\n");
    world.shown().await;
    let typed = (at, Bytes::from_static(b"make\r"));
    world.engine.typed(&world.caller, ID, seen.id, typed).await.unwrap();
    let wait = |text: &str| {
        let matcher = Matcher::Text(Pattern::literal(text, false).unwrap(), Area::Output);
        world.engine.wait(ID, matcher, Some(Duration::from_millis(50)), None, told)
    };
    assert!(wait("done").await.is_ok());
    assert_eq!(wait("make").await.unwrap_err().kind(), ErrorKind::Timeout, "it is an echo");
}
