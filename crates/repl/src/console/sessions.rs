//! Tabs: sessions and adapters that were begun here or are attached to.

use serde_json::{Map, Value, json};

use super::{House, Kind, Tab, asked};
use crate::link::Fault;

/// How a session is begun.
const USAGE: &str = "session(\"plugin or program\", {cwd = …, args = {…}})";

impl House {
    /// Begins a session: with a plugin if there is one of that name, else a program.
    pub(super) fn begin(&self, args: &[Value]) -> Result<Tab, Fault> {
        let (name, more) = match args {
            [Value::String(name), rest @ ..] => (Some(name.as_str()), rest.first()),
            [more @ Value::Object(_)] => (None, Some(more)),
            _ => return Err(Fault::usage(format!("write {USAGE}"))),
        };
        let mut params = match more {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(more)) => more.clone(),
            Some(_) => return Err(Fault::usage(format!("write {USAGE}"))),
        };
        let known = self.plugin_names()?;
        if let Some(name) = name {
            let is_plugin = known.iter().any(|it| it == name);
            let member = if is_plugin { "plugin" } else { "program" };
            params.insert(member.to_owned(), name.into());
        }
        let tab = match params.contains_key("plugin") {
            true => self.begin_adapter(&params)?,
            false => self.begin_session(&params).map_err(|fault| explain(fault, name, &known))?,
        };
        self.add(tab.clone());
        Ok(tab)
    }

    fn begin_adapter(&self, params: &Map<String, Value>) -> Result<Tab, Fault> {
        let method =
            if params.contains_key("prior_adapter") { "adapter.resume" } else { "adapter.start" };
        let answer = self.link.call(method, &Value::Object(params.clone()))?;
        Ok(adapter_tab(&answer))
    }

    fn begin_session(&self, params: &Map<String, Value>) -> Result<Tab, Fault> {
        let answer = self.link.call("session.create", &Value::Object(params.clone()))?;
        let program = params.get("program").and_then(Value::as_str).map(str::to_owned);
        let id = answer["session"].as_str().unwrap_or_default().to_owned();
        Ok(Tab { id, kind: Kind::Session { program } })
    }

    /// Makes a tab of something that lives on the server already.
    pub(crate) fn attach(&self, id: &str) -> Result<Tab, Fault> {
        let known = self.tabs.borrow().iter().find(|tab| tab.id == id).cloned();
        if let Some(tab) = known {
            self.focus(id)?;
            return Ok(tab);
        }
        let live = self.live()?;
        let adapter = live.iter().find(|it| it["adapter"] == id || it["session"] == id);
        let tab = match adapter {
            Some(adapter) => adapter_tab(adapter),
            None if self.sessions()?.iter().any(|it| it == id) => {
                Tab { id: id.to_owned(), kind: Kind::Session { program: None } }
            }
            None => {
                return Err(Fault::usage(format!(
                    "nothing live is called `{id}`; `:live` lists all"
                )));
            }
        };
        self.add(tab.clone());
        Ok(tab)
    }

    /// Connects again to a server that was lost, and forgets the tabs of what does not live there: their
    /// names may be given to something else.
    pub(crate) fn revive(&self) -> Result<(), Fault> {
        // An interrupt in the midst of it leaves them as they are, for the next time.
        let is_new = self.link.reconnect();
        if !matches!(is_new, Ok(false)) {
            self.tabs_are_unchecked.set(true);
        }
        is_new?;
        if !self.tabs_are_unchecked.get() {
            return Ok(());
        }
        let (adapters, sessions) = (self.live()?, self.sessions()?);
        let lives = |id: &str| {
            adapters.iter().any(|it| it["adapter"] == id) || sessions.iter().any(|it| it == id)
        };
        self.tabs.borrow_mut().retain(|tab| lives(&tab.id));
        let is_gone = self.focused.borrow().as_deref().is_some_and(|id| !lives(id));
        if is_gone {
            *self.focused.borrow_mut() = self.tabs.borrow().last().map(|it| it.id.clone());
        }
        self.tabs_are_unchecked.set(false);
        Ok(())
    }

    /// The adapters that live on the server.
    pub(crate) fn live(&self) -> Result<Vec<Value>, Fault> {
        let mut answer = self.link.call("adapter.live", &Value::Null)?;
        Ok(list(answer["adapters"].take()))
    }

    /// The sessions without a plugin that the server has.
    pub(crate) fn sessions(&self) -> Result<Vec<Value>, Fault> {
        let mut answer = self.link.call("session.list", &Value::Null)?;
        Ok(list(answer["sessions"].take()))
    }

    /// Adds a tab and focuses it.
    fn add(&self, tab: Tab) {
        if let Kind::Adapter { plugin, .. } = &tab.kind {
            // Completion is worth no error.
            self.learn(plugin).unwrap_or_default();
        }
        *self.focused.borrow_mut() = Some(tab.id.clone());
        let mut tabs = self.tabs.borrow_mut();
        tabs.retain(|it| it.id != tab.id);
        tabs.push(tab);
    }

    /// Ends a tab and what it is about; the one before it has the focus then.
    pub(super) fn end(&self, tab: &Tab) -> Result<Value, Fault> {
        let mut answer = self.link.call(&tab.method("close"), &tab.params(Value::Null))?;
        let mut tabs = self.tabs.borrow_mut();
        tabs.retain(|it| it.id != tab.id);
        let mut focused = self.focused.borrow_mut();
        if focused.as_deref() == Some(tab.id.as_str()) {
            *focused = tabs.last().map(|it| it.id.clone());
        }
        Ok(answer["closed"].take())
    }

    /// Focuses a tab.
    pub(crate) fn focus(&self, id: &str) -> Result<(), Fault> {
        let tab = self.meant(Some(id))?;
        *self.focused.borrow_mut() = Some(tab.id);
        Ok(())
    }

    /// The tab of this name, or the focused one.
    pub(crate) fn meant(&self, id: Option<&str>) -> Result<Tab, Fault> {
        let focused = self.focused.borrow().clone();
        let Some(id) = id.map(str::to_owned).or(focused) else {
            return Err(Fault::usage(format!("there is no session; begin one with {USAGE}")));
        };
        let found = self.tabs.borrow().iter().find(|tab| tab.id == id).cloned();
        found.ok_or_else(|| Fault::usage(format!("there is no tab `{id}`; `:tabs` lists all")))
    }

    /// All plugins, or what one offers.
    pub(super) fn plugins(&self, args: &[Value]) -> Result<Value, Fault> {
        if let Some(Value::String(name)) = args.first() {
            return self.link.call("plugin.describe", &json!({ "plugin": name }));
        }
        if !args.is_empty() {
            asked::text(args.first(), "plugins() or plugins(\"name\")")?;
        }
        Ok(self.link.call("adapter.list", &Value::Null)?["plugins"].take())
    }

    /// The names of the plugins there are.
    pub(crate) fn plugin_names(&self) -> Result<Vec<String>, Fault> {
        let all = list(self.plugins(&[])?);
        let names: Vec<String> =
            all.iter().filter_map(|it| it["name"].as_str().map(str::to_owned)).collect();
        self.catalog.borrow_mut().plugins.clone_from(&names);
        Ok(names)
    }

    /// Remembers what a plugin offers.
    pub(crate) fn learn(&self, plugin: &str) -> Result<(), Fault> {
        let described = self.link.call("plugin.describe", &json!({ "plugin": plugin }))?;
        self.catalog.borrow_mut().learn(plugin, &described);
        Ok(())
    }
}

fn adapter_tab(answer: &Value) -> Tab {
    let text = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
    let kind = Kind::Adapter { plugin: text("plugin"), session: text("session") };
    Tab { id: text("adapter"), kind }
}

fn list(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        _ => Vec::new(),
    }
}

/// A program that is not there may be a plugin with a slip in its name.
fn explain(fault: Fault, name: Option<&str>, known: &[String]) -> Fault {
    match (fault, name) {
        (Fault::Server(mut error), Some(name)) if !name.contains('/') && !known.is_empty() => {
            error.message.push_str(&format!("; plugins are: {}", known.join(", ")));
            Fault::Server(error)
        }
        (fault, _) => fault,
    }
}
