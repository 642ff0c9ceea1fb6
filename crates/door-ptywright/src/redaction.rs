//! What a client sees of secrets: nothing, unless it asks.
//!
//! Not here: secrets in what plugins and patterns made of texts (`veil`).

use std::borrow::Cow;

use greenroom_engine::redact::Redaction;
use serde::Deserialize;

use crate::error::RpcError;

/// How a read wants secrets treated: `redact` and `redaction` of its parameters.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wish {
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

impl Wish {
    /// The policy; none to see everything. Rules are checked even if they are not wanted.
    pub(crate) fn policy(&self) -> Result<Option<Redaction>, RpcError> {
        let policy = match &self.redaction {
            None => Redaction::standard().clone(),
            Some(rules) => {
                let (literals, regexes) = (&rules.extra_literals, &rules.extra_regexes);
                Redaction::with(&rules.replacement, literals, regexes)
                    .map_err(|error| RpcError::params(error.to_string()))?
            }
        };
        Ok(self.redact.unwrap_or(true).then_some(policy))
    }
}

/// A text as a client may see it.
pub(crate) fn shown<'t>(policy: Option<&Redaction>, text: &'t str) -> Cow<'t, str> {
    match policy {
        Some(policy) => policy.apply(text),
        None => Cow::Borrowed(text),
    }
}
