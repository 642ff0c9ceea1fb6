//! Which request of a connection runs behind which, and which notifications wait for which answer.
//!
//! Requests on one session or adapter run one after the other, in the order they came, as clients
//! that send many at once expect; those on different ones run side by side. A wait lets those
//! behind it go on, so that it can be fulfilled, or cancelled, on the connection that made it. What is
//! typed and not read lets others go on as well, and keeps only its place among what is typed.
//!
//! Not here: what a request is on (`methods`), and how far it has come with what it types (`typing`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use greenroom_model::SessionId;
use tokio::sync::{Notify, watch};

use crate::methods::Order;
use crate::typing::{Stage, Typing};

/// How long notifications of a session are held back for the answer of a request on it. Longer than a
/// kill takes.
const HOLD_BACK: Duration = Duration::from_secs(10);

/// The requests that others may have to wait for.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// The last request on each session or adapter, and the last that concerns all.
    tails: BTreeMap<String, watch::Receiver<Stage>>,
    /// The last request on each session or adapter that types: who types comes behind it, whatever it
    /// overtakes.
    typists: BTreeMap<String, watch::Receiver<Stage>>,
    /// All requests that type and are not answered.
    typing: Vec<watch::Receiver<Stage>>,
}

/// Whether something may still have to wait for a request.
fn is_under_way(request: &watch::Receiver<Stage>) -> bool {
    request.has_changed().is_ok() && !request.borrow().lets_go
}

impl Queue {
    /// Takes a place behind what a request must wait for; the next is behind it. The key says what it is
    /// on, if it is on something.
    pub(crate) fn line_up(&mut self, order: &Order, key: String, typing: &Typing) -> Before {
        let mut before = Before::default();
        self.tails.retain(|_, tail| is_under_way(tail));
        self.typists.retain(|_, typist| is_under_way(typist));
        self.typing.retain(|typing| typing.has_changed().is_ok());
        match order {
            Order::AtOnce => {}
            // Behind everything, and everything behind it.
            Order::All => {
                before.others.extend(self.tails.values().cloned());
                self.tails.insert(String::new(), typing.watch());
            }
            Order::On { types, interrupts, .. } => {
                let tails = ["", &key].map(|key| self.tails.get(key).cloned());
                before.others.extend(tails.into_iter().flatten());
                self.tails.insert(key.clone(), typing.watch());
                before.interrupts = *interrupts;
                if *types {
                    before.typist = self.typists.get(&key).cloned();
                    self.typing.push(typing.watch());
                    // Who interrupts may overtake it, and others must not.
                    if before.typist.is_none() || !interrupts {
                        self.typists.insert(key, typing.watch());
                    }
                }
            }
        }
        before
    }

    /// How many requests wait for a terminal that does not take what is typed.
    pub(crate) fn stuck(&self) -> usize {
        let waits = |it: &&watch::Receiver<Stage>| it.has_changed().is_ok() && it.borrow().stuck;
        self.typing.iter().filter(waits).count()
    }
}

/// What a request waits for.
#[derive(Debug, Default)]
pub(crate) struct Before {
    /// Until they are stuck at the most.
    others: Vec<watch::Receiver<Stage>>,
    /// Until all of it is on its way, however long that takes.
    typist: Option<watch::Receiver<Stage>>,
    interrupts: bool,
}

impl Before {
    /// Waits until it is this request's turn; says whether others may have gone before it meanwhile.
    pub(crate) async fn over(self, typing: &Typing) -> bool {
        for other in self.others {
            Typing::pass(other).await;
        }
        match self.typist {
            Some(typist) => typing.come_behind(typist, self.interrupts).await,
            None => false,
        }
    }
}

/// The requests that are answered before notifications of what they caused. Cheap to clone.
#[derive(Debug, Default, Clone)]
pub(crate) struct Busy(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    underway: Mutex<Underway>,
    /// Some request was answered.
    answered: Notify,
}

/// The requests that are not answered, by the order in which they began.
#[derive(Debug, Default)]
struct Underway {
    sessions: BTreeMap<SessionId, BTreeSet<u64>>,
    /// Those that may make a session.
    makers: BTreeSet<u64>,
    /// How many there were.
    begun: u64,
}

