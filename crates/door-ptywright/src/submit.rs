//! Carrying out what an intent wants, so that a prompt is submitted and never stranded.
//!
//! A program that was just started takes no prompt yet, so the adapter is asked before anything is typed.
//! Between a paste and the Enter behind it the composer settles: an Enter that comes too early is
//! taken for a part of the paste. If a dialog came up meanwhile the Enter would answer it, so the adapter is
//! asked before; and before a paste behind an Escape, until what that is to leave is gone. After the Enter the
//! adapter says whether the prompt was sent; while it is still in the composer, Enter is pressed again, a few
//! times, and then the caller is told the truth.
//!
//! **Invariant:** an adapter that has a say and cannot say it is taken for a no: nothing is typed then.

use std::fmt::Display;
use std::time::Duration;

use greenroom_engine::Matcher;
use greenroom_model::SessionId;
use greenroom_plugin::{Plan, PluginError, Sight};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::Door;
use crate::action::Action;
use crate::adapters::{INTENT, Live};
use crate::error::RpcError;
use crate::typing::Typist;

/// How long a program may take until there is something to type into. Claude Code starts in half a second, on a
/// busy machine in ten.
const READY_WITHIN: Duration = Duration::from_secs(20);

/// How often an adapter is asked whether there is, though nothing changes: it may count the time itself.
const READY_AGAIN: Duration = Duration::from_millis(100);

/// How long the screen must be still for a composer to have settled.
const SETTLED: Duration = Duration::from_millis(80);

/// How long a composer may take to settle. A program that draws all the time never does.
const SETTLES_WITHIN: Duration = Duration::from_secs(3);

/// How long a program may take to leave what it shows behind an Escape. Claude Code takes a tenth of a second.
const LEFT_WITHIN: Duration = Duration::from_secs(3);

/// How often Enter is pressed again, at most.
const AGAIN: usize = 3;

/// How long an Enter has to show before the next. A program that is only slow takes all of them, and the next may go to
/// what the first has opened.
const SHOWS_WITHIN: Duration = Duration::from_millis(1500);

/// How long it may take in all until a prompt is known to be sent.
const SENT_WITHIN: Duration = Duration::from_secs(10);

/// The export by which an adapter says whether there is something to type into: `true`, `false` (not yet), or a text
/// that says why not.
const MAY_TYPE: &str = "may_type";

/// The export by which an adapter says whether the prompt it planned was sent: `sent`, `unsent` or
/// `pending`.
const SUBMISSION: &str = "submission_state";

/// The export by which an adapter says why Enter must not be pressed behind a paste, nor anything pasted behind an
/// Escape, if so: a text, or `true` while the paste is not to be seen yet.
const REFUSED: &str = "enter_refused";

/// The last intent of a plan that submits a prompt.
const SUBMITTED: &str = "prompt_submitted";

/// What an adapter says of an Enter.
enum Enter {
    Free,
    /// What was pasted is not to be seen yet.
    NotYet,
    Refused(RpcError),
}

impl Door {
    /// Does what the plan of an intent says, in order. Until when its caller waits is asked for only once all is
    /// typed: half a prompt is worse than a late answer.
    pub(crate) async fn carry_out(
        &self,
        typist: Typist<'_>,
        live: &Live,
        (intent, plan): (&str, Plan),
        until: Option<Instant>,
    ) -> Result<(), RpcError> {
        let plugin = &live.plugin.manifest().name;
        let actions = plan.actions.iter().map(Action::from_plan).collect::<Result<Vec<_>, _>>();
        let actions = actions.map_err(|why| RpcError::plugin(plugin, intent, &why))?;
        let (id, mut filled) = (live.session, false);
        self.has_room_for(id, actions.iter().filter_map(Action::label))
            .map_err(|why| RpcError::plugin(plugin, intent, &why))?;
        if types_at_once(&actions) {
            self.is_ready(typist, live).await?;
        }
        let (mut submits, mut left) = (false, false);
        for action in actions {
            if left && action.fills_composer() {
                self.has_left(live).await?;
            }
            left = action.is_escape() || (left && !action.fills_composer());
            let enters = action.is_enter() && filled;
            // A second paste that comes too early takes the place of the first.
            if enters || (filled && action.fills_composer()) {
                self.settle(id).await?;
                self.refusal(live).await?.map_or(Ok(()), Err)?;
            }
            if enters {
                self.is_pasted(live).await?;
            }
            filled = action.fills_composer() || (filled && !enters && !action.is_enter());
            submits = enters;
            action.perform(self, typist, id).await?;
        }
        let mut late = None;
        if submits && plan.last_intent.as_deref() == Some(SUBMITTED) {
            late = self.verify(typist, live, until).await?;
        }
        if let Some(intent) = plan.last_intent {
            live.set_last_intent(intent.clone());
            self.engine.note(id, INTENT.to_owned(), intent).await;
        }
        late.map_or(Ok(()), Err)
    }

