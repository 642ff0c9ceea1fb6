//! What can be done with a session of tmux.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use greenroom_model::Size;
use greenroom_tmux::{Error, New, Tmux};
use serde_json::{Value, json};

use super::{id_of, list, to_wire};
use crate::Door;
use crate::error::RpcError;
use crate::methods::random;

/// Whether there is a tmux.
pub(crate) fn is_available(door: &Door) -> bool {
    door.tmux.tmux().is_some()
}

fn tmux(door: &Door) -> Result<Tmux, RpcError> {
    door.tmux.tmux().ok_or_else(|| RpcError::invalid("backend not available: tmux"))
}

/// All sessions, as objects.
pub(crate) async fn sessions(door: &Arc<Door>) -> Vec<Value> {
    let sessions = list(door, false).await;
    sessions.iter().map(|session| to_wire(door, session)).collect()
}

/// What a new session is to be.
pub(crate) struct Wanted {
    pub(crate) name: Option<String>,
    pub(crate) command: Option<String>,
    pub(crate) shell: Option<String>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) size: Option<Size>,
}

pub(crate) async fn create(door: &Arc<Door>, wanted: Wanted) -> Result<Value, RpcError> {
    let tmux = tmux(door)?;
    // So that what is new now is known to be new.
    list(door, false).await;
    let made_up = || {
        let [one, two, three] = random::<3>().unwrap_or_default();
        format!("session-{one:02x}{two:02x}{three:02x}")
    };
    let name = wanted.name.unwrap_or_else(made_up);
    let options = door.engine.options();
    let new = New {
        name: Some(&name),
        cwd: wanted.cwd.as_deref().unwrap_or(&options.cwd),
        command: wanted.command.as_deref(),
        shell: wanted.shell.as_deref().map(Path::new),
        size: wanted.size.unwrap_or(options.size),
    };
    let made = tmux.create(&new).await.map_err(|error| failure(error, &name))?;
    list(door, true).await;
    Ok(to_wire(door, &made))
}

pub(crate) async fn kill(door: &Arc<Door>, name: &str) -> Result<(), RpcError> {
    let Some(tmux) = door.tmux.tmux() else { return Ok(()) };
    list(door, false).await;
    match tmux.kill(name).await {
        // To kill what is not there is no error for carryOn.
        Ok(()) | Err(Error::NoSession(_) | Error::NoServer) => {}
        Err(error) => return Err(failure(error, name)),
    }
    list(door, true).await;
    Ok(())
}

pub(crate) async fn rename(door: &Arc<Door>, name: &str, new: &str) -> Result<(), RpcError> {
    let tmux = tmux(door)?;
    list(door, false).await;
    tmux.rename(name, new).await.map_err(|error| failure(error, name))?;
    list(door, true).await;
    Ok(())
}

pub(crate) async fn resize(door: &Arc<Door>, name: &str, size: Size) -> Result<(), RpcError> {
    tmux(door)?.resize(name, size).await.map_err(|error| failure(error, name))
}

/// What was printed; nothing if there is no such session.
pub(crate) async fn scrollback(door: &Arc<Door>, name: &str) -> Result<String, RpcError> {
    let Some(tmux) = door.tmux.tmux() else { return Ok(String::new()) };
    match tmux.scrollback(name).await {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(Error::NoSession(_) | Error::NoServer) => Ok(String::new()),
        Err(error) => Err(failure(error, name)),
    }
}

/// The object of one session.
pub(crate) async fn info(door: &Arc<Door>, name: &str) -> Result<Value, RpcError> {
    let find = |all: Vec<_>| all.into_iter().find(|it: &greenroom_tmux::Session| it.name == name);
    let found = match find(list(door, false).await) {
        Some(found) => Some(found),
        None => find(list(door, true).await),
    };
    let found = found.ok_or_else(|| failure(Error::NoSession(name.to_owned()), name))?;
    Ok(to_wire(door, &found))
}

/// Why tmux did not, in this door's words.
pub(super) fn failure(error: Error, name: &str) -> RpcError {
    let kind = match &error {
        Error::NoSession(_) | Error::NoServer => {
            let mut missing = RpcError::invalid(format!("session not found: {}", id_of(name)));
            missing.data = json!({"kind": "not_found"});
            return missing;
        }
        Error::TimedOut(_) => "timeout",
        Error::Cwd(..) | Error::Start(_) | Error::Terminal(_) => "spawn",
        Error::Taken(_)
        | Error::Name { .. }
        | Error::TooMuch(_)
        | Error::Garbage(_)
        | Error::Refused { .. } => "invalid",
    };
    let cause = std::error::Error::source(&error).map(|it| format!(": {it}")).unwrap_or_default();
    let mut failed = RpcError::invalid(format!("{error}{cause}"));
    failed.data = json!({"kind": kind});
    failed
}
