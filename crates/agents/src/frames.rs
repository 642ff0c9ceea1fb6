//! The messages we send ourselves, to clients and to Claude Code; the rest is passed on as it came.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::options::Options;

/// The model named to clients when nobody chose one.
const USUAL_MODEL: &str = "sonnet";

/// The first message to a client.
pub(crate) fn connected(session: Uuid, resumed: bool, options: &Options, last: u64) -> Value {
    json!({
        "type": "system",
        "subtype": "connected",
        "session_id": session,
        "resumed": resumed,
        "settings": {
            "model": options.model.as_deref().unwrap_or(USUAL_MODEL),
            "max_thinking_tokens": options.max_thinking_tokens,
            "mode": options.mode.map(|it| it.shown()),
        },
        "last_seq": last,
    })
}

/// Something went wrong.
pub(crate) fn error(message: &str) -> Value {
    json!({"type": "system", "subtype": "error", "message": message})
}

/// A message was understood, and nothing could be done with it.
pub(crate) fn ignored(message: &str) -> Value {
    json!({"type": "system", "subtype": "ignored", "message": message})
}

/// Something happened to a conversation: `interrupted`, `restarted`.
pub(crate) fn happened(subtype: &str, session: Uuid) -> Value {
    json!({"type": "system", "subtype": subtype, "session_id": session})
}

/// The stored conversation is not there.
pub(crate) fn not_found(message: &str) -> Value {
    json!({"type": "system", "subtype": "session_not_found", "message": message})
}

/// A line of what the process complained of.
pub(crate) fn complaint(message: &str) -> Value {
    json!({"type": "system", "subtype": "stderr", "message": message})
}

/// A line that is no message.
pub(crate) fn raw(data: &str) -> Value {
    json!({"type": "raw", "data": data})
}

/// The process has ended.
pub(crate) fn exit(code: Option<i32>) -> Value {
    json!({"type": "result", "subtype": "exit", "exit_code": code})
}

/// So many messages were not kept for a client that was too slow, or away for too long.
pub(crate) fn lagged(missed: Option<u64>) -> Value {
    json!({"type": "system", "subtype": "lagged", "missed": missed})
}

/// The answer to a `ping`, with its number if it had one.
pub(crate) fn pong(ping: &Value) -> Value {
    match ping.get("request_id") {
        Some(id) => json!({"type": "pong", "request_id": id}),
        None => json!({"type": "pong"}),
    }
}

/// Questions of Claude Code to the user.
pub(crate) fn questions(request_id: &str, request: &Value) -> Value {
    json!({
        "type": "control",
        "subtype": "user_question_request",
        "request_id": request_id,
        "tool_use_id": request["tool_use_id"],
        "questions": request["input"]["questions"],
    })
}

/// A request of Claude Code needs no answer any more: somebody gave one, or it was called off.
pub(crate) fn settled(request_id: &str) -> Value {
    json!({"type": "control_cancel_request", "request_id": request_id})
}

/// A request to Claude Code.
pub(crate) fn request(id: &str, request: &Value) -> Value {
    json!({"type": "control_request", "request_id": id, "request": request})
}

/// An answer to Claude Code.
pub(crate) fn response(id: &str, response: &Value) -> Value {
    json!({
        "type": "control_response",
        "response": {"subtype": "success", "request_id": id, "response": response},
    })
}

/// A turn of the user.
pub(crate) fn user(content: &[Value]) -> Value {
    json!({
        "type": "user",
        "session_id": "",
        "message": {"role": "user", "content": content},
    })
}