impl Underway {
    /// Whether one on a session, or one that may have made it, began before so many others had.
    fn has(&self, session: SessionId, before: u64) -> bool {
        let of_session = self.sessions.get(&session).and_then(BTreeSet::first);
        of_session.into_iter().chain(self.makers.first()).any(|&began| began < before)
    }
}

impl Busy {
    fn underway(&self) -> MutexGuard<'_, Underway> {
        self.0.underway.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request on a session, if it is on one that notifications wait for.
    pub(crate) fn on(&self, session: Option<SessionId>) -> Unanswered {
        self.begin(session, false)
    }

    /// A request that may make a session.
    pub(crate) fn maker(&self) -> Unanswered {
        self.begin(None, true)
    }

    fn begin(&self, session: Option<SessionId>, maker: bool) -> Unanswered {
        let mut underway = self.underway();
        let began = underway.begun;
        underway.begun += 1;
        if let Some(session) = session {
            underway.sessions.entry(session).or_default().insert(began);
        }
        if maker {
            underway.makers.insert(began);
        }
        Unanswered { busy: self.clone(), session, began, ended: AtomicBool::new(false) }
    }

    /// Whether a request on a session is not answered.
    pub(crate) fn is_on(&self, session: SessionId) -> bool {
        self.underway().has(session, u64::MAX)
    }

    /// Waits until those requests on a session are answered that are not by now. Others that come meanwhile did
    /// not cause what there is to tell, and a client that always asks something is told of it all the same.
    pub(crate) async fn answered(&self, session: SessionId) {
        let begun = self.underway().begun;
        let answered = async {
            loop {
                let answered = self.0.answered.notified();
                if !self.underway().has(session, begun) {
                    return;
                }
                answered.await;
            }
        };
        let _late = tokio::time::timeout(HOLD_BACK, answered).await;
    }
}

/// A request that is not answered; notifications wait until it is, and this is dropped.
#[derive(Debug)]
pub(crate) struct Unanswered {
    busy: Busy,
    session: Option<SessionId>,
    began: u64,
    ended: AtomicBool,
}

impl Unanswered {
    /// Notifications need not wait for it any longer.
    pub(crate) fn let_notes_go(&self) {
        if self.ended.swap(true, Ordering::Relaxed) {
            return;
        }
        {
            let mut underway = self.busy.underway();
            underway.makers.remove(&self.began);
            if let Some(session) = self.session
                && let Some(of_session) = underway.sessions.get_mut(&session)
            {
                of_session.remove(&self.began);
                if of_session.is_empty() {
                    underway.sessions.remove(&session);
                }
            }
        }
        self.busy.0.answered.notify_waiters();
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        self.let_notes_go();
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// A request of the tests, as it is under way.
    struct Asked {
        typing: Rc<Typing>,
        turn: std::pin::Pin<Box<dyn Future<Output = bool>>>,
    }

    fn on(types: bool) -> Order {
        Order::On { on: String::new(), waits: None, types, interrupts: false }
    }

    impl Asked {
        fn line_up(queue: &mut Queue, order: &Order, key: &str) -> Asked {
            let typing = Typing::default();
            let before = queue.line_up(order, key.to_owned(), &typing);
            let typing = Rc::new(typing);
            let own = Rc::clone(&typing);
            let turn = async move { before.over(&own).await };
            Asked { typing, turn: Box::pin(turn) }
        }

        /// Whether it is its turn; and if so, whether others may have gone before it.
        fn turn(&mut self) -> Option<bool> {
            match self.turn.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(overtaken) => Some(overtaken),
                Poll::Pending => None,
            }
        }
    }

    #[test]
    fn requests_on_one_session_run_one_after_the_other_and_on_others_beside() {
        let mut queue = Queue::default();
        let mut first = Asked::line_up(&mut queue, &on(false), "s1");
        let mut second = Asked::line_up(&mut queue, &on(false), "s1");
        let mut other = Asked::line_up(&mut queue, &on(false), "s2");
        assert_eq!(first.turn(), Some(false));
        assert_eq!(second.turn(), None);
        assert_eq!(other.turn(), Some(false));
        drop(first);
        assert_eq!(second.turn(), Some(false));
    }

