//! Waiting: by the engine where it can, beside it where Lua has a say, or where a look takes long.
//!
//! Not here: how a wait is cancelled (`cancels`), and what it waits for (`matcher`).

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use greenroom_engine::redact::{Excerpt, Redaction};
use greenroom_engine::{End, Error, Scene, Waited};
use greenroom_model::{ExitStatus, SessionId};
use greenroom_plugin::Sight;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::Door;
use crate::aside::Place;
use crate::error::RpcError;
use crate::matcher::{Goal, Held, TRANSCRIPT_TAIL};
use crate::veil::Veil;

/// How soon a predicate is asked again at least: what is less than that nobody notices.
const ASK_SOON: Duration = Duration::from_millis(10);

/// How late it is asked again at most: hundreds of waits on what is still for hours cost next to nothing.
const ASK_LATE: Duration = Duration::from_secs(1);

/// How many waits are looked at beside a session, as many as the session bears.
const MAX_BESIDE: usize = 1024;

/// How long the first look at a wait may take, whatever time it has: one look is had in any case, but nobody waits a
/// minute for who asked for a millisecond.
const FIRST_LOOK: Duration = Duration::from_secs(1);

/// The longest wait: a day. Who wants more asks again.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// What a session's texts are cut into, as plugins see them.
const STATUS_LINES: usize = 3;

/// Screens of fewer lines than this, and the status lines, are all body.
const SPLIT_LINES: usize = 6;

/// The body and the status of a screen.
pub(crate) fn split_status(text: &str) -> (&str, &str) {
    let lines = text.lines().count();
    if lines <= SPLIT_LINES {
        return (text, "");
    }
    let cut = text.match_indices('\n').nth(lines - STATUS_LINES - 1).map_or(text.len(), |it| it.0);
    (&text[..cut], text[cut..].trim_start_matches('\n'))
}

/// What a plugin sees of a session, and where the cursor is.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) sight: Sight,
    pub(crate) cursor: (u16, u16),
    pub(crate) quiet: Duration,
    /// What it sees of the screen and of what was printed, with what came before.
    pub(crate) screen: Excerpt,
    pub(crate) printed: Excerpt,
}

impl Seen {
    fn of(scene: Scene<'_>) -> Seen {
        let (screen, printed) = (scene.excerpt().clone(), scene.printed(TRANSCRIPT_TAIL));
        let (body, status) = split_status(screen.text());
        let cursor = scene.screen.cursor();
        let (exit_code, signal) = match scene.end {
            Some(End::Exited(ExitStatus::Code(code))) => (Some(code), None),
            Some(End::Exited(ExitStatus::Signal(signal))) => (None, Some(signal)),
            Some(End::Lost) | None => (None, None),
        };
        let sight = Sight {
            body_text: body.into(),
            status_text: status.into(),
            transcript: printed.alone(),
            sequence: scene.sequence,
            process_exited: scene.end.is_some(),
            exit_code,
            signal,
            stable_ms: None,
            markers: BTreeMap::new(),
            cursor: scene.transcript.map_or(0, greenroom_engine::Transcript::end),
            screen: screen.alone(),
        };
        Seen { sight, cursor: (cursor.row, cursor.col), quiet: scene.quiet, screen, printed }
    }
}

/// What held, and in which texts, if those are not the ones that a look after it would find.
pub(crate) struct Caught {
    outcome: Value,
    seen: Option<[Excerpt; 2]>,
}

impl Caught {
    /// What held, as somebody with this policy may see it. The scene is of the moment at which the wait was over:
    /// where it was looked at beside the session, that is later, and a secret that was caught may be gone from it.
    pub(crate) fn shown(self, policy: Option<&Redaction>, scene: Scene<'_>) -> Value {
        let Caught { mut outcome, seen } = self;
        Veil::new(policy, || seen.unwrap_or_else(|| texts(scene))).outcome(&mut outcome);
        outcome
    }

    /// The same for who will know later what may be seen of it.
    pub(crate) fn taken(self, scene: Scene<'_>) -> Taken {
        let Caught { outcome, seen } = self;
        Taken { outcome, seen: seen.unwrap_or_else(|| texts(scene)) }
    }
}

