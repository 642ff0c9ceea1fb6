//! How far a request has come with what it types, for the requests behind it and for the end of all.
//!
//! A program that does not read its terminal keeps what is typed waiting, perhaps for ever. Whoever types
//! next comes behind it all the same; anything else, above all what ends the program, does not wait for it. Nor
//! does it wait for what is typed slowly on purpose, into which even an interrupt may come.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use greenroom_engine::{Caller, Error};
use greenroom_model::SessionId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;

use crate::error::RpcError;
use crate::{Door, MAX_MESSAGE};

/// How long the terminal has to take what is typed before others go on, and notifications with them. Most take
/// it at once, and then answers come in the order of their requests, and before what they caused.
const TAKES_WITHIN: Duration = Duration::from_millis(50);

/// How far a request has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Stage {
    /// Whether the next may go on, whatever it does.
    pub(crate) lets_go: bool,
    /// Whether the terminal does not take what is typed.
    pub(crate) stuck: bool,
    /// Whether it is typed slowly, on purpose.
    lingers: bool,
}

/// How long what is typed waits for room behind what was typed before: a program may be busy for that long and read
/// again.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// How many bytes of requests that type a session may have under way: two of the longest. Each takes some three times
/// as much memory, and may wait for as long as the program does not read.
const UNDER_WAY: usize = 2 * MAX_MESSAGE;

/// The room that sessions have for requests that type, by what they are called.
#[derive(Debug, Default)]
pub(crate) struct Desks(Mutex<BTreeMap<String, Weak<Semaphore>>>);

/// The place that a request takes of it.
type Place = Arc<OwnedSemaphorePermit>;

impl Desks {
    /// A place for a request of so many bytes, if there is one.
    pub(crate) fn place(&self, on: &str, bytes: usize) -> Result<Place, RpcError> {
        let desk = self.desk(on);
        let place = u32::try_from(bytes).ok();
        let place = place.and_then(|bytes| desk.try_acquire_many_owned(bytes).ok());
        let full = || {
            let why = format!("what is to be typed waits already: at most {UNDER_WAY} bytes");
            RpcError::internal(why)
        };
        place.map(Arc::new).ok_or_else(full)
    }

    fn desk(&self, on: &str) -> Arc<Semaphore> {
        let mut desks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(desk) = desks.get(on).and_then(Weak::upgrade) {
            return desk;
        }
        desks.retain(|_, desk| desk.strong_count() > 0);
        let desk = Arc::new(Semaphore::new(UNDER_WAY));
        desks.insert(on.to_owned(), Arc::downgrade(&desk));
        desk
    }
}

/// How far a request has come, as it says itself; dropped when it is answered.
#[derive(Debug, Default)]
pub(crate) struct Typing {
    stage: watch::Sender<Stage>,
    place: Option<Place>,
}

impl Typing {
    /// Takes a place, to be kept until all is typed.
    pub(crate) fn take(&mut self, place: Place) {
        self.place = Some(place);
    }

    /// The place it takes, for who goes on typing when the request is gone.
    pub(crate) fn place(&self) -> Option<Place> {
        self.place.clone()
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Stage> {
        self.stage.subscribe()
    }

    /// The next may go on.
    pub(crate) fn let_go(&self) {
        self.stage.send_modify(|stage| stage.lets_go = true);
    }

    /// Says whether what it wants to type waits for the terminal.
    pub(crate) fn set_stuck(&self, stuck: bool) {
        self.stage.send_if_modified(|stage| std::mem::replace(&mut stage.stuck, stuck) != stuck);
    }

    /// What it types takes its time: since when is asked for, so that a short text is answered first.
    pub(crate) fn linger(&self, since: Instant) {
        let lingers = since.elapsed() >= TAKES_WITHIN;
        self.stage
            .send_if_modified(|stage| lingers && !std::mem::replace(&mut stage.lingers, true));
    }

    /// Ends when what is typed takes longer than notifications wait for an answer.
    pub(crate) async fn is_late(&self) {
        let mut stages = self.watch();
        let _late = stages.wait_for(|stage| stage.stuck || stage.lingers).await;
    }

    /// Ends when the terminal does not take what is typed.
    pub(crate) async fn stuck(&self) {
        // It is not closed: we have it.
        let mut stages = self.watch();
        let _stuck = stages.wait_for(|stage| stage.stuck).await;
    }

    /// Waits until what came before may be overtaken by what does not type.
    pub(crate) async fn pass(mut before: watch::Receiver<Stage>) {
        // Closed when it is answered.
        let may_pass = |stage: &Stage| stage.lets_go || stage.stuck || stage.lingers;
        let _answered = before.wait_for(may_pass).await;
    }

    /// Waits until what was typed before is all on its way, or typed slowly by somebody whom this interrupts; says
    /// whether others may have gone before it meanwhile. Until then it is as late as what it waits for.
    pub(crate) async fn come_behind(
        &self,
        mut before: watch::Receiver<Stage>,
        interrupts: bool,
    ) -> bool {
        let mut overtaken = false;
        loop {
            let stage = *before.borrow_and_update();
            let over = stage.lets_go
                || before.has_changed().is_err()
                || (interrupts && stage.lingers && !stage.stuck);
            let (stuck, lingers) = (stage.stuck && !over, stage.lingers && !over);
            overtaken |= stuck || lingers;
            self.stage.send_if_modified(|own| {
                let before = std::mem::replace(own, Stage { stuck, lingers, ..*own });
                before != *own
            });
            if over {
                return overtaken;
            }
            let _answered = before.changed().await;
        }
    }
}

/// Who types, and for which request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Typist<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) typing: &'a Typing,
    /// Whether it is all that the request types: once it is in the queue, others may type.
    pub(crate) last: bool,
}

impl Typist<'_> {
    /// Sees to its end what is typed, and tells when the terminal does not take it. What types behind it comes behind it
    /// once all of it is in the queue.
    pub(crate) async fn follow<T>(
        self,
        door: &Door,
        id: SessionId,
        typed: impl Future<Output = Result<T, Error>>,
        is_queued: impl Fn() -> bool,
    ) -> Result<T, Error> {
        tokio::pin!(typed);
        if let Ok(typed) = tokio::time::timeout(TAKES_WITHIN, &mut typed).await {
            return typed;
        }
        // A session does in order what it is asked: when it has looked, the keys before are in its queue.
        tokio::select! {
            biased;
            typed = &mut typed => return typed,
            _looked = door.engine.scene(id, |_| ()) => {}
        }
        self.typing.set_stuck(true);
        if self.last && is_queued() {
            self.typing.let_go();
        }
        let typed = typed.await;
        self.typing.set_stuck(false);
        typed
    }
}
