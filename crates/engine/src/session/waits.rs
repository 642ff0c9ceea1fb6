//! Who waits for something to happen in a session.
//!
//! A wait is looked at in the turn in which something changed, never by a timer; only quiet and
//! time-outs need a clock, and it is the monotonic one.

use std::sync::Arc;
use std::time::Duration;

use greenroom_model::{ExitStatus, Offset};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::Session;
use crate::Texts;
use crate::mark::Mark;
use crate::matcher::Sight;
use crate::{End, Error, Matcher, Outcome, Scene};

/// How many waits a session bears. Each is looked at every turn.
const MAX_WAITS: usize = 1024;

/// How long a look at a wait may take before who can look elsewhere is asked to: a hundred times what it takes as a
/// rule, and less than anybody notices.
const LONG_LOOK: Duration = Duration::from_millis(3);

/// What a wait came to.
#[derive(Debug, Clone)]
pub struct Waited {
    /// What held.
    pub outcome: Outcome,
    /// Where the output stood.
    pub offset: Offset,
    /// How the child ended, if it has.
    pub ended: Option<ExitStatus>,
}

/// Somebody who waits.
pub(crate) struct Wait {
    pub(crate) matcher: Matcher,
    pub(crate) until: Option<Instant>,
    pub(crate) waiter: Box<dyn Waiter>,
}

/// Who is told what became of a wait.
pub(crate) trait Waiter: Send {
    /// Whether nobody wants to know any more.
    fn is_gone(&self) -> bool;

