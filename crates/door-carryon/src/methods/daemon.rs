//! The daemon's own affairs, and a connection's.

use std::sync::Arc;

use greenroom_engine::{Refused, State};
use serde_json::{Value, json};

use super::{Answer, ok};
use crate::connection::Connection;
use crate::error::RpcError;
use crate::params::Params;
use crate::{CAPABILITIES, PROTOCOL};

/// How many lines of the log are shown at most.
const MAX_LOG_LINES: u64 = 10_000;

pub(super) async fn hello(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let status = it.door.daemon.status();
    if let Some(wanted) = params.number("protocol")
        && wanted != PROTOCOL
    {
        return Err(RpcError::invalid(format!(
            "this daemon speaks protocol {PROTOCOL}, not {wanted}"
        )));
    }
    let answer = json!({
        "protocol": PROTOCOL,
        "version": status.version,
        "pid": std::process::id(),
        "capabilities": CAPABILITIES,
        "home": status.home,
    });
    Ok(answer.into())
}

pub(super) async fn identify(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let kind = params.text("type").or_else(|| params.text("clientType"));
    let name = params.text("name").or_else(|| params.text("clientName"));
    it.door.clients.identify(it.caller.id, kind, name, params.number("pid"));
    Ok(ok())
}

pub(super) async fn cancel(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let id = params.0.get("id").ok_or_else(|| RpcError::missing("id"))?;
    Ok(json!({"ok": it.cancel(id)}).into())
}

pub(super) async fn status(it: Arc<Connection>, _: Params) -> Result<Answer, RpcError> {
    let status = it.door.daemon.status();
    it.door.engine.knock_again().await;
    let sessions = it.door.engine.list();
    let running = sessions.iter().filter(|info| info.state == State::Running).count();
    let answer = json!({
        "uptime": status.uptime,
        "pid": std::process::id(),
        "version": status.version,
        "protocol": PROTOCOL,
        "sessions": running,
        "ended": sessions.len() - running,
        "clients": it.door.clients.count(),
        "backends": [{"id": "native", "available": true}],
        "local": {"enabled": false, "running": false, "port": 8384, "expose": false,
            "password_set": false, "url": "http://127.0.0.1:8384"},
        "remote": {"enabled": false},
        "home": status.home,
        "socket": status.socket,
        "storage": {"ok": status.storage_error.is_none(), "error": status.storage_error},
        "refused": Value::from_iter(it.door.engine.refused().iter().map(refused)),
    });
    Ok(answer.into())
}

/// A holder that was left alone.
fn refused(it: &Refused) -> Value {
    json!({"number": it.session.map(|id| id.0), "holderPid": it.pid, "socket": it.socket.display().to_string(),
        "reason": it.reason, "hint": it.hint})
}

pub(super) async fn stop(it: Arc<Connection>, _: Params) -> Result<Answer, RpcError> {
    let daemon = Arc::clone(&it.door.daemon);
    // First the answer, then the end.
    let then: Box<dyn FnOnce() + Send> = Box::new(move || daemon.stop());
    Ok(Answer { value: json!({"ok": true}), then: Some(then) })
}

pub(super) async fn logs(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let last = params.number("last").unwrap_or(100).min(MAX_LOG_LINES) as usize;
    let entries = it.door.daemon.logs(last, params.text("level"));
    let entries: Vec<Value> = entries
        .into_iter()
        .map(|it| {
            json!({"timestamp": it.timestamp_ms, "level": it.level, "component": it.component,
                "message": it.message})
        })
        .collect();
    Ok(json!({"entries": entries}).into())
}

pub(super) async fn reload(it: Arc<Connection>, _: Params) -> Result<Answer, RpcError> {
    it.door.daemon.reload().map_err(RpcError::invalid)?;
    Ok(ok())
}
