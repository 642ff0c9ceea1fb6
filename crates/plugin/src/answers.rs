//! What plugins answer, taken from the JSON that `value` made of it.
//!
//! Lua has one empty table, so `{}` counts as an empty list wherever a list is expected. Fields that
//! are not known are ignored, except in what is passed through: metadata, events, actions, matchers.

use serde_json::{Map, Value, json};

use crate::limits::ACTIONS_MAX;
use crate::manifest::{Manifest, Permission};

/// What a classifier makes of a screen.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The plugin's word for it.
    pub state: String,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// Why it thinks so.
    pub evidence: String,
    /// What it looked at.
    pub sequence: u64,
    /// What else it could be.
    pub candidates: Vec<Candidate>,
    /// Whatever the plugin adds.
    pub metadata: Option<Value>,
    /// Labels that the host is to put at the end of the transcript.
    pub host_marks: Vec<HostMark>,
    /// What happened since the last look, each an object with `kind` and `seq`.
    pub events: Vec<Value>,
}

/// Another state that a screen could be.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The plugin's word for it.
    pub state: String,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
}

/// A label that the host is to put at the end of the transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostMark {
    /// Its name.
    pub label: String,
}

/// What an intent wants done.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// In order, each an object with a `type`. Permissions are checked, shapes are not.
    pub actions: Vec<Value>,
    /// What to remember as the last intent: `None` keeps it, an empty text clears it.
    pub last_intent: Option<String>,
}

/// What a predicate that matched adds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Why it matched.
    pub evidence: Option<Value>,
    /// What it found.
    pub capture: Option<Value>,
}

/// What a plugin offers, each entry an object with at least a `name`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalog {
    /// What can be sent.
    pub intents: Vec<Value>,
    /// What can be waited for.
    pub wait_matchers: Vec<Value>,
    /// What a classifier may say.
    pub states: Vec<Value>,
}

/// Why a plan is not carried out.
#[derive(Debug, PartialEq)]
pub(crate) enum PlanError {
    Shape(String),
    NotGranted(String, Permission),
}

impl State {
    /// The state that stands for a classifier that failed.
    pub fn plugin_error(why: &impl std::fmt::Display, sequence: u64) -> Self {
        Self {
            state: "plugin_error".to_owned(),
            confidence: 0.0,
            evidence: format!("plugin failed: {why}"),
            sequence,
            candidates: vec![],
            metadata: None,
            host_marks: vec![],
            events: vec![],
        }
    }

    /// As clients get it: confidence with three decimals, `candidates` always there.
    pub fn to_json(&self) -> Value {
        let candidates: Vec<Value> = self
            .candidates
            .iter()
            .map(|it| json!({ "state": it.state, "confidence": rounded(it.confidence) }))
            .collect();
        let mut object = json!({
            "state": self.state,
            "confidence": rounded(self.confidence),
            "evidence": self.evidence,
            "sequence": self.sequence,
            "candidates": candidates,
        });
        if let Some(metadata) = &self.metadata {
            object["metadata"] = metadata.clone();
        }
        if !self.host_marks.is_empty() {
            object["host_marks"] =
                self.host_marks.iter().map(|it| json!({ "label": it.label })).collect();
        }
        if !self.events.is_empty() {
            object["events"] = Value::Array(self.events.clone());
        }
        object
    }

    /// Takes a classifier's answer. What it leaves out is filled in: the host's sequence, full
    /// confidence, no evidence.
    pub(crate) fn from_answer(answer: Value, sequence: u64) -> Result<Self, String> {
        let mut fields = object(answer)?;
        Ok(Self {
            state: text(&mut fields, "state")?.ok_or("no `state`")?,
            confidence: confidence(&mut fields)?,
            evidence: text(&mut fields, "evidence")?.unwrap_or_default(),
            sequence: match fields.remove("sequence") {
                None => sequence,
                Some(it) => whole(&it).ok_or("a `sequence` that is no whole number")?,
            },
            candidates: list(&mut fields, "candidates")?
                .into_iter()
                .map(candidate)
                .collect::<Result<_, _>>()?,
            metadata: fields.remove("metadata"),
            host_marks: list(&mut fields, "host_marks")?
                .into_iter()
                .map(host_mark)
                .collect::<Result<_, _>>()?,
            events: list(&mut fields, "events")?,
        })
    }
}

fn candidate(answer: Value) -> Result<Candidate, String> {
    let mut fields = object(answer)?;
    Ok(Candidate {
        state: text(&mut fields, "state")?.ok_or("a candidate without `state`")?,
        confidence: confidence(&mut fields)?,
    })
}

fn host_mark(answer: Value) -> Result<HostMark, String> {
    let mut fields = object(answer)?;
    Ok(HostMark { label: text(&mut fields, "label")?.ok_or("a host mark without `label`")? })
}

