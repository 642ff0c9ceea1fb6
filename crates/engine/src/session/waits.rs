//! Who waits for something to happen in a session.
//!
//! A wait is looked at in the turn in which something changed, never by a timer; only quiet and
//! time-outs need a clock, and it is the monotonic one.

use greenroom_model::{ExitStatus, Offset};
use greenroom_screen::Screen;
use tokio::time::Instant;

use super::{Reply, Session};
use crate::mark::Mark;
use crate::matcher::{Found, Sight};
use crate::{End, Error, Matcher};

/// How many waits a session bears. Each is looked at every turn.
const MAX_WAITS: usize = 1024;

/// What a wait came to.
#[derive(Debug, Clone)]
pub struct Waited {
    /// Which of an `Any` it was.
    pub index: Option<usize>,
    /// The text that matched.
    pub text: Option<String>,
    /// Where the output stood.
    pub offset: Offset,
    /// What the screen showed.
    pub screen: String,
    /// How the child ended, if it has.
    pub ended: Option<ExitStatus>,
}

#[derive(Debug)]
struct Wait {
    matcher: Matcher,
    mark: Mark,
    until: Option<Instant>,
    reply: Reply<Waited>,
}

/// All who wait.
#[derive(Debug, Default)]
pub(super) struct Waits {
    all: Vec<Wait>,
}

impl Waits {
    pub(super) fn add(
        &mut self,
        matcher: Matcher,
        mark: Mark,
        until: Option<Instant>,
        reply: Reply<Waited>,
    ) {
        if self.all.len() >= MAX_WAITS {
            let _gone = reply.send(Err(Error::Limit { what: "waits", most: MAX_WAITS }));
            return;
        }
        self.all.push(Wait { matcher, mark, until, reply });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// When to look again if nothing happens.
    pub(super) fn due(&self, active: Instant) -> Option<Instant> {
        let times = self
            .all
            .iter()
            .flat_map(|wait| [wait.until, wait.matcher.quiet().map(|quiet| active + quiet)]);
        times.flatten().min()
    }

    /// The rows got other numbers.
    pub(super) fn renumber(&mut self, screen: &Screen) {
        for wait in &mut self.all {
            wait.mark.renumber(screen);
        }
    }

    /// The child ended: every wait comes to an end, too.
    pub(super) fn end(&mut self, screen: &Screen, end: End, error: impl Fn() -> Error) {
        for wait in self.all.drain(..) {
            let quiet = std::time::Duration::MAX;
            let sight = Sight { screen, mark: &wait.mark, quiet, ended: true };
            let status = match end {
                End::Exited(status) => Some(status),
                End::Lost => None,
            };
            let answer = match wait.matcher.holds(&sight) {
                Some(found) => Ok(waited(found, screen, status)),
                None => Err(error()),
            };
            let _gone = wait.reply.send(answer);
        }
    }
}

impl Session {
    /// Answers every wait that holds now, is too late, or is not wanted any more.
    pub(super) fn look_for_waits(&mut self, now: Instant) {
        if self.waits.all.is_empty() {
            return;
        }
        let (screen, changed, quiet) = (&self.screen, self.changed, now - self.active);
        let mut index = 0;
        while let Some(wait) = self.waits.all.get_mut(index) {
            let looks = changed || wait.matcher.quiet().is_some_and(|it| quiet >= it);
            let sight = Sight { screen, mark: &wait.mark, quiet, ended: false };
            let found = if looks { wait.matcher.holds(&sight) } else { None };
            let answer = match found {
                Some(found) => Ok(waited(found, screen, None)),
                None if wait.until.is_some_and(|until| now >= until) => {
                    Err(Error::Timeout { screen: screen.text() })
                }
                None if wait.reply.is_closed() => Err(Error::Stopping),
                None => {
                    if wait.matcher.forgets() {
                        wait.mark.advance(screen);
                    }
                    index += 1;
                    continue;
                }
            };
            let wait = self.waits.all.swap_remove(index);
            let _gone = wait.reply.send(answer);
        }
    }
}

fn waited(found: Found, screen: &Screen, ended: Option<ExitStatus>) -> Waited {
    Waited {
        index: found.index,
        text: found.text,
        offset: screen.offset(),
        screen: screen.text(),
        ended,
    }
}

impl crate::Engine {
    /// A wait on a session that has ended: it holds now or never.
    pub(crate) async fn wait_ended(
        &self,
        id: greenroom_model::SessionId,
        past: &crate::engine::Past,
        matcher: &Matcher,
    ) -> Result<Waited, Error> {
        let screen = self.past_screen(id, past).await?;
        let mark = Mark::beginning();
        let quiet = std::time::Duration::MAX;
        let sight = Sight { screen: &screen, mark: &mark, quiet, ended: true };
        let ended = match past.info.state {
            crate::State::Ended(End::Exited(status), _) => Some(status),
            crate::State::Ended(End::Lost, _) | crate::State::Running => None,
        };
        let found = matcher.holds(&sight).ok_or(Error::Ended(id))?;
        Ok(waited(found, &screen, ended))
    }
}
