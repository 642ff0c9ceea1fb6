//! Who looks at a session, and what each of them has seen.
//!
//! A terminal of the session's size gets the output as it comes. One of another size gets
//! pictures. One that does not keep up gets nothing until it has taken all there was, and then a
//! redraw: it never slows the child or anybody else, unless it asked for exactly that.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use greenroom_model::{Offset, Size};
use greenroom_screen::{Depth, Filter, RESET, Screen};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::flood::{Flood, Rate};
use super::{Reply, Session};
use crate::encore::missed;
use crate::event::{HouseEvent, Why};
use crate::info::Viewer as Seen;
use crate::subscription::Outlet;
use crate::{Attach, ClientId, Event, Lag, Subscription, SubscriptionId};

/// The shortest time between two pictures: as fast as people see.
const FRAME: Duration = Duration::from_millis(30);

/// How far a client that fell behind may fall again at first. Under a flood it then lives on
/// redraws, a few dozen a second, instead of megabytes it cannot show.
const WARY_BYTES: usize = 16 << 10;

/// The largest redraw: more history than that is left out. A door's frames must hold it.
const MAX_REDRAW: usize = 32 << 20;

/// How long a client keeps up before it is trusted again.
const TRUST: Duration = Duration::from_millis(300);

/// How long a client that is to miss nothing has for what it missed: it takes megabytes in a moment, or
/// does not read.
const CATCH_UP: Duration = Duration::from_secs(5);

/// Somebody who looks.
#[derive(Debug)]
pub(super) struct Viewer {
    pub(super) id: SubscriptionId,
    client: ClientId,
    outlet: Outlet,
    pub(super) terminal: Option<Size>,
    /// Its terminal is of the session's size, whatever that is.
    pub(super) follows: bool,
    pub(super) read_only: bool,
    pub(super) lag: Lag,
    /// What it has to be brought up to date for.
    stale: Option<Why>,
    /// It shows pictures, because its terminal has another size.
    picture: bool,
    /// The picture it shows is not the last.
    dirty: bool,
    redrawn: Instant,
    /// When it fell behind last.
    behind: Option<Instant>,
    /// How much it missed while it was cut off and has not taken yet: it is not behind by that.
    missed: usize,
    /// Until when that is kept for it, if it is to miss nothing.
    catching_up: Option<Instant>,
    since_ms: u64,
    /// Counts up with whatever it does: who did something last sizes. Who did nothing yet does not.
    pub(super) active: u64,
    /// How many bytes it typed.
    typed: u64,
    /// What it calls itself, if its typing is counted.
    pub(super) typist: Option<NonZeroU64>,
    /// How fast output comes, if it gets pictures when that is too fast to be seen.
    rate: Option<Rate>,
    /// It does now.
    flood: Option<Flood>,
    /// How many lines above the screen it has.
    history: usize,
}

