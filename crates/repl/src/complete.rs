//! What Tab offers: names of Lua, and in quotes what the function around them takes.

use crate::catalog::{Catalog, Offer};
use crate::meta::COMMANDS;

/// What a tab can do, behind a colon.
pub(crate) const METHODS: &[&str] = &[
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
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// The names of Lua.
    pub(crate) globals: Vec<String>,
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
    let start = line.rfind(|it: char| !it.is_alphanumeric() && it != '_').map_or(0, |at| at + 1);
    let begun = &line[start..];
    let before = line[..start].chars().next_back();
    match before {
        Some(':' | '.') if start >= 2 => {
            let methods: Vec<String> = METHODS.iter().map(|it| (*it).to_owned()).collect();
            (start, fitting(begun, &methods))
        }
        _ if begun.is_empty() => (start, Vec::new()),
        _ => (start, fitting(begun, &words.globals)),
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
    let offer = || {
        let offers = &words.catalog.offers;
        let of_tab = words.plugin.as_ref().and_then(|it| offers.get(it));
        of_tab.or_else(|| offers.values().next()).cloned().unwrap_or_default()
    };
    let before = before.trim_end().trim_end_matches('(').trim_end();
    let Offer { intents, matchers, states } = offer();
    if before.ends_with("==") || before.ends_with("~=") {
        return states;
    }
    let function = before.rsplit(|it: char| !it.is_alphanumeric() && it != '_').next();
    match function.unwrap_or_default() {
        "send" | "turn" => intents,
        "wait" => matchers,
        "session" | "plugins" => words.catalog.plugins.clone(),
        "rpc" => words.catalog.methods.clone(),
        "tab" => words.ids.clone(),
        // `intent = "` in a table.
        _ if before.ends_with("intent =") || before.ends_with("intent=") => {
            intents.into_iter().chain(matchers).collect()
        }
        _ => Vec::new(),
    }
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
        let globals = texts(&["send", "session", "screen", "print"]);
        Words { globals, ids: texts(&["e1", "s2"]), catalog, plugin: Some("echo".to_owned()) }
    }

    #[track_caller]
    fn check(line: &str, start: usize, expected: &[&str]) {
        let (at, found) = complete(line, &words());
        assert_eq!(
            (at, found),
            (start, expected.iter().map(|it| (*it).to_owned()).collect()),
            "{line}"
        );
    }

    #[test]
    fn names_are_completed() {
        check("se", 0, &["send", "session"]);
        check("x = scr", 4, &["screen"]);
        check("c:se", 2, &["send"]);
        check("c:w", 2, &["wait"]);
        check("", 0, &[]);
        check("größe:v", "größe:".len(), &["view"]);
    }

    #[test]
    fn in_quotes_the_function_decides() {
        check("send(\"s", 6, &["say", "stop"]);
        check("c:turn('st", 8, &["stop"]);
        check("c:wait \"", 8, &["wait_turn_matcher"]);
        check("session(\"e", 9, &["echo"]);
        check("if state().state == \"r", 21, &["ready"]);
        check("wait{intent = \"wait", 15, &["wait_turn_matcher"]);
        check("print(\"s", 7, &[]);
        check("send(\"a\\\"b\", s", 13, &["screen", "send", "session"]);
    }

    #[test]
    fn commands_and_what_they_take_are_completed() {
        check(":ta", 0, &[":tabs"]);
        check(":focus ", 7, &["e1", "s2"]);
        check(":notifications o", 15, &["off", "on"]);
        check(":rpc session.k", 5, &["session.kill"]);
    }
}
