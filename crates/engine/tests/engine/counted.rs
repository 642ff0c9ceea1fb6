//! Clients that are told how much of what they typed was taken.

use std::num::NonZeroU64;

use bytes::Bytes;
use greenroom_engine::{Attach, Counted, Event, Lag, Subscription};
use greenroom_proto::{FromHolder, ToHolder};
use greenroom_pty::Tally;

use crate::fake::{Begin, ID, World, next, size};

fn attach(token: u64, before: bool) -> Attach {
    let counted = Some(Counted { token: NonZeroU64::new(token).unwrap(), before });
    Attach { terminal: Some(size()), counted, ..Attach::default() }
}

/// What the client is told next.
async fn taken(subscription: &mut Subscription) -> Option<u64> {
    loop {
        if let Event::Taken(taken) = next(subscription).await {
            return taken;
        }
    }
}

async fn counting() -> World {
    World::begin(Begin { tallies: true, ..Begin::default() }).await
}

fn bytes(count: usize) -> Bytes {
    (0..count).map(|it| b'a' + (it / 11 % 26) as u8).collect()
}

/// Types in the background: it takes as long as the terminal does.
fn types(world: &World, seen: &Subscription, bytes: Bytes) {
    let (engine, caller, id) = (world.engine.clone(), world.caller.clone(), seen.id);
    tokio::spawn(async move { engine.input(&caller, ID, id, bytes).await });
}

#[tokio::test]
async fn who_comes_back_is_told_how_far_it_came_and_nothing_is_typed_twice() {
    let all = bytes(2 << 20);
    let made = Tally::make().unwrap();
    let mut world = counting().await;
    let first = world.engine.attach(&world.caller, ID, attach(5, false)).await.unwrap();
    // Much of it waits in the session, and more before it.
    types(&world, &first, all.clone());
    world.hears(|it| matches!(it, ToHolder::Tally).then_some(())).await;
    world.gives_tally(&made);
    let mut typed = world.typed().await;
    let mut seen = world.engine.attach(&world.caller, ID, attach(5, true)).await.unwrap();
    let mut from = taken(&mut seen).await.unwrap() as usize;
    assert!((1..all.len()).contains(&from), "{from}");
    // And once more, without having typed anything.
    let mut seen = world.engine.attach(&world.caller, ID, attach(5, true)).await.unwrap();
    from = from.max(taken(&mut seen).await.unwrap() as usize);
    types(&world, &seen, all.slice(from..));
    while typed.len() < all.len() {
        typed += &world.typed().await;
    }
    assert!(typed.as_bytes() == all);
    let told = loop {
        let told = taken(&mut seen).await.unwrap() as usize;
        if all.len() - told < 64 << 10 {
            break told;
        }
    };
    assert!(told <= all.len());
    drop(first);
}

#[tokio::test]
async fn the_next_daemon_knows_and_one_client_is_not_another() {
    let made = Tally::make().unwrap();
    let mut world = counting().await;
    let seen = world.engine.attach(&world.caller, ID, attach(5, false)).await.unwrap();
    types(&world, &seen, Bytes::from_static(b"five"));
    world.hears(|it| matches!(it, ToHolder::Tally).then_some(())).await;
    world.gives_tally(&made);
    assert_eq!(world.typed().await, "five");
    drop(world);
    let mut world = counting().await;
    world.gives_tally(&made);
    let mut five = world.engine.attach(&world.caller, ID, attach(5, true)).await.unwrap();
    assert_eq!(taken(&mut five).await, Some(4));
    // What this one sent to the daemon before was not typed.
    let mut six = world.engine.attach(&world.caller, ID, attach(6, true)).await.unwrap();
    assert_eq!(taken(&mut six).await, Some(0));
    types(&world, &six, Bytes::from_static(b"six"));
    assert_eq!(world.typed().await, "six");
}

#[tokio::test]
async fn somebody_who_does_not_read_keeps_nobody_from_typing() {
    let made = Tally::make().unwrap();
    let mut world = counting().await;
    let slow = Attach { lag: Lag::Block, ..Attach::default() };
    let _slow = world.engine.attach(&world.caller, ID, slow).await.unwrap();
    let seen = world.engine.attach(&world.caller, ID, attach(5, false)).await.unwrap();
    // More than the way to a client holds: the holder is not heard any more.
    (0..3).for_each(|_| world.prints(bytes(40_000)));
    types(&world, &seen, Bytes::from_static(b"x"));
    world.hears(|it| matches!(it, ToHolder::Tally).then_some(())).await;
    world.gives_tally(&made);
    assert_eq!(world.typed().await, "x");
}

#[tokio::test]
async fn of_who_was_forgotten_nobody_knows() {
    let made = Tally::make().unwrap();
    let (terminal, _slave) = greenroom_pty::open(size()).unwrap();
    let made_again = made.each_ref().map(|it| it.try_clone().unwrap());
    let before = Tally::new(made_again, std::os::fd::AsFd::as_fd(&terminal)).unwrap();
    assert!((1000..2000).all(|other| before.typist(other, |_| false).is_some()));
    let mut world = counting().await;
    world.gives_tally(&made);
    let mut seen = world.engine.attach(&world.caller, ID, attach(5, true)).await.unwrap();
    assert_eq!(taken(&mut seen).await, None);
    types(&world, &seen, Bytes::from_static(b"x"));
    assert_eq!(world.typed().await, "x");
}

#[tokio::test]
async fn a_holder_that_cannot_count_keeps_nobody_from_typing() {
    for tallies in [false, true] {
        let mut world = World::begin(Begin { tallies, ..Begin::default() }).await;
        let mut seen = world.engine.attach(&world.caller, ID, attach(5, false)).await.unwrap();
        types(&world, &seen, Bytes::from_static(b"x"));
        if tallies {
            // It has no memory for it.
            world.hears(|it| matches!(it, ToHolder::Tally).then_some(())).await;
            world.say(&FromHolder::Tally { given: false });
        }
        assert_eq!(world.typed().await, "x");
        assert_eq!(taken(&mut seen).await, None, "{tallies}");
    }
}

#[tokio::test]
async fn what_others_type_comes_in_between_and_is_not_counted() {
    let made = Tally::make().unwrap();
    let mut world = counting().await;
    world.gives_tally(&made);
    let mut seen = world.engine.attach(&world.caller, ID, attach(7, false)).await.unwrap();
    types(&world, &seen, bytes(100_000));
    let mut typed = 0;
    while typed < 100_000 {
        typed += world.typed().await.len();
    }
    let text = greenroom_engine::Typed::Text("!".to_owned());
    world.engine.type_in(&world.caller, ID, text, false).await.unwrap();
    assert_eq!(world.typed().await, "!");
    let told = taken(&mut seen).await.unwrap();
    assert!((64 << 10..=100_000).contains(&told), "{told}");
}
