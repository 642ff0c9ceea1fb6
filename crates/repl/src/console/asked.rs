//! What people may leave out or write shorter, as the server wants it.

use serde_json::{Map, Value, json};

use super::Tab;
use crate::link::Fault;

/// A text that must be there; else how it is written.
pub(super) fn text<'a>(value: Option<&'a Value>, usage: &str) -> Result<&'a str, Fault> {
    value.and_then(Value::as_str).ok_or_else(|| Fault::usage(format!("write {usage}")))
}

/// What is typed into a session: a text, an action, or the kind and value of one.
pub(super) fn action(args: &[Value]) -> Result<Value, Fault> {
    match args {
        [Value::String(text)] => Ok(json!({"type": "text", "value": text})),
        [action @ Value::Object(_)] => Ok(action.clone()),
        [Value::String(kind), value] => Ok(json!({"type": kind, "value": value})),
        _ => Err(Fault::usage(
            "write send(\"text\\n\"), send(\"key\", \"enter\") or send{type = \"interrupt\"}",
        )),
    }
}

/// What is waited for, and how long.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Waiting {
    members: Map<String, Value>,
}

impl Waiting {
    /// From what was written: `wait()`, `wait(5000)`, `wait(matcher, 5000)`, `wait("name", params,
    /// 5000)` or a table with the members of the protocol.
    pub(super) fn from_args(tab: &Tab, args: &[Value]) -> Result<Waiting, Fault> {
        let mut waiting = Waiting::default();
        for arg in args {
            waiting.take(tab, arg)?;
        }
        let members = &waiting.members;
        if !tab.is_adapter() && !members.contains_key("matcher") {
            return Err(Fault::usage(
                "say what to wait for, such as wait(\"text\") or wait(re\"x+\")",
            ));
        }
        Ok(waiting)
    }

    fn take(&mut self, tab: &Tab, arg: &Value) -> Result<(), Fault> {
        let has_what = ["matcher", "intent"].iter().any(|it| self.members.contains_key(*it));
        let (name, value) = match arg {
            Value::Null => return Ok(()),
            Value::Number(_) => ("timeout_ms", arg.clone()),
            // Without a plugin there are no matchers with names.
            Value::String(text) if !tab.is_adapter() => {
                ("matcher", json!({"type": "contains_text", "value": text}))
            }
            Value::String(_) if has_what => return Err(Fault::usage(twice("intent"))),
            Value::String(_) => ("intent", arg.clone()),
            Value::Object(it) if has_what && is_matcher(it) => {
                return Err(Fault::usage(twice("matcher")));
            }
            Value::Object(it) if !has_what && it.contains_key("type") => ("matcher", arg.clone()),
            Value::Object(_) if has_what => ("params", arg.clone()),
            Value::Object(members) => {
                self.members.extend(members.clone());
                return Ok(());
            }
            _ => return Err(Fault::usage("write wait(what, timeout)")),
        };
        match self.members.insert(name.to_owned(), value) {
            None => Ok(()),
            Some(_) => Err(Fault::usage(twice(name))),
        }
    }

    /// Names it, unless it has a name.
    pub(super) fn name(&mut self, name: impl FnOnce() -> String) {
        self.members.entry("wait_id").or_insert_with(|| name().into());
    }

    /// As the server wants it; sessions send a snapshot along, whose cells nobody here reads.
    pub(super) fn to_json(&self, is_session: bool) -> Value {
        let mut members = self.members.clone();
        if is_session {
            members.entry("cells").or_insert(false.into());
        }
        Value::Object(members)
    }
}

/// Whether this is what a function of the console makes to be waited for, and not parameters.
fn is_matcher(members: &Map<String, Value>) -> bool {
    const KINDS: &[&str] =
        &["all", "any", "contains_text", "process_exited", "screen_regex", "screen_stable"];
    members.get("type").and_then(Value::as_str).is_some_and(|it| KINDS.contains(&it))
}

/// What is wrong with a wait that has something twice.
fn twice(name: &str) -> &'static str {
    match name {
        "timeout_ms" => "a wait has one timeout: write wait(what, timeout)",
        "params" => "a wait has one table of parameters: write wait(\"matcher\", {…}, timeout)",
        _ => "a wait is for one thing: write any(…) or all(…) for several",
    }
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;

    fn tab(is_adapter: bool) -> Tab {
        let (plugin, session) = ("p".to_owned(), "s1".to_owned());
        match is_adapter {
            true => Tab { id: "e1".into(), kind: Kind::Adapter { plugin, session } },
            false => Tab { id: "s1".into(), kind: Kind::Session { program: None } },
        }
    }

    #[track_caller]
    fn check(is_adapter: bool, args: Value, expected: Value) {
        let args: Vec<Value> = args.as_array().unwrap().clone();
        let waiting = Waiting::from_args(&tab(is_adapter), &args).unwrap();
        assert_eq!(waiting.to_json(false), expected, "{args:?}");
    }

    #[test]
    fn waits_may_be_written_short() {
        let stable = json!({"type": "screen_stable", "value": {"min_ms": 1}});
        check(true, json!([]), json!({}));
        check(true, json!([500]), json!({"timeout_ms": 500}));
        check(true, json!(["m"]), json!({"intent": "m"}));
        check(
            true,
            json!(["m", {"a": 1}, 5]),
            json!({"intent": "m", "params": {"a": 1}, "timeout_ms": 5}),
        );
        check(
            true,
            json!(["m", {"type": "file"}]),
            json!({"intent": "m", "params": {"type": "file"}}),
        );
        check(true, json!([stable, 5]), json!({"matcher": stable, "timeout_ms": 5}));
        check(
            true,
            json!([{"wait_id": "w", "intent": "m"}]),
            json!({"wait_id": "w", "intent": "m"}),
        );
        let text = json!({"type": "contains_text", "value": "x"});
        check(false, json!(["x"]), json!({ "matcher": text }));
        assert!(Waiting::from_args(&tab(false), &[json!(5)]).is_err());
        assert!(Waiting::from_args(&tab(true), &[json!(true)]).is_err());
    }

    #[test]
    fn nothing_that_is_waited_for_is_left_out() {
        let refused = |is_adapter: bool, args: &[Value], why: &str| {
            let fault = Waiting::from_args(&tab(is_adapter), args).unwrap_err();
            assert!(matches!(&fault, Fault::Usage(text) if text.contains(why)), "{fault:?}");
        };
        let stable = json!({"type": "screen_stable", "value": {"min_ms": 1}});
        refused(false, &[json!("zzz"), json!("hello")], "any(…)");
        refused(false, &[json!("zzz"), stable.clone()], "any(…)");
        refused(true, &[json!("m"), json!("n")], "any(…)");
        refused(true, &[json!("m"), stable], "any(…)");
        refused(true, &[json!("m"), json!({}), json!({})], "one table");
        refused(false, &[json!("x"), json!(1), json!(2)], "one timeout");
    }

    #[test]
    fn actions_may_be_written_short() {
        let one = |args: &[Value]| action(args).unwrap();
        assert_eq!(one(&[json!("ls\n")]), json!({"type": "text", "value": "ls\n"}));
        assert_eq!(one(&[json!("key"), json!("enter")]), json!({"type": "key", "value": "enter"}));
        assert_eq!(one(&[json!({"type": "eof"})]), json!({"type": "eof"}));
        assert!(action(&[]).is_err() && action(&[json!(5)]).is_err());
    }
}
