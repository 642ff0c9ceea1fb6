//! The JSON-RPC envelope: requests in, responses and notifications out, and the client's side.
//!
//! Read as leniently as carryOn's clients need: `jsonrpc` is not looked at, an id is any value,
//! parameters are an object or nothing. A batch, parameters in an array and everything malformed
//! is a [`ParseError`]. Nesting is bounded by serde_json at 128. Not here: methods, and which
//! codes a dialect uses.

#[cfg(test)]
mod tests;

use serde::Serialize;
use serde_json::{Map, Value};

/// What is not JSON, or not a request.
pub const PARSE_ERROR: i64 = -32700;
/// A request that makes no sense, in dialects that tell it from the above.
pub const INVALID_REQUEST: i64 = -32600;
/// A method nobody knows.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// Parameters that make no sense, in dialects that tell them from the below.
pub const INVALID_PARAMS: i64 = -32602;
/// Everything else that went wrong.
pub const INTERNAL_ERROR: i64 = -32603;

/// What a client asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// What the response is to carry; without one some dialects answer with `null`.
    pub id: Option<Value>,
    /// The method; empty if the message has none.
    pub method: String,
    /// The parameters: an object, or null.
    pub params: Value,
}

/// What a server sends.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// The answer to a request.
    Response {
        /// The id of the request.
        id: Value,
        /// What it gave.
        result: Result<Value, ErrorObject>,
    },
    /// Something happened.
    Notification {
        /// What.
        method: String,
        /// Its particulars, or null.
        params: Value,
    },
}

/// Why a request failed, as it is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorObject {
    /// The number for programs.
    pub code: i64,
    /// The text for people.
    pub message: String,
    /// More for programs, or null.
    pub data: Value,
}

/// Why bytes are not a message.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// They are not JSON, or nested too deeply.
    #[error("not JSON")]
    Json(#[from] serde_json::Error),
    /// They are JSON of another shape.
    #[error("not a message: {0}")]
    Shape(&'static str),
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    /// Malformed JSON, a batch, parameters that are neither an object nor nothing.
    pub fn from_wire(bytes: &[u8]) -> Result<Request, ParseError> {
        let mut message = object(bytes)?;
        let method = match message.remove("method") {
            Some(Value::String(method)) => method,
            None | Some(Value::Null) => String::new(),
            Some(_) => return Err(ParseError::Shape("the method is not a string")),
        };
        let params = message.remove("params").unwrap_or_default();
        if !matches!(params, Value::Object(_) | Value::Null) {
            return Err(ParseError::Shape("the parameters are not an object"));
        }
        Ok(Request { id: message.remove("id"), method, params })
    }
}

impl Message {
    /// Reads what a server sent.
    ///
    /// # Errors
    /// Malformed JSON, and what is neither a response nor a notification.
    pub fn from_wire(bytes: &[u8]) -> Result<Message, ParseError> {
        let mut message = object(bytes)?;
        if let Some(Value::String(method)) = message.remove("method") {
            let params = message.remove("params").unwrap_or_default();
            return Ok(Message::Notification { method, params });
        }
        let id = message.remove("id").unwrap_or_default();
        let result = match (message.remove("error"), message.remove("result")) {
            (None | Some(Value::Null), Some(result)) => Ok(result),
            (Some(Value::Object(error)), _) => Err(ErrorObject::from_wire(error)),
            _ => return Err(ParseError::Shape("no method, no result and no error")),
        };
        Ok(Message::Response { id, result })
    }
}

impl ErrorObject {
    fn from_wire(mut error: Map<String, Value>) -> ErrorObject {
        let message = match error.remove("message") {
            Some(Value::String(message)) => message,
            _ => String::new(),
        };
        let code = error.get("code").and_then(Value::as_i64).unwrap_or(INTERNAL_ERROR);
        ErrorObject { code, message, data: error.remove("data").unwrap_or_default() }
    }
}

fn object(bytes: &[u8]) -> Result<Map<String, Value>, ParseError> {
    match serde_json::from_slice(bytes)? {
        Value::Object(message) => Ok(message),
        Value::Array(_) => Err(ParseError::Shape("a batch")),
        _ => Err(ParseError::Shape("not an object")),
    }
}

/// The bytes of a request.
#[must_use]
pub fn request(id: u64, method: &str, params: &Value) -> Vec<u8> {
    let mut bytes = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"#).into_bytes();
    write_text(&mut bytes, method);
    if !params.is_null() {
        bytes.extend_from_slice(br#","params":"#);
        write(&mut bytes, params);
    }
    bytes.push(b'}');
    bytes
}

/// The bytes of a response that says what the request gave.
#[must_use]
pub fn response(id: &Value, result: &(impl Serialize + ?Sized)) -> Vec<u8> {
    let mut bytes = answer(id, br#","result":"#);
    write(&mut bytes, result);
    bytes.push(b'}');
    bytes
}

/// The bytes of a response that says why the request failed; null `data` is left out.
#[must_use]
pub fn error(id: &Value, code: i64, message: &str, data: &Value) -> Vec<u8> {
    let mut bytes = answer(id, br#","error":{"code":"#);
    bytes.extend_from_slice(code.to_string().as_bytes());
    bytes.extend_from_slice(br#","message":"#);
    write_text(&mut bytes, message);
    if !data.is_null() {
        bytes.extend_from_slice(br#","data":"#);
        write(&mut bytes, data);
    }
    bytes.extend_from_slice(b"}}");
    bytes
}

/// The bytes of a notification; null parameters are left out.
#[must_use]
pub fn notification(method: &str, params: &Value) -> Vec<u8> {
    let mut bytes = br#"{"jsonrpc":"2.0","method":"#.to_vec();
    write_text(&mut bytes, method);
    if !params.is_null() {
        bytes.extend_from_slice(br#","params":"#);
        write(&mut bytes, params);
    }
    bytes.push(b'}');
    bytes
}

fn answer(id: &Value, next: &[u8]) -> Vec<u8> {
    let mut bytes = br#"{"jsonrpc":"2.0","id":"#.to_vec();
    write(&mut bytes, id);
    bytes.extend_from_slice(next);
    bytes
}

/// Adds a value as JSON, straight into the bytes: a result can be megabytes of text.
fn write(bytes: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    let before = bytes.len();
    // Neither a vector nor a value gives an error; should that change, the message stays JSON.
    if serde_json::to_writer(&mut *bytes, value).is_err() {
        bytes.truncate(before);
        bytes.extend_from_slice(b"null");
    }
}

/// Adds a text as JSON.
fn write_text(bytes: &mut Vec<u8>, text: &str) {
    write(bytes, &Value::from(text));
}
