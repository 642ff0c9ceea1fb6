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
    let clients: Vec<Value> = info.viewers.iter().map(|viewer| client(door, viewer)).collect();
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
        "command": command_line(&info.command),
        "argv": info.command,
        "attachedClients": clients.len(),
        "clients": clients,
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
    let said = door.clients.get(viewer.client);
    json!({
        "clientId": client_id(viewer.client),
        "type": said.as_ref().map_or("", |it| &it.kind),
        "name": said.as_ref().map_or("", |it| &it.name),
        "pid": said.as_ref().map_or(0, |it| it.pid),
        "connectedAt": said.as_ref().map_or(viewer.since_ms, |it| it.connected_ms),
        "readOnly": viewer.read_only,
        "cols": viewer.size.map(|size| size.cols()),
        "rows": viewer.size.map(|size| size.rows()),
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