    #[test]
    fn what_concerns_all_is_behind_all_and_all_behind_it() {
        let mut queue = Queue::default();
        let first = Asked::line_up(&mut queue, &on(false), "s1");
        let mut all = Asked::line_up(&mut queue, &Order::All, "");
        let mut other = Asked::line_up(&mut queue, &on(false), "s2");
        let mut at_once = Asked::line_up(&mut queue, &Order::AtOnce, "");
        assert_eq!(all.turn(), None);
        assert_eq!(at_once.turn(), Some(false));
        drop(first);
        assert_eq!(other.turn(), None);
        assert_eq!(all.turn(), Some(false));
        drop(all);
        assert_eq!(other.turn(), Some(false));
    }

    #[test]
    fn who_lets_go_is_waited_for_by_nobody() {
        let mut queue = Queue::default();
        let wait = Asked::line_up(&mut queue, &on(false), "s1");
        let mut behind = Asked::line_up(&mut queue, &on(false), "s1");
        assert_eq!(behind.turn(), None);
        wait.typing.let_go();
        assert_eq!(behind.turn(), Some(false));
        let mut later = Asked::line_up(&mut queue, &Order::All, "");
        drop(behind);
        assert_eq!(later.turn(), Some(false));
    }

    #[test]
    fn what_is_stuck_holds_up_only_what_is_typed() {
        let mut queue = Queue::default();
        let stuck = Asked::line_up(&mut queue, &on(true), "s1");
        let mut kill = Asked::line_up(&mut queue, &on(false), "s1");
        let mut typed = Asked::line_up(&mut queue, &on(true), "s1");
        assert_eq!((kill.turn(), queue.stuck()), (None, 0));
        stuck.typing.set_stuck(true);
        assert_eq!((kill.turn(), queue.stuck()), (Some(false), 1));
        drop(kill);
        assert_eq!(typed.turn(), None);
        drop(stuck);
        assert_eq!((typed.turn(), queue.stuck()), (Some(true), 0));
    }

    #[test]
    fn what_is_typed_slowly_holds_up_only_what_is_typed_and_no_interrupt() {
        let mut queue = Queue::default();
        let slow = Asked::line_up(&mut queue, &on(true), "s1");
        let mut kill = Asked::line_up(&mut queue, &on(false), "s1");
        let urgent = Order::On { on: String::new(), waits: None, types: true, interrupts: true };
        let mut interrupt = Asked::line_up(&mut queue, &urgent, "s1");
        let mut typed = Asked::line_up(&mut queue, &on(true), "s1");
        assert_eq!((kill.turn(), interrupt.turn(), typed.turn()), (None, None, None));
        slow.typing.linger(tokio::time::Instant::now() - Duration::from_secs(1));
        assert_eq!(kill.turn(), Some(false));
        drop(kill);
        assert_eq!(interrupt.turn(), Some(false));
        drop(interrupt);
        assert_eq!(typed.turn(), None);
        // What comes behind what is typed behind it waits for neither, nor does an interrupt.
        let mut late = Asked::line_up(&mut queue, &on(false), "s1");
        let mut interrupt = Asked::line_up(&mut queue, &urgent, "s1");
        assert_eq!(late.turn(), Some(false));
        drop(late);
        assert_eq!(interrupt.turn(), Some(false));
        drop(slow);
        assert_eq!(typed.turn(), Some(true));
    }

    #[test]
    fn notifications_of_a_session_wait_for_the_answers_on_it_alone() {
        let busy = Busy::default();
        let goes = |session: u64| {
            let mut answered = Box::pin(busy.answered(SessionId(session)));
            answered.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _entered = runtime.enter();
        let (first, second) = (busy.on(Some(SessionId(1))), busy.on(Some(SessionId(1))));
        assert_eq!([goes(1), goes(2)], [false, true]);
        first.let_notes_go();
        drop(first);
        assert!(!goes(1), "it was counted once");
        drop(second);
        assert!(goes(1));
        let maker = busy.maker();
        assert_eq!([goes(1), goes(2)], [false, false]);
        drop(maker);
        assert!(goes(2));
        // Who always asks something is told all the same.
        let asked = busy.on(Some(SessionId(1)));
        let mut answered = Box::pin(busy.answered(SessionId(1)));
        let mut poll = || answered.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll().is_pending());
        let _next = busy.on(Some(SessionId(1)));
        drop(asked);
        assert!(poll().is_ready());
    }
}
