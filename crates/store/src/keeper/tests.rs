//! The keeper: answers, trouble with the disk, and the end.

use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use greenroom_model::SessionId;

use super::{Health, Keeper};
use crate::store::tests::{Place, ended, entry, fill, make_room, session};
use crate::{Kind, Opened, Store, StoreError};

/// Longer than any answer takes; reaching it fails the test.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sends a request and waits for its answer.
fn ask<T: Send + 'static>(request: impl FnOnce(Reply<T>)) -> Result<T, StoreError> {
    let (sender, answers) = mpsc::channel();
    request(Box::new(move |answer| sender.send(answer).unwrap()));
    answers.recv_timeout(PATIENCE).expect("the keeper answers")
}

type Reply<T> = Box<dyn FnOnce(Result<T, StoreError>) + Send>;

/// A keeper and what it tells of its health.
fn start(place: &Place) -> (Keeper, Receiver<Health>) {
    let (sender, told) = mpsc::channel();
    let (keeper, _) =
        Keeper::start(&place.path, move |health| sender.send(health.clone()).unwrap()).unwrap();
    (keeper, told)
}

/// Does something to the store on its own thread.
fn on_store(keeper: &Keeper, act: fn(&Store)) {
    let work = move |store: &Store| {
        act(store);
        Ok(())
    };
    ask(|answer: Reply<()>| keeper.ask(move |it| it.read(work), answer)).unwrap();
}

#[test]
fn requests_are_answered_in_the_order_they_were_sent() {
    let place = Place::new();
    let (keeper, opened) = Keeper::start(&place.path, |_| {}).unwrap();
    assert_eq!(opened, Opened::Fresh);
    assert_eq!(ask(|it| keeper.reserve_id(it)).unwrap(), SessionId(1));
    keeper.alive(session(1));
    keeper.alive(session(2));
    keeper.audit(entry("made"));
    assert_eq!(ask(|it| keeper.living(it)).unwrap(), [session(1), session(2)]);
    ask(|it| keeper.ended(ended(1, 5), Some(b"last".to_vec()), it)).unwrap();
    assert_eq!(ask(|it| keeper.list_ended(it)).unwrap(), [ended(1, 5)]);
    assert_eq!(ask(|it| keeper.checkpoint_of(SessionId(1), it)).unwrap().unwrap(), b"last");
    assert!(ask(|it| keeper.rename(SessionId(2), "new".to_owned(), it)).unwrap());
    assert!(ask(|it| keeper.forget(SessionId(1), it)).unwrap());
    assert_eq!(ask(|it| keeper.audit_tail(9, it)).unwrap(), [entry("made")]);
    assert_eq!(ask(|it| keeper.next_id(it)).unwrap(), SessionId(3));
    keeper.raise_next(SessionId(40));
    assert_eq!(ask(|it| keeper.reserve_id(it)).unwrap(), SessionId(40));
    assert_eq!(keeper.health(), Health { ok: true, ..Health::default() });
}

#[test]
fn closing_does_first_what_was_asked() {
    let place = Place::new();
    let (keeper, _told) = start(&place);
    for id in 1..=500 {
        keeper.alive(session(id));
    }
    let health = keeper.close();
    assert_eq!((health.ok, health.pending), (true, 0));
    assert_eq!(place.open().living().unwrap().len(), 500);
    assert_eq!(place.others(), [""; 0], "the log is written back");
}