impl Plan {
    /// Takes an intent's answer, if the manifest permits what it wants.
    pub(crate) fn from_answer(answer: Value, manifest: &Manifest) -> Result<Self, PlanError> {
        let mut fields = object(answer).map_err(PlanError::Shape)?;
        // Matchers are exported, too.
        if fields.contains_key("type") && !fields.contains_key("actions") {
            return Err(PlanError::Shape("not an intent: it answers with no plan".to_owned()));
        }
        let actions = list(&mut fields, "actions").map_err(PlanError::Shape)?;
        if actions.len() > ACTIONS_MAX {
            return Err(PlanError::Shape(format!("more than {ACTIONS_MAX} actions")));
        }
        for action in &actions {
            let kind = action["type"].as_str();
            let kind = kind.ok_or_else(|| PlanError::Shape("an action without `type`".into()))?;
            let needed = needed_by(kind);
            if !manifest.grants(needed) {
                return Err(PlanError::NotGranted(kind.to_owned(), needed));
            }
        }
        let last_intent = text(&mut fields, "last_intent").map_err(PlanError::Shape)?;
        Ok(Self { actions, last_intent })
    }
}

/// The permission for an action. Unknown ones are input: the door says that it does not know them.
fn needed_by(action: &str) -> Permission {
    match action {
        "kill" | "signal" => Permission::SessionKill,
        "resize" => Permission::SessionResize,
        _ => Permission::InputWrite,
    }
}

/// Takes a matcher tree: an object with a `type`, and lists where trees have lists.
pub(crate) fn matcher(mut answer: Value) -> Result<Value, String> {
    lists_in_matcher(&mut answer)?;
    Ok(answer)
}

fn lists_in_matcher(tree: &mut Value) -> Result<(), String> {
    let kind = tree["type"].as_str().ok_or("a matcher without `type`")?;
    if !matches!(kind, "any" | "all") {
        return Ok(());
    }
    let Some(value) = tree.get_mut("value") else { return Ok(()) };
    if value.as_object().is_some_and(Map::is_empty) {
        *value = Value::Array(vec![]);
    }
    // Depth is bounded: the value came through `value`.
    value.as_array_mut().into_iter().flatten().try_for_each(lists_in_matcher)
}

impl Outcome {
    /// Takes a predicate's answer; `None` is no match.
    pub(crate) fn from_answer(answer: Value) -> Result<Option<Self>, String> {
        let mut fields = match answer {
            Value::Null => return Ok(None),
            Value::Bool(matched) => return Ok(matched.then(Self::default)),
            other => object(other)?,
        };
        match fields.remove("matched") {
            Some(Value::Bool(true)) => {}
            Some(Value::Bool(false)) | None => return Ok(None),
            Some(_) => return Err("a `matched` that is no boolean".into()),
        }
        Ok(Some(Self { evidence: fields.remove("evidence"), capture: fields.remove("capture") }))
    }
}

impl Catalog {
    /// Takes what `describe` says, verbatim.
    pub(crate) fn from_answer(answer: Value) -> Result<Self, String> {
        let mut fields = object(answer)?;
        Ok(Self {
            intents: list(&mut fields, "intents")?,
            wait_matchers: list(&mut fields, "wait_matchers")?,
            states: list(&mut fields, "states")?,
        })
    }

    /// Sorts the names of exported functions into what they must be.
    pub(crate) fn from_exports(mut names: Vec<String>) -> Self {
        names.retain(|name| name != "classify" && name != "describe");
        names.sort();
        let (matchers, intents): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| name.ends_with("_matcher"));
        let entries = |names: Vec<String>| {
            names.into_iter().map(|name| json!({ "name": name })).collect::<Vec<_>>()
        };
        Self { intents: entries(intents), wait_matchers: entries(matchers), states: vec![] }
    }
}

fn rounded(confidence: f64) -> f64 {
    (confidence * 1_000.0).round() / 1_000.0
}

fn object(answer: Value) -> Result<Map<String, Value>, String> {
    match answer {
        Value::Object(fields) => Ok(fields),
        other => Err(format!("{} where a table with names is expected", name_of(&other))),
    }
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "nil",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table with names",
    }
}

fn text(fields: &mut Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("{} as `{name}`, a string is expected", name_of(&other))),
    }
}

fn list(fields: &mut Map<String, Value>, name: &str) -> Result<Vec<Value>, String> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(vec![]),
        Some(Value::Array(list)) => Ok(list),
        Some(Value::Object(empty)) if empty.is_empty() => Ok(vec![]),
        Some(other) => Err(format!("{} as `{name}`, a list is expected", name_of(&other))),
    }
}

fn confidence(fields: &mut Map<String, Value>) -> Result<f64, String> {
    match fields.remove("confidence") {
        None | Some(Value::Null) => Ok(1.0),
        Some(it) => {
            let number = it.as_f64().ok_or("a `confidence` that is no number")?;
            Ok(number.clamp(0.0, 1.0))
        }
    }
}

/// A whole number, even if Lua has made a float of it.
fn whole(value: &Value) -> Option<u64> {
    let float =
        || value.as_f64().filter(|it| it.fract() == 0.0 && (0.0..=2f64.powi(53)).contains(it));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    value.as_u64().or_else(|| float().map(|it| it as u64))
}

#[cfg(test)]
mod tests;
