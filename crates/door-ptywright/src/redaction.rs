//! What a client sees of secrets: nothing, unless it asks.
//!
//! Not here: secrets in what plugins and patterns made of texts (`veil`).

use std::borrow::Cow;

use greenroom_engine::redact::Redaction;
use serde::Deserialize;
use serde_json::Value;

use crate::Door;
use crate::adapters::Classified;
use crate::envelope::Params;
use crate::error::RpcError;
use crate::snapshot::{Shot, View};

/// How a read wants secrets treated: `redact` and `redaction` of its parameters.
#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "an object")]
struct Wish {
    #[serde(default)]
    redact: Option<bool>,
    #[serde(default)]
    redaction: Option<Rules>,
}

/// Rules for one read, beside the standard ones.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an object with `enabled` and `replacement`")]
struct Rules {
    /// Must be there; a client that sends rules wants them.
    #[serde(rename = "enabled")]
    _enabled: bool,
    replacement: String,
    #[serde(default)]
    extra_literals: Vec<String>,
    #[serde(default)]
    extra_regexes: Vec<String>,
}

impl Door {
    /// The policy that a read asks for; none to see everything. Rules are checked even if they are not wanted.
    pub(crate) async fn policy(&self, params: &Params) -> Result<Option<Redaction>, RpcError> {
        let Wish { redact, redaction } = params.read()?;
        let policy = match redaction {
            None => Redaction::standard().clone(),
            Some(rules) if rules.extra_regexes.is_empty() => rules.policy()?,
            Some(rules) => self.aside.build(move || rules.policy()).await??,
        };
        Ok(redact.unwrap_or(true).then_some(policy))
    }

    /// A screen for who asked for it and may see it so.
    pub(crate) async fn view(
        &self,
        shot: Shot,
        policy: Option<Redaction>,
    ) -> Result<View, RpcError> {
        let (hidden, bytes) = (policy.clone(), shot.bytes());
        self.aside.hide(policy.as_ref(), bytes, move |_| shot.view(hidden)).await
    }

    /// A state as somebody with this policy may see it.
    pub(crate) async fn told(
        &self,
        state: Classified,
        policy: Option<&Redaction>,
    ) -> Result<Value, RpcError> {
        let bytes = state.seen.screen.text().len();
        self.aside.hide(policy, bytes, move |policy| state.to_wire(policy)).await
    }

    /// An error as somebody with this policy may see it.
    pub(crate) async fn hiding(&self, error: RpcError, policy: Option<&Redaction>) -> RpcError {
        let bytes = error.bytes();
        self.aside.hide(policy, bytes, move |it| error.hiding(it)).await.unwrap_or_else(|it| it)
    }
}

impl Rules {
    fn policy(&self) -> Result<Redaction, RpcError> {
        let Rules { replacement, extra_literals, extra_regexes, .. } = self;
        let policy = Redaction::with(replacement, extra_literals, extra_regexes);
        policy.map_err(|error| RpcError::params(error.to_string()))
    }
}

/// A text as a client may see it.
pub(crate) fn shown<'t>(policy: Option<&Redaction>, text: &'t str) -> Cow<'t, str> {
    match policy {
        Some(policy) => policy.apply(text),
        None => Cow::Borrowed(text),
    }
}
