//! Typing into a session.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use greenroom_engine::Typed;
use greenroom_model::KeyEvent;
use serde_json::json;

use super::Answer;
use crate::connection::Connection;
use crate::error::RpcError;
use crate::params::Params;

/// How many keys one request presses.
const MAX_KEYS: usize = 4096;

pub(super) async fn send(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let info = params.session(&it.door.engine)?;
    let enter = params.flag("enter");
    let text = params.0.get("text").and_then(serde_json::Value::as_str);
    let typed = match (text, params.text("base64")) {
        (Some(text), _) if params.flag("paste") => Typed::Paste(text.to_owned()),
        (Some(text), _) => Typed::Text(text.to_owned()),
        (None, Some(base64)) => {
            let bytes = STANDARD.decode(base64);
            Typed::Bytes(Bytes::from(bytes.map_err(|_| RpcError::invalid("`base64` is not"))?))
        }
        (None, None) if enter => Typed::Text(String::new()),
        (None, None) => return Err(RpcError::missing("text")),
    };
    let offset = it.door.engine.type_in(&it.caller, info.id, typed, enter).await?;
    Ok(json!({"ok": true, "offset": offset.0}).into())
}

pub(super) async fn key(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let info = params.session(&it.door.engine)?;
    let names = params.texts("keys")?.ok_or_else(|| RpcError::missing("keys"))?;
    if names.len() > MAX_KEYS {
        return Err(RpcError::invalid(format!("too many keys: at most {MAX_KEYS}")));
    }
    let keys = names
        .iter()
        .map(|name| name.parse::<KeyEvent>().map_err(|error| RpcError::invalid(error.to_string())));
    let keys = keys.collect::<Result<Vec<_>, _>>()?;
    let typed = it.door.engine.type_in(&it.caller, info.id, Typed::Keys(keys), false);
    Ok(json!({"ok": true, "offset": typed.await?.0}).into())
}
