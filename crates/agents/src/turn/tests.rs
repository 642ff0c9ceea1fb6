//! Turns in all shapes, and what Claude Code gets of them.

use super::*;

#[track_caller]
fn check(message: Value, expected: Value) {
    assert_eq!(Value::Array(content(&message).unwrap()), expected, "{message}");
}

fn png(data: &str) -> Value {
    let source = json!({"type": "base64", "media_type": "image/png", "data": data});
    json!({"type": "image", "source": source})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn a_message_is_text_or_content_or_blocks() {
    check(json!({"message": "hi"}), json!([text("hi")]));
    check(json!({"message": {"content": "hi"}}), json!([text("hi")]));
    check(
        json!({"message": {"role": "user", "content": [text("a"), "b"]}}),
        json!([text("a"), text("b")]),
    );
    check(json!({"message": [text("a"), text("")]}), json!([text("a")]));
    check(json!({"message": text("a")}), json!([text("a")]));
    check(json!({"message": "  \n"}), json!([]));
    check(json!({}), json!([]));
}

#[test]
fn files_come_first_and_pictures_last() {
    let message = json!({
        "message": "look",
        "context_files": ["src/a.rs", "with space.md", "@b", 7],
        "images": [{"data": "data:image/png;base64,aGk=", "mimeType": "image/gif"}, {"data": "aGk="}],
    });
    let expected =
        json!([text("@src/a.rs @\"with space.md\" @b"), text("look"), png("aGk="), png("aGk="),]);
    check(message, expected);
}

#[test]
fn a_picture_of_a_page_becomes_one_of_claude_code() {
    let jpeg = json!({"type": "image", "data": "aGk=", "mimeType": "image/jpeg"});
    let source = json!({"type": "base64", "media_type": "image/jpeg", "data": "aGk="});
    check(json!({"message": [jpeg]}), json!([{"type": "image", "source": source}]));
    check(json!({"message": [png("aGk=")]}), json!([png("aGk=")]));
    let url =
        json!({"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}});
    check(json!({"message": [url]}), json!([url]));
}

#[test]
fn what_would_end_claude_code_is_refused() {
    let refused = |message| content(&message).unwrap_err();
    let unknown = json!({"message": [{"type": "hologram"}]});
    assert_eq!(refused(unknown), TurnError::Block("hologram".to_owned()));
    let svg = json!({"images": [{"data": "aGk=", "mimeType": "image/svg+xml"}]});
    assert_eq!(refused(svg), TurnError::Picture("image/svg+xml".to_owned()));
    assert_eq!(refused(json!({"images": [{"data": "<svg>"}]})), TurnError::Base64);
    assert_eq!(refused(json!({"images": [{}]})), TurnError::Base64);
    assert_eq!(refused(json!({"message": 7})), TurnError::Shape("message"));
    assert_eq!(refused(json!({"message": {"content": [{"no": 1}]}})), TurnError::Shape("message"));
}
