//! The browser's door: opening it, and links to sessions.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::{Answer, ok};
use crate::Opening;
use crate::connection::Connection;
use crate::error::RpcError;
use crate::params::Params;

/// How long a link holds if nobody says.
const LASTS: Duration = Duration::from_secs(60 * 60);

/// The longest a link may hold: 30 days. Who wants more makes another.
const MAX_LASTS: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Only the owner opens doors: somebody who may only look, or type, came through one.
fn owner(it: &Connection) -> Result<(), RpcError> {
    let denied = || RpcError::invalid("not allowed: this connection may not open doors");
    it.caller.rights.manage.then_some(()).ok_or_else(denied)
}

pub(super) async fn open(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    owner(&it)?;
    let port = params.number("port").map(|port| u16::try_from(port).ok());
    let port = match port {
        Some(None) => return Err(RpcError::invalid("`port` is a number from 0 to 65535")),
        Some(port) => port,
        None => None,
    };
    let expose = params.0.get("expose").and_then(serde_json::Value::as_bool);
    let told = it.door.web.open(Opening { port, expose }).await;
    told.map(Answer::from).map_err(RpcError::invalid)
}

pub(super) async fn close(it: Arc<Connection>, _: Params) -> Result<Answer, RpcError> {
    owner(&it)?;
    it.door.web.close().await.map(Answer::from).map_err(RpcError::invalid)
}

pub(super) async fn status(it: Arc<Connection>, _: Params) -> Result<Answer, RpcError> {
    Ok(it.door.web.status().into())
}

pub(super) async fn share(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    owner(&it)?;
    let info = params.session(&it.door.engine)?;
    let lasts = params.number("lastsMs").map_or(LASTS, Duration::from_millis);
    if lasts.is_zero() || lasts > MAX_LASTS {
        return Err(RpcError::invalid("`lastsMs` is at least 1 and at most 30 days"));
    }
    let told = it.door.web.share(&info, params.flag("write"), lasts).await;
    told.map(Answer::from).map_err(RpcError::invalid)
}

pub(super) async fn shares(it: Arc<Connection>, _: Params) -> Result<Answer, RpcError> {
    owner(&it)?;
    Ok(json!({"shares": it.door.web.shares()}).into())
}

pub(super) async fn unshare(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    owner(&it)?;
    let id = params.required("id")?;
    match it.door.web.unshare(id) {
        true => Ok(ok()),
        false => Err(RpcError::invalid(format!("no link is called `{id}`"))),
    }
}
