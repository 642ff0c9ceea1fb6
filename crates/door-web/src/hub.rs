//! One session as many browsers see it: what it prints is filtered and put into words once.
//!
//! A hub looks at its session by one subscription and hands every piece to a *seat* of each client. A seat
//! is a bounded queue: who does not take theirs in time loses what is in it, is told so, and sees the
//! screen anew. So a browser that stands still costs a queue, and nobody else anything.
//!
//! A client that comes gets a seat first and then the history, which says up to which offset it goes;
//! what the seat has got of that by then is skipped. So there is no gap and no repeat.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use axum::extract::ws::Utf8Bytes;
use bytes::Bytes;
use greenroom_engine::{
    Attach, Caller, ClientId, End, Engine, Error, Event, Subscription, SubscriptionId, Why,
};
use greenroom_model::{Offset, SessionId, Size};
use greenroom_screen::{Filter, Policy};
use tokio::sync::Notify;

/// How much is put into one piece: many small outputs under load are one message.
const PIECE: usize = 64 << 10;

/// How many short answers wait for a client. Who asks and never listens gets no more.
const MAX_SAYINGS: usize = 64;

/// A piece of what a session printed, without what must not reach a terminal.
#[derive(Debug)]
pub(crate) struct Piece {
    /// The offset after the last byte it was made of.
    end: u64,
    /// Where to go on after it: a sequence or character that is not whole yet is before `end`.
    pub(crate) next: u64,
    bytes: Bytes,
    /// How far it goes at which offsets before its end: a history may end at any of them.
    marks: Vec<(u64, usize)>,
    words: OnceLock<Utf8Bytes>,
}

impl Piece {
    /// What of it a client has not seen that has seen everything up to an offset.
    pub(crate) fn unseen(&self, seen: u64) -> Bytes {
        let known = self.marks.iter().rev().find(|mark| mark.0 <= seen);
        self.bytes.slice(known.map_or(0, |mark| mark.1)..)
    }

    /// The same as a message, made once for all who have seen nothing of it.
    pub(crate) fn words(&self, seen: u64, make: impl FnOnce(&str, u64) -> Utf8Bytes) -> Utf8Bytes {
        let unseen = self.unseen(seen);
        let make = || make(&String::from_utf8_lossy(&unseen), self.next);
        match unseen.len() == self.bytes.len() {
            true => self.words.get_or_init(make).clone(),
            false => make(),
        }
    }
}

/// What a client is to be told next.
#[derive(Debug)]
pub(crate) enum Item {
    /// Something was printed, and up to this offset the client has seen it.
    Printed(Arc<Piece>, u64),
    /// It was too slow; it has to see everything anew.
    Lagged,
    /// An answer.
    Say(Utf8Bytes),
    /// Somebody else sized last.
    AskSize,
    /// It ended; nothing follows.
    Ended(End),
}

/// A client's place at a hub; one by itself is for somebody who sits at none.
#[derive(Debug, Default)]
pub(crate) struct Seat {
    queue: Mutex<Queue>,
    filled: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    pieces: VecDeque<Arc<Piece>>,
    bytes: usize,
    sayings: VecDeque<Utf8Bytes>,
    lagged: bool,
    ask_size: bool,
    ended: Option<End>,
    /// Up to here the client has seen it.
    seen: u64,
}

impl Seat {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn offer(&self, piece: &Arc<Piece>, bound: usize) {
        let mut queue = self.queue();
        if queue.lagged || piece.end <= queue.seen {
            return;
        }
        if queue.bytes + piece.bytes.len() > bound {
            queue.lagged = true;
            queue.bytes = 0;
            queue.pieces = VecDeque::new();
        } else {
            queue.bytes += piece.bytes.len();
            queue.pieces.push_back(Arc::clone(piece));
        }
        drop(queue);
        self.filled.notify_one();
    }

    fn change(&self, change: impl FnOnce(&mut Queue)) {
        change(&mut self.queue());
        self.filled.notify_one();
    }

    /// Answers a client.
    pub(crate) fn say(&self, words: Utf8Bytes) {
        self.change(|queue| {
            if queue.sayings.len() < MAX_SAYINGS {
                queue.sayings.push_back(words);
            }
        });
    }

    /// The client has seen everything up to an offset.
    pub(crate) fn saw(&self, offset: u64) {
        let mut queue = self.queue();
        queue.seen = offset;
        queue.pieces.retain(|piece| piece.end > offset);
        queue.bytes = queue.pieces.iter().map(|piece| piece.bytes.len()).sum();
    }

    /// From now on the client gets what is printed again.
    pub(crate) fn catch_up(&self) {
        self.queue().lagged = false;
    }

    /// What the client is to be told next.
    pub(crate) async fn next(&self) -> Item {
        loop {
            let filled = self.filled.notified();
            if let Some(item) = self.take() {
                return item;
            }
            filled.await;
        }
    }

