//! What a user allows from now on, together with an answer: for this conversation, or for good.
//!
//! What is kept for good goes to Claude Code's own files (`settings`) and counts at once as well: the
//! process that runs is told the same for its conversation.

use serde_json::{Value, json};

use crate::options::Mode;

/// The most suggestions in an answer, and rules or folders in one of them: Claude Code makes a few.
const MANY_MAX: usize = 64;

/// The longest rule or folder, in bytes: a path.
const TEXT_MAX: usize = 4096;

/// Which of Claude Code's files something is kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The project's, which others share.
    Project,
    /// The project's, for this user alone.
    Local,
    /// The user's.
    User,
}

/// What happens to a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Add,
    Replace,
    Remove,
}

/// One thing that is to be so from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Suggestion {
    /// Rules such as `Bash(ls:*)` in the list `allow`, `deny` or `ask`.
    Rules { change: Change, list: &'static str, rules: Vec<String> },
    /// The mode.
    Mode(Mode),
    /// Folders besides the project's.
    Folders { change: Change, folders: Vec<String> },
}

/// Reads what a client sent. What makes no sense, and what would let Claude Code ask nothing any more,
/// is left out.
pub(crate) fn from_wire(suggestions: &[Value]) -> Vec<(Option<Place>, Suggestion)> {
    let read = suggestions.iter().take(MANY_MAX).filter_map(|it| Some((place(it)?, one(it)?)));
    read.collect()
}

/// Where it is to be kept; only in this conversation if nowhere.
#[expect(clippy::option_option, reason = "nowhere, and a place nobody knows")]
fn place(suggestion: &Value) -> Option<Option<Place>> {
    match suggestion["destination"].as_str() {
        None | Some("session" | "cliArg") => Some(None),
        Some("projectSettings") => Some(Some(Place::Project)),
        // Where Claude Code keeps what is allowed "always".
        Some("localSettings" | "persisted") => Some(Some(Place::Local)),
        Some("userSettings") => Some(Some(Place::User)),
        Some(_) => None,
    }
}

fn one(suggestion: &Value) -> Option<Suggestion> {
    let change = match suggestion["type"].as_str()? {
        "setMode" => {
            let mode = suggestion["mode"].as_str().and_then(Mode::from_wire)?;
            // Only who starts Claude Code may decide that.
            return (mode != Mode::Bypass).then_some(Suggestion::Mode(mode));
        }
        "addRules" | "addDirectories" => Change::Add,
        "replaceRules" => Change::Replace,
        "removeRules" | "removeDirectories" => Change::Remove,
        _ => return None,
    };
    if let Some(folders) = suggestion["directories"].as_array() {
        let folders = texts(folders.iter().filter_map(|it| it.as_str().map(str::to_owned)));
        return Some(Suggestion::Folders { change, folders });
    }
    let list = match suggestion["behavior"].as_str() {
        None | Some("allow") => "allow",
        Some("deny") => "deny",
        Some("ask") => "ask",
        Some(_) => return None,
    };
    let rules = texts(suggestion["rules"].as_array()?.iter().filter_map(rule));
    Some(Suggestion::Rules { change, list, rules })
}

fn texts(all: impl Iterator<Item = String>) -> Vec<String> {
    let fit = |it: &String| {
        !it.trim().is_empty() && it.len() <= TEXT_MAX && !it.contains(char::is_control)
    };
    all.filter(fit).take(MANY_MAX).collect()
}

/// A rule as it stands in a file: `Tool` or `Tool(pattern)`.
fn rule(rule: &Value) -> Option<String> {
    if let Some(text) = rule.as_str() {
        return Some(text.trim().to_owned());
    }
    let tool = rule["toolName"].as_str().or(rule["tool_name"].as_str())?.trim();
    let pattern = rule["ruleContent"].as_str().or(rule["rule_content"].as_str());
    Some(match pattern.filter(|it| !it.is_empty()) {
        Some(pattern) => format!("{tool}({pattern})"),
        None => tool.to_owned(),
    })
}

impl Suggestion {
    /// The same for the conversation alone, as the running Claude Code takes it.
    pub(crate) fn to_wire(&self) -> Value {
        let mut wire = match self {
            Suggestion::Mode(mode) => json!({"type": "setMode", "mode": mode.to_wire()}),
            Suggestion::Rules { change, list, rules } => {
                let rules: Vec<Value> = rules.iter().map(|it| rule_to_wire(it)).collect();
                let name = match change {
                    Change::Add => "addRules",
                    Change::Replace => "replaceRules",
                    Change::Remove => "removeRules",
                };
                json!({"type": name, "rules": rules, "behavior": list})
            }
            Suggestion::Folders { change, folders } => {
                let add = *change != Change::Remove;
                let name = if add { "addDirectories" } else { "removeDirectories" };
                json!({"type": name, "directories": folders})
            }
        };
        wire["destination"] = "session".into();
        wire
    }
}

fn rule_to_wire(rule: &str) -> Value {
    let split = rule.split_once('(').and_then(|(tool, rest)| Some((tool, rest.strip_suffix(')')?)));
    match split {
        Some((tool, pattern)) => json!({"toolName": tool, "ruleContent": pattern}),
        None => json!({"toolName": rule}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(suggestion: Value, place: Option<Place>, session: Value) {
        let read = from_wire(std::slice::from_ref(&suggestion));
        let read: Vec<_> = read.into_iter().map(|(place, it)| (place, it.to_wire())).collect();
        assert_eq!(read, [(place, session)], "{suggestion}");
    }

    #[test]
    fn each_suggestion_has_a_place_and_counts_at_once() {
        let mode = json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"});
        check(mode.clone(), None, mode.clone());
        for (name, place) in [("persisted", Place::Local), ("userSettings", Place::User)] {
            let mut kept = mode.clone();
            kept["destination"] = name.into();
            check(kept, Some(place), mode.clone());
        }
        let rules = json!([{"toolName": "Bash", "ruleContent": "touch:*"}, {"toolName": "Read"}]);
        let session = json!({
            "type": "addRules", "rules": rules, "behavior": "allow", "destination": "session",
        });
        let mut project = session.clone();
        project["destination"] = "projectSettings".into();
        check(project, Some(Place::Project), session.clone());
        let texts = json!({"type": "addRules", "rules": ["Bash(touch:*)", "Read"]});
        check(texts, None, session);
        let folders = json!({
            "type": "addDirectories", "directories": ["/srv"], "destination": "session",
        });
        check(folders.clone(), None, folders);
    }

    #[test]
    fn nonsense_and_too_much_is_left_out() {
        let wrong = [
            json!({"type": "setMode", "mode": "bypassPermissions", "destination": "session"}),
            json!({"type": "setMode", "mode": "acceptEdits", "destination": "CLAUDE.md"}),
            json!({"type": "addRules", "rules": ["Bash"], "behavior": "maybe"}),
            json!({"type": "addRules"}),
            json!("setMode"),
        ];
        assert_eq!(from_wire(&wrong), []);
    }
}
