//! What the server's plugins and methods are called, kept for completion, and the protocol's own words.

use std::collections::BTreeMap;

use serde_json::Value;

/// What there is to complete.
#[derive(Debug, Default, Clone)]
pub(crate) struct Catalog {
    /// The plugins there are.
    pub(crate) plugins: Vec<String>,
    /// The server's methods.
    pub(crate) methods: Vec<String>,
    /// What plugins offer that are in use.
    pub(crate) offers: BTreeMap<String, Offer>,
}

/// What a plugin offers.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Offer {
    pub(crate) intents: Vec<String>,
    pub(crate) matchers: Vec<String>,
    pub(crate) states: Vec<String>,
}

impl Catalog {
    /// Remembers the methods, from the answer of `server.capabilities`.
    pub(crate) fn learn_methods(&mut self, capabilities: &Value) {
        let methods = capabilities["methods"].as_array().into_iter().flatten();
        self.methods = methods.filter_map(|it| it.as_str().map(str::to_owned)).collect();
    }

    /// Remembers the answer of `plugin.describe`.
    pub(crate) fn learn(&mut self, plugin: &str, described: &Value) {
        let names = |list: &str| -> Vec<String> {
            let list = described[list].as_array().map(Vec::as_slice).unwrap_or_default();
            list.iter().filter_map(|it| it["name"].as_str().map(str::to_owned)).collect()
        };
        let offer = Offer {
            intents: names("intents"),
            matchers: names("wait_matchers"),
            states: names("states"),
        };
        self.offers.insert(plugin.to_owned(), offer);
    }
}

/// What a session without a plugin can be told to do.
const ACTIONS: &[&str] = &[
    "bracketed_paste",
    "eof",
    "interrupt",
    "key",
    "kill",
    "mark_transcript",
    "paste",
    "resize",
    "signal",
    "stream_text",
    "text",
];

/// Keys that have a name of their own.
const KEYS: &[&str] = &[
    "backspace",
    "delete",
    "down",
    "end",
    "enter",
    "escape",
    "home",
    "insert",
    "left",
    "page_down",
    "page_up",
    "right",
    "shift_tab",
    "space",
    "tab",
    "up",
];

/// Letters that are other keys with ctrl held.
const NOT_WITH_CTRL: &str = "hijm";

const SIGNALS: &[&str] = &["hup", "int", "kill", "quit", "term", "user1", "user2"];

/// The kinds of actions.
pub(crate) fn actions() -> Vec<String> {
    owned(ACTIONS)
}

/// What an action of this kind may have as its value, if that is one of a few words.
pub(crate) fn values(kind: &str) -> Vec<String> {
    match kind {
        "key" => {
            let letters = ('a'..='z').filter(|it| !NOT_WITH_CTRL.contains(*it));
            let with_ctrl = letters.map(|it| format!("ctrl_{it}"));
            let functions = (1..=12).map(|number| format!("f{number}"));
            owned(KEYS).into_iter().chain(with_ctrl).chain(functions).collect()
        }
        "signal" => owned(SIGNALS),
        _ => Vec::new(),
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|it| (*it).to_owned()).collect()
}
