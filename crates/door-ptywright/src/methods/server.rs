//! The server's own methods.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::connection::Connection;
use crate::envelope::Params;
use crate::error::RpcError;
use crate::notes::{EVENTS, Filter};

pub(super) async fn capabilities(it: &Arc<Connection>, _: &Params) -> Result<Answer, RpcError> {
    Ok(json!({
        "name": "ptywright",
        "version": it.door.options.version,
        "framing": ["ndjson", "lsp"],
        "methods": super::names(),
        "notifications": EVENTS,
        "implementation": "greenroom",
    })
    .into())
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct SetNotifications {
    enabled: bool,
    #[serde(default)]
    adapters: Vec<String>,
    #[serde(default)]
    sessions: Vec<String>,
}

pub(super) async fn set_notifications(
    it: &Arc<Connection>,
    params: &Params,
) -> Result<Answer, RpcError> {
    let SetNotifications { enabled, adapters, sessions } = params.read()?;
    let mut answer = json!({ "enabled": enabled });
    for (name, list) in [("adapters", &adapters), ("sessions", &sessions)] {
        if !list.is_empty() {
            answer[name] = Value::from(list.clone());
        }
    }
    it.notes.set(&it.door, enabled.then_some(Filter { adapters, sessions })).await;
    Ok(answer.into())
}
