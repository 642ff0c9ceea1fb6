//! What can be asked, by name.

mod adapter;
mod plugin;
mod server;
mod session;
mod wait;

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::answer::Answer;
use crate::connection::Connection;
use crate::envelope::Request;
use crate::error::RpcError;

pub(crate) use self::wait::cancels;

/// When a request runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Order {
    /// It waits for nobody and nobody for it.
    AtOnce,
    /// After what was asked of the same session or adapter.
    On {
        /// Which.
        on: String,
        /// It lets those behind it go on while it runs; and by what name it can be cancelled.
        waits: Option<Option<String>>,
        /// It types: after what was typed before, and others type after it.
        types: bool,
        /// It interrupts: also what is being typed slowly.
        interrupts: bool,
    },
    /// After everything: it concerns all.
    All,
}

impl Order {
    /// Whether it waits for something to happen, in the end.
    pub(crate) fn is_wait(&self) -> bool {
        matches!(self, Order::On { waits: Some(_), .. })
    }

    /// Whether it types.
    pub(crate) fn types(&self) -> bool {
        matches!(self, Order::On { types: true, .. })
    }
}

/// The parameters that say what a request is on.
#[derive(Deserialize)]
struct On {
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    adapter: Option<String>,
    #[serde(default)]
    wait_id: Option<String>,
    /// The second leg of a turn; whatever it may be to others, which have none.
    #[serde(default)]
    wait: Value,
    /// What an input does.
    #[serde(default)]
    action: Value,
}

impl On {
    /// Whether a request does nothing but type.
    fn types(&self, method: &str) -> bool {
        let action = self.action["type"].as_str();
        match method {
            "adapter.send" => true,
            "session.input" if self.interrupts(method) => true,
            "session.input" => !action.is_some_and(|action| NOT_TYPED.contains(&action)),
            _ => false,
        }
    }

    /// Whether it types what interrupts, by either name.
    fn interrupts(&self, method: &str) -> bool {
        let action = &self.action;
        let is_signal = action["type"] == "signal" && action["value"] == "int";
        method == "session.input" && (is_signal || action["type"] == "interrupt")
    }
}

/// Whether a request does something: a turn does, before it waits.
pub(crate) fn does_something(request: &Request) -> bool {
    !matches!(request.method.as_str(), "session.wait" | "adapter.wait")
}

/// When a request runs.
pub(crate) fn order(request: &Request) -> Order {
    let method = request.method.as_str();
    if AT_ONCE.contains(&method) {
        return Order::AtOnce;
    }
    // What is wrong with its parameters is said by the method itself.
    let Ok(params) = request.params.read::<On>() else { return Order::All };
    let types = params.types(method);
    let interrupts = params.interrupts(method);
    let waits = match method {
        "session.wait" | "adapter.wait" => Some(params.wait_id),
        "adapter.turn" => Some(params.wait["wait_id"].as_str().map(str::to_owned)),
        _ => None,
    };
    match params.session.or(params.adapter) {
        Some(on) => Order::On { on, waits, types, interrupts },
        None => Order::All,
    }
}

/// The name of a wait, for who only sees to it that it is one.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct WaitName(#[expect(dead_code, reason = "the order of requests has it")] String);

/// Methods that change nothing and depend on nothing that others change, and those that must not wait.
const AT_ONCE: &[&str] = &[
    "server.capabilities",
    "plugin.capabilities",
    "plugin.validate_manifest",
    "adapter.cancel_wait",
    "session.cancel_wait",
];

/// Actions of an input that the program need not read.
const NOT_TYPED: &[&str] = &["kill", "signal", "resize", "mark_transcript"];

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
                $($name => {
                    request.params.check()?;
                    $function(connection, &request.params).await
                })*
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
    "adapter.cancel_wait" => wait::cancel,
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
    "session.cancel_wait" => wait::cancel,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn order_of(method: &str, params: &Value) -> Order {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        order(&Request::from_wire(request.to_string().as_bytes()).unwrap())
    }

    #[test]
    fn a_wait_that_a_request_does_not_have_changes_nothing_of_its_order() {
        let odd = [json!(null), json!(5), json!("w"), json!([1]), json!({"wait_id": "w"})];
        for method in names().iter().filter(|name| **name != "adapter.turn") {
            for on in [json!({}), json!({"session": "s1"}), json!({"adapter": "e1"})] {
                let expected = order_of(method, &on);
                for wait in &odd {
                    let mut params = on.clone();
                    params["wait"] = wait.clone();
                    assert_eq!(order_of(method, &params), expected, "{method} {params}");
                }
            }
        }
    }

    #[test]
    fn a_signal_that_is_typed_is_ordered_as_what_is_typed() {
        let input =
            |action: Value| order_of("session.input", &json!({"session": "s1", "action": action}));
        let interrupt = input(json!({"type": "interrupt"}));
        assert!(interrupt.types());
        assert_eq!(input(json!({"type": "signal", "value": "int"})), interrupt);
        assert!(!input(json!({"type": "signal", "value": "term"})).types());
    }

    #[test]
    fn a_turn_waits_by_the_name_in_its_second_leg() {
        let named = |wait: Value| order_of("adapter.turn", &json!({"adapter": "e1", "wait": wait}));
        let expected = |name: Option<&str>| Order::On {
            on: "e1".into(),
            waits: Some(name.map(str::to_owned)),
            types: false,
            interrupts: false,
        };
        assert_eq!(named(json!({"wait_id": "w"})), expected(Some("w")));
        assert_eq!(named(json!({"wait_id": 5})), expected(None));
        assert_eq!(named(json!(5)), expected(None));
    }
}
