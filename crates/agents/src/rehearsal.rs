//! Made-up events for clients under test, which asked for them with `test_events`.

use serde_json::{Value, json};

/// The requests nobody made: answers to them go nowhere.
const REQUESTS: &[&str] = &["perm-1", "quest-1"];

/// The events a text asks for, if it asks for any. It is not sent to the agent then.
pub(crate) fn events(text: &str) -> Option<Vec<Value>> {
    if text.contains("__emit_permission__") {
        Some(vec![permission()])
    } else if text.contains("__emit_question__") {
        Some(vec![question()])
    } else if text.contains("__emit_tool__") {
        Some(vec![tool_use(), tool_result()])
    } else {
        None
    }
}

/// Whether a request is one of these.
pub(crate) fn is_made_up(request_id: &str) -> bool {
    REQUESTS.contains(&request_id)
}

fn permission() -> Value {
    json!({
        "type": "control_request",
        "request_id": "perm-1",
        "request": {
            "subtype": "can_use_tool",
            "tool_name": "Write",
            "tool_use_id": "toolu_write_1",
            "input": {"file_path": "README.md", "content": "hello"},
            "permission_suggestions": [
                {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
            ],
        },
    })
}

fn question() -> Value {
    let color = json!({
        "question": "Pick a color",
        "header": "Color",
        "multiSelect": false,
        "options": [
            {"label": "Red", "description": "Warm"},
            {"label": "Blue", "description": "Cool"},
        ],
    });
    let features = json!({
        "question": "Pick features",
        "header": "Features",
        "multiSelect": true,
        "options": [
            {"label": "Alpha", "description": "First"},
            {"label": "Beta", "description": "Second"},
        ],
    });
    json!({
        "type": "control",
        "subtype": "user_question_request",
        "request_id": "quest-1",
        "questions": [color, features],
    })
}

fn tool_use() -> Value {
    let input = json!({"command": "ls", "description": "List files"});
    let block = json!({"type": "tool_use", "id": "toolu-1", "name": "Bash", "input": input});
    json!({
        "type": "assistant",
        "message": {"role": "assistant", "id": "msg-1", "content": [block]},
    })
}

fn tool_result() -> Value {
    let block = json!({
        "type": "tool_result", "tool_use_id": "toolu-1", "content": "file-a\nfile-b",
    });
    json!({"type": "user", "message": {"role": "user", "content": [block]}})
}
