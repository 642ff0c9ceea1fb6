//! What a wait waits for, as clients and plugins spell it, and what it says of what held.
//!
//! A [`Tree`] without Lua becomes a matcher of the engine and is looked at in the session's own turn.
//! One with Lua cannot be: a plugin may take its time. Its Lua parts are asked beside the session
//! whenever that changed, and the rest is held against the same sight. A [`Goal`] is either, checked.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use greenroom_engine::{Area, Matcher, Outcome, Pattern, PatternError};
use greenroom_plugin::{Kind, Permission, PluginError, Registry, Sight};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use crate::Door;
use crate::aside::Place;
use crate::error::RpcError;

/// How much of the transcript a matcher looks at, in characters.
pub(crate) const TRANSCRIPT_TAIL: usize = 16_384;

/// How deep matchers may be nested.
const MAX_DEPTH: usize = 32;

/// The longest text or pattern: longer than a screen is.
const MAX_PATTERN: usize = 64 << 10;

/// How many matchers may be in a tree, as many as the engine bears.
const MAX_PARTS: usize = 512;

/// How many of them may be regular expressions: building one takes a moment.
const MAX_REGEXES: usize = 64;

/// How long all of those may be together.
const MAX_REGEX_BYTES: usize = 16 << 10;

/// How many steps a look for an expression may take on the daemon's thread, at the most: a moment. What is long is seen to
/// be so while it is looked for; this is for the first look.
const MAX_STEPS: u64 = 100_000_000;

/// How many of them it may take at every look.
const FEW_STEPS: u64 = 1_000_000;

/// The longest stability: a day.
const MAX_STABLE_MS: u64 = 24 * 60 * 60 * 1000;

/// A matcher as it is written.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
#[serde(expecting = "a matcher, an object with `type` and mostly `value`")]
pub(crate) enum Tree {
    ContainsText(String),
    ScreenRegex(String),
    TranscriptContains(String),
    TranscriptRegex(String),
    CursorAt { row: u16, col: u16 },
    ScreenStable { min_ms: u64 },
    ProcessExited,
    Any(Vec<Tree>),
    All(Vec<Tree>),
    Lua(Predicate),
}

/// What a wait waits for: how it was written, and how the engine looks at that. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Goal(Arc<Parsed>);

#[derive(Debug)]
struct Parsed {
    tree: Tree,
    /// Of the same shape as the tree; where that has a predicate, what never holds.
    matcher: Matcher,
    asks_lua: bool,
}

/// How much there is of a tree.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    parts: usize,
    regexes: usize,
    bytes: usize,
}

/// A function of a plugin that says whether something holds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Predicate {
    pub(crate) plugin: String,
    pub(crate) predicate: String,
    #[serde(default)]
    pub(crate) params: Value,
}

impl Door {
    /// What is to be waited for, from JSON, checked.
    pub(crate) async fn goal(&self, value: &Value) -> Result<Goal, RpcError> {
        let tree = Tree::from_wire(value)?;
        match tree.size().regexes {
            0 => Goal::of(tree),
            // A few letters may be thousands of states.
            _ => self.aside.build(move || Goal::of(tree)).await?,
        }
    }
}

impl Goal {
    fn of(tree: Tree) -> Result<Goal, RpcError> {
        let mut lua = 0;
        let matcher = tree.to_engine(0, &mut lua)?;
        Ok(Goal(Arc::new(Parsed { tree, matcher, asks_lua: lua > 0 })))
    }

    /// As the engine takes it, if it is free of Lua.
    pub(crate) fn matcher(&self) -> Option<&Matcher> {
        (!self.0.asks_lua).then_some(&self.0.matcher)
    }

    /// Whether it has expressions.
    pub(crate) fn has_expressions(&self) -> bool {
        self.0.matcher.most_steps(1) > 0
    }

    /// Whether no look for one of its expressions can take long, on a screen of so many cells.
    pub(crate) fn is_quick_on(&self, cells: usize) -> bool {
        self.0.matcher.most_steps(cells) <= MAX_STEPS
    }

    /// What a client that brings it must be allowed to read: what holds is told, and with it what was there.
    pub(crate) fn reads(&self) -> Vec<Permission> {
        self.0.tree.reads()
    }

