//! What a client is told when something does not work: the codes of the contract.

use greenroom_engine::Error;
use greenroom_engine::redact::{Excerpt, Redaction};
use greenroom_plugin::{Kind, ManifestError, PluginError};
use serde_json::{Value, json};

/// What a client is told.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    message: String,
    data: Value,
    /// The screen that `data` has without secrets, for who may see them.
    seen: Option<Box<Excerpt>>,
}

/// Codes beside those of JSON-RPC.
const TIMEOUT: i64 = -32001;
const CLOSED: i64 = -32002;
const DENIED: i64 = -32004;
const CANCELLED: i64 = -32005;

impl RpcError {
    fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into(), data: Value::Null, seen: None }
    }

    pub(crate) fn parse(why: impl std::fmt::Display) -> RpcError {
        RpcError::new(greenroom_frame::rpc::PARSE_ERROR, format!("parse error: {why}"))
    }

    pub(crate) fn request(why: &str) -> RpcError {
        RpcError::new(greenroom_frame::rpc::INVALID_REQUEST, why)
    }

    pub(crate) fn method(name: &str) -> RpcError {
        RpcError::new(greenroom_frame::rpc::METHOD_NOT_FOUND, format!("unknown method: {name}"))
    }

    pub(crate) fn params(why: impl Into<String>) -> RpcError {
        RpcError::new(greenroom_frame::rpc::INVALID_PARAMS, why)
    }

    pub(crate) fn internal(why: impl Into<String>) -> RpcError {
        RpcError::new(greenroom_frame::rpc::INTERNAL_ERROR, why)
    }

    pub(crate) fn io(error: &std::io::Error) -> RpcError {
        RpcError::internal(format!("io error: {error}"))
    }

    pub(crate) fn unknown_session(id: &str) -> RpcError {
        RpcError::params(format!("unknown session: {id}"))
    }

    pub(crate) fn closed() -> RpcError {
        RpcError::new(CLOSED, "session is closed")
    }

    pub(crate) fn cancelled() -> RpcError {
        RpcError::new(CANCELLED, "wait cancelled")
    }

    /// A wait that came to nothing, with what the screen showed then.
    pub(crate) fn timeout(screen: &Excerpt) -> RpcError {
        let data = json!({ "screen": screen.shown(Some(Redaction::standard())) });
        let error = RpcError::new(TIMEOUT, "timed out waiting for matcher");
        RpcError { data, seen: Some(Box::new(screen.clone())), ..error }
    }

    /// How long the text is in which secrets are hidden.
    pub(crate) fn bytes(&self) -> usize {
        self.seen.as_ref().map_or(0, |screen| screen.text().len())
    }

    /// The same, as somebody with this policy may see it.
    pub(crate) fn hiding(mut self, policy: Option<&Redaction>) -> RpcError {
        if let Some(screen) = &self.seen {
            self.data["screen"] = screen.shown(policy).into();
        }
        self
    }

    /// The same for who may not read the screen.
    pub(crate) fn unseen(mut self) -> RpcError {
        self.seen = None;
        if let Some(data) = self.data.as_object_mut() {
            data.remove("screen");
        }
        if self.data.as_object().is_some_and(serde_json::Map::is_empty) {
            self.data = Value::Null;
        }
        self
    }

    /// What went wrong in a function of a plugin, by its own words or by what it gave.
    pub(crate) fn plugin(plugin: &str, function: &str, why: &dyn std::fmt::Display) -> RpcError {
        RpcError::internal(format!("lua plugin error: plugin `{plugin}`: `{function}`: {why}"))
    }

    pub(crate) fn denied(message: &str, data: Value) -> RpcError {
        RpcError { data, ..RpcError::new(DENIED, message) }
    }

    /// The answer to a request that had this id. What a person reads hides secrets.
    pub(crate) fn to_wire(&self, id: &Value) -> Vec<u8> {
        let message = Redaction::standard().apply(&self.message);
        greenroom_frame::rpc::error(id, self.code, &message, &self.data)
    }
}

impl std::fmt::Display for RpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<Error> for RpcError {
    fn from(error: Error) -> RpcError {
        match &error {
            Error::NoSession(id) if id.bytes().all(|it| it.is_ascii_digit()) => {
                RpcError::unknown_session(&format!("s{id}"))
            }
            Error::NoSession(id) => RpcError::unknown_session(id),
            // What was typed did not reach the program because it ended in the midst of it.
            Error::Ended(_) | Error::Typing(_) => RpcError::closed(),
            Error::Lost(_) => RpcError::new(CLOSED, "session output reader ended"),
            Error::Timeout { contents, .. } => RpcError::timeout(contents),
            Error::Denied(_) => RpcError::denied(&error.to_string(), Value::Null),
            Error::Invalid(_)
            | Error::Pattern(_)
            | Error::Limit { .. }
            | Error::NameTaken { .. }
            | Error::Ambiguous { .. } => RpcError::params(error.to_string()),
            Error::Spawn { .. } | Error::Limits(_) | Error::Holder { .. } => {
                RpcError::internal(format!("pty backend error: {error}"))
            }
            Error::Running(_) | Error::InputFull(_) | Error::Archive(_) | Error::Stopping => {
                RpcError::internal(error.to_string())
            }
        }
    }
}

impl From<PluginError> for RpcError {
    fn from(error: PluginError) -> RpcError {
        match error.kind() {
            Kind::Unknown | Kind::InUse => RpcError::params(error.to_string()),
            Kind::Unloadable => RpcError::internal(format!("config error: {error}")),
            Kind::NoFunction | Kind::Failed | Kind::Stopped => {
                RpcError::internal(format!("lua plugin error: {error}"))
            }
        }
    }
}

impl From<ManifestError> for RpcError {
    fn from(error: ManifestError) -> RpcError {
        RpcError::params(error.to_string())
    }
}