/// What can be caught of a session.
fn texts(scene: Scene<'_>) -> [Excerpt; 2] {
    [scene.excerpt().clone(), scene.printed(TRANSCRIPT_TAIL)]
}

/// What held, and in which texts.
pub(crate) struct Taken {
    outcome: Value,
    seen: [Excerpt; 2],
}

impl Taken {
    /// What held, as somebody with this policy may see it.
    pub(crate) fn shown(self, policy: Option<&Redaction>) -> Value {
        let Taken { mut outcome, seen } = self;
        Veil::new(policy, || seen).outcome(&mut outcome);
        outcome
    }
}

impl Door {
    /// What a plugin sees of a session now.
    pub(crate) async fn see(&self, id: SessionId) -> Result<Seen, RpcError> {
        let mut seen = self.engine.scene(id, Seen::of).await?;
        seen.sight.markers = self.sessions.labels(id);
        Ok(seen)
    }

    /// Waits until a goal is reached; gives what held, and what a look in that turn gave.
    pub(crate) async fn wait<T: Send + 'static>(
        &self,
        id: SessionId,
        goal: &Goal,
        timeout: Duration,
        look: impl FnOnce(Caught, Scene<'_>) -> T + Send + 'static,
    ) -> Result<T, RpcError> {
        let began = Instant::now();
        // Whoever looks takes it.
        let look = Arc::new(Mutex::new(Some(look)));
        let taken =
            |look: &Mutex<Option<_>>| look.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(matcher) = goal.matcher()
            && self.is_quick(id, goal).await?
        {
            let (goal, look) = (goal.clone(), Arc::clone(&look));
            let look = move |waited: &Waited, scene: Scene<'_>| {
                let caught = Caught { outcome: goal.to_wire(&waited.outcome), seen: None };
                taken(&look).map(|look| look(caught, scene))
            };
            let waited = self.engine.wait_as_guest(id, matcher.clone(), Some(timeout), look);
            if let Some(seen) = waited.await?.flatten() {
                return Ok(seen);
            }
        }
        let caught = self.wait_beside(id, goal, (began, timeout)).await?;
        let look = move |scene: Scene<'_>| taken(&look).map(|look| look(caught, scene));
        self.engine.scene(id, look).await?.ok_or_else(RpcError::closed)
    }

    /// Whether a goal can be looked at in a session's turn, which is everybody's time.
    async fn is_quick(&self, id: SessionId, goal: &Goal) -> Result<bool, RpcError> {
        if !goal.has_expressions() {
            return Ok(true);
        }
        let cells = |scene: Scene<'_>| {
            let size = scene.screen.size();
            usize::from(size.rows()) * usize::from(size.cols())
        };
        Ok(goal.is_quick_on(self.engine.scene(id, cells).await?))
    }

    /// Waits until a goal is reached that is looked at beside the session: a plugin is asked, or it takes long.
    async fn wait_beside(
        &self,
        id: SessionId,
        goal: &Goal,
        (began, timeout): (Instant, Duration),
    ) -> Result<Caught, RpcError> {
        let until = began + timeout.min(MAX_WAIT);
        let mut changes = self.engine.changes(id)?;
        let (look, mut again) = (self.looks.at(id), false);
        if Arc::strong_count(&look) > MAX_BESIDE {
            return Err(Error::Limit { what: "waits", most: MAX_BESIDE }.into());
        }
        loop {
            // One look is had in any case.
            let look_until = if again { until } else { until.max(began + FIRST_LOOK) };
            // Before it looks: who waits for a place keeps nothing of what was seen.
            let place = match goal.has_expressions() {
                true => match timeout_at(look_until, self.aside.place()).await {
                    Ok(place) => Some(place?),
                    Err(_) => return Err(RpcError::timeout(&self.see(id).await?.screen)),
                },
                false => None,
            };
            let next = {
                // It may be closed by now.
                let seen = self.look(id, &look, &mut changes).await;
                let seen = Seen::clone(&*seen.map_err(|_| RpcError::closed())?);
                let times = (began, until, look_until);
                self.look_beside(goal, seen, place.as_ref(), times, again).await?
            };
            drop(place);
            again = true;
            let (due, has_ended) = match next {
                Next::Caught(caught) => return Ok(caught),
                Next::Again { due, has_ended } => (due, has_ended),
            };
            tokio::select! {
                changed = changes.changed() => if changed.is_err() && has_ended {
                    // Nothing will change any more, but stability is still to come.
                    tokio::time::sleep_until(due).await;
                },
                () = tokio::time::sleep_until(due) => {}
            }
        }
    }

    /// Looks once; says what was caught, or when to look again.
    async fn look_beside(
        &self,
        goal: &Goal,
        seen: Seen,
        place: Option<&Place>,
        (began, until, look_until): (Instant, Instant, Instant),
        again: bool,
    ) -> Result<Next, RpcError> {
        let Seen { mut sight, cursor, quiet, screen, printed } = seen;
        let stable = quiet.min(began.elapsed());
        sight.stable_ms = u64::try_from(stable.as_millis()).ok();
        let held = Held {
            plugins: &self.plugins,
            place,
            sight: &sight,
            cursor,
            // Nothing can change any more.
            stable: if sight.process_exited { Duration::MAX } else { stable },
            // It may not be its turn before its time is over: then it is asked for the last time.
            turn_until: again.then_some(until),
            disabled: Mutex::default(),
            may_hold_later: AtomicBool::new(false),
        };
        let looking = goal.holds(&held);
        let outcome = match goal.matcher().is_some() {
            // A look that takes longer than there is time is not waited for.
            true => timeout_at(look_until, looking).await.ok().flatten(),
            false => looking.await,
        };
        if let Some(outcome) = outcome {
            return Ok(Next::Caught(Caught { outcome, seen: Some([screen, printed]) }));
        }
        if let Some(error) = held.disabled.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error.into());
        }
        if Instant::now() >= until {
            return Err(Error::Timeout { screen: "".into(), contents: screen }.into());
        }
        if sight.process_exited && goal.stable_ms().is_empty() {
            return Err(RpcError::closed());
        }
        // When it may hold though nothing happens: when it has been quiet for long enough.
        let stable_since = Instant::now() - stable;
        let times = goal.stable_ms().into_iter().map(|ms| stable_since + Duration::from_millis(ms));
        let times = times.filter(|&at| at > Instant::now());
        let ask = held.may_hold_later.into_inner().then(|| Instant::now() + ask_again(stable));
        let due = times.chain(ask).chain([until]).min().unwrap_or(until);
        Ok(Next::Again { due, has_ended: sight.process_exited })
    }
}

