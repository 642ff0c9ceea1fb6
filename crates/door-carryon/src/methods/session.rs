//! Making, listing, naming, sizing and ending sessions.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use greenroom_engine::{Error, Info, New, Program, State};
use serde_json::Value;

use super::{Answer, ok};
use crate::connection::Connection;
use crate::error::RpcError;
use crate::params::Params;
use crate::{tmux, wire};

/// Signals by their names, as people write them.
const SIGNALS: &[(&str, i32)] = &[
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("KILL", 9),
    ("USR1", 10),
    ("USR2", 12),
    ("TERM", 15),
    ("CONT", 18),
    ("STOP", 19),
    ("TSTP", 20),
    ("WINCH", 28),
];

/// The highest number a signal has.
const MAX_SIGNAL: u64 = 64;

/// The note of a session that names the request it was made by.
const REQUEST: &str = "request";

/// The longest name of a request: a UUID and some.
const MAX_REQUEST: usize = 64;

pub(super) async fn create(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    if params.text("device_id").is_some() {
        return Err(RpcError::invalid("remote not connected"));
    }
    let settings = &it.door.settings;
    // What carryOn's clients make by default ours must ask for.
    let backend = match params.text("backend") {
        Some("default") => Some(settings.text("default.backend")),
        None if it.is_foreign() => Some(settings.text("default.backend")),
        named => named.map(str::to_owned),
    };
    let shell = Some(settings.text("default.shell")).filter(|shell| !shell.is_empty());
    let shell = params.text("shell").map(str::to_owned).or(shell);
    match backend.as_deref() {
        None | Some("native") => {}
        Some("tmux") => return create_in_tmux(&it, &params, shell).await,
        Some(other) => return Err(RpcError::invalid(format!("backend not available: {other}"))),
    }
    let program = match (params.texts("argv")?, params.text("command")) {
        (Some(words), _) => Program::Command(words),
        (None, Some(line)) => Program::Line(line.to_owned()),
        (None, None) => Program::Shell,
    };
    let mut notes = wire::notes_of(matches!(program, Program::Line(_)));
    if let Some(request) = params.text("request") {
        if !(1..=MAX_REQUEST).contains(&request.len()) {
            return Err(RpcError::invalid(format!("`request` has 1 to {MAX_REQUEST} bytes")));
        }
        // An earlier daemon may have made it before it could say so.
        let note = (REQUEST.to_owned(), request.to_owned());
        if let Some(info) = it.door.engine.list().iter().find(|it| it.notes.contains(&note)) {
            return Ok(wire::session(&it.door, info).into());
        }
        notes.push(note);
    }
    let new = New {
        name: params.text("name").map(str::to_owned),
        unique: params.flag("unique"),
        program,
        shell,
        notes,
        cwd: params.text("cwd").map(PathBuf::from),
        env: env(&params)?,
        clear_env: params.flag("clearEnv"),
        size: params.size()?,
        expect: params.flag("expect"),
        max_processes: params.bound("maxProcesses")?,
        max_memory: params.bound("maxMemory")?,
        umask: params.bound("umask")?.and_then(|it| u32::try_from(it).ok()),
        ..New::default()
    };
    let info = it.door.engine.create(&it.caller, new).await?;
    Ok(wire::session(&it.door, &info).into())
}

async fn create_in_tmux(
    it: &Connection,
    params: &Params,
    shell: Option<String>,
) -> Result<Answer, RpcError> {
    if params.texts("argv")?.is_some() {
        return Err(RpcError::invalid("tmux takes `command`, not `argv`"));
    }
    if params.bound("maxProcesses")?.or(params.bound("maxMemory")?).is_some_and(|most| most > 0) {
        return Err(RpcError::invalid("what a session of tmux may use cannot be limited"));
    }
    let wanted = tmux::Wanted {
        name: params.text("name").map(str::to_owned),
        command: params.text("command").map(str::to_owned),
        shell,
        cwd: params.text("cwd").map(PathBuf::from),
        size: params.size()?,
    };
    Ok(tmux::create(&it.door, wanted).await?.into())
}

/// A name and its value.
type Variable = (Vec<u8>, Vec<u8>);

fn env(params: &Params) -> Result<Vec<Variable>, RpcError> {
    let Some(value) = params.0.get("env").filter(|value| !value.is_null()) else {
        return Ok(Vec::new());
    };
    let wrong = || RpcError::invalid("`env` must be an object of texts");
    let variables = value.as_object().ok_or_else(wrong)?.iter().map(|(name, value)| {
        let value = value.as_str().ok_or_else(wrong)?;
        Ok((name.clone().into_bytes(), value.as_bytes().to_vec()))
    });
    variables.collect()
}