    /// How long nothing must happen for it to hold, wherever it says so.
    pub(crate) fn stable_ms(&self) -> Vec<u64> {
        self.0.tree.stable_ms()
    }

    /// What held, as clients get it.
    pub(crate) fn to_wire(&self, outcome: &Outcome) -> Value {
        self.0.tree.to_wire(outcome)
    }

    /// Holds it against a sight; gives what held, as clients get it.
    pub(crate) async fn holds(&self, held: &Held<'_>) -> Option<Value> {
        holds(&self.0.tree, &self.0.matcher, held).await
    }
}

impl Tree {
    /// From JSON, of a size that can be built.
    fn from_wire(value: &Value) -> Result<Tree, RpcError> {
        let wrong = |error: serde_path_to_error::Error<serde_json::Error>| {
            let (path, why) = (error.path().to_string(), error.inner());
            let path = if path == "." { String::new() } else { format!(".{path}") };
            RpcError::params(format!("invalid params: `matcher{path}`: {why}"))
        };
        let tree: Tree = serde_path_to_error::deserialize(value).map_err(wrong)?;
        // Before anything is built.
        let size = tree.size();
        if size.parts > MAX_PARTS || size.regexes > MAX_REGEXES || size.bytes > MAX_REGEX_BYTES {
            return Err(RpcError::params(format!(
                "the matcher is too large: at most {MAX_PARTS} parts, {MAX_REGEXES} regexes, and \
                 {MAX_REGEX_BYTES} bytes of those"
            )));
        }
        Ok(tree)
    }

    fn size(&self) -> Size {
        match self {
            Tree::ScreenRegex(pattern) | Tree::TranscriptRegex(pattern) => {
                Size { parts: 1, regexes: 1, bytes: pattern.len() }
            }
            Tree::Any(trees) | Tree::All(trees) => {
                let one = Size { parts: 1, ..Size::default() };
                trees.iter().map(Tree::size).fold(one, |sum, it| Size {
                    parts: sum.parts + it.parts,
                    regexes: sum.regexes + it.regexes,
                    bytes: sum.bytes + it.bytes,
                })
            }
            _ => Size { parts: 1, ..Size::default() },
        }
    }

    /// As the engine takes it. Predicates become what never holds, and are counted.
    fn to_engine(&self, depth: usize, lua: &mut usize) -> Result<Matcher, RpcError> {
        if depth >= MAX_DEPTH {
            return Err(RpcError::params("matchers are nested too deeply"));
        }
        let wrong = |error: PatternError| RpcError::params(format!("invalid regex: {error}"));
        let bounded = |pattern: &str| match pattern.len() <= MAX_PATTERN {
            true => Ok(()),
            false => Err(RpcError::params("a pattern is too long")),
        };
        let regex = |pattern: &str| {
            bounded(pattern)?;
            Pattern::regex_of_all(pattern).map_err(wrong)
        };
        let literal = |text: &str| {
            bounded(text)?;
            Pattern::literal(text, false).map_err(wrong)
        };
        let mut parts = |parts: &[Tree]| -> Result<Vec<Matcher>, RpcError> {
            parts.iter().map(|part| part.to_engine(depth + 1, lua)).collect()
        };
        Ok(match self {
            Tree::ContainsText(text) => Matcher::Text(literal(text)?, Area::Contents),
            Tree::ScreenRegex(pattern) => Matcher::Text(regex(pattern)?, Area::Contents),
            Tree::TranscriptContains(text) => {
                Matcher::Text(literal(text)?, Area::Transcript(TRANSCRIPT_TAIL))
            }
            Tree::TranscriptRegex(pattern) => {
                Matcher::Text(regex(pattern)?, Area::Transcript(TRANSCRIPT_TAIL))
            }
            Tree::CursorAt { row, col } => Matcher::Cursor(*row, *col),
            Tree::ScreenStable { min_ms } if *min_ms > MAX_STABLE_MS => {
                return Err(RpcError::params(format!("min_ms is at most {MAX_STABLE_MS}")));
            }
            Tree::ScreenStable { min_ms } => Matcher::Stable(Duration::from_millis(*min_ms)),
            Tree::ProcessExited => Matcher::Exit,
            Tree::Any(trees) => Matcher::Any(parts(trees)?),
            Tree::All(trees) => Matcher::All(parts(trees)?),
            Tree::Lua(_) => {
                *lua += 1;
                Matcher::Any(Vec::new())
            }
        })
    }

