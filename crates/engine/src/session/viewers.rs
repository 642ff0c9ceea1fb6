//! All who look at a session, and what each of them gets.
//!
//! A terminal of the session's size gets the output as it comes. One of another size gets
//! pictures. One that does not keep up gets nothing until it has taken all there was, and then a
//! redraw: it never slows the child or anybody else, unless it asked for exactly that.
//!
//! One of them is in `viewer`; who comes and goes, and what that means for the session, in `audience`.

mod viewer;

use std::num::NonZeroU64;
use std::sync::Arc;

use bytes::Bytes;
use greenroom_model::{Offset, Size};
use tokio::sync::Notify;
use tokio::time::Instant;

pub(super) use self::viewer::{Identity, Viewer};
use crate::info::Viewer as Seen;
use crate::{Event, Lag, SubscriptionId};

/// All who look.
#[derive(Debug)]
pub(super) struct Viewers {
    pub(super) all: Vec<Viewer>,
    pub(super) woken: Arc<Notify>,
    pub(super) due: Option<Instant>,
    pub(super) clock: u64,
}

impl Viewers {
    pub(super) fn new(woken: Arc<Notify>) -> Viewers {
        Viewers { all: Vec::new(), woken, due: None, clock: 0 }
    }

    /// Waits until somebody has taken everything, or left.
    pub(super) async fn drained(&self) {
        self.woken.notified().await;
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    pub(super) fn is_due(&self) -> bool {
        self.all.iter().any(Viewer::is_due)
    }

    /// Whether the program has to wait for somebody.
    pub(super) fn is_blocked(&self, lag: usize) -> bool {
        let behind = |viewer: &&Viewer| viewer.lag == Lag::Block && viewer.outlet.waiting() > lag;
        self.all.iter().filter(behind).any(|viewer| viewer.outlet.ask_drained())
    }

    pub(super) fn may_type(&self, id: SubscriptionId) -> bool {
        self.all.iter().any(|viewer| viewer.id == id && !viewer.read_only)
    }

    /// Notes that somebody typed.
    pub(super) fn typed(&mut self, id: SubscriptionId, bytes: usize) {
        if let Some(viewer) = self.all.iter_mut().find(|viewer| viewer.id == id) {
            viewer.typed += bytes as u64;
        }
    }

    /// What somebody calls itself whose typing is counted.
    pub(super) fn typist(&self, id: SubscriptionId) -> Option<NonZeroU64> {
        self.all.iter().find(|viewer| viewer.id == id)?.typist
    }

    /// Tells a client how much of what it typed was taken, or that nobody knows.
    pub(super) fn taken(&mut self, typist: NonZeroU64, event: &Event) {
        for viewer in self.all.iter_mut().filter(|viewer| viewer.typist == Some(typist)) {
            if *event == Event::Taken(None) {
                viewer.typist = None;
            }
            viewer.outlet.send(event.clone());
        }
    }

    /// Whether somebody who typed so many bytes may type and shows the output as it is.
    pub(super) fn sees_output(&self, id: SubscriptionId, typed: u64, size: Size) -> bool {
        let viewer = self.all.iter().find(|viewer| viewer.id == id && !viewer.read_only);
        viewer.is_some_and(|it| it.typed == typed && it.shows_output_as_it_is(size))
    }

    pub(super) fn has_terminals(&self) -> bool {
        self.all.iter().any(|viewer| viewer.terminal.is_some())
    }

    /// Hands output to everybody who keeps up: as it is, or what terminals are to get of it.
    pub(super) fn output(
        &mut self,
        (raw, end): (&Bytes, Offset),
        (passed, decided): (Option<Bytes>, Offset),
        (lag, top): (usize, u64),
    ) {
        for viewer in &mut self.all {
            if viewer.picture {
                viewer.dirty = true;
            } else if viewer.terminal.is_some() {
                if let Some(bytes) = passed.clone().filter(|bytes| !bytes.is_empty())
                    && !viewer.is_flooded(bytes.len(), top, lag)
                {
                    viewer.offer(Event::Output { end: decided, bytes }, lag);
                }
            } else {
                viewer.offer(Event::Output { end, bytes: raw.clone() }, lag);
            }
        }
    }

    /// Tells everybody who keeps up.
    pub(super) fn tell(&mut self, event: &Event, lag: usize) {
        for viewer in self.all.iter_mut().filter(|viewer| viewer.stale.is_none()) {
            if viewer.outlet.waiting() < lag {
                viewer.outlet.send(event.clone());
            }
        }
    }

    /// Tells everybody the last thing they will hear.
    pub(super) fn tell_end(&mut self, event: &Event) {
        for viewer in &self.all {
            viewer.outlet.send(event.clone());
        }
    }

    /// Waits until everybody has taken everything and gone.
    pub(super) async fn gone(&mut self) {
        loop {
            self.all.retain(|viewer| !viewer.outlet.is_closed());
            if self.all.is_empty() {
                return;
            }
            self.woken.notified().await;
        }
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.all.iter().map(Viewer::seen).collect()
    }

    /// How many bytes the slowest has not taken yet; of those nobody waits for, so many at most.
    pub(super) fn furthest_behind(&self, most: u64) -> u64 {
        let behind = self.all.iter().map(|viewer| {
            let waiting = viewer.outlet.waiting() as u64;
            let all = viewer.lag == Lag::Block || viewer.catching_up.is_some();
            if all { waiting } else { waiting.min(most) }
        });
        behind.max().unwrap_or(0)
    }
}
