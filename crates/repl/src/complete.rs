//! What Tab offers: names of Lua, and in quotes what the function around them takes.

mod place;

use mlua::Lua;

use crate::catalog::{self, Catalog, Offer};
use crate::meta::COMMANDS;
use crate::names;
use place::Place;

/// What a tab can do, behind a colon.
const METHODS: &[&str] = &[
    "close",
    "focus",
    "inspect",
    "kill",
    "resize",
    "screen",
    "send",
    "state",
    "transcript",
    "turn",
    "view",
    "wait",
];

/// What can be completed now.
#[derive(Debug)]
pub(crate) struct Words {
    /// Where names lead to something.
    pub(crate) lua: Lua,
    /// The ids of tabs, and of what could become one.
    pub(crate) ids: Vec<String>,
    pub(crate) catalog: Catalog,
    /// The plugin of the focused tab.
    pub(crate) plugin: Option<String>,
}

/// The beginning of what is completed, and everything it could become.
pub(crate) fn complete(line: &str, words: &Words) -> (usize, Vec<String>) {
    let line_start = line.len() - line.trim_start().len();
    if line[line_start..].starts_with(':') {
        return meta(line, line_start, words);
    }
    if let Some(quote) = open_quote(line) {
        let begun = &line[quote + 1..];
        return (quote + 1, fitting(begun, &in_quotes(&line[..quote], words)));
    }
    let (before, begun) = place::split_name(line);
    let candidates = if before.ends_with("..") || !before.ends_with([':', '.']) {
        if begun.is_empty() { Vec::new() } else { names::globals(&words.lua) }
    } else {
        behind(before, words)
    };
    (before.len(), fitting(begun, &candidates))
}

/// What may stand behind a dot or a colon.
fn behind(before: &str, words: &Words) -> Vec<String> {
    let (path, is_call) = match before.strip_suffix(':') {
        Some(rest) => (place::path(rest), true),
        None => (place::path(before.trim_end_matches('.')), false),
    };
    match names::find(&words.lua, path) {
        Some(value) => names::members(&words.lua, &value, is_call),
        // A local name or the result of a call: most are tabs.
        None if is_call => METHODS.iter().map(|it| (*it).to_owned()).collect(),
        None => Vec::new(),
    }
}

fn meta(line: &str, start: usize, words: &Words) -> (usize, Vec<String>) {
    let Some(space) = line.rfind(char::is_whitespace).filter(|it| *it > start) else {
        let commands: Vec<String> = COMMANDS.iter().map(|it| it.name.to_owned()).collect();
        return (start, fitting(&line[start..], &commands));
    };
    let command = line[start..].split_whitespace().next().unwrap_or_default();
    let switches = ["on".to_owned(), "off".to_owned()];
    let candidates = match command {
        ":focus" | ":attach" => words.ids.clone(),
        ":notifications" => switches.into_iter().chain(words.ids.clone()).collect(),
        ":rpc" => words.catalog.methods.clone(),
        _ => Vec::new(),
    };
    (space + 1, fitting(&line[space + 1..], &candidates))
}

/// What may stand in quotes behind this.
fn in_quotes(before: &str, words: &Words) -> Vec<String> {
    let trimmed = before.trim_end();
    if trimmed.ends_with("==") || trimmed.ends_with("~=") {
        let of = trimmed.rsplit_once(":state(").map(|(receiver, _)| place::path(receiver));
        return offer(of, words).states;
    }
    let mut place = place::place(before);
    // `send(c, "…")` is `c:send("…")`.
    if let (None, Some(first)) = (place.receiver, place.before.first())
        && names::find(&words.lua, first).is_some_and(|it| names::is_tab(&it))
    {
        place.receiver = Some(place.before.remove(0));
    }
    match (place.function, place.before.len()) {
        ("session" | "plugins", 0) if place.member.is_none_or(|it| it == "plugin") => {
            words.catalog.plugins.clone()
        }
        ("rpc", 0) => words.catalog.methods.clone(),
        ("tab", 0) => words.ids.clone(),
        _ => of_tab(&place, words),
    }
}

/// What a tab takes at a place: what its plugin offers, or the actions of a session without one.
fn of_tab(place: &Place<'_>, words: &Words) -> Vec<String> {
    let Offer { intents, matchers, .. } = offer(place.receiver, words);
    let has_plugin = plugin(place.receiver, words).is_some();
    match (place.function, place.before.as_slice(), place.member) {
        (_, _, Some("intent")) => intents.into_iter().chain(matchers).collect(),
        ("send" | "turn", [], None) => intents,
        ("wait", [], None) | ("turn", [_, _], None) => matchers,
        ("send", _, Some("type")) if !has_plugin => catalog::actions(),
        ("send", [kind], None) if !has_plugin => catalog::values(unquoted(kind)),
        ("send", [kind], Some("value")) if !has_plugin => {
            let kind = kind.strip_prefix("type").map(|it| it.trim_start_matches([' ', '=']));
            catalog::values(unquoted(kind.unwrap_or_default()))
        }
        _ => Vec::new(),
    }
}

/// The plugin of the tab that is meant: the named one, or else the focused.
fn plugin(receiver: Option<&str>, words: &Words) -> Option<String> {
    match receiver {
        Some(path) => names::plugin(&names::find(&words.lua, path)?),
        None => words.plugin.clone(),
    }
}

/// What the tab that is meant offers; nothing without a plugin, where a word would be typed.
fn offer(receiver: Option<&str>, words: &Words) -> Offer {
    let plugin = plugin(receiver, words);
    plugin.and_then(|it| words.catalog.offers.get(&it).cloned()).unwrap_or_default()
}

fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '\''])
}

/// Where a text that is not closed begins.
fn open_quote(line: &str) -> Option<usize> {
    let mut open: Option<(usize, char)> = None;
    let mut is_escaped = false;
    for (at, letter) in line.char_indices() {
        match open {
            _ if is_escaped => is_escaped = false,
            Some(_) if letter == '\\' => is_escaped = true,
            Some((_, quote)) if letter == quote => open = None,
            None if matches!(letter, '"' | '\'') => open = Some((at, letter)),
            _ => {}
        }
    }
    open.map(|it| it.0)
}

fn fitting(begun: &str, candidates: &[String]) -> Vec<String> {
    let mut found: Vec<String> =
        candidates.iter().filter(|it| it.starts_with(begun)).cloned().collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the prelude has it, where `c` is a tab of a plugin and `plain` one without.
    const TABS: &str = "
        local Tab = {__name = 'tab', view = setmetatable, wait = setmetatable, send = setmetatable}
        Tab.__index = Tab
        session, send, screen, print = Tab.send, Tab.send, Tab.send, Tab.send
        c = setmetatable({id = 'e1', plugin = 'echo'}, Tab)
        plain = setmetatable({id = 's2'}, Tab)
        numbers = {alpha = 1, beta = {gamma = 2}, ['not a name'] = 3}
        text = 'x'";

    fn words() -> Words {
        let texts = |list: &[&str]| list.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let mut catalog = Catalog { plugins: texts(&["echo"]), ..Catalog::default() };
        catalog.methods = texts(&["session.list", "session.kill"]);
        let offer = Offer {
            intents: texts(&["say", "stop"]),
            matchers: texts(&["wait_turn_matcher"]),
            states: texts(&["ready", "busy"]),
        };
        catalog.offers.insert("echo".to_owned(), offer);
        let lua = Lua::new();
        lua.load(TABS).exec().unwrap();
        Words { lua, ids: texts(&["e1", "s2"]), catalog, plugin: Some("echo".to_owned()) }
    }

    #[track_caller]
    fn check_with(words: &Words, line: &str, start: usize, expected: &[&str]) {
        let (at, found) = complete(line, words);
        assert_eq!(
            (at, found),
            (start, expected.iter().map(|it| (*it).to_owned()).collect()),
            "{line}"
        );
    }

    #[track_caller]
    fn check(line: &str, start: usize, expected: &[&str]) {
        check_with(&words(), line, start, expected);
    }

    #[test]
    fn names_are_completed() {
        check("se", 0, &["select", "send", "session", "setmetatable"]);
        check("x = scr", 4, &["screen"]);
        check("'a'..scr", 5, &["screen"]);
        check("c:", 2, &["send", "view", "wait"]);
        check("c:w", 2, &["wait"]);
        check("", 0, &[]);
        // Not known: most likely a tab.
        check("größe:v", "größe:".len(), &["view"]);
        check("tab('e1'):v", 10, &["view"]);
    }

    #[test]
    fn behind_a_dot_are_the_members_of_what_is_before_it() {
        check("string.for", 7, &["format"]);
        check("x = text:for", 9, &["format"]);
        check("numbers.al", 8, &["alpha"]);
        check("numbers.beta.", 13, &["gamma"]);
        check("numbers.", 8, &["alpha", "beta"]);
        check("numbers:", 8, &[]);
        check("c.", 2, &["id", "plugin", "send", "view", "wait"]);
        check("unknown.", 8, &[]);
        check("f().", 4, &[]);
        check("3.", 2, &[]);
    }

    #[test]
    fn in_quotes_the_function_decides() {
        check("send(\"s", 6, &["say", "stop"]);
        check("c:turn('st", 8, &["stop"]);
        check("c:turn('say', {}, '", 19, &["wait_turn_matcher"]);
        check("c:wait \"", 8, &["wait_turn_matcher"]);
        check("session(\"e", 9, &["echo"]);
        check("session{plugin = \"e", 18, &["echo"]);
        check("session('e', {cwd = \"e", 21, &[]);
        check("if state().state == \"r", 21, &["ready"]);
        check("if c:state().state == \"r", 23, &["ready"]);
        check("wait{intent = \"wait", 15, &["wait_turn_matcher"]);
        check("print(\"s", 7, &[]);
        check("send(\"a\\\"b\", sc", 13, &["screen"]);
        check("send(\"key\", \"", 13, &[]);
    }

    #[test]
    fn without_a_plugin_a_text_is_typed_as_it_is() {
        let focused = Words { plugin: None, ..words() };
        for line in ["send(\"", "turn(\"", "wait(\"", "state().state == \""] {
            check_with(&focused, line, line.len(), &[]);
        }
        check("plain:send(\"", 12, &[]);
        check("send(plain, \"", 13, &[]);
        check_with(&focused, "c:send(\"st", 8, &["stop"]);
        check_with(&focused, "send(c, \"st", 9, &["stop"]);
        check_with(&focused, "send(\"key\", \"ent", 13, &["enter"]);
        check("plain:send('key', 'ctrl_z", 19, &["ctrl_z"]);
        check("plain:send('signal', 'te", 22, &["term"]);
        check("plain:send{type = 'int", 19, &["interrupt"]);
        check("plain:send{type = 'key', value = 'f1", 34, &["f1", "f10", "f11", "f12"]);
    }

    #[test]
    fn commands_and_what_they_take_are_completed() {
        check(":ta", 0, &[":tabs"]);
        check(":focus ", 7, &["e1", "s2"]);
        check(":notifications o", 15, &["off", "on"]);
        check(":rpc session.k", 5, &["session.kill"]);
    }
}