    fn reads(&self) -> Vec<Permission> {
        match self {
            Tree::ContainsText(_) | Tree::ScreenRegex(_) | Tree::CursorAt { .. } => {
                vec![Permission::ScreenRead]
            }
            Tree::TranscriptContains(_) | Tree::TranscriptRegex(_) => {
                vec![Permission::TranscriptRead]
            }
            Tree::Lua(_) => vec![Permission::ScreenRead, Permission::TranscriptRead],
            Tree::ScreenStable { .. } | Tree::ProcessExited => Vec::new(),
            Tree::Any(trees) | Tree::All(trees) => trees.iter().flat_map(Tree::reads).collect(),
        }
    }

    fn stable_ms(&self) -> Vec<u64> {
        match self {
            Tree::ScreenStable { min_ms } => vec![*min_ms],
            Tree::Any(trees) | Tree::All(trees) => trees.iter().flat_map(Tree::stable_ms).collect(),
            _ => Vec::new(),
        }
    }

    /// What held, as clients get it. The tree is the one the engine's matcher was made of.
    fn to_wire(&self, outcome: &Outcome) -> Value {
        match (self, outcome) {
            (Tree::ContainsText(text), _) => json!({"kind": "contains_text", "text": text}),
            (Tree::TranscriptContains(text), _) => {
                json!({"kind": "transcript_contains", "text": text})
            }
            (Tree::ScreenRegex(pattern), Outcome::Text { text, group }) => {
                let capture = group.as_ref().unwrap_or(text);
                json!({"kind": "screen_regex", "pattern": pattern, "capture": capture})
            }
            (Tree::TranscriptRegex(pattern), Outcome::Text { text, group }) => {
                let capture = group.as_ref().unwrap_or(text);
                json!({"kind": "transcript_regex", "pattern": pattern, "capture": capture})
            }
            (Tree::CursorAt { row, col }, _) => {
                json!({"kind": "cursor_at", "row": row, "col": col})
            }
            (Tree::ScreenStable { min_ms }, _) => {
                json!({"kind": "screen_stable", "min_ms": min_ms})
            }
            (Tree::ProcessExited, _) => json!({"kind": "process_exited"}),
            (Tree::Any(trees), Outcome::Any(index, outcome)) => {
                let matched = trees.get(*index).map(|tree| tree.to_wire(outcome));
                json!({"kind": "any", "matched": matched})
            }
            (Tree::All(trees), Outcome::All(outcomes)) => {
                let matched: Vec<Value> = trees
                    .iter()
                    .zip(outcomes)
                    .map(|(tree, outcome)| tree.to_wire(outcome))
                    .collect();
                json!({"kind": "all", "matched": matched})
            }
            // An outcome of another tree: nothing that this code makes.
            _ => Value::Null,
        }
    }
}

/// What a tree is held against beside its session.
pub(crate) struct Held<'a> {
    pub(crate) plugins: &'a Registry,
    /// Where expressions are looked for that may take long, if there are any.
    pub(crate) place: Option<&'a Place>,
    pub(crate) sight: &'a Sight,
    /// The cursor's row and column.
    pub(crate) cursor: (u16, u16),
    pub(crate) stable: Duration,
    /// How long to wait for a plugin's turn, unless it is the first look of its wait.
    pub(crate) turn_until: Option<Instant>,
    /// Why a plugin will never say anything again.
    pub(crate) disabled: Mutex<Option<PluginError>>,
    /// Whether one said something that time alone may change.
    pub(crate) may_hold_later: AtomicBool,
}

