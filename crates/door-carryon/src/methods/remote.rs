//! Other machines by way of an account: there is none, and these say so in carryOn's shapes.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Answer;
use crate::Door;
use crate::connection::Connection;
use crate::error::RpcError;
use crate::params::Params;

pub(super) async fn status(_: Arc<Connection>, _: Params) -> Result<Answer, RpcError> {
    Ok(json!({"connected": false}).into())
}

pub(super) async fn devices(_: Arc<Connection>, _: Params) -> Result<Answer, RpcError> {
    Ok(json!([]).into())
}

/// As `daemon.status` has it.
pub(super) fn state(door: &Door) -> Value {
    match door.settings.flag("remote.enabled") {
        true => json!({"enabled": true, "connected": false}),
        false => json!({"enabled": false}),
    }
}
