//! Carrying out what an intent wants, so that a prompt is submitted and never stranded.
//!
//! Between a paste and the Enter behind it the composer settles: an Enter that comes too early is
//! taken for a part of the paste. After the Enter the adapter says whether the composer is empty; if it
//! is not, Enter is pressed again, a few times, and then the caller is told the truth.

use std::time::Duration;

use greenroom_engine::{Caller, Matcher};
use greenroom_model::SessionId;
use greenroom_plugin::Plan;

use crate::Door;
use crate::action::Action;
use crate::adapters::Live;
use crate::error::RpcError;

/// How long the screen must be still for a composer to have settled.
const SETTLED: Duration = Duration::from_millis(80);

/// How long a composer may take to settle. A program that draws all the time never does.
const SETTLES_WITHIN: Duration = Duration::from_secs(3);

/// How often Enter is pressed, at most, and how long each has to show.
const TRIES: usize = 4;
const SHOWS_WITHIN: Duration = Duration::from_millis(750);

/// The export by which an adapter says what its program's composer holds.
const COMPOSER: &str = "composer_state";

/// The last intent of a plan that submits a prompt.
const SUBMITTED: &str = "prompt_submitted";

impl Door {
    /// Does what a plan says, in order.
    pub(crate) async fn carry_out(
        &self,
        caller: &Caller,
        live: &Live,
        plan: Plan,
    ) -> Result<(), RpcError> {
        let actions: Vec<Action> =
            plan.actions.iter().map(Action::from_wire).collect::<Result<_, _>>()?;
        let (id, mut filled) = (live.session, false);
        let mut submits = false;
        for action in actions {
            let enters = action.is_enter() && filled;
            if enters {
                self.settle(id).await?;
            }
            filled = action.fills_composer() || (filled && !enters && !action.is_enter());
            submits = enters;
            action.perform(self, caller, id).await?;
        }
        if submits && plan.last_intent.as_deref() == Some(SUBMITTED) {
            self.verify(caller, live).await?;
        }
        if let Some(intent) = plan.last_intent {
            live.set_last_intent(intent);
        }
        Ok(())
    }

    /// Waits until the screen is still, for a while.
    async fn settle(&self, id: SessionId) -> Result<(), RpcError> {
        let still =
            self.engine.wait(id, Matcher::Stable(SETTLED), Some(SETTLES_WITHIN), None).await;
        match still {
            Ok(_) | Err(greenroom_engine::Error::Timeout { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Sees to it that what was submitted has left the composer, if the adapter can tell.
    async fn verify(&self, caller: &Caller, live: &Live) -> Result<(), RpcError> {
        for _ in 1..TRIES {
            let Some(holds) = self.composer_holds(live, SHOWS_WITHIN).await? else { return Ok(()) };
            if !holds {
                return Ok(());
            }
            tracing::info!(adapter = %live.name, "a prompt was still in the composer: Enter again");
            Action::Key("enter".to_owned()).perform(self, caller, live.session).await?;
        }
        match self.composer_holds(live, SHOWS_WITHIN).await? {
            Some(true) => {
                Err(RpcError::internal("the prompt was not submitted: it is still in the composer"))
            }
            Some(false) | None => Ok(()),
        }
    }

    /// Whether the composer still holds something after a time; none if the adapter cannot tell.
    async fn composer_holds(
        &self,
        live: &Live,
        within: Duration,
    ) -> Result<Option<bool>, RpcError> {
        let until = tokio::time::Instant::now() + within;
        let mut changes = self.engine.changes(live.session)?;
        loop {
            changes.borrow_and_update();
            let seen = self.see(live.session).await?;
            let state = match live.plugin.look(COMPOSER, &seen.sight).await {
                Ok(Some(state)) => state,
                Ok(None) => return Ok(None),
                Err(error) => {
                    tracing::warn!(adapter = %live.name, %error, "an adapter cannot tell what its composer holds");
                    return Ok(None);
                }
            };
            if !matches!(state.as_str(), Some("text" | "pasted")) {
                return Ok(Some(false));
            }
            if !matches!(tokio::time::timeout_at(until, changes.changed()).await, Ok(Ok(()))) {
                return Ok(Some(true));
            }
        }
    }
}