pub(super) async fn list(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let all = params.flag("ended");
    it.door.engine.knock_again().await;
    let mut sessions = it.door.engine.list();
    sessions.retain(|info| all || info.state == State::Running);
    let mut sessions: Vec<Value> =
        sessions.iter().map(|info| wire::session(&it.door, info)).collect();
    // Ours know native sessions only, unless they ask for those of tmux, too.
    if it.is_foreign() || params.flag("tmux") {
        sessions.extend(tmux::sessions(&it.door).await);
    }
    let text = |session: &Value, name: &str| session[name].as_str().unwrap_or("").to_owned();
    sessions.sort_by_cached_key(|it| (text(it, "name").to_lowercase(), text(it, "id")));
    Ok(Value::from(sessions).into())
}

pub(super) async fn info(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let info = params.session(&it.door.engine)?;
    Ok(wire::session(&it.door, &info).into())
}

pub(super) async fn kill(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    if let Some(name) = params.of_tmux(&it.door.engine) {
        tmux::kill(&it.door, name).await?;
        return Ok(ok());
    }
    let found = params.session(&it.door.engine);
    // What cannot be undone takes more than the beginning of an id: carryOn knows none.
    if it.is_foreign() && !it.door.engine.list().iter().any(|info| is_whole(&params, info)) {
        return unknown_to_kill(&params);
    }
    let info = found?;
    let grace = params.number("graceMs").map(Duration::from_millis);
    it.door.engine.kill(&it.caller, info.id, grace).await?;
    Ok(ok())
}

/// Whether a session is named by an id or a name of its own.
fn is_whole(params: &Params, info: &Info) -> bool {
    let Some(id) = params.text("sessionId") else { return true };
    let own = [info.native_id(), info.uuid(), info.id.to_string()];
    id == info.name || own.iter().any(|it| it == id)
}

/// To kill what is not there is no error for carryOn, as long as it looks like something of its own.
fn unknown_to_kill(params: &Params) -> Result<Answer, RpcError> {
    let id = params.required("sessionId")?;
    if id.starts_with("native-") || id.starts_with(tmux::PREFIX) {
        return Ok(ok());
    }
    let message = format!("no backend found for session: {id}");
    Err(RpcError { message, ..Error::NoSession(id.to_owned()).into() })
}

pub(super) async fn signal(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let info = params.session(&it.door.engine)?;
    let signal = match params.0.get("signal") {
        Some(Value::Number(number)) => {
            let number = number.as_u64().filter(|it| (1..=MAX_SIGNAL).contains(it));
            number.and_then(|it| i32::try_from(it).ok())
        }
        Some(Value::String(name)) => {
            let short = name.strip_prefix("SIG").unwrap_or(name);
            SIGNALS.iter().find(|it| it.0.eq_ignore_ascii_case(short)).map(|it| it.1)
        }
        _ => return Err(RpcError::missing("signal")),
    };
    let signal = signal.ok_or_else(|| RpcError::invalid("there is no such signal"))?;
    it.door.engine.signal(&it.caller, info.id, signal).await?;
    Ok(ok())
}

pub(super) async fn rename(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let name = params.text("name").or_else(|| params.text("newName"));
    let name = name.ok_or_else(|| RpcError::missing("name"));
    if let Some(old) = params.of_tmux(&it.door.engine) {
        tmux::rename(&it.door, old, name?).await?;
        return Ok(ok());
    }
    let info = params.session(&it.door.engine)?;
    let name = name?.to_owned();
    it.door.engine.rename(&it.caller, info.id, name, params.flag("unique")).await?;
    Ok(ok())
}

pub(super) async fn resize(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let in_tmux = params.of_tmux(&it.door.engine);
    let info = in_tmux.is_none().then(|| params.session(&it.door.engine)).transpose()?;
    if it.is_foreign() {
        params.side("cols")?;
        params.side("rows")?;
    }
    let size = params.size()?.ok_or_else(|| RpcError::missing("cols"))?;
    if let Some(name) = in_tmux {
        tmux::resize(&it.door, name, size).await?;
    }
    let Some(info) = info else { return Ok(ok()) };
    it.door.sizers.sized(info.id, it.caller.id);
    it.door.engine.resize(&it.caller, info.id, size).await?;
    Ok(ok())
}

pub(super) async fn forget(it: Arc<Connection>, params: Params) -> Result<Answer, RpcError> {
    let id = params.only_session(&it.door.engine)?;
    it.door.engine.forget(&it.caller, id).await?;
    Ok(ok())
}
