//! What can be done in a console, by name: each is a call of the server, on the tab that is meant.

mod asked;
mod sessions;
mod view;

use std::cell::{Cell, RefCell};
use std::io::{self, Write as _};

use serde_json::{Map, Value, json};

use crate::catalog::Catalog;
use crate::link::{Fault, Link};
use asked::Waiting;

/// A session or adapter the console knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tab {
    /// As the server calls it: `s1` or `e1`.
    pub(crate) id: String,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A plugin drives it.
    Adapter { plugin: String, session: String },
    /// A program alone.
    Session { program: Option<String> },
}

/// What a call gives.
#[derive(Debug, PartialEq)]
pub(crate) enum Given {
    Nothing,
    Value(Value),
}

/// The console's tabs, and the way to the server.
pub(crate) struct House {
    pub(crate) link: Link,
    pub(crate) catalog: RefCell<Catalog>,
    pub(crate) tabs: RefCell<Vec<Tab>>,
    /// The tab that is meant when none is named.
    pub(crate) focused: RefCell<Option<String>>,
    /// Whether the server may be another one by now, on which other programs have these names.
    tabs_are_unchecked: Cell<bool>,
}

impl Tab {
    pub(crate) fn is_adapter(&self) -> bool {
        matches!(self.kind, Kind::Adapter { .. })
    }

    /// What it runs, for people.
    pub(crate) fn title(&self) -> &str {
        match &self.kind {
            Kind::Adapter { plugin, .. } => plugin,
            Kind::Session { program } => program.as_deref().unwrap_or("session"),
        }
    }

    /// As Lua sees it.
    pub(crate) fn to_json(&self) -> Value {
        match &self.kind {
            Kind::Adapter { plugin, session } => {
                json!({"id": self.id, "plugin": plugin, "session": session})
            }
            Kind::Session { program } => {
                json!({"id": self.id, "session": self.id, "program": program})
            }
        }
    }

    /// The method of its kind, such as `adapter.close`.
    fn method(&self, verb: &str) -> String {
        let noun = if self.is_adapter() { "adapter" } else { "session" };
        format!("{noun}.{verb}")
    }

    /// Parameters that name it, and more.
    fn params(&self, more: Value) -> Value {
        let mut params = match more {
            Value::Object(more) => more,
            _ => Map::new(),
        };
        let noun = if self.is_adapter() { "adapter" } else { "session" };
        params.insert(noun.to_owned(), self.id.as_str().into());
        Value::Object(params)
    }
}

impl House {
    pub(crate) fn new(link: Link) -> House {
        House {
            link,
            catalog: RefCell::default(),
            tabs: RefCell::default(),
            focused: RefCell::default(),
            tabs_are_unchecked: Cell::default(),
        }
    }

    /// Does what was asked for by name.
    pub(crate) fn call(
        &self,
        name: &str,
        tab: Option<&str>,
        args: &[Value],
    ) -> Result<Given, Fault> {
        self.revive()?;
        let value = match name {
            "session" => self.begin(args)?.to_json(),
            "tab" => self.attach(asked::text(args.first(), "tab(id)")?)?.to_json(),
            "plugins" => self.plugins(args)?,
            "cancel_wait" => self.cancel_wait(asked::text(args.first(), "cancel_wait(id)")?)?,
            "rpc" => {
                let method = asked::text(args.first(), "rpc(method, params)")?;
                self.link.call(method, args.get(1).unwrap_or(&Value::Null))?
            }
            _ => return self.call_on(&self.meant(tab)?, name, args),
        };
        Ok(Given::Value(value))
    }

    /// Does what was asked for on a tab.
    fn call_on(&self, tab: &Tab, name: &str, args: &[Value]) -> Result<Given, Fault> {
        let wish = args.first().cloned().unwrap_or_default();
        let value = match name {
            "send" => self.send(tab, args)?,
            "wait" => self.wait(tab, Waiting::from_args(tab, args)?)?,
            "turn" => self.turn(tab, args)?,
            "state" => self.state(tab)?,
            "transcript" => self.member(tab, "transcript", wish, "text")?,
            "screen" => self.screen(tab, wish)?,
            "inspect" => self.inspect(tab, wish)?,
            "view" => {
                say(&view::framed(&self.snapshot(tab, wish)?))?;
                return Ok(Given::Nothing);
            }
            "resize" => self.resize(tab, args)?,
            "kill" => self.kill(tab)?,
            "close" => self.end(tab)?,
            "focus" => {
                self.focus(&tab.id)?;
                return Ok(Given::Nothing);
            }
            other => return Err(Fault::usage(format!("`{other}` is not known"))),
        };
        Ok(Given::Value(value))
    }

