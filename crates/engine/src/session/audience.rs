//! Who comes to look at a session and who leaves, and what that means for it.
//!
//! Not here: what each of them gets (`viewers`).

use std::sync::Arc;

use greenroom_model::{Offset, Size};
use greenroom_screen::Filter;
use tokio::time::Instant;

use super::viewers::{Identity, Viewer, Viewers};
use super::{Reply, Session};
use crate::encore::missed;
use crate::event::HouseEvent;
use crate::subscription::Outlet;
use crate::{Attach, ClientId, Event, Lag, Subscription, SubscriptionId};

impl Session {
    pub(super) fn attach(&mut self, client: ClientId, attach: Attach, reply: Reply<Subscription>) {
        let id = self.house.next_subscription();
        // What was configured since holds for who comes now.
        self.options = self.house.options();
        self.viewers.clock += 1;
        let now_ms = crate::engine::now_ms();
        let begins = attach.from.and_then(|from| self.since(from, attach.terminal.is_some()));
        if let (Some(from), None) = (attach.from, &begins) {
            let known = self.journal.start();
            tracing::info!(session = %self.description.id, %from, %known, "a client cannot go on where it was");
        }
        let start = attach.from.filter(|_| begins.is_some()).unwrap_or_else(|| self.decided());
        let woken = Arc::clone(&self.viewers.woken);
        let (outlet, mut subscription) = Outlet::new(id, self.face.get(), start, woken);
        let active = if attach.read_only || attach.quiet { 0 } else { self.viewers.clock };
        let viewer = Viewer::new(Identity { id, client }, outlet, &attach, active);
        self.viewers.all.push(viewer);
        self.description.attached_ms = now_ms;
        self.face.lock().attached_ms = now_ms;
        self.filter_for_terminals();
        self.arrived(attach.lag);
        self.note_viewers();
        let before = self.screen.size();
        self.size_by_viewers();
        self.greet(begins.filter(|_| self.screen.size() == before));
        if let Some(counted) = attach.counted {
            self.counts_for(id, counted);
        }
        self.viewers_changed();
        subscription.info = self.face.get();
        if reply.send(Ok(subscription)).is_err() {
            self.detach(id);
        }
        self.house.tell(HouseEvent::Attached(self.description.id, client));
    }

    /// Sends who came last what it begins with.
    fn greet(&mut self, missed: Option<Vec<Event>>) {
        let drawn = (&self.screen, self.decided());
        if let Some(viewer) = self.viewers.all.last_mut() {
            viewer.greet(missed, drawn);
        }
    }

    /// What a client that comes back missed, if it is still known, in the pieces it came in.
    fn since(&self, from: Offset, terminal: bool) -> Option<Vec<Event>> {
        let end = if terminal { self.decided() } else { self.screen.offset() };
        missed(&self.journal, from, end, terminal.then(|| self.options.policy()))
    }

    /// How far it is decided what a terminal gets: an unfinished sequence is not.
    pub(super) fn decided(&self) -> Offset {
        let end = self.screen.offset();
        let undecided = match &self.filter {
            Some(filter) => filter.undecided(),
            None => self.screen.unfinished().len() as u64,
        };
        Offset(end.0 - undecided.min(end.0))
    }

    /// Filters while there are terminals. A filter that begins in the middle of a sequence must
    /// know how it began.
    fn filter_for_terminals(&mut self) {
        if !self.viewers.has_terminals() {
            self.filter = None;
        } else if self.filter.is_none() {
            let mut filter = Filter::new(self.options.policy());
            let _held_back = filter.feed(&self.screen.unfinished());
            self.filter = Some(filter);
        }
    }

    pub(super) fn detach(&mut self, id: SubscriptionId) {
        let Some(at) = self.viewers.all.iter().position(|viewer| viewer.id == id) else { return };
        let viewer = self.viewers.all.remove(at);
        viewer.typist.into_iter().for_each(|typist| self.counts_no_more(typist));
        self.filter_for_terminals();
        self.note_viewers();
        self.size_by_viewers();
        self.viewers_changed();
        self.house.tell(HouseEvent::Detached(self.description.id, viewer.client));
    }

    /// Redraws who has to be and may be, and notices who has left.
    pub(super) fn serve_viewers(&mut self, now: Instant, settled: bool) {
        let gone = self.viewers.all.iter().filter(|it| it.is_gone());
        for (id, lag) in gone.map(|it| (it.id, it.lag)).collect::<Vec<_>>() {
            // Not a word of farewell: it may have been cut off. One that is to be kept for comes with its
            // daemon: if that is here, it has ended.
            self.expect_back(if lag == Lag::Keep { Lag::Skip } else { lag });
            self.detach(id);
        }
        self.forget_absent(now);
        self.viewers.due = None;
        self.let_catch_up(now);
        if !settled {
            return;
        }
        let drawn = (&self.screen, self.decided());
        let Viewers { all, due, .. } = &mut self.viewers;
        let later = all.iter_mut().filter_map(|viewer| viewer.bring_up_to_date(drawn, now));
        *due = later.chain(*due).min();
    }

    /// Notices who has taken what they missed, or had the time to: it need not be kept any more.
    fn let_catch_up(&mut self, now: Instant) {
        let Viewers { all, due, .. } = &mut self.viewers;
        for viewer in all {
            let Some(until) = viewer.catches_up_until() else { continue };
            if viewer.has_caught_up(until, now) {
                self.saves.rest_at(now);
            } else {
                *due = (*due).into_iter().chain([until]).min();
            }
        }
    }

    /// The session has ended: who was behind sees how, for nobody will be redrawn later.
    pub(super) fn redraw_last(&mut self) {
        let drawn = (&self.screen, self.decided());
        self.viewers.all.iter_mut().for_each(|viewer| viewer.show_last(drawn));
    }

    /// The rows got other numbers.
    pub(super) fn renumber_floods(&mut self) {
        self.viewers.all.iter_mut().for_each(|viewer| viewer.renumber(&self.screen));
    }

    /// The session has another size: everybody sees it anew.
    pub(super) fn redraw_all(&mut self) {
        let size = self.screen.size();
        for viewer in &mut self.viewers.all {
            let Some(terminal) = viewer.terminal else { continue };
            viewer.resized(if viewer.follows { size } else { terminal });
        }
    }

    fn viewers_changed(&mut self) {
        self.face.lock().viewers = self.viewers.seen();
    }

    /// A client's terminal has a new size.
    pub(super) fn viewer_sized(&mut self, id: SubscriptionId, size: Size) {
        self.viewers.clock += 1;
        let clock = self.viewers.clock;
        let Some(viewer) = self.viewers.all.iter_mut().find(|viewer| viewer.id == id) else {
            return;
        };
        viewer.resized(size);
        viewer.follows = false;
        if !viewer.read_only {
            viewer.active = clock;
        }
        self.filter_for_terminals();
        self.size_by_viewers();
        self.viewers_changed();
    }

    /// A client typed: it may be the one that sizes now.
    pub(super) fn viewer_active(&mut self, id: SubscriptionId) {
        let latest = self.viewers.clock;
        let Some(viewer) = self.viewers.all.iter_mut().find(|viewer| viewer.id == id) else {
            return;
        };
        if viewer.active == latest && latest != 0 {
            return;
        }
        self.viewers.clock += 1;
        viewer.active = self.viewers.clock;
        self.size_by_viewers();
    }
}
