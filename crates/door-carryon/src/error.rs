//! Why a request failed, as this dialect says it.

use greenroom_engine::{Error, ErrorKind};
use greenroom_frame::rpc;
use serde_json::{Value, json};

/// Why a request failed.
#[derive(Debug)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Value,
}

impl RpcError {
    /// A parameter that must be there is not.
    pub(crate) fn missing(name: &str) -> RpcError {
        RpcError::invalid(format!("missing required parameter: {name}"))
    }

    /// A request that makes no sense.
    pub(crate) fn invalid(message: impl Into<String>) -> RpcError {
        let data = json!({"kind": "invalid"});
        RpcError { code: rpc::INTERNAL_ERROR, message: message.into(), data }
    }

    pub(crate) fn no_method(name: &str) -> RpcError {
        let message = format!("Method not found: {name}");
        RpcError { code: rpc::METHOD_NOT_FOUND, message, data: Value::Null }
    }

    pub(crate) fn cancelled() -> RpcError {
        let data = json!({"kind": "cancelled"});
        RpcError { code: rpc::INTERNAL_ERROR, message: "cancelled".to_owned(), data }
    }
}

impl From<Error> for RpcError {
    fn from(error: Error) -> RpcError {
        let message = match &error {
            // carryOn's own words, which its clients look for.
            Error::NoSession(selector) => format!("session not found: {selector}"),
            other => other.to_string(),
        };
        let mut data = json!({"kind": kind(error.kind())});
        if let Some(hint) = error.hint() {
            data["hint"] = hint.into();
        }
        if let Error::Timeout { screen, .. } = error {
            data["screen"] = (*screen).into();
        }
        RpcError { code: rpc::INTERNAL_ERROR, message, data }
    }
}

/// The kinds as the wire has them. No `_` arm: a new kind is decided here.
fn kind(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "not_found",
        ErrorKind::Ambiguous => "ambiguous",
        ErrorKind::Ended => "ended",
        ErrorKind::Lost => "lost",
        ErrorKind::Timeout => "timeout",
        ErrorKind::Denied => "denied",
        ErrorKind::Busy => "busy",
        ErrorKind::Limit => "limit",
        ErrorKind::Invalid => "invalid",
        ErrorKind::Spawn => "spawn",
        ErrorKind::Storage => "storage",
        ErrorKind::Internal => "internal",
    }
}
