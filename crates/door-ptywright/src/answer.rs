//! The result of a method on its way out: a value, or JSON that is written when there is room for it.
//!
//! Not here: errors (`error`), and how messages follow each other in a stream (`framing`).

use serde_json::Value;

use crate::json::{push_number, push_text};

/// The result of a method.
pub(crate) enum Answer {
    Value(Value),
    /// A message that is written when the client has room for it: it may be long, and a client that asks and does
    /// not read must not have it kept here.
    Later(Box<Write>),
}

/// Writes a message, or the first of it.
type Write = dyn FnOnce(Envelope<'_>, &mut Vec<u8>) -> Option<Rest> + Send;

/// Adds more of a message each time; whether that was not all.
pub(crate) type Rest = Box<dyn FnMut(&mut Vec<u8>) -> bool + Send>;

/// What is around a result in a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Envelope<'a> {
    id: &'a Value,
    pub(crate) close: Close,
}

/// What closes a message: the ends of all objects it is in, and what follows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Close {
    objects: usize,
    end: &'static str,
}

impl Close {
    /// The same of what is in one more object.
    pub(crate) fn inside(self) -> Close {
        Close { objects: self.objects + 1, ..self }
    }

    /// Adds it.
    pub(crate) fn push(self, out: &mut Vec<u8>) {
        out.resize(out.len() + self.objects, b'}');
        out.extend_from_slice(self.end.as_bytes());
    }
}

impl Envelope<'_> {
    /// Adds what comes before a result.
    pub(crate) fn push(self, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        match self.id {
            Value::Number(id) if let Some(id) = id.as_u64() => push_number(out, id),
            Value::String(id) => push_text(out, id),
            other => out.extend_from_slice(other.to_string().as_bytes()),
        }
        out.extend_from_slice(br#","result":"#);
    }
}

impl From<Value> for Answer {
    fn from(value: Value) -> Answer {
        Answer::Value(value)
    }
}

impl Answer {
    /// A message that is written later.
    pub(crate) fn later(
        write: impl FnOnce(Envelope<'_>, &mut Vec<u8>) -> Option<Rest> + Send + 'static,
    ) -> Answer {
        Answer::Later(Box::new(write))
    }

    /// Writes the answer to a request that had this id, or the first of it, with what follows it in a stream.
    pub(crate) fn into_wire(
        self,
        id: &Value,
        end: &'static str,
        out: &mut Vec<u8>,
    ) -> Option<Rest> {
        let envelope = Envelope { id, close: Close { objects: 1, end } };
        match self {
            Answer::Value(value) => {
                envelope.push(out);
                // A value can always be written.
                let _ok = serde_json::to_writer(&mut *out, &value);
                envelope.close.push(out);
                None
            }
            Answer::Later(write) => write(envelope, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_envelope_is_as_everybody_writes_it() {
        for id in [json!(7), json!(-7), json!(1.5), json!("a\"b"), json!(null), json!([1])] {
            let mut out = Vec::new();
            assert!(Answer::from(json!({"a": {}})).into_wire(&id, "\n", &mut out).is_none());
            let expected = greenroom_frame::rpc::response(&id, &json!({"a": {}}));
            assert_eq!(out, [&expected[..], b"\n"].concat());
        }
    }
}
