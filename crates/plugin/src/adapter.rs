//! One plugin at work for one session.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::answers::{self, Plan, PlanError, State};
use crate::error::PluginError;
use crate::manifest::Manifest;
use crate::pace::Pace;
use crate::package::Package;
use crate::sight::Sight;
use crate::vm::{Call, Input};
use crate::worker::Worker;

/// The function that says what a screen is.
pub(crate) const CLASSIFY: &str = "classify";

/// The function that says what a plugin offers.
pub(crate) const DESCRIBE: &str = "describe";

/// A plugin in a VM of its own. Its plugin cannot be unloaded until this is dropped.
#[derive(Debug)]
pub struct Adapter {
    package: Arc<Package>,
    worker: Worker,
    pace: Pace,
    /// Only held.
    _life: Life,
}

/// Counts as alive until it is dropped.
#[derive(Debug)]
pub(crate) struct Life(Arc<AtomicUsize>);

impl Life {
    pub(crate) fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Adapter {
    pub(crate) fn new(package: Arc<Package>, worker: Worker, life: Life) -> Self {
        Self { package, worker, pace: Pace::default(), _life: life }
    }

    /// Who it is and what it may do.
    pub fn manifest(&self) -> &Manifest {
        &self.package.manifest
    }

    /// Waits until it may be asked again because something happened. The first time, and whenever a client
    /// wants to know, it need not be waited for.
    pub async fn turn(&self) {
        self.pace.turn().await;
    }

    /// Asks what the session shows.
    pub async fn classify(
        &self,
        input: &Sight,
        last_intent: Option<&str>,
        stable_ms: Option<u64>,
        completed_turn_stable_ms: u64,
    ) -> Result<State, PluginError> {
        let sequence = input.sequence;
        let input = Input::Classify {
            sight: input.clone(),
            last_intent: last_intent.map(str::to_owned),
            stable_ms,
            completed_turn_stable_ms,
        };
        let answer = self.worker.call(Call { function: CLASSIFY.to_owned(), input }).await?;
        State::from_answer(answer, sequence).map_err(|it| self.wrong(CLASSIFY, it))
    }

    /// Asks what is to be done for an intent.
    pub async fn intent(&self, name: &str, params: Value) -> Result<Plan, PluginError> {
        let answer = self.ask(name, params).await?;
        Plan::from_answer(answer, self.manifest()).map_err(|error| match error {
            PlanError::Shape(message) => self.wrong(name, message),
            PlanError::NotGranted(action, permission) => PluginError::NotGranted {
                plugin: self.package.name().to_owned(),
                action,
                permission,
            },
        })
    }

    /// Whether the plugin has a function that can be asked for what is to be waited for. It is not called.
    ///
    /// # Errors
    /// It has none of that name, or does not answer.
    pub async fn has_matcher(&self, name: &str) -> Result<(), PluginError> {
        let exported = self.worker.exported().await?;
        if exported.iter().any(|it| it == name) && name != CLASSIFY && name != DESCRIBE {
            return Ok(());
        }
        let (plugin, function) = (self.package.name().to_owned(), name.to_owned());
        Err(PluginError::NoFunction { plugin, function })
    }

    /// Asks what is to be waited for: a matcher tree.
    pub async fn matcher(&self, name: &str, params: Value) -> Result<Value, PluginError> {
        let answer = self.ask(name, params).await?;
        answers::matcher(answer).map_err(|it| self.wrong(name, it))
    }

    /// Asks an optional function that only looks at the session; `None` if the plugin has none.
    pub async fn look(&self, name: &str, input: &Sight) -> Result<Option<Value>, PluginError> {
        let input = Input::Predicate { sight: input.clone(), params: Value::Null };
        match self.worker.call(Call { function: name.to_owned(), input }).await {
            Ok(answer) => Ok(Some(answer)),
            Err(PluginError::NoFunction { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn ask(&self, name: &str, params: Value) -> Result<Value, PluginError> {
        if name == CLASSIFY || name == DESCRIBE {
            let (plugin, function) = (self.package.name().to_owned(), name.to_owned());
            return Err(PluginError::NoFunction { plugin, function });
        }
        self.worker.call(Call { function: name.to_owned(), input: Input::Params(params) }).await
    }

    fn wrong(&self, function: &str, message: String) -> PluginError {
        wrong(&self.package, function, message)
    }
}

/// The error for an answer of the wrong shape.
pub(crate) fn wrong(package: &Package, function: &str, message: String) -> PluginError {
    let (plugin, function) = (package.name().to_owned(), function.to_owned());
    PluginError::Answer { plugin, function, message }
}
