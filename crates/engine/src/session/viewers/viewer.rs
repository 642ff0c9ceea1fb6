//! One who looks: what it shows, how far it is behind, and when it is drawn anew.
//!
//! Not here: how it comes and goes (`audience`), what a flood is (`flood`).

use std::num::NonZeroU64;
use std::time::Duration;

use bytes::Bytes;
use greenroom_model::{Offset, Size};
use greenroom_screen::{Depth, RESET, Screen};
use tokio::time::Instant;

use crate::event::Why;
use crate::info::Viewer as Seen;
use crate::session::flood::{Flood, Rate};
use crate::subscription::Outlet;
use crate::{Attach, ClientId, Event, Lag, SubscriptionId};

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
pub(in crate::session) struct Viewer {
    pub(in crate::session) id: SubscriptionId,
    pub(in crate::session) client: ClientId,
    pub(super) outlet: Outlet,
    pub(in crate::session) terminal: Option<Size>,
    /// Its terminal is of the session's size, whatever that is.
    pub(in crate::session) follows: bool,
    pub(in crate::session) read_only: bool,
    pub(in crate::session) lag: Lag,
    /// What it has to be brought up to date for.
    pub(super) stale: Option<Why>,
    /// It shows pictures, because its terminal has another size.
    pub(super) picture: bool,
    /// The picture it shows is not the last.
    pub(super) dirty: bool,
    redrawn: Instant,
    /// When it fell behind last.
    behind: Option<Instant>,
    /// How much it missed while it was cut off and has not taken yet: it is not behind by that.
    missed: usize,
    /// Until when that is kept for it, if it is to miss nothing.
    pub(super) catching_up: Option<Instant>,
    since_ms: u64,
    /// Counts up with whatever it does: who did something last sizes. Who did nothing yet does not.
    pub(in crate::session) active: u64,
    /// How many bytes it typed.
    pub(super) typed: u64,
    /// What it calls itself, if its typing is counted.
    pub(in crate::session) typist: Option<NonZeroU64>,
    /// How fast output comes, if it gets pictures when that is too fast to be seen.
    rate: Option<Rate>,
    /// It does now.
    flood: Option<Flood>,
    /// How many lines above the screen it has.
    history: usize,
}

/// Who a viewer is.
#[derive(Debug, Clone, Copy)]
pub(in crate::session) struct Identity {
    pub(in crate::session) id: SubscriptionId,
    pub(in crate::session) client: ClientId,
}

impl Viewer {
    /// Somebody comes; `active` is 0 if that alone is no reason to size.
    pub(in crate::session) fn new(
        who: Identity,
        outlet: Outlet,
        attach: &Attach,
        active: u64,
    ) -> Viewer {
        let now = Instant::now();
        Viewer {
            id: who.id,
            client: who.client,
            outlet,
            terminal: attach.terminal,
            follows: attach.follows,
            read_only: attach.read_only,
            lag: attach.lag,
            stale: None,
            picture: false,
            dirty: false,
            redrawn: now,
            behind: None,
            missed: 0,
            catching_up: None,
            since_ms: crate::engine::now_ms(),
            active,
            typed: 0,
            typist: attach.counted.map(|it| it.token),
            rate: attach.pictures.then(|| Rate::new(now)),
            flood: None,
            history: attach.history,
        }
    }

    /// Sends it what it begins with: what it missed, or the screen.
    pub(in crate::session) fn greet(
        &mut self,
        missed: Option<Vec<Event>>,
        (screen, decided): (&Screen, Offset),
    ) {
        let Some(missed) = missed else {
            self.stale = Some(Why::Attached);
            return self.redraw(screen, decided, Depth::Lines(self.history));
        };
        missed.into_iter().for_each(|event| self.outlet.send(event));
        self.missed = self.outlet.waiting();
        let keeps = self.lag == Lag::Keep && self.missed > 0;
        self.catching_up = keeps.then(|| Instant::now() + CATCH_UP);
        if self.terminal.is_some_and(|size| size != screen.size()) {
            self.stale = Some(Why::Resized);
        }
    }

    /// Its terminal has this size from now on.
    pub(in crate::session) fn resized(&mut self, size: Size) {
        (self.terminal, self.stale) = (Some(size), Some(Why::Resized));
    }

    pub(in crate::session) fn is_gone(&self) -> bool {
        self.outlet.is_closed()
    }

    /// Something is to be done for it when its time has come.
    pub(super) fn is_due(&self) -> bool {
        self.stale.is_some() || self.dirty || self.flood.is_some()
    }

    pub(super) fn shows_output_as_it_is(&self, size: Size) -> bool {
        self.terminal == Some(size) && !self.picture && self.flood.is_none()
    }

    pub(super) fn seen(&self) -> Seen {
        Seen {
            subscription: self.id,
            client: self.client,
            read_only: self.read_only,
            size: self.terminal,
            since_ms: self.since_ms,
        }
    }

    /// Sends output if the viewer keeps up; else it will be redrawn.
    pub(super) fn offer(&mut self, event: Event, lag: usize) {
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
    pub(super) fn is_flooded(&mut self, bytes: usize, top: u64, lag: usize) -> bool {
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

    /// Redraws it if it has to be and may be; if that is later, when.
    pub(in crate::session) fn bring_up_to_date(
        &mut self,
        (screen, decided): (&Screen, Offset),
        now: Instant,
    ) -> Option<Instant> {
        let due = self.redraw_due()?;
        if due > now {
            return Some(due);
        }
        let over = self.flood.take_if(|flood| flood.over() <= now);
        let missed = over.map(|it| it.missed(screen, self.history));
        self.redraw(screen, decided, missed.unwrap_or_default());
        None
    }

    /// Shows it how the session ended, if it was behind: nobody will be redrawn later.
    pub(in crate::session) fn show_last(&mut self, (screen, decided): (&Screen, Offset)) {
        let flood = self.flood.take();
        if flood.is_some() || self.stale.is_some() || self.dirty {
            let missed = flood.map(|it| it.missed(screen, self.history));
            self.redraw(screen, decided, missed.unwrap_or_default());
        }
    }

    /// The rows got other numbers.
    pub(in crate::session) fn renumber(&mut self, screen: &Screen) {
        if let Some(flood) = &mut self.flood {
            flood.renumber(screen);
        }
    }

    /// Until when what it missed is kept for it, if it is.
    pub(in crate::session) fn catches_up_until(&self) -> Option<Instant> {
        self.catching_up
    }

    /// Whether it has taken what it missed, or had the time to: it need not be kept any more.
    pub(in crate::session) fn has_caught_up(&mut self, until: Instant, now: Instant) -> bool {
        let has_not = now < until && self.outlet.waiting() > 0 && self.outlet.ask_drained();
        if !has_not {
            self.catching_up = None;
        }
        !has_not
    }
}
