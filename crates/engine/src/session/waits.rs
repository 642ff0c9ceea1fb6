//! Who waits for something to happen in a session.
//!
//! A wait is looked at in the turn in which something changed, never by a timer; only quiet and
//! time-outs need a clock, and it is the monotonic one.

use greenroom_model::{ExitStatus, Offset};
use greenroom_screen::Screen;
use tokio::time::Instant;

use super::{Look, Reply, Session};
use crate::mark::Mark;
use crate::matcher::{Sight, Texts};
use crate::{End, Error, Matcher, Outcome, Scene};

/// How many waits a session bears. Each is looked at every turn.
const MAX_WAITS: usize = 1024;

/// What a wait came to.
#[derive(Debug, Clone)]
pub struct Waited {
    /// What held.
    pub outcome: Outcome,
    /// Where the output stood.
    pub offset: Offset,
    /// What the screen showed.
    pub screen: String,
    /// How the child ended, if it has.
    pub ended: Option<ExitStatus>,
}

/// Somebody who waits.
pub(crate) struct Wait {
    pub(crate) matcher: Matcher,
    pub(crate) until: Option<Instant>,
    /// Looks in the turn in which it holds.
    pub(crate) look: Option<Look>,
    pub(crate) reply: Reply<Waited>,
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
}

impl Waits {
    pub(super) fn add(&mut self, wait: Wait, mark: Mark) {
        if self.all.len() >= MAX_WAITS {
            let _gone = wait.reply.send(Err(Error::Limit { what: "waits", most: MAX_WAITS }));
            return;
        }
        self.all.push(Waiting { wait, mark, began: Instant::now() });
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

    /// The rows got other numbers.
    pub(super) fn renumber(&mut self, screen: &Screen) {
        for waiting in &mut self.all {
            waiting.mark.renumber(screen);
        }
    }

    /// The child ended: every wait comes to an end, too.
    pub(super) fn end(&mut self, scene: Scene<'_>, end: End, error: impl Fn() -> Error) {
        let texts = Texts::default();
        let status = match end {
            End::Exited(status) => Some(status),
            End::Lost => None,
        };
        for Waiting { wait, mark, .. } in self.all.drain(..) {
            match wait.matcher.holds(&last_sight(scene, &mark, &texts)) {
                Some(outcome) => answer(wait, outcome, scene, status),
                None => drop(wait.reply.send(Err(error()))),
            }
        }
    }
}

/// What a wait sees of a session that has ended: nothing will ever change.
fn last_sight<'a>(scene: Scene<'a>, mark: &'a Mark, texts: &'a Texts) -> Sight<'a> {
    let quiet = std::time::Duration::MAX;
    let Scene { screen, transcript, .. } = scene;
    Sight { screen, transcript, mark, quiet, stable: quiet, ended: true, texts }
}

fn answer(wait: Wait, outcome: Outcome, scene: Scene<'_>, ended: Option<ExitStatus>) {
    if let Some(look) = wait.look {
        look(scene);
    }
    let _gone = wait.reply.send(Ok(waited(outcome, scene.screen, ended)));
}

impl Session {
    /// Answers every wait that holds now, is too late, or is not wanted any more.
    pub(super) fn look_for_waits(&mut self, now: Instant) {
        if self.waits.all.is_empty() {
            return;
        }
        let mut waits = std::mem::take(&mut self.waits.all);
        let (scene, texts) = (self.scene(now), Texts::default());
        let Scene { screen, transcript, quiet, .. } = scene;
        let mut index = 0;
        while let Some(Waiting { wait, mark, began }) = waits.get_mut(index) {
            let stable = now - self.active.max(*began);
            let sight =
                Sight { screen, transcript, mark, quiet, stable, ended: false, texts: &texts };
            let looks = self.changed || wait.matcher.is_timed();
            let outcome = if looks { wait.matcher.holds(&sight) } else { None };
            let late = wait.until.is_some_and(|until| now >= until);
            if outcome.is_none() && !late && !wait.reply.is_closed() {
                if wait.matcher.forgets() {
                    mark.advance(screen);
                }
                index += 1;
                continue;
            }
            let Waiting { wait, .. } = waits.swap_remove(index);
            match outcome {
                Some(outcome) => answer(wait, outcome, scene, None),
                None => drop(wait.reply.send(Err(Error::Timeout { screen: screen.text() }))),
            }
        }
        self.waits.all = waits;
    }

    /// What can be seen now.
    pub(super) fn scene(&self, now: Instant) -> Scene<'_> {
        Scene {
            screen: &self.screen,
            transcript: self.transcript.as_ref(),
            sequence: self.sequence(),
            quiet: now - self.active,
            end: None,
        }
    }
}

fn waited(outcome: Outcome, screen: &Screen, ended: Option<ExitStatus>) -> Waited {
    Waited { outcome, offset: screen.offset(), screen: screen.text(), ended }
}

impl crate::Engine {
    /// A wait on a session that has ended: it holds now or never.
    pub(crate) async fn wait_ended(
        &self,
        id: greenroom_model::SessionId,
        past: &crate::engine::Past,
        matcher: &Matcher,
        look: Option<Look>,
    ) -> Result<Waited, Error> {
        let kept = self.past_kept(id, past).await?;
        let ended = match past.info.state {
            crate::State::Ended(End::Exited(status), _) => Some(status),
            crate::State::Ended(End::Lost, _) | crate::State::Running => None,
        };
        let scene = past.scene(&kept);
        let (mark, texts) = (Mark::beginning(), Texts::default());
        let sight = last_sight(scene, &mark, &texts);
        let outcome = matcher.holds(&sight).ok_or(Error::Ended(id))?;
        if let Some(look) = look {
            look(scene);
        }
        Ok(waited(outcome, &kept.screen, ended))
    }
}