#[test]
fn a_full_disk_is_told_and_caught_up_with() {
    let place = Place::new();
    let (keeper, told) = start(&place);
    keeper.alive(session(1));
    on_store(&keeper, fill);
    let blob = vec![5; 200_000];
    let error = ask(|it| keeper.ended(ended(1, 9), Some(blob.clone()), it)).unwrap_err();
    assert_eq!(error.kind(), Kind::Full, "the holder is not released");
    let ill = told.recv_timeout(PATIENCE).expect("told that it is ill");
    assert!(!ill.ok && ill.error.unwrap().contains("no space left for the store"));

    for id in 2..=60 {
        keeper.alive(session(id));
        keeper.audit(entry("while full"));
    }
    keeper.alive(crate::Session { name: "later".to_owned(), ..session(60) });
    keeper.renamed(SessionId(59), "renamed".to_owned());
    assert_eq!(ask(|it| keeper.reserve_id(it)).unwrap(), SessionId(61), "numbers go on");
    assert_eq!(ask(|it| keeper.reserve_id(it)).unwrap(), SessionId(62));
    assert!(keeper.health().pending > 0, "{:?}", keeper.health());

    on_store(&keeper, make_room);
    let well = told.recv_timeout(PATIENCE).expect("told that it is well");
    assert_eq!((well.ok, well.error, well.pending, well.dropped), (true, None, 0, 0));
    ask(|it| keeper.ended(ended(1, 9), Some(blob.clone()), it)).unwrap();
    assert_eq!(ask(|it| keeper.reserve_id(it)).unwrap(), SessionId(63));
    assert_eq!(keeper.close().pending, 0);

    let store = place.open();
    assert_eq!(store.living().unwrap().len(), 59);
    assert_eq!(store.living().unwrap()[57].name, "renamed");
    assert_eq!(store.living().unwrap()[58].name, "later");
    assert_eq!(store.audit_tail(100).unwrap().len(), 59);
    assert_eq!(store.checkpoint_of(SessionId(1)).unwrap().unwrap(), blob);
}

#[test]
fn a_refused_record_alone_makes_the_store_try_again() {
    let place = Place::new();
    let (keeper, told) = start(&place);
    on_store(&keeper, fill);
    ask(|it| keeper.ended(ended(1, 9), Some(vec![5; 200_000]), it)).unwrap_err();
    assert!(!told.recv_timeout(PATIENCE).expect("told that it is ill").ok);
    assert_eq!(keeper.health().pending, 0);
    assert!(told.recv_timeout(PATIENCE).expect("told that it is well").ok);
}

#[test]
fn what_waits_for_the_disk_is_bounded_and_counted() {
    let place = Place::new();
    let (keeper, _told) = start(&place);
    on_store(&keeper, fill);
    ask(|it| keeper.ended(ended(1, 9), Some(vec![5; 200_000]), it)).unwrap_err();
    // In portions, so that the queue to the thread is not the bound that is met.
    for _ in 0..5 {
        (0..1000).for_each(|_| keeper.audit(entry(&"x".repeat(100_000))));
        ask(|it| keeper.audit_tail(0, it)).unwrap();
    }
    // Tried again meanwhile, the disk may have had room for some.
    let written = ask(|it| keeper.audit_tail(5000, it)).unwrap().len() as u64;
    let health = keeper.health();
    assert!(health.pending <= 4096, "{health:?}");
    assert_eq!(written + health.pending as u64 + health.dropped, 5000, "{health:?}");
}

#[test]
fn a_note_that_can_never_be_written_holds_nothing_up() {
    let place = Place::new();
    let (keeper, _told) = start(&place);
    keeper.alive(session(1));
    keeper.alive(crate::Session { uuid: [9; 16], ..session(1) });
    keeper.alive(session(u64::MAX));
    keeper.raise_next(SessionId(u64::MAX));
    keeper.alive(session(2));
    assert_eq!(ask(|it| keeper.living(it)).unwrap(), [session(1), session(2)]);
    let health = keeper.health();
    assert_eq!((health.ok, health.pending, health.dropped), (true, 0, 3));
    assert_eq!(ask(|it| keeper.reserve_id(it)).unwrap(), SessionId(3));
}

#[test]
fn requests_past_the_queue_are_refused_at_once() {
    let place = Place::new();
    let (keeper, _told) = start(&place);
    let (open_gate, gate) = mpsc::channel::<()>();
    keeper.living(move |_| gate.recv_timeout(PATIENCE).unwrap());
    let (sender, answers) = mpsc::channel();
    let mut sent = 0;
    let refused = loop {
        let sender = sender.clone();
        keeper.living(move |answer| sender.send(answer.map(drop)).unwrap());
        sent += 1;
        if let Ok(answer) = answers.try_recv() {
            break answer.unwrap_err();
        }
        assert!(sent <= 2 * super::QUEUE_MAX, "the queue has a bound");
    };
    assert_eq!(
        (refused.kind(), refused.to_string()),
        (Kind::Busy, "too many requests to the store are waiting".to_owned(),)
    );
    open_gate.send(()).unwrap();
    for _ in 1..sent {
        answers.recv_timeout(PATIENCE).expect("the others are answered").unwrap();
    }
}