/// What becomes of a wait after a look.
enum Next {
    Caught(Caught),
    /// It is looked at again when something changes, and at that time.
    Again {
        due: Instant,
        has_ended: bool,
    },
}

/// When to ask a predicate again where nothing happens: it may go by how long that has been so. It is asked about a
/// hundred times in half a minute, and late by a tenth of the time it waits for.
fn ask_again(stable: Duration) -> Duration {
    (stable / 10).clamp(ASK_SOON, ASK_LATE)
}

#[cfg(test)]
mod tests {
    use greenroom_screen::{Options, Screen};
    use serde_json::json;

    use super::*;

    #[test]
    fn the_status_is_the_last_three_lines_of_a_tall_screen() {
        assert_eq!(split_status("1\n2\n3\n4\n5\n6"), ("1\n2\n3\n4\n5\n6", ""));
        assert_eq!(split_status("1\n2\n3\n4\n5\n6\n7"), ("1\n2\n3\n4", "5\n6\n7"));
        assert_eq!(split_status(""), ("", ""));
    }

    /// A plugin may take its time, and the program goes on printing.
    #[test]
    fn what_was_caught_of_a_secret_that_is_gone_by_now_is_hidden() {
        let screen = Screen::new("20x2".parse().unwrap(), Options::default());
        let scene = Scene {
            screen: &screen,
            transcript: None,
            sequence: 7,
            quiet: Duration::ZERO,
            end: None,
            texts: &greenroom_engine::Texts::default(),
        };
        let seen = ["token=abcdefgh1234", ""].map(|it| Excerpt::new(it, 0));
        let outcome = json!({"kind": "lua", "capture": "abcdefgh1234"});
        let caught = Caught { outcome, seen: Some(seen) };
        let shown = caught.shown(Some(Redaction::standard()), scene);
        assert_eq!(shown["capture"], "[REDACTED]");
    }
}
