//! What a client sees of secrets: nothing, unless it asks.

use std::borrow::Cow;
use std::cell::LazyCell;

use greenroom_engine::redact::Redaction;
use serde::Deserialize;
use serde_json::Value;

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

/// How much of what a pattern caught is told.
const CAPTURE_CHARS: usize = 4096;

/// What held, without secrets in what patterns caught. The texts are those the patterns looked at: a
/// piece of a secret is one that they have and would not have without their secrets.
pub(crate) fn without_secrets(
    mut outcome: Value,
    policy: Option<&Redaction>,
    texts: &[&str],
) -> Value {
    // Most waits catch nothing, and to look for secrets in what a session printed takes its time.
    let shown = LazyCell::new(|| -> Vec<(&str, Cow<'_, str>)> {
        texts.iter().map(|&text| (text, self::shown(policy, text))).collect()
    });
    let secret = |caught: &str| {
        shown.iter().any(|(text, shown)| text.contains(caught) && !shown.contains(caught))
    };
    hide(&mut outcome, &|caught| match policy {
        None => caught.to_owned(),
        Some(policy) => match policy.apply(caught) {
            Cow::Borrowed(_) if secret(caught) => policy.replacement().to_owned(),
            hidden => hidden.into_owned(),
        },
    });
    outcome
}

/// Replaces what was caught, wherever it is in an outcome.
fn hide(outcome: &mut Value, shown: &dyn Fn(&str) -> String) {
    if let Some(caught) = outcome.get("capture").and_then(Value::as_str) {
        let shown = shown(caught);
        let end = shown.char_indices().nth(CAPTURE_CHARS).map_or(shown.len(), |it| it.0);
        outcome["capture"] = shown[..end].into();
    }
    match outcome.get_mut("matched") {
        Some(Value::Array(parts)) => parts.iter_mut().for_each(|it| hide(it, shown)),
        Some(part) => hide(part, shown),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_caught_of_a_secret_is_hidden() {
        let policy = Some(Redaction::standard());
        let screen = "user bob token=abcdefgh1234 done";
        let caught = |capture: &str| {
            let outcome =
                json!({"kind": "any", "matched": {"kind": "screen_regex", "capture": capture}});
            without_secrets(outcome, policy, &[screen])["matched"]["capture"].clone()
        };
        assert_eq!(caught("bob"), "bob");
        assert_eq!(caught("abcdefgh1234"), "[REDACTED]");
        assert_eq!(caught("cdefg"), "[REDACTED]");
        assert_eq!(caught("token=abcdefgh1234 done"), "token=[REDACTED] done");
        assert_eq!(caught(&"x".repeat(9999)).as_str().unwrap().len(), CAPTURE_CHARS);
    }
}