/// All who look.
#[derive(Debug)]
pub(super) struct Viewers {
    pub(super) all: Vec<Viewer>,
    woken: Arc<Notify>,
    due: Option<Instant>,
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
        let due = |it: &Viewer| it.stale.is_some() || it.dirty || it.flood.is_some();
        self.all.iter().any(due)
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
        let as_it_is = |it: &Viewer| !it.picture && it.flood.is_none();
        viewer.is_some_and(|it| it.terminal == Some(size) && as_it_is(it) && it.typed == typed)
    }

    fn has_terminals(&self) -> bool {
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
        let all = self.all.iter().map(|viewer| Seen {
            subscription: viewer.id,
            client: viewer.client,
            read_only: viewer.read_only,
            size: viewer.terminal,
            since_ms: viewer.since_ms,
        });
        all.collect()
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

impl Viewer {
    /// Sends output if the viewer keeps up; else it will be redrawn.
    fn offer(&mut self, event: Event, lag: usize) {
        if self.stale.is_some() {
            return;
        }
        let waiting = self.outlet.waiting();
        if waiting == 0 {
            self.missed = 0;
        }
        let skips = self.lag != Lag::Block;
        let wary = self.behind.is_some_and(|at| at.elapsed() < TRUST);
        let bound = if wary && skips { WARY_BYTES.min(lag) } else { lag };
        if skips && waiting > bound + self.missed {
            self.stale = Some(Why::Lagged);
            self.behind = Some(Instant::now());
            return;
        }
        self.outlet.send(event);
    }

    /// Whether it gets pictures instead of this output, before which the screen's first row was `top`.
    fn is_flooded(&mut self, bytes: usize, top: u64, lag: usize) -> bool {
        let Some(rate) = self.rate.as_mut().filter(|_| self.missed == 0) else { return false };
        let now = Instant::now();
        match &mut self.flood {
            Some(flood) => flood.more(bytes, now),
            None if self.stale.is_some() => return false,
            // One that does not keep up is flooded by less.
            flood if rate.is_flood(bytes, now) || self.outlet.waiting() > lag => {
                *flood = Some(Flood::new(top, now));
            }
            None => return false,
        }
        self.stale = self.stale.or(Some(Why::Lagged));
        true
    }

    /// When it may be redrawn, if it has to be: not before it has taken everything.
    fn redraw_due(&self) -> Option<Instant> {
        if let Some(flood) = self.flood.as_ref().filter(|_| self.stale.is_none()) {
            let waits = self.outlet.waiting() > 0 && self.outlet.ask_drained();
            return (!waits).then(|| flood.over());
        }
        let wanted = self.stale.is_some() || self.dirty;
        let prompt = self.stale.is_some_and(|why| why != Why::Lagged);
        if !wanted || (!prompt && self.outlet.waiting() > 0 && self.outlet.ask_drained()) {
            return None;
        }
        Some(if prompt { self.redrawn } else { self.redrawn + FRAME })
    }

    /// Brings it up to date.
    fn redraw(&mut self, screen: &Screen, decided: Offset, depth: Depth) {
        let mut why = self.stale.take().unwrap_or(Why::Lagged);
        let (at, bytes) = match self.terminal {
            Some(size) if size != screen.size() => {
                let begins = !self.picture || why != Why::Lagged;
                let mut bytes = if begins { RESET.to_vec() } else { Vec::new() };
                bytes.extend_from_slice(&screen.picture(size));
                (self.picture, why) = (true, Why::Fitted);
                (screen.offset(), bytes)
            }
            terminal => {
                self.picture = false;
                let at = if terminal.is_some() { decided } else { screen.offset() };
                let bytes = screen.redraw(depth);
                let fits = bytes.len() <= MAX_REDRAW;
                (at, if fits { bytes } else { screen.redraw(Depth::Screen) })
            }
        };
        self.dirty = false;
        self.redrawn = Instant::now();
        self.outlet.send(Event::Redraw { at, why, bytes: Bytes::from(bytes) });
    }
}

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
        self.viewers.all.push(Viewer {
            id,
            client,
            outlet,
            terminal: attach.terminal,
            follows: attach.follows,
            read_only: attach.read_only,
            lag: attach.lag,
            stale: None,
            picture: false,
            dirty: false,
            redrawn: Instant::now(),
            behind: None,
            missed: 0,
            catching_up: None,
            since_ms: now_ms,
            active: if attach.read_only || attach.quiet { 0 } else { self.viewers.clock },
            typed: 0,
            typist: attach.counted.map(|it| it.token),
            rate: attach.pictures.then(|| Rate::new(Instant::now())),
            flood: None,
            history: attach.history,
        });
        self.description.attached_ms = now_ms;
        self.face.lock().attached_ms = now_ms;
        self.filter_for_terminals();
        self.arrived(attach.lag);
        self.note_viewers();
        let before = self.screen.size();
        self.size_by_viewers();
        self.greet(begins, before, attach);
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

    /// Sends a new viewer what it begins with: what it missed, or the screen.
    fn greet(&mut self, begins: Option<Vec<Event>>, before: Size, attach: Attach) {
        let (screen, decided) = (&self.screen, self.decided());
        let Some(viewer) = self.viewers.all.last_mut() else { return };
        match begins {
            Some(missed) if screen.size() == before => {
                missed.into_iter().for_each(|event| viewer.outlet.send(event));
                viewer.missed = viewer.outlet.waiting();
                let keeps = viewer.lag == Lag::Keep && viewer.missed > 0;
                viewer.catching_up = keeps.then(|| Instant::now() + CATCH_UP);
                if viewer.terminal.is_some_and(|size| size != screen.size()) {
                    viewer.stale = Some(Why::Resized);
                }
            }
            _ => {
                viewer.stale = Some(Why::Attached);
                let depth = Depth::Lines(attach.history);
                viewer.redraw(screen, decided, depth);
            }
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
        let gone = self.viewers.all.iter().filter(|it| it.outlet.is_closed());
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
        let (screen, decided) = (&self.screen, self.decided());
        for viewer in &mut self.viewers.all {
            match viewer.redraw_due() {
                Some(due) if due <= now => {
                    let over = viewer.flood.take_if(|flood| flood.over() <= now);
                    let missed = over.map(|it| it.missed(screen, viewer.history));
                    viewer.redraw(screen, decided, missed.unwrap_or_default());
                }
                Some(due) => {
                    let earliest = self.viewers.due.map_or(due, |other| other.min(due));
                    self.viewers.due = Some(earliest);
                }
                None => {}
            }
        }
    }

    /// Notices who has taken what they missed, or had the time to: it need not be kept any more.
    fn let_catch_up(&mut self, now: Instant) {
        for viewer in &mut self.viewers.all {
            let Some(until) = viewer.catching_up else { continue };
            if now < until && viewer.outlet.waiting() > 0 && viewer.outlet.ask_drained() {
                self.viewers.due = Some(self.viewers.due.map_or(until, |other| other.min(until)));
            } else {
                viewer.catching_up = None;
                self.saves.rest_at(now);
            }
        }
    }

    /// The session has ended: who was behind sees how, for nobody will be redrawn later.
    pub(super) fn redraw_last(&mut self) {
        let (screen, decided) = (&self.screen, self.decided());
        for viewer in &mut self.viewers.all {
            let flood = viewer.flood.take();
            if flood.is_some() || viewer.stale.is_some() || viewer.dirty {
                let missed = flood.map(|it| it.missed(screen, viewer.history));
                viewer.redraw(screen, decided, missed.unwrap_or_default());
            }
        }
    }

    /// The rows got other numbers.
    pub(super) fn renumber_floods(&mut self) {
        for flood in self.viewers.all.iter_mut().filter_map(|viewer| viewer.flood.as_mut()) {
            flood.renumber(&self.screen);
        }
    }

    /// The session has another size: everybody sees it anew.
    pub(super) fn redraw_all(&mut self) {
        let size = self.screen.size();
        for viewer in self.viewers.all.iter_mut().filter(|viewer| viewer.terminal.is_some()) {
            if viewer.follows {
                viewer.terminal = Some(size);
            }
            viewer.stale = Some(Why::Resized);
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
        (viewer.terminal, viewer.follows) = (Some(size), false);
        viewer.stale = Some(Why::Resized);
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
