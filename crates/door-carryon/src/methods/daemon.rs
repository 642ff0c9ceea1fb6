//! The daemon's own affairs, and a connection's.

use std::path::Path;
use std::sync::Arc;

use greenroom_engine::{Refused, State};
use serde_json::{Value, json};

use super::{Answer, config, ok};
use crate::connection::Connection;
use crate::error::RpcError;
use crate::params::Params;
use crate::{CAPABILITIES, PROTOCOL, SETTINGS, SOCKETS, follows, tmux};

/// How many entries of the audit trail are shown at most: all that are kept.
const MAX_AUDIT: u64 = 10_000;

/// How many if nobody says.
const AUDIT: u64 = 100;

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
    it.door.clients.set_native(it.caller.id);
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
        "backends": [{"id": "native", "available": true},
            {"id": "tmux", "available": tmux::is_available(&it.door)}],
        "local": config::local(&it.door),
        "remote": super::remote::state(&it.door),
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
    let level = params.text("level").map(str::to_owned);
    let follow = params.flag("follow");
    if follow && let Err(most) = it.follows.has_room() {
        return Err(RpcError::invalid(format!("too many subscriptions: at most {most}")));
    }
    // In this order: a line said by another thread in between comes twice rather than never.
    let following = it.door.daemon.follow_logs();
    // carryOn looks for the level among the last lines; ours want the last lines that have it.
    let looked_at = if it.is_foreign() || level.is_none() { last } else { MAX_LOG_LINES as usize };
    let mut entries = it.door.daemon.logs(looked_at);
    entries.retain(|entry| level.as_ref().is_none_or(|level| *level == entry.level));
    let entries = entries.split_off(entries.len().saturating_sub(last));
    let mut value = json!({"entries": Value::from_iter(entries.iter().map(follows::to_wire))});
    if !follow {
        return Ok(value.into());
    }
    let id = follows::new_id();
    value["subscriptionId"] = id.as_str().into();
    value["follow"] = true.into();
    value["level"] = level.as_deref().unwrap_or_default().into();
    let connection = Arc::clone(&it);
    let then: Box<dyn FnOnce() + Send> =
        Box::new(move || follows::start(&connection, id, following, level));
    Ok(Answer { value, then: Some(then) })
}

pub(super) async fn audit(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    // Who came by a link need not know who else did what.
    if !it.caller.rights.manage {
        return Err(RpcError::invalid("not allowed: this connection may not read the audit trail"));
    }
    let last = params.number("last").unwrap_or(AUDIT).min(MAX_AUDIT);
    let entries = it.door.daemon.audit(last).await.map_err(RpcError::invalid)?;
    let entries = entries.into_iter().map(|entry| {
        json!({"timestamp": entry.timestamp_ms, "who": entry.who, "what": entry.what,
            "number": entry.session, "allowed": entry.allowed})
    });
    Ok(json!({"entries": Value::from_iter(entries)}).into())
}

pub(super) async fn unfollow(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    if let Some(id) = params.text("subscriptionId") {
        it.follows.cancel(id);
    }
    Ok(ok())
}

pub(super) async fn serve_base(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let (name, base) = (params.required("name")?, params.required("base")?);
    if name != "carryon" {
        return Err(RpcError::invalid(format!("`name` is `carryon`, not `{name}`")));
    }
    let base = Path::new(base);
    if !base.is_absolute() {
        return Err(RpcError::invalid("`base` must be an absolute path"));
    }
    let socket = it.door.daemon.serve_base(base).map_err(RpcError::invalid)?;
    it.door.use_base(base.join(SETTINGS), base.join(SOCKETS)).await;
    Ok(json!({"socket": socket.display().to_string()}).into())
}