impl Held<'_> {
    /// What of one matcher holds that has none inside.
    async fn plain(&self, matcher: &Matcher) -> Option<Outcome> {
        match matcher {
            Matcher::Text(pattern, area) => {
                let text = match area {
                    Area::Transcript(_) => &self.sight.transcript,
                    Area::Output | Area::Screen | Area::Contents => &self.sight.screen,
                };
                let takes_long = pattern.most_steps(text.len()) > FEW_STEPS;
                let Some(place) = self.place.filter(|_| takes_long) else {
                    return pattern.find(text);
                };
                let (pattern, text) = (pattern.clone(), Arc::clone(text));
                place.run(move || pattern.find(&text)).await.ok().flatten()
            }
            Matcher::Cursor(row, col) => (self.cursor == (*row, *col)).then_some(Outcome::Cursor),
            Matcher::Stable(time) => (self.stable >= *time).then_some(Outcome::Idle),
            Matcher::Exit => self.sight.process_exited.then_some(Outcome::Exit),
            // No tree becomes one of these, or it has others inside.
            Matcher::Idle(_) | Matcher::Any(_) | Matcher::All(_) | Matcher::Not(_) => None,
        }
    }
}

/// The future of a look at a tree: a tree has trees inside.
type Looking<'a> = Pin<Box<dyn Future<Output = Option<Value>> + Send + 'a>>;

/// Holds a tree, and the matcher that was made of it, against a sight.
///
/// A predicate that fails, or is not there, does not hold: that is the contract. The registry
/// tells the log why. Only of a plugin that will never say anything again the wait is told.
fn holds<'a>(tree: &'a Tree, matcher: &'a Matcher, held: &'a Held<'a>) -> Looking<'a> {
    Box::pin(async move {
        match (tree, matcher) {
            (Tree::Lua(predicate), _) => asked(predicate, held).await,
            (Tree::Any(trees), Matcher::Any(matchers)) => {
                for (tree, matcher) in trees.iter().zip(matchers) {
                    if let Some(matched) = holds(tree, matcher, held).await {
                        return Some(json!({"kind": "any", "matched": matched}));
                    }
                }
                None
            }
            (Tree::All(trees), Matcher::All(matchers)) => {
                let mut matched = Vec::with_capacity(trees.len());
                for (tree, matcher) in trees.iter().zip(matchers) {
                    matched.push(holds(tree, matcher, held).await?);
                }
                Some(json!({"kind": "all", "matched": matched}))
            }
            _ => held.plain(matcher).await.map(|outcome| tree.to_wire(&outcome)),
        }
    })
}

async fn asked(predicate: &Predicate, held: &Held<'_>) -> Option<Value> {
    let Predicate { plugin, predicate, params } = predicate;
    if let Some(until) = held.turn_until {
        let _late = timeout_at(until, held.plugins.turn(plugin)).await;
    }
    let answer = held.plugins.predicate(plugin, predicate, held.sight, params.clone()).await;
    // One that fails does so again; one that is not there may come.
    let is_open = answer.as_ref().map_or_else(|it| it.kind() == Kind::Unknown, |_| true);
    held.may_hold_later.fetch_or(is_open, Ordering::Relaxed);
    let outcome = match answer {
        Ok(outcome) => outcome?,
        Err(error) => {
            if matches!(error, PluginError::Disabled { .. }) {
                *held.disabled.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
            return None;
        }
    };
    let mut matched = json!({"kind": "lua", "plugin": plugin, "predicate": predicate});
    if let Some(evidence) = outcome.evidence {
        matched["evidence"] = evidence;
    }
    if let Some(capture) = outcome.capture {
        matched["capture"] = capture;
    }
    Some(matched)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_matcher_is_refused() {
        for wrong in [
            json!(null),
            json!("text"),
            json!({"type": "contains_text"}),
            json!({"type": "screen_regex", "value": "("}),
            json!({"type": "any", "value": [{"type": "transcript_regex", "value": "[z-a]"}]}),
            json!({"type": "screen_stable", "value": {"min_ms": -1}}),
            json!({"type": "screen_stable", "value": {"min_ms": u64::MAX}}),
            json!({"type": "lua", "value": {"plugin": "x"}}),
            json!({"type": "nothing"}),
            (0..100).fold(
                json!({"type": "process_exited"}),
                |it, _| json!({"type": "any", "value": [it]}),
            ),
        ] {
            assert_eq!(
                Tree::from_wire(&wrong).and_then(Goal::of).unwrap_err().code,
                -32602,
                "{wrong}"
            );
        }
    }
}
