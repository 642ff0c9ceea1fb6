//! How an agent is started: what a client may choose, and the arguments it becomes.

#[cfg(test)]
mod tests;

use uuid::Uuid;

/// How much Claude Code may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It asks before it changes anything.
    Ask,
    /// It edits files of the project without asking.
    AcceptEdits,
    /// It only plans.
    Plan,
    /// It asks nothing. Refused by Claude Code unless it was started for it.
    Bypass,
    /// It asks nothing, and does not do what it would have to ask for.
    DontAsk,
    /// It decides by itself when to ask.
    Auto,
}

impl Mode {
    /// The mode a client names, in the words of Claude Code or of the page.
    #[must_use]
    pub fn from_wire(word: &str) -> Option<Mode> {
        Some(match word {
            "ask" | "default" | "delegate" => Mode::Ask,
            "act" | "acceptEdits" => Mode::AcceptEdits,
            "plan" => Mode::Plan,
            "bypassPermissions" => Mode::Bypass,
            "dontAsk" => Mode::DontAsk,
            "auto" => Mode::Auto,
            _ => return None,
        })
    }

    /// The word of Claude Code.
    #[must_use]
    pub fn to_wire(self) -> &'static str {
        match self {
            Mode::Ask => "default",
            Mode::AcceptEdits => "acceptEdits",
            Mode::Plan => "plan",
            Mode::Bypass => "bypassPermissions",
            Mode::DontAsk => "dontAsk",
            Mode::Auto => "auto",
        }
    }

    /// The word of the page, which knows three.
    #[must_use]
    pub fn shown(self) -> &'static str {
        match self {
            Mode::Ask | Mode::Auto => "ask",
            Mode::AcceptEdits | Mode::Bypass | Mode::DontAsk => "act",
            Mode::Plan => "plan",
        }
    }
}

/// What a client chose. Nothing is as good as not having said it: the agent goes on as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// How much it may do without asking.
    pub mode: Option<Mode>,
    /// Which model answers.
    pub model: Option<String>,
    /// Tools it may use without asking.
    pub allowed_tools: Vec<String>,
    /// Tools it may not use.
    pub disallowed_tools: Vec<String>,
    /// How much it may think, in tokens.
    pub max_thinking_tokens: Option<u64>,
    /// How many turns a question may take.
    pub max_turns: Option<u64>,
    /// What a conversation may cost.
    pub max_budget_usd: Option<f64>,
    /// Files fetched when it starts, as `ID:PATH`.
    pub files: Vec<String>,
}

/// Which conversation a process is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conversation {
    /// A new one of this name. Claude Code ends at once if one is stored already.
    New(Uuid),
    /// The one that is stored. Claude Code ends at once if there was no turn in it yet.
    Stored(Uuid),
}

impl Options {
    /// Takes what the other says; true if that changed anything.
    pub(crate) fn take(&mut self, other: &Options) -> bool {
        let before = self.clone();
        replace(&mut self.mode, &other.mode);
        replace(&mut self.model, &other.model);
        replace(&mut self.max_thinking_tokens, &other.max_thinking_tokens);
        replace(&mut self.max_turns, &other.max_turns);
        replace(&mut self.max_budget_usd, &other.max_budget_usd);
        replace_list(&mut self.allowed_tools, &other.allowed_tools);
        replace_list(&mut self.disallowed_tools, &other.disallowed_tools);
        replace_list(&mut self.files, &other.files);
        *self != before
    }

    /// The arguments of Claude Code.
    pub(crate) fn arguments(&self, conversation: Conversation) -> Vec<String> {
        let streams = ["--output-format", "stream-json", "--input-format", "stream-json"];
        let mut all: Vec<String> = streams.map(str::to_owned).to_vec();
        all.push("--verbose".to_owned());
        let mut give = |flag: &str, value: Option<String>| {
            all.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value]));
        };
        give("--permission-mode", self.mode.map(|it| it.to_wire().to_owned()));
        give("--model", self.model.clone());
        give("--permission-prompt-tool", Some("stdio".to_owned()));
        give("--allowedTools", joined(&self.allowed_tools));
        give("--disallowedTools", joined(&self.disallowed_tools));
        give("--max-thinking-tokens", self.max_thinking_tokens.map(|it| it.to_string()));
        give("--max-turns", self.max_turns.map(|it| it.to_string()));
        give("--max-budget-usd", self.max_budget_usd.map(|it| it.to_string()));
        for file in &self.files {
            give("--file", Some(file.clone()));
        }
        give("--setting-sources", Some("user,project,local".to_owned()));
        match conversation {
            Conversation::New(id) => give("--session-id", Some(id.to_string())),
            Conversation::Stored(id) => give("--resume", Some(id.to_string())),
        }
        all
    }
}

fn replace<T: Clone>(own: &mut Option<T>, other: &Option<T>) {
    if other.is_some() {
        own.clone_from(other);
    }
}

fn replace_list(own: &mut Vec<String>, other: &[String]) {
    if !other.is_empty() {
        own.clear();
        own.extend_from_slice(other);
    }
}

fn joined(names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| names.join(","))
}