    /// Waits until the screen is still, for a while.
    async fn settle(&self, id: SessionId) -> Result<(), RpcError> {
        let (still, within) = (Matcher::Stable(SETTLED), Some(SETTLES_WITHIN));
        match self.engine.wait(id, still, within, None, |_, _| ()).await {
            Ok(()) | Err(greenroom_engine::Error::Timeout { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until what an Escape was to leave is gone, if the adapter can tell; what was to be typed then would
    /// go elsewhere otherwise.
    async fn has_left(&self, live: &Live) -> Result<(), RpcError> {
        let until = Instant::now() + LEFT_WITHIN;
        let mut changes = self.engine.changes(live.session)?;
        loop {
            changes.borrow_and_update();
            self.settle(live.session).await?;
            let Some(why) = self.refusal(live).await? else { return Ok(()) };
            match tokio::time::timeout_at(until, changes.changed()).await {
                Ok(Ok(())) => {}
                // In vain, or at its end.
                Ok(Err(_)) | Err(_) => return Err(why),
            }
            live.plugin.turn().await;
        }
    }

    /// Waits until there is something to type into, if the adapter can tell. Others need not wait for that, and a
    /// turn whose time is over gives up: nothing of it was typed.
    async fn is_ready(&self, typist: Typist<'_>, live: &Live) -> Result<(), RpcError> {
        let until = Instant::now() + READY_WITHIN;
        let mut changes = self.engine.changes(live.session)?;
        loop {
            changes.borrow_and_update();
            let mut seen = self.see(live.session).await?;
            seen.sight.stable_ms = u64::try_from(seen.quiet.as_millis()).ok();
            match ask(live, MAY_TYPE, &seen.sight).await {
                Ok(None | Some(Value::Bool(true))) => break,
                // It will not come any more.
                Ok(Some(Value::Bool(false))) if seen.sight.process_exited => {
                    return Err(RpcError::closed());
                }
                Ok(Some(Value::Bool(false))) => {}
                Ok(Some(Value::String(why))) => return Err(refused(&why)),
                Ok(Some(_)) => return Err(unsaid(MAY_TYPE, &"neither a boolean nor a text")),
                Err(error) => return Err(unsaid(MAY_TYPE, &error)),
            }
            if Instant::now() >= until {
                let within = READY_WITHIN.as_secs();
                return Err(refused(&format!(
                    "not_ready: nothing to type into was shown for {within} s, nothing was typed"
                )));
            }
            typist.typing.set_stuck(true);
            changes_by(&mut changes, Instant::now() + READY_AGAIN).await;
            live.plugin.turn().await;
        }
        typist.typing.set_stuck(false);
        Ok(())
    }

    /// Waits until what was pasted is to be seen, if the adapter can tell: a dialog that is open and not drawn yet
    /// would have swallowed it, and take Enter for its answer.
    async fn is_pasted(&self, live: &Live) -> Result<(), RpcError> {
        let until = Instant::now() + SETTLES_WITHIN;
        let mut changes = self.engine.changes(live.session)?;
        loop {
            changes.borrow_and_update();
            match self.enter(live).await? {
                Enter::Free => return Ok(()),
                Enter::Refused(why) => return Err(why),
                Enter::NotYet => {}
            }
            if Instant::now() >= until {
                return Err(refused(
                    "not_pasted: what was pasted is not to be seen, nothing was submitted",
                ));
            }
            changes_by(&mut changes, Instant::now() + READY_AGAIN).await;
            live.plugin.turn().await;
        }
    }

    /// Why nothing may be typed into what is shown, if the adapter can tell.
    async fn refusal(&self, live: &Live) -> Result<Option<RpcError>, RpcError> {
        Ok(match self.enter(live).await? {
            Enter::Refused(why) => Some(why),
            Enter::Free | Enter::NotYet => None,
        })
    }

    /// What the adapter says of an Enter, if it can tell.
    async fn enter(&self, live: &Live) -> Result<Enter, RpcError> {
        let mut seen = self.see(live.session).await?;
        seen.sight.stable_ms = u64::try_from(seen.quiet.as_millis()).ok();
        match ask(live, REFUSED, &seen.sight).await {
            Ok(None | Some(Value::Null | Value::Bool(false))) => Ok(Enter::Free),
            Ok(Some(Value::Bool(true))) => Ok(Enter::NotYet),
            Ok(Some(Value::String(why))) => Ok(Enter::Refused(refused(&why))),
            Ok(Some(_)) => Err(unsaid(REFUSED, &"neither a text, nor a boolean, nor nil")),
            Err(error) => Err(unsaid(REFUSED, &error)),
        }
    }

    /// Sees to it that a prompt was sent, if the adapter can tell. Gives what to tell a caller whose time was over
    /// before that could be seen: it may well be sent. One that is still in the composer is seen to all the same.
    async fn verify(
        &self,
        typist: Typist<'_>,
        live: &Live,
        caller_until: Option<Instant>,
    ) -> Result<Option<RpcError>, RpcError> {
        let until = Instant::now() + SENT_WITHIN;
        let mut changes = self.engine.changes(live.session)?;
        let (mut again, mut shows) = (0, Instant::now() + SHOWS_WITHIN);
        let unsent = loop {
            changes.borrow_and_update();
            let seen = self.see(live.session).await?;
            let state = match live.plugin.look(SUBMISSION, &seen.sight).await {
                Ok(Some(state)) => state,
                Ok(None) => return Ok(None),
                Err(error) => {
                    tracing::warn!(adapter = %live.name, %error, "an adapter cannot tell what was sent");
                    return Ok(None);
                }
            };
            let unsent = match state.as_str() {
                Some("unsent") => true,
                Some("pending") => false,
                _ => return Ok(None),
            };
            if !unsent && caller_until.is_some_and(|until| Instant::now() >= until) {
                return Ok(Some(RpcError::timeout(&seen.screen)));
            }
            let is_late = Instant::now() >= shows;
            if Instant::now() >= until {
                break unsent;
            }
            if unsent && is_late && again < AGAIN {
                // A dialog may have come up since.
                self.refusal(live).await?.map_or(Ok(()), Err)?;
                tracing::info!(adapter = %live.name, "a prompt was still in the composer: Enter again");
                again += 1;
                Action::Key("enter".to_owned()).perform(self, typist, live.session).await?;
                shows = Instant::now() + SHOWS_WITHIN;
            }
            let next = if is_late {
                SHOWS_WITHIN
            } else {
                shows.saturating_duration_since(Instant::now())
            };
            let next = (Instant::now() + next).min(match unsent {
                true => until,
                false => caller_until.unwrap_or(until),
            });
            changes_by(&mut changes, next).await;
            live.plugin.turn().await;
        };
        Err(RpcError::internal(if unsent {
            "the prompt was not submitted: it is still in the composer".to_owned()
        } else {
            let within = SENT_WITHIN.as_secs();
            format!("whether the prompt was submitted could not be seen within {within} s")
        }))
    }
}

/// Waits until a session changes, but not longer than up to a moment: it is looked at again all the same. One that has
/// ended never changes, and is not looked at without a pause either.
async fn changes_by(changes: &mut watch::Receiver<u64>, until: Instant) {
    if let Ok(Err(_)) = tokio::time::timeout_at(until, changes.changed()).await {
        tokio::time::sleep_until(until.min(Instant::now() + READY_AGAIN)).await;
    }
}

/// Whether a plan begins with what goes into a composer, if only to empty it first. Behind an Escape or an Enter it
/// does not: something else is to be left before.
fn types_at_once(actions: &[Action]) -> bool {
    let mut typed = actions.iter().filter(|action| !matches!(action, Action::MarkTranscript(_)));
    typed.clone().any(Action::fills_composer)
        && typed.next().is_some_and(|first| !first.is_escape() && !first.is_enter())
}

/// Asks an adapter; once more if it fails, for its time may have been taken by others.
async fn ask(live: &Live, function: &str, sight: &Sight) -> Result<Option<Value>, PluginError> {
    match live.plugin.look(function, sight).await {
        Ok(said) => Ok(said),
        Err(error) => {
            tracing::info!(adapter = %live.name, %error, "an adapter is asked again");
            live.plugin.look(function, sight).await
        }
    }
}

/// What an adapter said no with.
fn refused(why: &str) -> RpcError {
    RpcError::internal(format!("lua plugin error: {why}"))
}

/// An adapter that was asked whether something may be typed, and did not say.
fn unsaid(function: &str, why: &dyn Display) -> RpcError {
    refused(&format!("`{function}` did not say whether to type: {why}"))
}
