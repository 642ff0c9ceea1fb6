//! A request of JSON-RPC 2.0, as strictly as this contract has it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use crate::cancels::{Cancelled, Named};
use crate::deeds::Deed;
use crate::error::RpcError;
use crate::typing::Typing;

/// A request or a notification.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) params: Params,
}

/// The parameters of a request: an object, or nothing.
#[derive(Debug)]
pub(crate) struct Params {
    value: Value,
    /// By what name it can be cancelled, if it is a wait.
    pub(crate) named: Named,
    /// What it cancelled when it came, if it cancels a wait.
    pub(crate) cancelled: Option<Cancelled>,
    pub(crate) asked: Asked,
    /// How far it has come with what it types.
    pub(crate) typing: Typing,
    /// What it does, if it does not only wait.
    pub(crate) doing: Deed,
}

/// Which request an answer is to, and whether it was given. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    /// None for a notification, which is never answered.
    id: Option<Value>,
    answered: Arc<AtomicBool>,
}

impl Asked {
    /// The id to answer, for the first who wants to: none for a notification.
    pub(crate) fn answer(&self) -> Option<&Value> {
        if self.answered.swap(true, Ordering::Relaxed) { None } else { self.id.as_ref() }
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Members {
    jsonrpc: Option<String>,
    id: Option<Value>,
    method: Option<String>,
    params: Option<Value>,
}

impl Request {
    /// A request, or why it is none and whom to tell: nobody, if it was a notification.
    pub(crate) fn from_wire(bytes: &[u8]) -> Result<Request, (Option<Value>, RpcError)> {
        // A list would pass for the members in their order.
        if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
            let error = RpcError::parse("batches are not supported");
            return Err((Some(Value::Null), error));
        }
        let members: Members = serde_json::from_slice(bytes)
            .map_err(|error| (Some(Value::Null), RpcError::parse(error)))?;
        let id = members.id;
        if members.jsonrpc.as_deref() != Some("2.0") {
            return Err((id, RpcError::request("jsonrpc must be \"2.0\"")));
        }
        let Some(method) = members.method else {
            return Err((id, RpcError::request("method is required")));
        };
        let asked = Asked { id, ..Asked::default() };
        let value = members.params.unwrap_or_default();
        let (named, cancelled, typing, doing) = Default::default();
        let params = Params { value, named, cancelled, asked, typing, doing };
        Ok(Request { method, params })
    }
}

impl Params {
    /// Whether they are an object, or nothing.
    pub(crate) fn check(&self) -> Result<(), RpcError> {
        self.read::<IgnoredAny>().map(drop)
    }

    /// The parameters as a method wants them.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, RpcError> {
        let wrong = |why: String| RpcError::params(format!("invalid params: {why}"));
        let none = Value::Object(serde_json::Map::new());
        let value = match &self.value {
            Value::Null => &none,
            // How some libraries spell that there are none.
            Value::Array(list) if list.is_empty() => &none,
            Value::Object(_) => &self.value,
            _ => return Err(wrong("expected an object".to_owned())),
        };
        serde_path_to_error::deserialize(value).map_err(|error| {
            let (path, why) = (error.path().to_string(), error.inner());
            // What is missing has a name of its own, and no place.
            wrong(if path == "." { why.to_string() } else { format!("`{path}`: {why}") })
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn refused(text: &str, id: Option<Value>, code: i64) {
        let (to, error) = Request::from_wire(text.as_bytes()).unwrap_err();
        assert_eq!((to, error.code), (id, code), "{text}");
    }

    #[test]
    fn what_is_no_request_gets_the_code_of_the_contract() {
        let null = || Some(Value::Null);
        refused("nonsense", null(), -32700);
        refused("[]", null(), -32700);
        refused(r#"["2.0",1,"session.list",{}]"#, null(), -32700);
        refused(r#"{"jsonrpc":"2.0","id":1,"method":5}"#, null(), -32700);
        refused(r#"{"jsonrpc":2.0,"id":1,"method":"session.list"}"#, null(), -32700);
        refused(r#"{"id":1,"method":"session.list"}"#, Some(json!(1)), -32600);
        refused(r#"{"jsonrpc":"1.0","id":"a","method":"session.list"}"#, Some(json!("a")), -32600);
        refused(r#"{"jsonrpc":"2.0","id":2}"#, Some(json!(2)), -32600);
        refused(r#"{"jsonrpc":"2.0","id":null}"#, None, -32600);
        refused(&"[".repeat(100_000), null(), -32700);
        refused(&format!(r#"{{"a":{}"#, r#"{"a":"#.repeat(100_000)), null(), -32700);
    }

    #[test]
    fn parameters_are_an_object_or_nothing() {
        #[derive(Debug, Deserialize, PartialEq)]
        struct Wanted {
            #[serde(default)]
            name: Option<String>,
        }
        let read = |params: &str| {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{params}}}"#);
            Request::from_wire(text.as_bytes()).unwrap().params.read::<Wanted>()
        };
        assert_eq!(read("null").unwrap().name, None);
        assert_eq!(read(r#"{"name":"x","more":1}"#).unwrap().name.as_deref(), Some("x"));
        assert_eq!(read(r#"["x"]"#).unwrap_err().code, -32602);
        let error = read(r#"{"name":5}"#).unwrap_err();
        let why = "invalid params: `name`: invalid type: integer `5`, expected a string";
        assert_eq!((error.code, error.to_string().as_str()), (-32602, why));
    }
}
