//! What a user says, in all the shapes clients send it, as the content Claude Code takes.
//!
//! A picture in another shape than its own, or a block it does not know, ends Claude Code. So nothing
//! unknown passes: it is refused, and the conversation goes on.

#[cfg(test)]
mod tests;

use serde_json::{Value, json};

/// The kind of a picture that does not say its own.
const USUAL_PICTURE: &str = "image/png";

/// The kinds of pictures the model can see.
const PICTURES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Why a message was not sent.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TurnError {
    /// A block of a kind nobody knows.
    #[error("a content block of type `{0}` cannot be sent")]
    Block(String),
    /// A picture that the model cannot see.
    #[error("an image of type `{0}` cannot be sent")]
    Picture(String),
    /// A picture that is no picture.
    #[error("the data of an image is not base64")]
    Base64,
    /// What should be text is something else.
    #[error("`{0}` has no text or content blocks in it")]
    Shape(&'static str),
}

/// The content of a message of type `user`: files to look at, what was said, then pictures. Empty if
/// nothing was said.
pub(crate) fn content(message: &Value) -> Result<Vec<Value>, TurnError> {
    let mut blocks = Vec::new();
    blocks.extend(mentions(&message["context_files"]));
    said(&message["message"], &mut blocks)?;
    if let Some(images) = message["images"].as_array() {
        for image in images {
            blocks.push(picture(image)?);
        }
    }
    Ok(blocks)
}

/// A line of text as content; empty if there is nothing in it.
pub(crate) fn line(text: &str) -> Vec<Value> {
    if text.trim().is_empty() { vec![] } else { vec![json!({"type": "text", "text": text})] }
}

/// The first text in content, where made-up events are asked for.
pub(crate) fn first_text(content: &[Value]) -> &str {
    content.iter().find_map(|block| block["text"].as_str()).unwrap_or_default()
}

/// Files as Claude Code's own client mentions them.
fn mentions(files: &Value) -> Option<Value> {
    let names = files.as_array()?.iter().filter_map(Value::as_str).map(str::trim);
    let mentions: Vec<String> = names.filter(|it| !it.is_empty()).map(mention).collect();
    (!mentions.is_empty()).then(|| json!({"type": "text", "text": mentions.join(" ")}))
}

fn mention(file: &str) -> String {
    let file = file.strip_prefix('@').unwrap_or(file);
    if file.contains(char::is_whitespace) { format!("@\"{file}\"") } else { format!("@{file}") }
}

fn said(message: &Value, blocks: &mut Vec<Value>) -> Result<(), TurnError> {
    match message {
        Value::Null => {}
        Value::String(text) => blocks.extend(line(text)),
        Value::Array(parts) => {
            for part in parts {
                blocks.extend(block(part)?);
            }
        }
        // A message in a message, or a single block.
        Value::Object(fields) => match fields.get("content") {
            Some(content) if !content.is_object() => said(content, blocks)?,
            _ => blocks.extend(block(message)?),
        },
        Value::Bool(_) | Value::Number(_) => return Err(TurnError::Shape("message")),
    }
    Ok(())
}

fn block(part: &Value) -> Result<Option<Value>, TurnError> {
    if let Some(text) = part.as_str() {
        return Ok(line(text).pop());
    }
    match part["type"].as_str() {
        Some("text") | None => {
            let text = part["text"].as_str().ok_or(TurnError::Shape("message"))?;
            Ok(line(text).pop())
        }
        Some("image") => picture(part).map(Some),
        Some("document" | "tool_result") => Ok(Some(part.clone())),
        Some(other) => Err(TurnError::Block(other.to_owned())),
    }
}

/// A picture: Claude Code's own shape, or a client's with `data` and `mimeType`, or only the data.
fn picture(image: &Value) -> Result<Value, TurnError> {
    let source = &image["source"];
    if source.is_object() && source["type"] != "base64" {
        return Ok(json!({"type": "image", "source": source}));
    }
    let data = image.as_str().or(image["data"].as_str()).or(source["data"].as_str());
    let data = data.ok_or(TurnError::Base64)?;
    let named =
        [&image["mimeType"], &image["media_type"], &image["mime_type"], &source["media_type"]];
    let named = named.into_iter().find_map(Value::as_str).unwrap_or(USUAL_PICTURE);
    // What stands in the data itself is nearer to the truth than what stands beside it.
    let (kind, data) = in_data_url(data).unwrap_or((named, data));
    if !PICTURES.contains(&kind) {
        return Err(TurnError::Picture(kind.chars().take(80).collect()));
    }
    let data = data.trim();
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    if data.is_empty() || !data.bytes().all(is_base64) {
        return Err(TurnError::Base64);
    }
    let source = json!({"type": "base64", "media_type": kind, "data": data});
    Ok(json!({"type": "image", "source": source}))
}

/// The kind and the data in `data:KIND;base64,DATA`.
fn in_data_url(text: &str) -> Option<(&str, &str)> {
    let (head, data) = text.trim().strip_prefix("data:")?.split_once(',')?;
    Some((head.strip_suffix(";base64")?, data))
}
