//! What happens in the house, told to a connection in both vocabularies.

use bytes::Bytes;
use greenroom_engine::{ClientId, HouseEvent};
use greenroom_frame::binary::{self, kind};
use greenroom_frame::rpc;
use greenroom_model::SessionId;
use serde_json::{Value, json};

use crate::Door;
use crate::wire::{client_id, ended};

/// The notifications an event makes.
pub(crate) fn notes(door: &Door, event: &HouseEvent) -> Vec<(&'static str, Value)> {
    match event {
        HouseEvent::Created(id) => {
            let Some(info) = door.engine.get(*id) else { return vec![] };
            let note =
                json!({"sessionId": info.native_id(), "name": info.name, "backend": "native"});
            vec![("session.created", note)]
        }
        HouseEvent::Renamed { id, old, new } => {
            let note = json!({
                "sessionId": native(door, *id), "name": new, "oldName": old, "newName": new,
            });
            vec![("session.renamed", note)]
        }
        HouseEvent::Attached(id, client) => {
            let (ours, theirs) = attachment(door, *id, *client);
            vec![("session.attached", ours), ("client.attached", theirs)]
        }
        HouseEvent::Detached(id, client) => {
            let (ours, theirs) = attachment(door, *id, *client);
            vec![("session.detached", ours), ("client.detached", theirs)]
        }
        HouseEvent::Resized(id, size) => {
            let (cols, rows) = (size.cols(), size.rows());
            let note = json!({"sessionId": native(door, *id), "cols": cols, "rows": rows});
            vec![("session.resized", note)]
        }
        HouseEvent::Title(id, title) => {
            vec![("session.title", json!({"sessionId": native(door, *id), "title": title}))]
        }
        HouseEvent::Bell(id) => vec![("session.bell", json!({"sessionId": native(door, *id)}))],
        HouseEvent::Ended(id, end) => {
            let mut note = ended(*end);
            let id = native(door, *id);
            note.insert("sessionId".to_owned(), id.clone().into());
            vec![("session.ended", note.into()), ("session.closed", json!({"sessionId": id}))]
        }
        HouseEvent::Forgotten(info) => {
            vec![("session.forgotten", json!({"sessionId": info.native_id()}))]
        }
    }
}

/// A notification as a frame.
pub(crate) fn frame(method: &str, params: &Value) -> Bytes {
    let message = rpc::notification(method, params);
    // Too long only if a title were: those are bounded by the screen.
    Bytes::from(binary::encode(kind::JSON_RPC, "", &message).unwrap_or_default())
}

fn native(door: &Door, id: SessionId) -> String {
    door.engine.get(id).map_or_else(|| id.to_string(), |info| info.native_id())
}

fn attachment(door: &Door, id: SessionId, client: ClientId) -> (Value, Value) {
    attached(door, &native(door, id), client)
}

/// That a client came or left, in both vocabularies.
pub(crate) fn attached(door: &Door, session: &str, client: ClientId) -> (Value, Value) {
    let said = door.clients.get(client);
    let ours = json!({"sessionId": session, "clientId": client_id(client)});
    let theirs = json!({
        "sessionId": session,
        "clientType": said.as_ref().map_or("", |it| &it.kind),
        "clientName": said.as_ref().map_or("", |it| &it.name),
    });
    (ours, theirs)
}
