//! Projects: the terminals a folder declares, started or looked at, and the sessions it has.

use std::path::Path;
use std::sync::Arc;

use greenroom_engine::{Info, New, Program, State};
use serde_json::{Value, json};

use super::Answer;
use crate::connection::Connection;
use crate::error::RpcError;
use crate::params::Params;
use crate::project::{self, ProjectError, Terminal};
use crate::{tmux, wire};

/// The type of client that asks before its user was asked: it never starts anything.
const LOOKS_ONLY: &str = "vscode";

pub(super) async fn init(_: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let folder = project::folder(params.required("path")?)?;
    let path = off_thread(move || project::init(&folder)).await?;
    Ok(json!({"ok": true, "path": path.display().to_string()}).into())
}

pub(super) async fn terminals(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let folder = project::folder(params.required("path")?)?;
    let kind = it.door.clients.get(it.caller.id).map(|client| client.kind);
    let by_kind = kind.is_none_or(|kind| kind != LOOKS_ONLY);
    let start = params.0.get("start").and_then(Value::as_bool).unwrap_or(by_kind);
    let from = folder.clone();
    let declared = match off_thread(move || project::read(&from)).await {
        Ok(declared) => declared,
        Err(error) if start => return Err(error),
        // Who only looks sees that there is nothing.
        Err(_) => Vec::new(),
    };
    let mut shown = Vec::with_capacity(declared.len());
    {
        let _alone = it.door.starting.lock().await;
        for terminal in &declared {
            let mut failed = None;
            if start && running(&it, &terminal.name).await.is_none() {
                failed = self::start(&it, &folder, terminal).await.err();
            }
            let session = running(&it, &terminal.name).await;
            shown.push(to_wire(terminal, session, failed));
        }
    }
    let matched = sessions(&it, |info| project::is_in(info, &folder));
    let is_ours = |info: &Info| it.door.associations.of(info).as_deref() == Some(&folder);
    let associated = sessions(&it, is_ours);
    Ok(json!({"declared": shown, "matched": matched, "associated": associated}).into())
}

/// The running session of a name; the oldest, if several have it. Whoever holds it.
async fn running(it: &Connection, name: &str) -> Option<Value> {
    let named = |info: &Info| info.state == State::Running && info.name == name;
    if let Some(info) = it.door.engine.list().into_iter().find(named) {
        return Some(wire::session(&it.door, &info));
    }
    tmux::sessions(&it.door).await.into_iter().find(|session| session["name"] == name)
}

async fn start(it: &Connection, folder: &Path, terminal: &Terminal) -> Result<(), RpcError> {
    let usual = Some(it.door.settings.text("default.shell")).filter(|shell| !shell.is_empty());
    let shell = terminal.shell.clone().or(usual);
    let cwd = Some(terminal.cwd.as_ref().map_or(folder.to_owned(), |cwd| folder.join(cwd)));
    let name = Some(terminal.name.clone());
    match terminal.backend.as_deref() {
        None | Some("native") => {}
        Some("tmux") => {
            let command = terminal.command.clone();
            let wanted = tmux::Wanted { name, command, shell, cwd, size: None };
            return tmux::create(&it.door, wanted).await.map(drop);
        }
        Some(other) => return Err(RpcError::invalid(format!("backend not available: {other}"))),
    }
    let new = New {
        name,
        program: terminal.command.clone().map_or(Program::Shell, Program::Line),
        shell,
        cwd,
        notes: wire::notes_of(terminal.command.is_some()),
        ..New::default()
    };
    it.door.engine.create(&it.caller, new).await?;
    Ok(())
}

/// A declared terminal: nested as the daemon of carryOn has it, and flat as its editor reads it.
fn to_wire(terminal: &Terminal, session: Option<Value>, failed: Option<RpcError>) -> Value {
    let mut shown = terminal.declared.clone();
    shown.insert("declared".to_owned(), terminal.declared.clone().into());
    shown.insert("running".to_owned(), session.is_some().into());
    let status = if session.is_some() { "running" } else { "missing" };
    shown.insert("status".to_owned(), status.into());
    if let Some(session) = session {
        shown.insert("sessionId".to_owned(), session["id"].clone());
        shown.insert("session".to_owned(), session);
    }
    if let Some(group) = terminal.group {
        shown.insert("group".to_owned(), group.into());
    }
    if let Some(error) = failed {
        shown.insert("error".to_owned(), error.message.into());
    }
    shown.into()
}

fn sessions(it: &Connection, wanted: impl Fn(&Info) -> bool) -> Value {
    let all = it.door.engine.list();
    let found = all.iter().filter(|info| info.state == State::Running && wanted(info));
    Value::from_iter(found.map(|info| wire::session(&it.door, info)))
}

pub(super) async fn associate(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let folder = project::folder(params.required("path")?)?;
    let meant = match params.0.get("sessionId") {
        Some(id) if !id.is_null() => vec![params.session(&it.door.engine)?],
        _ => of_project(&it, &folder).await?,
    };
    for info in &meant {
        it.door.associations.set(&it.door.engine, info.id, Some(&folder)).await;
    }
    Ok(changed(&meant))
}

/// The sessions that are a project's without anybody's word: those in its folder, and those it declares.
async fn of_project(it: &Connection, folder: &Path) -> Result<Vec<Info>, RpcError> {
    let from = folder.to_owned();
    let declared = off_thread(move || project::read(&from)).await?;
    let mut all = it.door.engine.list();
    all.retain(|info| {
        let is_declared = || declared.iter().any(|terminal| terminal.name == info.name);
        info.state == State::Running && (project::is_in(info, folder) || is_declared())
    });
    Ok(all)
}

pub(super) async fn disassociate(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let folder = project::folder(params.required("path")?)?;
    let mut meant = match params.0.get("sessionId") {
        Some(id) if !id.is_null() => vec![params.session(&it.door.engine)?],
        _ => it.door.engine.list(),
    };
    meant.retain(|info| it.door.associations.of(info).as_deref() == Some(&folder));
    for info in &meant {
        it.door.associations.set(&it.door.engine, info.id, None).await;
    }
    Ok(changed(&meant))
}

fn changed(meant: &[Info]) -> Answer {
    let ids = meant.iter().map(|info| Value::from(info.native_id()));
    json!({"ok": true, "sessions": Value::from_iter(ids)}).into()
}

async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ProjectError> + Send + 'static,
) -> Result<T, RpcError> {
    let done = tokio::task::spawn_blocking(work).await;
    Ok(done.map_err(|_| RpcError::invalid("the daemon is stopping"))??)
}

impl From<ProjectError> for RpcError {
    fn from(error: ProjectError) -> RpcError {
        RpcError::invalid(error.to_string())
    }
}