    fn send(&self, tab: &Tab, args: &[Value]) -> Result<Value, Fault> {
        if tab.is_adapter() {
            let intent = asked::text(args.first(), "send(intent, params)")?;
            let more = json!({"intent": intent, "params": args.get(1).unwrap_or(&Value::Null)});
            let answer = self.link.call("adapter.send", &tab.params(more))?;
            return Ok(answer["state"].clone());
        }
        let action = asked::action(args)?;
        let answer = self.link.call("session.input", &tab.params(json!({ "action": action })))?;
        Ok(answer["sent"].clone())
    }

    fn wait(&self, tab: &Tab, mut waiting: Waiting) -> Result<Value, Fault> {
        self.name_wait(&mut waiting);
        let more = waiting.to_json(!tab.is_adapter());
        self.link.call(&tab.method("wait"), &tab.params(more))
    }

    /// Gives a wait a name, so that ctrl+c can cancel it.
    fn name_wait(&self, waiting: &mut Waiting) {
        let number = self.link.next_id();
        waiting.name(|| format!("repl-{}-{number}", std::process::id()));
    }

    fn turn(&self, tab: &Tab, args: &[Value]) -> Result<Value, Fault> {
        if !tab.is_adapter() {
            // A plain session has no turns; typing and then waiting is what is meant.
            self.send(tab, args.get(..1).unwrap_or_default())?;
            return self.wait(tab, Waiting::from_args(tab, args.get(1..).unwrap_or_default())?);
        }
        let intent = asked::text(args.first(), "turn(intent, params, wait…)")?;
        let mut waiting = Waiting::from_args(tab, args.get(2..).unwrap_or_default())?;
        self.name_wait(&mut waiting);
        let params = args.get(1).unwrap_or(&Value::Null);
        let send = json!({"intent": intent, "params": params});
        let more = json!({"send": send, "wait": waiting.to_json(false)});
        self.link.call("adapter.turn", &tab.params(more))
    }

    fn cancel_wait(&self, id: &str) -> Result<Value, Fault> {
        let params = json!({ "wait_id": id });
        let answer = self.link.call("adapter.cancel_wait", &params)?;
        if answer["cancelled"] == true {
            return Ok(answer);
        }
        // Servers that know no such method have no waits of that kind.
        Ok(self.link.call("session.cancel_wait", &params).unwrap_or(answer))
    }

    fn state(&self, tab: &Tab) -> Result<Value, Fault> {
        if !tab.is_adapter() {
            let text =
                "a session without a plugin has no state; `screen()` and `inspect()` show it";
            return Err(Fault::usage(text));
        }
        self.member(tab, "state", Value::Null, "state")
    }

    /// One member of what a method gives.
    fn member(&self, tab: &Tab, verb: &str, wish: Value, member: &str) -> Result<Value, Fault> {
        Ok(self.link.call(&tab.method(verb), &tab.params(wish))?[member].take())
    }

    /// What a tab shows, without its cells, which are for programs.
    fn snapshot(&self, tab: &Tab, wish: Value) -> Result<Value, Fault> {
        let mut params = tab.params(wish);
        params["cells"] = false.into();
        let mut answer = self.link.call(&tab.method("snapshot"), &params)?;
        if let Some(answer) = answer.as_object_mut() {
            answer.remove("cells");
        }
        Ok(answer)
    }

    fn screen(&self, tab: &Tab, wish: Value) -> Result<Value, Fault> {
        Ok(self.snapshot(tab, wish)?["plain_text"].take())
    }

    fn inspect(&self, tab: &Tab, wish: Value) -> Result<Value, Fault> {
        match tab.is_adapter() {
            true => self.link.call("adapter.inspect", &tab.params(wish)),
            false => self.snapshot(tab, wish),
        }
    }

    fn resize(&self, tab: &Tab, args: &[Value]) -> Result<Value, Fault> {
        let [rows, cols] = args else { return Err(Fault::usage("resize(rows, cols)")) };
        self.only_session(tab)?;
        let more = json!({"rows": rows, "cols": cols});
        Ok(self.link.call("session.resize", &tab.params(more))?["resized"].take())
    }

    fn kill(&self, tab: &Tab) -> Result<Value, Fault> {
        self.only_session(tab)?;
        Ok(self.link.call("session.kill", &tab.params(Value::Null))?["killed"].take())
    }

    fn only_session(&self, tab: &Tab) -> Result<(), Fault> {
        match tab.is_adapter() {
            true => Err(Fault::usage("the server does this for sessions without a plugin only")),
            false => Ok(()),
        }
    }
}

/// Shows a text, on lines of its own.
pub(crate) fn say(text: &str) -> Result<(), Fault> {
    let mut out = std::io::stdout().lock();
    match out.write_all(format!("{text}\n").as_bytes()).and_then(|()| out.flush()) {
        // A reader that has seen enough is no error.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Fault::Output(error.to_string()))
        }
        _ => Ok(()),
    }
}
