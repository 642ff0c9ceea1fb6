//! What is typed, and who may.

use bytes::Bytes;
use greenroom_engine::{Attach, Caller, ErrorKind, Rights, Typed};

use crate::fake::{ID, World, size};

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
