//! What a wait waits for.

use std::time::Duration;

use greenroom_screen::Screen;
use regex::Regex;

use crate::mark::Mark;

/// How large a compiled pattern may be: large enough for any a person writes.
const PATTERN_BYTES: usize = 1 << 20;

/// How many matchers may be inside another, together. Each is looked at in every turn.
const MAX_PARTS: usize = 64;

/// Where a pattern is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Area {
    /// In what was printed after the mark, without the echo.
    #[default]
    Output,
    /// On the whole screen, whatever was there before.
    Screen,
}

/// A text or a regular expression.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

/// Why a pattern does not parse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a pattern: {0}")]
pub struct PatternError(String);

/// What a wait waits for.
#[derive(Debug, Clone)]
pub enum Matcher {
    /// A text or pattern is there.
    Text(Pattern, Area),
    /// Nothing was printed or typed for so long.
    Idle(Duration),
    /// The cursor is in this row and column of the screen.
    Cursor(u16, u16),
    /// The child ended.
    Exit,
    /// One of these holds.
    Any(Vec<Matcher>),
    /// All of these hold at once.
    All(Vec<Matcher>),
    /// This does not hold.
    Not(Box<Matcher>),
}

impl Pattern {
    /// A text as it is.
    ///
    /// # Errors
    /// It is longer than anything a screen shows.
    pub fn literal(text: &str, ignore_case: bool) -> Result<Pattern, PatternError> {
        Pattern::regex(&regex::escape(text), ignore_case)
    }

    /// A regular expression; `^` and `$` are the ends of lines.
    ///
    /// # Errors
    /// It does not parse, or is too large.
    pub fn regex(pattern: &str, ignore_case: bool) -> Result<Pattern, PatternError> {
        let built = regex::RegexBuilder::new(pattern)
            .case_insensitive(ignore_case)
            .multi_line(true)
            .size_limit(PATTERN_BYTES)
            .build();
        built.map(Pattern).map_err(|error| PatternError(error.to_string()))
    }
}

/// What a matcher is held against.
pub(crate) struct Sight<'a> {
    pub(crate) screen: &'a Screen,
    pub(crate) mark: &'a Mark,
    /// How long nothing was printed or typed.
    pub(crate) quiet: Duration,
    pub(crate) ended: bool,
}

/// That a matcher holds, and by what.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Found {
    /// Which of an `Any`.
    pub(crate) index: Option<usize>,
    /// The text that matched.
    pub(crate) text: Option<String>,
}

impl Matcher {
    /// How many matchers this is, and those inside.
    fn parts(&self) -> usize {
        match self {
            Matcher::Any(parts) | Matcher::All(parts) => {
                1 + parts.iter().map(Matcher::parts).sum::<usize>()
            }
            Matcher::Not(part) => 1 + part.parts(),
            Matcher::Text(..) | Matcher::Idle(_) | Matcher::Cursor(..) | Matcher::Exit => 1,
        }
    }

    /// Whether it is small enough to be looked at every turn.
    pub(crate) fn is_modest(&self) -> bool {
        self.parts() <= MAX_PARTS
    }

    /// Whether it holds.
    pub(crate) fn holds(&self, sight: &Sight<'_>) -> Option<Found> {
        match self {
            Matcher::Text(Pattern(regex), area) => {
                let text = match area {
                    Area::Screen => sight.screen.text(),
                    Area::Output => sight.mark.output(sight.screen),
                };
                let found = regex.find(&text)?;
                Some(Found { index: None, text: Some(found.as_str().to_owned()) })
            }
            Matcher::Idle(quiet) => (sight.quiet >= *quiet).then(Found::default),
            Matcher::Cursor(row, col) => {
                let cursor = sight.screen.cursor();
                ((cursor.row, cursor.col) == (*row, *col)).then(Found::default)
            }
            Matcher::Exit => sight.ended.then(Found::default),
            Matcher::Any(parts) => parts.iter().enumerate().find_map(|(index, part)| {
                let found = part.holds(sight)?;
                Some(Found { index: Some(index), ..found })
            }),
            Matcher::All(parts) => {
                let found: Option<Vec<Found>> = parts.iter().map(|it| it.holds(sight)).collect();
                let text = found?.into_iter().find_map(|it| it.text);
                Some(Found { index: None, text })
            }
            Matcher::Not(part) => match part.holds(sight) {
                Some(_) => None,
                None => Some(Found::default()),
            },
        }
    }

    /// Whether what it did not find in a turn need not be looked at again: not if it could hold
    /// together with something that comes later.
    pub(crate) fn forgets(&self) -> bool {
        match self {
            Matcher::Any(parts) => parts.iter().all(Matcher::forgets),
            Matcher::All(_) | Matcher::Not(_) => false,
            Matcher::Text(..) | Matcher::Idle(_) | Matcher::Cursor(..) | Matcher::Exit => true,
        }
    }

    /// The shortest quiet time it asks for: when to look again if nothing happens.
    pub(crate) fn quiet(&self) -> Option<Duration> {
        match self {
            Matcher::Idle(quiet) => Some(*quiet),
            Matcher::Any(parts) | Matcher::All(parts) => {
                parts.iter().filter_map(Matcher::quiet).max()
            }
            Matcher::Not(part) => part.quiet(),
            Matcher::Text(..) | Matcher::Cursor(..) | Matcher::Exit => None,
        }
    }
}