    fn take(&self) -> Option<Item> {
        let mut queue = self.queue();
        if let Some(words) = queue.sayings.pop_front() {
            return Some(Item::Say(words));
        }
        if std::mem::take(&mut queue.ask_size) {
            return Some(Item::AskSize);
        }
        if queue.lagged {
            return Some(Item::Lagged);
        }
        if let Some(piece) = queue.pieces.pop_front() {
            queue.bytes -= piece.bytes.len();
            return Some(Item::Printed(piece, queue.seen));
        }
        queue.ended.take().map(Item::Ended)
    }
}

/// All hubs, by session.
#[derive(Default)]
pub(crate) struct Hubs(Mutex<BTreeMap<SessionId, Weak<Hub>>>);

/// One session, as many browsers see it.
pub(crate) struct Hub {
    engine: Engine,
    session: SessionId,
    subscription: SubscriptionId,
    inner: Mutex<Inner>,
    /// A seat was left.
    left: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    seats: Vec<(ClientId, Arc<Seat>)>,
    /// Nobody can sit down any more.
    closed: bool,
    ended: Option<End>,
    /// Who said their size last.
    sizer: Option<ClientId>,
    /// The last to leave said farewell.
    farewell: bool,
}

/// A client at a hub; it leaves when this is dropped.
pub(crate) struct Guest {
    hub: Arc<Hub>,
    pub(crate) seat: Arc<Seat>,
    caller: Caller,
}

impl Hubs {
    fn all(&self) -> MutexGuard<'_, BTreeMap<SessionId, Weak<Hub>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sits down at the hub of a session that lives, which is made if there is none.
    ///
    /// # Errors
    /// The session has ended.
    pub(crate) async fn join(
        &self,
        engine: &Engine,
        caller: &Caller,
        session: SessionId,
    ) -> Result<Guest, Error> {
        let there = self.all().get(&session).and_then(Weak::upgrade);
        if let Some(guest) = there.and_then(|hub| hub.sit(caller)) {
            return Ok(guest);
        }
        let subscription = engine.attach(caller, session, Attach::default()).await?;
        let begin = engine.look(session, |screen| (screen.offset(), screen.unfinished())).await?;
        let hub = Arc::new(Hub {
            engine: engine.clone(),
            session,
            subscription: subscription.id,
            inner: Mutex::default(),
            left: Notify::new(),
        });
        let guest = hub.sit(caller).ok_or(Error::Ended(session))?;
        {
            let mut all = self.all();
            all.retain(|_, hub| hub.strong_count() > 0);
            all.insert(session, Arc::downgrade(&hub));
        }
        tokio::spawn(carry(hub, subscription, begin));
        Ok(guest)
    }
}

impl Hub {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sit(self: &Arc<Hub>, caller: &Caller) -> Option<Guest> {
        let mut inner = self.inner();
        if inner.closed {
            return None;
        }
        let queue = Queue { ended: inner.ended, ..Queue::default() };
        let seat = Arc::new(Seat { queue: Mutex::new(queue), filled: Notify::new() });
        inner.seats.push((caller.id, Arc::clone(&seat)));
        Some(Guest { hub: Arc::clone(self), seat, caller: caller.clone() })
    }

    fn hand_out(&self, piece: Piece, bound: usize) {
        if piece.bytes.is_empty() {
            return;
        }
        let piece = Arc::new(piece);
        self.inner().seats.iter().for_each(|(_, seat)| seat.offer(&piece, bound));
    }

    fn end(&self, end: End) {
        let mut inner = self.inner();
        inner.ended = Some(end);
        inner.seats.iter().for_each(|(_, seat)| seat.change(|queue| queue.ended = Some(end)));
    }

    /// Whether nobody sits here; then nobody can any more.
    fn close_if_empty(&self) -> bool {
        let mut inner = self.inner();
        inner.closed |= inner.seats.is_empty();
        inner.closed
    }
}

impl Guest {
    /// Types.
    ///
    /// # Errors
    /// The session has ended.
    pub(crate) async fn input(&self, bytes: Bytes) -> Result<(), Error> {
        let (hub, me) = (&self.hub, self.caller.id);
        {
            let mut inner = hub.inner();
            if inner.sizer.is_some_and(|sizer| sizer != me) {
                inner.sizer = Some(me);
                self.seat.change(|queue| queue.ask_size = true);
            }
        }
        hub.engine.input(&self.caller, hub.session, hub.subscription, bytes).await
    }

    /// Gives the session a size.
    ///
    /// # Errors
    /// The session has ended.
    pub(crate) async fn resize(&self, size: Size) -> Result<(), Error> {
        self.hub.inner().sizer = Some(self.caller.id);
        self.hub.engine.resize(&self.caller, self.hub.session, size).await
    }

    /// Leaves for good: nothing need be kept until it comes back.
    pub(crate) fn farewell(self) {
        self.hub.inner().farewell = true;
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut inner = self.hub.inner();
        inner.seats.retain(|(_, seat)| !Arc::ptr_eq(seat, &self.seat));
        inner.sizer = inner.sizer.filter(|sizer| *sizer != self.caller.id);
        drop(inner);
        self.hub.left.notify_one();
    }
}

