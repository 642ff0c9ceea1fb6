//! What is looked for: the standard rules, and the literals and expressions of a caller.

use std::sync::{Arc, LazyLock};

use aho_corasick::{AhoCorasick, MatchKind};
use regex::{Regex, RegexBuilder};

/// What is shown instead of a secret, unless a caller wants something else.
pub(super) const MARKER: &str = "[REDACTED]";

/// How many literals a caller may add: each is compared at the end of every piece of a stream.
const LITERALS_MAX: usize = 128;

/// How long a literal may be: a key file line, far below what a stream may hold back.
const LITERAL_BYTES: usize = 1024;

/// How many expressions a caller may add. Each is one more pass over every text.
const REGEXES_MAX: usize = 32;

/// How long an expression or the replacement may be: more than anybody writes by hand.
const REGEX_BYTES: usize = 1024;

/// How large a compiled expression may be, as for the patterns of waits.
const COMPILED_BYTES: usize = 1 << 20;

/// A compiled policy: what is a secret, and what is shown instead. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Redaction(Arc<Policy>);

#[derive(Debug)]
struct Policy {
    replacement: String,
    literals: Vec<String>,
    finder: Option<AhoCorasick>,
    regexes: Vec<Regex>,
}

/// Why a caller's policy cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedactionError {
    /// It does not parse, or is too large once compiled.
    #[error("invalid redaction regex `{0}`")]
    Regex(String),
    /// There are more than anybody needs.
    #[error("too many redaction {what}: at most {max}")]
    TooMany {
        /// `literals` or `regexes`.
        what: &'static str,
        /// How many there may be.
        max: usize,
    },
    /// It is longer than anybody needs.
    #[error("redaction {what} is too long: at most {max} bytes")]
    TooLong {
        /// `literal`, `regex` or `replacement`.
        what: &'static str,
        /// How many bytes it may have.
        max: usize,
    },
}

impl Redaction {
    /// The standard rules, with `[REDACTED]` as the replacement.
    pub fn standard() -> &'static Redaction {
        static STANDARD: LazyLock<Redaction> = LazyLock::new(|| {
            Redaction(Arc::new(Policy {
                replacement: MARKER.into(),
                literals: Vec::new(),
                finder: None,
                regexes: Vec::new(),
            }))
        });
        &STANDARD
    }

    /// The standard rules, and the caller's own. Empty literals are ignored.
    ///
    /// # Errors
    /// An expression does not parse, or there is too much of something.
    pub fn with(
        replacement: &str,
        literals: &[String],
        regexes: &[String],
    ) -> Result<Redaction, RedactionError> {
        fits("replacement", replacement, REGEX_BYTES)?;
        let literals: Vec<_> = literals.iter().filter(|it| !it.is_empty()).cloned().collect();
        are_few("literals", literals.len(), LITERALS_MAX)?;
        literals.iter().try_for_each(|literal| fits("literal", literal, LITERAL_BYTES))?;
        are_few("regexes", regexes.len(), REGEXES_MAX)?;
        let regexes = regexes.iter().map(|it| compile(it)).collect::<Result<_, _>>()?;
        let finder = match literals.is_empty() {
            true => None,
            // It fails only past billions of states, which the limits above exclude.
            false => AhoCorasick::builder().match_kind(MatchKind::Standard).build(&literals).ok(),
        };
        let replacement = replacement.to_owned();
        Ok(Redaction(Arc::new(Policy { replacement, literals, finder, regexes })))
    }

    /// Whether a caller's expressions are in it: to look for them may take long, and they may look over the ends of lines,
    /// so that a [`Stream`](super::Stream) shows other things than a look at the whole.
    #[must_use]
    pub fn has_expressions(&self) -> bool {
        !self.0.regexes.is_empty()
    }

    /// Whether a caller's own rules are in it: what they find may be most of a text.
    #[must_use]
    pub fn has_own_rules(&self) -> bool {
        self.has_expressions() || !self.0.literals.is_empty()
    }

    /// What stands where a secret was.
    #[must_use]
    pub fn replacement(&self) -> &str {
        &self.0.replacement
    }

    pub(super) fn literals(&self) -> &[String] {
        &self.0.literals
    }

    pub(super) fn literal_finder(&self) -> Option<&AhoCorasick> {
        self.0.finder.as_ref()
    }

    pub(super) fn regexes(&self) -> &[Regex] {
        &self.0.regexes
    }
}

fn compile(pattern: &str) -> Result<Regex, RedactionError> {
    fits("regex", pattern, REGEX_BYTES)?;
    let built = RegexBuilder::new(pattern).size_limit(COMPILED_BYTES).build();
    built.map_err(|_| RedactionError::Regex(pattern.to_owned()))
}

fn fits(what: &'static str, text: &str, max: usize) -> Result<(), RedactionError> {
    if text.len() > max { Err(RedactionError::TooLong { what, max }) } else { Ok(()) }
}

fn are_few(what: &'static str, count: usize, max: usize) -> Result<(), RedactionError> {
    if count > max { Err(RedactionError::TooMany { what, max }) } else { Ok(()) }
}
