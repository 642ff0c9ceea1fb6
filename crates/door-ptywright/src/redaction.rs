//! What a client sees of secrets: nothing, unless it asks.

use std::borrow::Cow;
use std::cell::{LazyCell, OnceCell};

use greenroom_engine::redact::Redaction;
use greenroom_plugin::State;
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

/// Hides secrets in what somebody made of texts: what patterns caught, what plugins say.
///
/// A piece of a secret is known by the texts: they have it, and would not have it without their secrets.
///
/// Most waits catch nothing, so neither the texts nor what is to be seen of them is there before it is needed.
pub(crate) struct Veil<'a, F> {
    policy: Option<&'a Redaction>,
    texts: LazyCell<[&'a str; 2], F>,
    shown: OnceCell<[Cow<'a, str>; 2]>,
}

impl<'a, F: FnOnce() -> [&'a str; 2]> Veil<'a, F> {
    /// The texts are the screen's and the transcript's.
    pub(crate) fn new(policy: Option<&'a Redaction>, texts: F) -> Veil<'a, F> {
        Veil { policy, texts: LazyCell::new(texts), shown: OnceCell::new() }
    }

    /// Hides what was caught, and what a plugin says of it, wherever that is in an outcome.
    pub(crate) fn outcome(&self, outcome: &mut Value) {
        self.hide_members(outcome, &["capture", "evidence"]);
        if let Some(Value::String(caught)) = outcome.get_mut("capture")
            && let Some((end, _)) = caught.char_indices().nth(CAPTURE_CHARS)
        {
            caught.truncate(end);
        }
        match outcome.get_mut("matched") {
            Some(Value::Array(parts)) => parts.iter_mut().for_each(|it| self.outcome(it)),
            Some(part) => self.outcome(part),
            None => {}
        }
    }

    /// A state, as clients get it.
    pub(crate) fn state(&self, state: &State) -> Value {
        let mut state = state.to_json();
        self.hide_members(&mut state, &["evidence", "metadata", "events"]);
        state
    }

    fn hide_members(&self, object: &mut Value, names: &[&str]) {
        if self.policy.is_some() {
            for name in names {
                object.get_mut(name).into_iter().for_each(|it| self.hide(it));
            }
        }
    }

    /// Hides secrets in every text of a value.
    fn hide(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(shown) = self.text(text) {
                    *text = shown;
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|it| self.hide(it)),
            Value::Object(members) => {
                let shown = std::mem::take(members).into_iter().map(|(name, mut value)| {
                    self.hide(&mut value);
                    (self.text(&name).into_owned(), value)
                });
                *members = shown.collect();
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(policy) = self.policy else { return Cow::Borrowed(text) };
        match policy.apply(text) {
            Cow::Borrowed(_) if self.is_in_secret(text) => policy.replacement().to_owned().into(),
            shown => shown,
        }
    }

    /// Whether it is a piece of a secret.
    fn is_in_secret(&self, piece: &str) -> bool {
        let shown = |index: usize| {
            &self.shown.get_or_init(|| self.texts.map(|text| shown(self.policy, text)))[index]
        };
        let mut texts = self.texts.iter().enumerate();
        texts.any(|(index, text)| text.contains(piece) && !shown(index).contains(piece))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SCREEN: &str = "user bob token=abcdefgh1234 done";

    fn outcome(mut outcome: Value) -> Value {
        Veil::new(Some(Redaction::standard()), || [SCREEN, ""]).outcome(&mut outcome);
        outcome
    }

    #[test]
    fn what_is_caught_of_a_secret_is_hidden() {
        let caught = |capture: &str| {
            let any =
                json!({"kind": "any", "matched": {"kind": "screen_regex", "capture": capture}});
            outcome(any)["matched"]["capture"].clone()
        };
        assert_eq!(caught("bob"), "bob");
        assert_eq!(caught("abcdefgh1234"), "[REDACTED]");
        assert_eq!(caught("cdefg"), "[REDACTED]");
        assert_eq!(caught("token=abcdefgh1234 done"), "token=[REDACTED] done");
        assert_eq!(caught(&"x".repeat(9999)).as_str().unwrap().len(), CAPTURE_CHARS);
    }

    #[test]
    fn what_a_plugin_says_of_a_secret_is_hidden() {
        let said = json!({"kind": "lua", "plugin": "p", "predicate": "f", "capture": ["bob", "efgh"],
            "evidence": {"why": "saw token=abcdefgh1234", "abcdefgh1234": 1, "who": "bob", "n": 2}});
        let shown = json!({"kind": "lua", "plugin": "p", "predicate": "f", "capture": ["bob", "[REDACTED]"],
            "evidence": {"why": "saw token=[REDACTED]", "[REDACTED]": 1, "who": "bob", "n": 2}});
        assert_eq!(outcome(json!({"kind": "all", "matched": [said]}))["matched"][0], shown);
    }

    #[test]
    fn who_may_see_everything_does() {
        let veil = Veil::new(None, || [SCREEN, ""]);
        let mut caught = json!({"capture": "abcdefgh1234"});
        veil.outcome(&mut caught);
        assert_eq!(caught["capture"], "abcdefgh1234");
    }
}
