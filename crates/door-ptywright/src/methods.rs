//! What can be asked, by name.

mod adapter;
mod plugin;
mod server;
mod session;

use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use crate::connection::Connection;
use crate::envelope::Request;
use crate::error::RpcError;

/// The result of a method.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Value(Value),
    /// JSON that was written already, in pieces.
    Written(Vec<Bytes>),
}

impl From<Value> for Answer {
    fn from(value: Value) -> Answer {
        Answer::Value(value)
    }
}

impl Answer {
    /// The answer to a request that had this id, in pieces.
    pub(crate) fn into_wire(self, id: &Value) -> Vec<Bytes> {
        match self {
            Answer::Value(value) => vec![greenroom_frame::rpc::response(id, &value).into()],
            Answer::Written(mut written) => {
                let mut begin = greenroom_frame::rpc::response(id, &Value::Null);
                begin.truncate(begin.len() - "null}".len());
                written.insert(0, begin.into());
                written.push(Bytes::from_static(b"}"));
                written
            }
        }
    }
}

/// When a request runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Order {
    /// The session or adapter it is on; none if it concerns all.
    pub(crate) on: Option<String>,
    /// It lets those behind it go on while it runs.
    pub(crate) waits: bool,
    /// It waits for nobody and nobody for it.
    pub(crate) at_once: bool,
}

/// The parameters that say what a request is on.
#[derive(Deserialize)]
struct On {
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    adapter: Option<String>,
}

/// When a request runs.
pub(crate) fn order(request: &Request) -> Order {
    let on = match request.params.read::<On>() {
        Ok(On { session: Some(on), .. } | On { adapter: Some(on), .. }) => Some(on),
        Ok(_) | Err(_) => None,
    };
    let method = request.method.as_str();
    let waits = matches!(method, "session.wait" | "adapter.wait" | "adapter.turn");
    let at_once = matches!(method, "adapter.cancel_wait" | "session.cancel_wait");
    Order { on, waits, at_once }
}

macro_rules! methods {
    ($($name:literal => $function:path,)*) => {
        /// The names of all methods, in the order of the contract.
        #[must_use]
        pub fn names() -> &'static [&'static str] {
            &[$($name),*]
        }

        /// Calls a method.
        pub(crate) async fn call(
            connection: &Arc<Connection>,
            request: &Request,
        ) -> Result<Answer, RpcError> {
            match request.method.as_str() {
                $($name => $function(connection, &request.params).await,)*
                other => Err(RpcError::method(other)),
            }
        }
    };
}

methods! {
    "server.capabilities" => server::capabilities,
    "server.set_notifications" => server::set_notifications,
    "session.create" => session::create,
    "session.list" => session::list,
    "session.close" => session::close,
    "session.kill" => session::kill,
    "session.resize" => session::resize,
    "session.input" => session::input,
    "session.snapshot" => session::snapshot,
    "session.transcript" => session::transcript,
    "session.wait" => session::wait,
    "adapter.list" => adapter::list,
    "adapter.live" => adapter::live,
    "adapter.start" => adapter::start,
    "adapter.resume" => adapter::resume,
    "adapter.state" => adapter::state,
    "adapter.send" => adapter::send,
    "adapter.wait" => adapter::wait,
    "adapter.cancel_wait" => adapter::cancel_wait,
    "adapter.turn" => adapter::turn,
    "adapter.snapshot" => adapter::snapshot,
    "adapter.transcript" => adapter::transcript,
    "adapter.inspect" => adapter::inspect,
    "adapter.close" => adapter::close,
    "plugin.capabilities" => plugin::capabilities,
    "plugin.validate_manifest" => plugin::validate_manifest,
    "plugin.describe" => plugin::describe,
    "plugin.load" => plugin::load,
    "plugin.unload" => plugin::unload,
    "session.cancel_wait" => session::cancel_wait,
}
