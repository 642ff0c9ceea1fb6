//! What the server's plugins and methods are called, kept for completion.

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
