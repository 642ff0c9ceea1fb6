//! What a client wants of the agent besides turns: another mode, another model, a stop.
//!
//! Claude Code ignores a line of type `control`; it takes a `control_request` and answers it.

use serde_json::{Map, Value, json};

use crate::options::Mode;

/// The longest name of a model, in bytes. Those there are have less than 40.
const MODEL_MAX: usize = 200;

/// Why a control message was not passed on.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ControlError {
    /// What is to be done?
    #[error("a control message needs a `subtype`")]
    NoSubtype,
    /// Claude Code would take any word, and then ask for nothing it should.
    #[error("no permission mode is called `{0}`")]
    Mode(String),
    /// No model can be called that.
    #[error("`model` must be the name of a model")]
    Model,
    /// Not a number of tokens.
    #[error("`max_thinking_tokens` must be a number of tokens")]
    Thinking,
}

/// What is wanted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Control {
    /// A client says what it can do.
    Initialize,
    /// Another permission mode.
    Mode(Mode),
    /// Another model, or the usual one.
    Model(Option<String>),
    /// Another bound for thinking, or none.
    Thinking(Option<u64>),
    /// The end of the turn.
    Interrupt,
    /// Something else that Claude Code may know: its request.
    Other(Value),
}

impl Control {
    /// Reads a message of type `control`, or the request in one of type `control_request`.
    pub(crate) fn from_wire(request: &Value) -> Result<Control, ControlError> {
        let subtype = request["subtype"].as_str().ok_or(ControlError::NoSubtype)?;
        Ok(match subtype {
            "initialize" => Control::Initialize,
            "interrupt" => Control::Interrupt,
            "set_permission_mode" => Control::Mode(mode(&request["mode"])?),
            "set_model" => Control::Model(model(&request["model"])?),
            "set_max_thinking_tokens" => {
                Control::Thinking(tokens(&request["max_thinking_tokens"])?)
            }
            _ => Control::Other(without_envelope(request)),
        })
    }

    /// The request to Claude Code.
    pub(crate) fn to_request(&self) -> Value {
        match self {
            Control::Initialize => json!({"subtype": "initialize"}),
            Control::Mode(mode) => json!({"subtype": self.subtype(), "mode": mode.to_wire()}),
            Control::Model(model) => {
                json!({"subtype": self.subtype(), "model": model.as_deref().unwrap_or("default")})
            }
            Control::Thinking(tokens) => {
                json!({"subtype": self.subtype(), "max_thinking_tokens": tokens})
            }
            Control::Interrupt => json!({"subtype": "interrupt"}),
            Control::Other(request) => request.clone(),
        }
    }

    /// What all clients are told once Claude Code has done it.
    pub(crate) fn confirmation(&self) -> Option<Value> {
        let subtype = self.subtype();
        Some(match self {
            Control::Mode(mode) => json!({
                "type": "control", "subtype": subtype,
                "mode": mode.to_wire(), "ui_mode": mode.shown(),
            }),
            Control::Model(model) => {
                json!({"type": "control", "subtype": subtype, "model": model})
            }
            Control::Thinking(tokens) => {
                json!({"type": "control", "subtype": subtype, "max_thinking_tokens": tokens})
            }
            Control::Initialize | Control::Interrupt | Control::Other(_) => return None,
        })
    }

    /// Its name.
    pub(crate) fn subtype(&self) -> &str {
        match self {
            Control::Initialize => "initialize",
            Control::Mode(_) => "set_permission_mode",
            Control::Model(_) => "set_model",
            Control::Thinking(_) => "set_max_thinking_tokens",
            Control::Interrupt => "interrupt",
            Control::Other(request) => request["subtype"].as_str().unwrap_or("control"),
        }
    }
}

fn mode(word: &Value) -> Result<Mode, ControlError> {
    let shown = || word.as_str().map_or_else(|| word.to_string(), str::to_owned);
    let mode = word.as_str().and_then(Mode::from_wire);
    mode.ok_or_else(|| ControlError::Mode(shown().chars().take(80).collect()))
}

fn model(name: &Value) -> Result<Option<String>, ControlError> {
    match name {
        Value::Null => Ok(None),
        Value::String(name) if name.is_empty() || name == "default" => Ok(None),
        Value::String(name) if name.len() <= MODEL_MAX && !name.contains(char::is_control) => {
            Ok(Some(name.clone()))
        }
        _ => Err(ControlError::Model),
    }
}

fn tokens(number: &Value) -> Result<Option<u64>, ControlError> {
    if number.is_null() {
        return Ok(None);
    }
    number.as_u64().map(Some).ok_or(ControlError::Thinking)
}

fn without_envelope(request: &Value) -> Value {
    let fields = request.as_object().cloned().unwrap_or_default();
    let kept = fields.into_iter().filter(|(name, _)| name != "type" && name != "request_id");
    Value::Object(kept.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: Value, request: Value, confirmation: Option<Value>) {
        let control = Control::from_wire(&message).unwrap();
        assert_eq!((control.to_request(), control.confirmation()), (request, confirmation));
    }

    #[test]
    fn each_control_becomes_a_request_and_is_confirmed() {
        let subtype = "set_permission_mode";
        for (said, wire, shown) in [("act", "acceptEdits", "act"), ("default", "default", "ask")] {
            check(
                json!({"type": "control", "subtype": subtype, "mode": said}),
                json!({"subtype": subtype, "mode": wire}),
                Some(
                    json!({"type": "control", "subtype": subtype, "mode": wire, "ui_mode": shown}),
                ),
            );
        }
        let subtype = "set_model";
        check(
            json!({"type": "control", "subtype": subtype, "model": "opus"}),
            json!({"subtype": subtype, "model": "opus"}),
            Some(json!({"type": "control", "subtype": subtype, "model": "opus"})),
        );
        let subtype = "set_max_thinking_tokens";
        check(
            json!({"type": "control", "subtype": subtype, "max_thinking_tokens": 10}),
            json!({"subtype": subtype, "max_thinking_tokens": 10}),
            Some(json!({"type": "control", "subtype": subtype, "max_thinking_tokens": 10})),
        );
        check(json!({"subtype": "interrupt"}), json!({"subtype": "interrupt"}), None);
        check(
            json!({"type": "control", "subtype": "mcp_status", "request_id": "x", "a": 1}),
            json!({"subtype": "mcp_status", "a": 1}),
            None,
        );
    }

    #[test]
    fn what_claude_code_would_take_and_not_understand_is_refused() {
        let refused = |message| Control::from_wire(&message).unwrap_err();
        assert_eq!(refused(json!({"mode": "plan"})), ControlError::NoSubtype);
        let mode = json!({"subtype": "set_permission_mode", "mode": "yolo"});
        assert_eq!(refused(mode), ControlError::Mode("yolo".to_owned()));
        assert_eq!(refused(json!({"subtype": "set_model", "model": 3})), ControlError::Model);
        let tokens = json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": -1});
        assert_eq!(refused(tokens), ControlError::Thinking);
    }
}
