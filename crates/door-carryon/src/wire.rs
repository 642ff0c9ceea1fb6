//! The shapes of what is sent.

use greenroom_engine::{ClientId, End, Info, State, Viewer};
use greenroom_model::ExitStatus;
use serde_json::{Map, Value, json};

use crate::Door;

/// A client's id as lists and notifications show it.
pub(crate) fn client_id(id: ClientId) -> String {
    format!("client-{}", id.0)
}

/// A session object.
pub(crate) fn session(door: &Door, info: &Info) -> Value {
    let clients: Vec<Value> = clients(door, info).map(|viewer| client(door, viewer)).collect();
    let mut object = json!({
        "id": info.native_id(),
        "sessionId": info.native_id(),
        "number": info.id.0,
        "uuid": info.uuid(),
        "name": info.name,
        "backend": "native",
        "pid": info.pid,
        "created": info.created_ms,
        "lastAttached": info.attached_ms,
        "cwd": info.cwd,
        "command": command(info),
        "argv": info.command,
        "attachedClients": clients.len(),
        "clients": clients,
        "viewers": info.viewers.len(),
        "cols": info.size.cols(),
        "rows": info.size.rows(),
        "title": info.title,
        "offset": info.offset.0,
        "alternate": info.alternate,
        "holderPid": info.holder_pid,
    });
    if let Value::Object(map) = &mut object {
        state(map, info.state);
    }
    object
}

/// Who looks at a session. A program that is at the session's own socket and has attached on the daemon's as well
/// is one client.
fn clients<'a>(door: &Door, info: &'a Info) -> impl Iterator<Item = &'a Viewer> {
    let stands_for = |viewer: &Viewer| door.clients.get(viewer.client)?.stands_for;
    let doubled: Vec<ClientId> = info.viewers.iter().filter_map(stands_for).collect();
    info.viewers.iter().filter(move |viewer| !doubled.contains(&viewer.client))
}

/// A session as `state/sessions.json` has it: carryOn's own keys and no others.
pub(crate) fn saved(door: &Door, info: &Info) -> Value {
    json!({
        "id": info.native_id(),
        "name": info.name,
        "backend": "native",
        "pid": info.pid,
        "created": info.created_ms,
        "lastAttached": info.attached_ms,
        "cwd": info.cwd,
        "command": command(info),
        "attachedClients": clients(door, info).count(),
    })
}

/// The note of a session that was made with a line for a shell.
const LINE: &str = "carryon.line";

/// What is to be remembered of a session that is made with a line, or without.
pub(crate) fn notes_of(has_line: bool) -> Vec<(String, String)> {
    has_line.then(|| (LINE.to_owned(), String::new())).into_iter().collect()
}

/// What a session runs: the line it was made with, or else its words.
pub(crate) fn command(info: &Info) -> String {
    match &info.command[..] {
        [_, _, line] if info.notes.iter().any(|note| note.0 == LINE) => line.clone(),
        words => command_line(words),
    }
}

fn state(map: &mut Map<String, Value>, state: State) {
    let name = match state {
        State::Running => "running",
        State::Ended(end, at) => {
            map.insert("ended".to_owned(), at.into());
            map.extend(ended(end));
            if end == End::Lost { "lost" } else { "ended" }
        }
    };
    map.insert("state".to_owned(), name.into());
}

/// How a session ended, as fields.
pub(crate) fn ended(end: End) -> Map<String, Value> {
    let (name, value) = match end {
        End::Exited(ExitStatus::Code(code)) => ("code", Value::from(code)),
        End::Exited(ExitStatus::Signal(signal)) => ("signal", Value::from(signal)),
        End::Lost => ("reason", Value::from("lost")),
    };
    Map::from_iter([(name.to_owned(), value)])
}

fn client(door: &Door, viewer: &Viewer) -> Value {
    let mut client = client_of(door, viewer.client);
    if client["connectedAt"].is_null() {
        client["connectedAt"] = viewer.since_ms.into();
    }
    client["readOnly"] = viewer.read_only.into();
    client["cols"] = viewer.size.map(|size| size.cols()).into();
    client["rows"] = viewer.size.map(|size| size.rows()).into();
    client
}

/// What a client said of itself.
pub(crate) fn client_of(door: &Door, id: ClientId) -> Value {
    let said = door.clients.get(id);
    json!({
        "clientId": client_id(id),
        "type": said.as_ref().map_or("", |it| &it.kind),
        "name": said.as_ref().map_or("", |it| &it.name),
        "pid": said.as_ref().map_or(0, |it| it.pid),
        "connectedAt": said.as_ref().map(|it| it.connected_ms),
    })
}

/// A command as a person would type it.
fn command_line(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%^".contains(c);
    let quoted = words.iter().map(|word| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}