    /// It holds; in the turn in which it does.
    fn holds(self: Box<Self>, waited: &Waited, scene: Scene<'_>);

    /// It will not.
    fn fails(self: Box<Self>, error: Error);

    /// Whether they can look elsewhere, and leave if a look takes long.
    fn is_guest(&self) -> bool {
        false
    }

    /// It took long.
    fn leaves(self: Box<Self>) {}
}

/// Looks in the turn in which a wait holds, and tells what it saw.
pub(crate) struct Looker<T, F> {
    pub(crate) reply: oneshot::Sender<Result<T, Error>>,
    pub(crate) look: F,
}

impl<T: Send, F: FnOnce(&Waited, Scene<'_>) -> T + Send> Waiter for Looker<T, F> {
    fn is_gone(&self) -> bool {
        self.reply.is_closed()
    }

    fn holds(self: Box<Self>, waited: &Waited, scene: Scene<'_>) {
        let Looker { reply, look } = *self;
        let _gone = reply.send(Ok(look(waited, scene)));
    }

    fn fails(self: Box<Self>, error: Error) {
        let _gone = self.reply.send(Err(error));
    }
}

/// The same for who can look elsewhere: is told nothing if that is better.
pub(crate) struct Guest<T, F> {
    pub(crate) reply: oneshot::Sender<Result<Option<T>, Error>>,
    pub(crate) look: F,
}

impl<T: Send, F: FnOnce(&Waited, Scene<'_>) -> T + Send> Waiter for Guest<T, F> {
    fn is_gone(&self) -> bool {
        self.reply.is_closed()
    }

    fn holds(self: Box<Self>, waited: &Waited, scene: Scene<'_>) {
        let Guest { reply, look } = *self;
        let _gone = reply.send(Ok(Some(look(waited, scene))));
    }

    fn fails(self: Box<Self>, error: Error) {
        let _gone = self.reply.send(Err(error));
    }

    fn is_guest(&self) -> bool {
        true
    }

    fn leaves(self: Box<Self>) {
        let _gone = self.reply.send(Ok(None));
    }
}

/// All who wait.
#[derive(Default)]
pub(super) struct Waits {
    all: Vec<Waiting>,
}

struct Waiting {
    wait: Wait,
    mark: Mark,
    began: Instant,
    /// What of it was found in earlier turns.
    found: Vec<Option<Outcome>>,
}

impl Waits {
    pub(super) fn add(&mut self, wait: Wait, mark: Mark) {
        if self.all.len() >= MAX_WAITS {
            return wait.waiter.fails(Error::Limit { what: "waits", most: MAX_WAITS });
        }
        self.all.push(Waiting { wait, mark, began: Instant::now(), found: Vec::new() });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// When to look again if nothing happens, after it was looked at last.
    pub(super) fn due(&self, active: Instant, last: Instant) -> Option<Instant> {
        let times = self.all.iter().flat_map(|it| {
            let until = it.wait.until.filter(|&until| until > last);
            [until, it.wait.matcher.due((active, it.began), last)]
        });
        times.flatten().min()
    }

    /// Where they begin.
    pub(super) fn marks(&mut self) -> impl Iterator<Item = &mut Mark> {
        self.all.iter_mut().map(|waiting| &mut waiting.mark)
    }

    /// The child ended: every wait comes to an end, too.
    pub(super) fn end(&mut self, scene: Scene<'_>, error: impl Fn() -> Error) {
        for Waiting { wait, mark, mut found, .. } in self.all.drain(..) {
            match wait.matcher.holds_by_now(&last_sight(scene, &mark), &mut found) {
                Some(outcome) => wait.waiter.holds(&Waited::now(outcome, scene), scene),
                None => wait.waiter.fails(error()),
            }
        }
    }
}

/// What a wait sees of a session that has ended: nothing will ever change.
fn last_sight<'a>(scene: Scene<'a>, mark: &'a Mark) -> Sight<'a> {
    let quiet = std::time::Duration::MAX;
    Sight { scene: Scene { quiet, ..scene }, mark, stable: quiet, until: None }
}

impl Waited {
    fn now(outcome: Outcome, scene: Scene<'_>) -> Waited {
        let ended = match scene.end {
            Some(End::Exited(status)) => Some(status),
            Some(End::Lost) | None => None,
        };
        Waited { outcome, offset: scene.screen.offset(), ended }
    }
}

impl Session {
    /// Answers every wait that holds now, is too late, or is not wanted any more.
    pub(super) fn look_for_waits(&mut self, now: Instant, texts: &Texts) {
        if self.waits.all.is_empty() {
            return;
        }
        let mut waits = std::mem::take(&mut self.waits.all);
        let scene = self.scene(now, texts);
        let mut index = 0;
        while let Some(Waiting { wait, mark, began, found }) = waits.get_mut(index) {
            let stable = now - self.active.max(*began);
            let is_guest = wait.waiter.is_guest();
            let long = is_guest.then(|| std::time::Instant::now() + LONG_LOOK);
            let sight = Sight { scene, mark, stable, until: long };
            let gone = wait.waiter.is_gone();
            let looks = !gone && (self.changed || wait.matcher.is_timed());
            let outcome = if looks { wait.matcher.holds_by_now(&sight, found) } else { None };
            let late = wait.until.is_some_and(|until| now >= until);
            if outcome.is_none() && !late && !gone {
                if sight.is_over() {
                    waits.swap_remove(index).wait.waiter.leaves();
                    continue;
                }
                if wait.matcher.forgets() {
                    mark.advance(scene.screen);
                }
                index += 1;
                continue;
            }
            let Waiting { wait, .. } = waits.swap_remove(index);
            match outcome {
                Some(outcome) => wait.waiter.holds(&Waited::now(outcome, scene), scene),
                None => wait.waiter.fails(Error::Timeout {
                    screen: Arc::clone(scene.shared_text()),
                    contents: scene.excerpt().clone(),
                }),
            }
        }
        self.waits.all = waits;
    }

    /// What can be seen now.
    pub(super) fn scene<'a>(&'a self, now: Instant, texts: &'a Texts) -> Scene<'a> {
        Scene {
            screen: &self.screen,
            transcript: self.transcript.as_ref(),
            sequence: self.sequence(),
            quiet: now - self.active,
            end: None,
            texts,
        }
    }
}

impl crate::Engine {
    /// A wait on a session that has ended: it holds now or never.
    pub(crate) async fn wait_ended<T>(
        &self,
        id: greenroom_model::SessionId,
        past: &crate::engine::Past,
        matcher: &Matcher,
        look: impl FnOnce(&Waited, Scene<'_>) -> T,
    ) -> Result<T, Error> {
        let kept = self.past_kept(id, past).await?;
        let (mark, texts) = (Mark::beginning(), Texts::default());
        let scene = past.scene(&kept, &texts);
        let held = matcher.holds(&last_sight(scene, &mark));
        let outcome = held.ok_or(Error::Ended(id))?;
        Ok(look(&Waited::now(outcome, scene), scene))
    }
}
