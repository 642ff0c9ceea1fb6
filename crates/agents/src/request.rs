//! What a client asks for when it connects: the query of its address.

use uuid::Uuid;

use crate::options::{Mode, Options};

/// The longest value taken, in bytes: the name of a model or a tool with a pattern has some tens.
const VALUE_MAX: usize = 1024;

/// The most tools or files that are named in one query. Claude Code has about thirty tools.
const NAMES_MAX: usize = 256;

/// Which conversation a client wants to be in, and how it is to be led.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// The conversation; a new one without it, or if what was asked for is no UUID.
    pub session: Option<Uuid>,
    /// Whether the client expects that it was there before.
    pub resume: bool,
    /// Whether it is to begin anew.
    pub force_new: bool,
    /// Whether the client may have events made up.
    pub test_events: bool,
    /// The number of the last message the client has seen.
    pub since: Option<u64>,
    /// Whether a mode was named at all, be it one that is known.
    pub says_mode: bool,
    /// How the agent is to be started.
    pub options: Options,
}

impl Request {
    /// Reads the decoded pairs of a query. What makes no sense counts as not said.
    pub fn from_query<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Request {
        let mut request = Request::default();
        let mut listed = Vec::new();
        for (name, value) in pairs {
            let value = value.trim();
            let options = &mut request.options;
            match name {
                "session_id" => request.session = session(value),
                "resume" => request.resume = is_on(value),
                "force_new" => request.force_new = is_on(value),
                "test_events" => request.test_events = is_on(value),
                "since" => request.since = value.parse().ok(),
                "mode" => {
                    options.mode = mode(value);
                    request.says_mode = true;
                }
                "model" => options.model = is_taken(value).then(|| value.to_owned()),
                "allowed_tools" | "allowedTools" => options.allowed_tools = list(value),
                "disallowed_tools" | "disallowedTools" => options.disallowed_tools = list(value),
                "max_thinking_tokens" => options.max_thinking_tokens = value.parse().ok(),
                "max_turns" => options.max_turns = value.parse().ok(),
                "max_budget_usd" => options.max_budget_usd = amount(value),
                "file" => add(&mut options.files, value),
                "files" => listed = list(value),
                _ => {}
            }
        }
        if request.options.files.is_empty() {
            request.options.files = listed;
        }
        request
    }

    /// How a new conversation is started. One that runs keeps its mode unless told otherwise; a new
    /// one asks, unless the client named a mode nobody knows: then the user's settings decide.
    pub(crate) fn options_of_new(&self) -> Options {
        let mut options = self.options.clone();
        if !self.says_mode {
            options.mode = Some(Mode::Ask);
        }
        options
    }
}

fn is_on(value: &str) -> bool {
    value == "1" || value.eq_ignore_ascii_case("true")
}

fn session(value: &str) -> Option<Uuid> {
    let parsed = Uuid::try_parse(value).ok();
    if parsed.is_none() && !value.is_empty() {
        tracing::warn!("a client asked for a conversation by something that is no UUID");
    }
    parsed
}

/// The three modes of the page. Claude Code's own words are left out on purpose: no address may
/// start it without questions.
fn mode(value: &str) -> Option<Mode> {
    ["ask", "act", "plan"].contains(&value).then(|| Mode::from_wire(value)).flatten()
}

fn amount(value: &str) -> Option<f64> {
    value.parse().ok().filter(|it: &f64| it.is_finite() && *it >= 0.0)
}

fn list(value: &str) -> Vec<String> {
    let mut names = Vec::new();
    for name in value.split(',') {
        add(&mut names, name.trim());
    }
    names
}

fn add(names: &mut Vec<String>, name: &str) {
    if is_taken(name) && names.len() < NAMES_MAX && !names.iter().any(|it| it == name) {
        names.push(name.to_owned());
    }
}

/// Whether a value can be an argument: Claude Code takes one that begins with a dash for another
/// option, which might be one nobody is to have.
fn is_taken(value: &str) -> bool {
    !value.is_empty()
        && value.len() <= VALUE_MAX
        && !value.starts_with('-')
        && !value.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_says_how_the_agent_is_started() {
        let query = [
            ("session_id", "A1B2C3D4-0000-4000-8000-000000000001"),
            ("resume", "1"),
            ("force_new", "true"),
            ("test_events", "0"),
            ("since", "41"),
            ("mode", "act"),
            ("model", " opus "),
            ("allowedTools", "Read, Bash(ls:*),,Read"),
            ("disallowed_tools", "Write"),
            ("max_thinking_tokens", "1000"),
            ("max_turns", "many"),
            ("max_budget_usd", "0.25"),
            ("file", "a:b"),
            ("file", " a:b "),
            ("file", "c:d"),
            ("files", "e:f"),
        ];
        let request = Request::from_query(query);
        assert_eq!(request.session.unwrap().to_string(), "a1b2c3d4-0000-4000-8000-000000000001");
        assert!(request.resume && request.force_new && !request.test_events);
        assert_eq!(request.since, Some(41));
        let expected = Options {
            mode: Some(Mode::AcceptEdits),
            model: Some("opus".to_owned()),
            allowed_tools: vec!["Read".to_owned(), "Bash(ls:*)".to_owned()],
            disallowed_tools: vec!["Write".to_owned()],
            max_thinking_tokens: Some(1000),
            max_turns: None,
            max_budget_usd: Some(0.25),
            files: vec!["a:b".to_owned(), "c:d".to_owned()],
        };
        assert_eq!(request.options, expected);
    }

    #[test]
    fn nonsense_counts_as_not_said() {
        let query = [
            ("session_id", "not-a-uuid"),
            ("resume", "yes"),
            ("mode", "bypassPermissions"),
            ("model", "--dangerously-skip-permissions"),
            ("allowed_tools", "--dangerously-skip-permissions"),
            ("max_budget_usd", "NaN"),
            ("files", "a:b,c:d"),
            ("color", "red"),
        ];
        let files = vec!["a:b".to_owned(), "c:d".to_owned()];
        let options = Options { files, ..Options::default() };
        let request = Request::from_query(query);
        assert_eq!(request, Request { options, says_mode: true, ..Request::default() });
        assert_eq!(request.options_of_new().mode, None);
        assert_eq!(Request::from_query([]).options_of_new().mode, Some(Mode::Ask));
    }
}