/// What terminals in a browser are to get.
pub(crate) fn policy(engine: &Engine) -> Policy {
    Policy { clipboard: !engine.options().clipboard_write, ..Policy::default() }
}

/// Carries what a session prints to all seats, until it ends or everybody has left.
async fn carry(hub: Arc<Hub>, mut events: Subscription, begin: (Offset, Vec<u8>)) {
    let mut filter = Filter::new(policy(&hub.engine));
    // A sequence that was not whole when we came is passed on once it is.
    let _held_back = filter.feed(&begin.1);
    let mut at = begin.0.0;
    let (mut bytes, mut marks) = (Vec::new(), Vec::new());
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            () = hub.left.notified() => match hub.close_if_empty() {
                true => break,
                false => continue,
            },
        };
        let bound = hub.engine.options().lag_bytes;
        let mut next = event;
        let mut ended = next.is_none().then_some(End::Lost);
        while let Some(event) = next.take() {
            match event {
                Event::Output { end, bytes: raw } if end.0 > at => {
                    let known = (raw.len() as u64).saturating_sub(end.0 - at);
                    marks.push((at, bytes.len()));
                    bytes.extend_from_slice(&filter.feed(&raw[known as usize..]));
                    at = end.0;
                }
                Event::Redraw { at: redrawn, why: Why::Lagged, .. } => {
                    // We were too slow ourselves, which should not be: everybody sees it anew.
                    filter = Filter::new(policy(&hub.engine));
                    (at, bytes, marks) = (redrawn.0, Vec::new(), Vec::new());
                    let inner = hub.inner();
                    inner.seats.iter().for_each(|it| it.1.change(|queue| queue.lagged = true));
                }
                Event::Ended(end) => ended = Some(end),
                _ => {}
            }
            if bytes.len() < PIECE && ended.is_none() {
                next = events.try_next();
            }
        }
        let piece = Piece {
            end: at,
            next: at - filter.undecided().min(at),
            bytes: Bytes::from(std::mem::take(&mut bytes)),
            marks: std::mem::take(&mut marks),
            words: OnceLock::new(),
        };
        hub.hand_out(piece, bound);
        if let Some(end) = ended {
            hub.end(end);
            break;
        }
    }
    // A browser that was cut off comes back and wants to go on; one that left does not.
    if hub.inner().farewell {
        hub.engine.detach(hub.session, hub.subscription).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat() -> Seat {
        Seat { queue: Mutex::default(), filled: Notify::new() }
    }

    fn piece(end: u64, text: &'static str) -> Arc<Piece> {
        let bytes = Bytes::from_static(text.as_bytes());
        let marks = vec![(end - text.len() as u64, 0)];
        Arc::new(Piece { end, next: end, bytes, marks, words: OnceLock::new() })
    }

    #[test]
    fn what_the_history_had_is_skipped() {
        let seat = seat();
        seat.offer(&piece(3, "abc"), 100);
        seat.offer(&piece(5, "de"), 100);
        seat.saw(3);
        seat.offer(&piece(2, "ol"), 100);
        assert!(matches!(seat.take(), Some(Item::Printed(it, 3)) if it.end == 5));
        assert!(seat.take().is_none());
    }

    #[test]
    fn who_is_too_slow_loses_the_queue_and_is_told_so() {
        let seat = seat();
        seat.offer(&piece(3, "abc"), 4);
        seat.offer(&piece(6, "def"), 4);
        seat.change(|queue| queue.ended = Some(End::Lost));
        seat.offer(&piece(9, "ghi"), 4);
        assert!(matches!(seat.take(), Some(Item::Lagged)));
        assert_eq!(seat.queue().bytes, 0);
        seat.saw(6);
        seat.catch_up();
        seat.offer(&piece(9, "ghi"), 4);
        assert!(matches!(seat.take(), Some(Item::Printed(it, 6)) if it.end == 9));
        assert!(matches!(seat.take(), Some(Item::Ended(End::Lost))));
        assert!(seat.take().is_none());
    }

    #[test]
    fn a_piece_is_cut_where_a_history_ended() {
        let (bytes, marks) = (Bytes::from_static(b"abcdef"), vec![(10, 0), (12, 2), (15, 5)]);
        let piece = Piece { end: 16, next: 16, bytes, marks, words: OnceLock::new() };
        assert_eq!(&piece.unseen(0)[..], b"abcdef");
        assert_eq!(&piece.unseen(10)[..], b"abcdef");
        assert_eq!(&piece.unseen(12)[..], b"cdef");
        assert_eq!(&piece.unseen(15)[..], b"f");
        let words = |seen| piece.words(seen, |text, _| text.into());
        assert_eq!(words(12).as_str(), "cdef");
        assert_eq!(words(0).as_str(), "abcdef");
    }

    #[test]
    fn only_so_many_answers_wait() {
        let seat = seat();
        (0..2 * MAX_SAYINGS).for_each(|_| seat.say(Utf8Bytes::from_static("pong")));
        let count = std::iter::from_fn(|| seat.take()).count();
        assert_eq!(count, MAX_SAYINGS);
    }
}
