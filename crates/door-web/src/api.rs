//! What there is besides WebSockets: what this door can do, and which sessions there are.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use greenroom_engine::{Info, State as Life};
use serde_json::{Value, json};

use crate::auth::{Grant, Who};
use crate::listen::Site;
use crate::{Flavour, chat, made, routes};

/// The version of the contract, as its clients compare it.
const CONTRACT: &str = "0.1.0";

/// What this door can do, by the contract's names.
fn features() -> Value {
    json!({"files": false, "git": false, "pty": true, "chat_claude_code": true, "stream": true,
        "approval": true})
}

/// Whether we are here; who is known learns more.
pub(crate) async fn health(State(site): State<Arc<Site>>, request: Request) -> Response {
    let mut answer = json!({"status": "ok"});
    if routes::who(&request).is_some_and(|who| who.is_owner()) {
        answer["workspace"] = root(&site).into();
        answer["workspace_mode"] = "local".into();
        answer["features"] = features();
    }
    Json(answer).into_response()
}

/// Who asks, and what they may do.
pub(crate) async fn me(State(site): State<Arc<Site>>, request: Request) -> Response {
    let Some(who) = routes::who(&request) else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    let version = site.door.options().version;
    let answer = match &who.grant {
        Grant::All => json!({"scope": "owner", "write": true, "version": version}),
        Grant::One(share) => {
            let session = site.door.engine.info(&share.session).ok().map(|it| it.native_id());
            json!({"scope": "session", "session": session, "write": share.write,
                "untilMs": share.until_ms, "version": version})
        }
    };
    Json(answer).into_response()
}

pub(crate) async fn capabilities() -> Json<Value> {
    let router = |name: &str, prefix: &str, description: &str, enabled: bool| {
        json!({"name": name, "prefix": prefix, "description": description, "tags": [name],
            "enabled": enabled})
    };
    Json(json!({
        "version": CONTRACT,
        "features": features(),
        "routers": [
            router("pty", "/ws", "Terminals", true),
            router("chat_claude_code", "/ws", "Conversations with Claude Code", true),
            router("stream", "/ws", "Conversations with Claude Code", true),
            router("approval", "/api", "Permissions, asked for in the conversation", true),
            router("files", "/api", "Files", false),
            router("git", "/api/git", "Git", false),
        ],
    }))
}

pub(crate) async fn config(State(site): State<Arc<Site>>) -> Json<Value> {
    let options = site.door.options();
    let providers: Vec<&str> = options.providers.iter().map(|it| it.name.as_str()).collect();
    Json(json!({"workspace_root": root(&site), "workspace_mode": "local",
        "pty_providers": providers, "paths": {"files": "."}}))
}

pub(crate) async fn project(State(site): State<Arc<Site>>) -> Json<Value> {
    Json(json!({"root": root(&site)}))
}

fn root(site: &Site) -> String {
    site.door.engine.options().cwd.display().to_string()
}

pub(crate) async fn metrics(State(site): State<Arc<Site>>) -> Response {
    if !site.door.options().metrics {
        return routes::refusal(StatusCode::NOT_FOUND, "`doors.web.metrics` is off");
    }
    let living = site.door.engine.list().iter().filter(|it| it.state == Life::Running).count();
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], site.door.metrics.text(living)).into_response()
}

/// The sessions, as the listener's contract has them; and a name for a new one.
pub(crate) async fn sessions(State(site): State<Arc<Site>>, request: Request) -> Response {
    if site.place.flavour == Flavour::Carryon {
        return Json(site.door.around.native.carryon_sessions()).into_response();
    }
    match *request.method() {
        Method::GET | Method::HEAD => {
            let living = site.door.engine.list().into_iter();
            let living = living.filter(|info| info.state == Life::Running);
            let terminals = living.map(|info| session(&site, &info));
            let chats = site.door.chats.list().into_iter().map(|it| chat::listed(&it));
            let list: Vec<Value> = terminals.chain(chats).collect();
            Json(json!({"sessions": list})).into_response()
        }
        Method::POST => {
            Json(json!({"session_id": uuid::Uuid::new_v4().to_string()})).into_response()
        }
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}

fn session(site: &Site, info: &Info) -> Value {
    let history = site.door.options().history_bytes as u64;
    json!({"id": made::contract_id(info), "type": "pty", "alive": true,
        "clients": info.viewers.len(), "history_count": info.offset.0.min(history),
        "name": info.name, "provider": made::provider(info)})
}

/// Ends a session.
pub(crate) async fn end_session(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let Some(who) = request.extensions().get::<Who>().cloned() else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    let door = &site.door;
    if let Ok(chat) = uuid::Uuid::try_parse(&id)
        && door.chats.end(chat).await
    {
        return Json(json!({"ok": true, "session_id": id})).into_response();
    }
    let Some(info) = made::find(&door.engine, &id).filter(|it| it.state == Life::Running) else {
        return routes::refusal(StatusCode::NOT_FOUND, "there is no such session");
    };
    let caller = door.caller(&who, "web");
    match door.engine.kill(&caller, info.id, None).await {
        Ok(()) => Json(json!({"ok": true, "session_id": id})).into_response(),
        Err(error) => routes::refusal(StatusCode::CONFLICT, &error.to_string()),
    }
}
