//! A client's view of one session: where it stands, then every change, cut at one offset.
//!
//! The session puts events in, the client takes them out. What lies between is counted in bytes
//! and bounded: past the bound the session stops sending, and when the client has taken all there
//! was, it is told so and brings the client up to date.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use greenroom_model::{Offset, Size};
use tokio::sync::{Notify, mpsc};

use crate::{Event, Info};

/// What an event costs beside its bytes, so that a flood of small ones is bounded, too.
const EVENT_COST: usize = 64;

/// A subscription's number, never used again while the daemon lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SubscriptionId(pub u64);

/// What happens to a client that does not keep up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lag {
    /// It misses bytes and gets a new picture.
    #[default]
    Skip,
    /// The program waits for it.
    Block,
    /// As [`Lag::Skip`]; but what it misses while it is cut off is kept for it, for a while.
    Keep,
}

/// How a client wants to see a session.
#[derive(Debug, Clone, Copy, Default)]
pub struct Attach {
    /// The client's terminal; without one it gets the bytes as the child wrote them.
    pub terminal: Option<Size>,
    /// Nobody said how large that terminal is: it is taken to be of the session's size, whatever that
    /// becomes, and sizes nothing until it says its own.
    pub follows: bool,
    /// It may not type and never sizes.
    pub read_only: bool,
    /// Go on from here if that is still known.
    pub from: Option<Offset>,
    /// What happens when it does not keep up.
    pub lag: Lag,
    /// Lines above the screen the first redraw brings along.
    pub history: usize,
    /// It comes back with the size it had: that is no news, and sizes nothing before it types or says a
    /// size.
    pub quiet: bool,
    /// Of more output than anybody can see it gets pictures; then what it missed of the lines above the screen,
    /// as many as it has there at first.
    pub pictures: bool,
    /// It wants to know how much of what it types is taken.
    pub counted: Option<Counted>,
}

/// A client whose typing is counted: it is told by [`Event::Taken`] how much of it the terminal took, also
/// when it comes back after its connection broke or its daemon ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// What it calls itself. Who comes with the same name is the same client, and the one before is gone.
    pub token: NonZeroU64,
    /// It has typed before, and types on only when it was told how much of that was taken.
    pub before: bool,
}

/// A client's view of one session.
#[derive(Debug)]
pub struct Subscription {
    /// Its number.
    pub id: SubscriptionId,
    /// The session, when the subscription began.
    pub info: Info,
    /// The offset the events begin at.
    pub start: Offset,
    events: mpsc::UnboundedReceiver<Event>,
    fill: Arc<Fill>,
    ended: bool,
}

/// How full the way to a client is. Both ends see it.
#[derive(Debug)]
pub(crate) struct Fill {
    bytes: AtomicUsize,
    /// The session wants to know when the client has taken everything.
    asked: AtomicBool,
    session: Arc<Notify>,
    closed: AtomicBool,
}

/// The session's end of a subscription.
#[derive(Debug)]
pub(crate) struct Outlet {
    events: mpsc::UnboundedSender<Event>,
    fill: Arc<Fill>,
}

impl Subscription {
    /// The next event; none after the end.
    pub async fn next(&mut self) -> Option<Event> {
        if self.ended {
            return None;
        }
        let event = self.events.recv().await?;
        self.took(&event);
        Some(event)
    }

    /// The next event, if one is there already.
    pub fn try_next(&mut self) -> Option<Event> {
        let event = self.events.try_recv().ok()?;
        self.took(&event);
        Some(event)
    }

    fn took(&mut self, event: &Event) {
        self.ended |= matches!(event, Event::Ended(_));
        let cost = cost(event);
        let left = self.fill.bytes.fetch_sub(cost, Ordering::AcqRel) - cost;
        if left == 0 && self.fill.asked.swap(false, Ordering::AcqRel) {
            self.fill.session.notify_one();
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.fill.closed.store(true, Ordering::Release);
        self.fill.session.notify_one();
    }
}

impl Outlet {
    /// Both ends of a new subscription. `session` is woken when a client has drained or gone.
    pub(crate) fn new(
        id: SubscriptionId,
        info: Info,
        start: Offset,
        session: Arc<Notify>,
    ) -> (Outlet, Subscription) {
        let (sender, events) = mpsc::unbounded_channel();
        let fill = Arc::new(Fill {
            bytes: AtomicUsize::new(0),
            asked: AtomicBool::new(false),
            session,
            closed: AtomicBool::new(false),
        });
        let outlet = Outlet { events: sender, fill: Arc::clone(&fill) };
        (outlet, Subscription { id, info, start, events, fill, ended: false })
    }

    /// Puts an event in. The bound is the caller's to mind.
    pub(crate) fn send(&self, event: Event) {
        self.fill.bytes.fetch_add(cost(&event), Ordering::AcqRel);
        // A client that is gone is noticed by `is_closed`.
        let _gone = self.events.send(event);
    }

    /// How many bytes the client has not taken yet.
    pub(crate) fn waiting(&self) -> usize {
        self.fill.bytes.load(Ordering::Acquire)
    }

    /// Asks to be told when the client has taken everything; false if it has already.
    pub(crate) fn ask_drained(&self) -> bool {
        self.fill.asked.store(true, Ordering::Release);
        self.waiting() > 0
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.fill.closed.load(Ordering::Acquire)
    }
}

fn cost(event: &Event) -> usize {
    let bytes: &Bytes = match event {
        Event::Output { bytes, .. } | Event::Redraw { bytes, .. } => bytes,
        Event::Title(text) | Event::Cwd(text) => return EVENT_COST + text.len(),
        Event::Notification { title, body } => return EVENT_COST + title.len() + body.len(),
        Event::Bell
        | Event::Mark(_)
        | Event::Progress(_)
        | Event::Resized(_)
        | Event::Taken(_)
        | Event::Ended(_) => return EVENT_COST,
    };
    EVENT_COST + bytes.len()
}
