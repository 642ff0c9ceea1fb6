//! What a wait waits for.

use std::sync::Arc;
use std::time::Duration;

use memchr::memmem::Finder;
use regex::Regex;
use tokio::time::Instant;

use crate::Scene;
use crate::mark::Mark;

/// How large a compiled pattern may be: large enough for any a person writes.
const PATTERN_BYTES: usize = 1 << 20;

/// How large patterns are, and in how many states each can be at once: a state takes some thirty bytes.
const WEIGHTS: [(usize, u32); 4] =
    [(8 << 10, 256), (32 << 10, 1 << 10), (128 << 10, 4 << 10), (PATTERN_BYTES, 32 << 10)];

/// How many matchers may be inside another, together. Each is looked at in every turn; an adapter that
/// knows a program well has dozens.
const MAX_PARTS: usize = 512;

/// Where a pattern is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Area {
    /// In what was printed after the mark, without the echo.
    #[default]
    Output,
    /// On the whole screen, whatever was there before.
    Screen,
    /// On the whole screen as it was written: wrapped rows are one line, and written blanks stay.
    Contents,
    /// In the last characters of the transcript, escape sequences and all.
    Transcript(usize),
}

/// A text or a regular expression. Cheap to clone: what it takes to look for it is shared.
#[derive(Debug, Clone)]
pub struct Pattern(Arc<Kind>);

#[derive(Debug)]
enum Kind {
    /// The search is made ready once: it is made in every turn.
    Literal(Box<str>, Box<Finder<'static>>),
    /// With how many steps a byte of a text may take.
    Regex(Regex, u32),
}

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
    /// Nothing was printed or typed for so long since the wait began.
    Stable(Duration),
    /// The cursor is in this row and column of the screen.
    Cursor(u16, u16),
    /// The child ended.
    Exit,
    /// One of these holds.
    Any(Vec<Matcher>),
    /// All of these hold at once; what was printed stays printed.
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
        match ignore_case {
            false => {
                let finder = Finder::new(text).into_owned();
                Ok(Pattern(Arc::new(Kind::Literal(text.into(), finder.into()))))
            }
            true => Pattern::regex(&regex::escape(text), ignore_case),
        }
    }

    /// A regular expression; `^` and `$` are the ends of lines.
    ///
    /// # Errors
    /// It does not parse, or is too large.
    pub fn regex(pattern: &str, ignore_case: bool) -> Result<Pattern, PatternError> {
        Pattern::build(pattern, ignore_case, true)
    }

    /// A regular expression; `^` and `$` are the ends of the whole text.
    ///
    /// # Errors
    /// It does not parse, or is too large.
    pub fn regex_of_all(pattern: &str) -> Result<Pattern, PatternError> {
        Pattern::build(pattern, false, false)
    }

    fn build(pattern: &str, ignore_case: bool, lines: bool) -> Result<Pattern, PatternError> {
        let mut wrong = String::new();
        for (bytes, steps) in WEIGHTS {
            let built = regex::RegexBuilder::new(pattern)
                .case_insensitive(ignore_case)
                .multi_line(lines)
                .size_limit(bytes)
                .build();
            match built {
                Ok(regex) => return Ok(Pattern(Arc::new(Kind::Regex(regex, steps)))),
                Err(error @ regex::Error::CompiledTooBig(_)) => wrong = error.to_string(),
                Err(error) => return Err(PatternError(error.to_string())),
            }
        }
        Err(PatternError(wrong))
    }

    /// How many steps a look at a text of so many bytes may take; nearly always it takes one for each byte.
    #[must_use]
    pub fn most_steps(&self, bytes: usize) -> u64 {
        let Kind::Regex(_, steps) = *self.0 else { return 0 };
        bytes as u64 * u64::from(steps)
    }
}

/// What a matcher is held against.
pub(crate) struct Sight<'a> {
    pub(crate) scene: Scene<'a>,
    pub(crate) mark: &'a Mark,
    /// How much of its quiet is since the wait began.
    pub(crate) stable: Duration,
    /// When a look has taken too long and need not go on, if somebody will look elsewhere then.
    pub(crate) until: Option<std::time::Instant>,
}

impl Sight<'_> {
    /// Whether the look has taken too long.
    pub(crate) fn is_over(&self) -> bool {
        self.until.is_some_and(|until| std::time::Instant::now() >= until)
    }
}

/// That a matcher holds, and by what: the same tree, of what held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A text is there.
    Text {
        /// What matched.
        text: String,
        /// The first group of the pattern, if it has one and it took part.
        group: Option<String>,
    },
    /// It was quiet for long enough.
    Idle,
    /// The cursor is there.
    Cursor,
    /// The child ended.
    Exit,
    /// This one held, the first that did.
    Any(usize, Box<Outcome>),
    /// All of these held.
    All(Vec<Outcome>),
    /// What should not hold does not.
    Not,
}

impl Outcome {
    /// Which of an `Any` held.
    #[must_use]
    pub fn index(&self) -> Option<usize> {
        match self {
            Outcome::Any(index, _) => Some(*index),
            _ => None,
        }
    }

    /// The first text that matched.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Outcome::Text { text, .. } => Some(text),
            Outcome::Any(_, outcome) => outcome.text(),
            Outcome::All(outcomes) => outcomes.iter().find_map(Outcome::text),
            Outcome::Idle | Outcome::Cursor | Outcome::Exit | Outcome::Not => None,
        }
    }
}

impl Matcher {
    /// How many matchers this is, and those inside.
    fn parts(&self) -> usize {
        match self {
            Matcher::Any(parts) | Matcher::All(parts) => {
                1 + parts.iter().map(Matcher::parts).sum::<usize>()
            }
            Matcher::Not(part) => 1 + part.parts(),
            Matcher::Text(..)
            | Matcher::Idle(_)
            | Matcher::Stable(_)
            | Matcher::Cursor(..)
            | Matcher::Exit => 1,
        }
    }

    /// Whether it is small enough to be looked at every turn.
    pub(crate) fn is_modest(&self) -> bool {
        self.parts() <= MAX_PARTS
    }

    /// How many steps a look for one of its patterns may take, on a screen of so many bytes.
    #[must_use]
    pub fn most_steps(&self, screen: usize) -> u64 {
        match self {
            Matcher::Text(pattern, Area::Transcript(chars)) => pattern.most_steps(*chars),
            Matcher::Text(pattern, _) => pattern.most_steps(screen),
            Matcher::Any(parts) | Matcher::All(parts) => {
                parts.iter().map(|part| part.most_steps(screen)).max().unwrap_or(0)
            }
            Matcher::Not(part) => part.most_steps(screen),
            Matcher::Idle(_) | Matcher::Stable(_) | Matcher::Cursor(..) | Matcher::Exit => 0,
        }
    }

    /// Whether it holds; not, if the look takes too long.
    pub(crate) fn holds(&self, sight: &Sight<'_>) -> Option<Outcome> {
        match self {
            Matcher::Text(..) | Matcher::Not(_) if sight.is_over() => None,
            Matcher::Text(pattern, area) => pattern.look(*area, sight),
            Matcher::Idle(quiet) => (sight.scene.quiet >= *quiet).then_some(Outcome::Idle),
            Matcher::Stable(quiet) => (sight.stable >= *quiet).then_some(Outcome::Idle),
            Matcher::Cursor(row, col) => {
                let cursor = sight.scene.screen.cursor();
                ((cursor.row, cursor.col) == (*row, *col)).then_some(Outcome::Cursor)
            }
            Matcher::Exit => sight.scene.end.is_some().then_some(Outcome::Exit),
            Matcher::Any(parts) => parts
                .iter()
                .enumerate()
                .find_map(|(index, part)| Some(Outcome::Any(index, Box::new(part.holds(sight)?)))),
            Matcher::All(parts) => {
                let outcomes: Option<Vec<Outcome>> =
                    parts.iter().map(|part| part.holds(sight)).collect();
                outcomes.map(Outcome::All)
            }
            Matcher::Not(part) => match part.holds(sight) {
                Some(_) => None,
                None if sight.is_over() => None,
                None => Some(Outcome::Not),
            },
        }
    }

    /// Whether it holds, given what of it was found in earlier turns, and what is found now.
    pub(crate) fn holds_by_now(
        &self,
        sight: &Sight<'_>,
        found: &mut Vec<Option<Outcome>>,
    ) -> Option<Outcome> {
        let Matcher::All(parts) = self else { return self.holds(sight) };
        found.resize(parts.len(), None);
        let mut outcomes = Vec::with_capacity(parts.len());
        for (part, found) in parts.iter().zip(found) {
            let outcome = found.take().or_else(|| part.holds(sight));
            if part.stays() {
                found.clone_from(&outcome);
            }
            outcomes.push(outcome);
        }
        outcomes.into_iter().collect::<Option<Vec<_>>>().map(Outcome::All)
    }

    /// Whether it holds for good once it does: what was printed cannot become unprinted.
    fn stays(&self) -> bool {
        matches!(self, Matcher::Text(_, Area::Output) | Matcher::Exit)
    }

    /// Whether what it did not find in a turn need not be looked at again: not if it could hold
    /// together with something that comes later.
    pub(crate) fn forgets(&self) -> bool {
        match self {
            Matcher::Any(parts) => parts.iter().all(Matcher::forgets),
            Matcher::Not(_) => false,
            // What is found of it is remembered, one level deep.
            Matcher::All(parts) => parts
                .iter()
                .all(|it| it.forgets() && !matches!(it, Matcher::Any(_) | Matcher::All(_))),
            Matcher::Text(..)
            | Matcher::Idle(_)
            | Matcher::Stable(_)
            | Matcher::Cursor(..)
            | Matcher::Exit => true,
        }
    }

    /// Whether it can come to hold though nothing happens.
    pub(crate) fn is_timed(&self) -> bool {
        match self {
            Matcher::Idle(_) | Matcher::Stable(_) => true,
            Matcher::Any(parts) | Matcher::All(parts) => parts.iter().any(Matcher::is_timed),
            Matcher::Not(part) => part.is_timed(),
            Matcher::Text(..) | Matcher::Cursor(..) | Matcher::Exit => false,
        }
    }

    /// The first time after `last` at which it may come to hold though nothing happens, of a session
    /// that was active at one time and a wait that began at another.
    pub(crate) fn due(
        &self,
        (active, began): (Instant, Instant),
        last: Instant,
    ) -> Option<Instant> {
        let due = match self {
            Matcher::Idle(quiet) => active + *quiet,
            Matcher::Stable(quiet) => active.max(began) + *quiet,
            Matcher::Any(parts) | Matcher::All(parts) => {
                return parts.iter().filter_map(|it| it.due((active, began), last)).min();
            }
            Matcher::Not(part) => return part.due((active, began), last),
            Matcher::Text(..) | Matcher::Cursor(..) | Matcher::Exit => return None,
        };
        Some(due).filter(|&due| due > last)
    }
}

impl Pattern {
    fn look(&self, area: Area, sight: &Sight<'_>) -> Option<Outcome> {
        let scene = sight.scene;
        match area {
            Area::Screen => self.find_in_rows(scene.text()),
            Area::Contents => self.find(scene.contents()),
            Area::Output => self.find_in_rows(&sight.mark.output(scene.screen)),
            Area::Transcript(chars) => self.find(scene.transcript?.tail(chars)),
        }
    }

    /// Looks for it in a text whose rows have no blanks at their ends: a prompt that is waited for has one.
    fn find_in_rows(&self, text: &str) -> Option<Outcome> {
        let found = self.find(text);
        if found.is_some() {
            return found;
        }
        let wanted = match &*self.0 {
            Kind::Literal(wanted, _) => wanted,
            Kind::Regex(regex, _) if wants_blank(regex.as_str()) => {
                return self.find(&(text.replace('\n', " \n") + " "));
            }
            Kind::Regex(..) => return None,
        };
        let shown = wanted.trim_end_matches(' ');
        if shown.is_empty() || shown.len() == wanted.len() {
            return None;
        }
        let ends_row = |(at, _): (usize, &str)| {
            let behind = &text[at + shown.len()..];
            behind.is_empty() || behind.starts_with('\n')
        };
        let is_there = text.match_indices(shown).any(ends_row);
        is_there.then(|| Outcome::Text { text: wanted.to_string(), group: None })
    }

    /// Looks for it in a text.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<Outcome> {
        let regex = match &*self.0 {
            Kind::Literal(wanted, finder) => {
                let found = finder.find(text.as_bytes()).map(|_| wanted.to_string())?;
                return Some(Outcome::Text { text: found, group: None });
            }
            Kind::Regex(regex, _) => regex,
        };
        // Most of the time it is not there, and groups are dear to look for.
        let found = regex.find(text)?;
        let groups = regex.captures_len() > 1;
        let captures = if groups { regex.captures_at(text, found.start()) } else { None };
        let group = captures.and_then(|it| Some(it.get(1)?.as_str().to_owned()));
        Some(Outcome::Text { text: found.as_str().to_owned(), group })
    }
}

/// Whether a pattern may want a blank somewhere.
fn wants_blank(pattern: &str) -> bool {
    [" ", "\\s", "[:space:]", "[:blank:]", "\\x20"].iter().any(|it| pattern.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_taken_as_they_are() {
        let ascii: String = (' '..='~').collect();
        for text in ["> ", "<x>", "a.b", "[x]{2}", "\\d", "$ ", "#& -~", "é 漢 \u{1b}[0m", &ascii]
        {
            let pattern = Pattern::literal(text, false).unwrap();
            let found = pattern.find(&format!("before {text} after")).unwrap();
            assert_eq!(found.text(), Some(text));
            assert!(pattern.find("acb x d said hello").is_none());
        }
    }

    #[test]
    fn blanks_at_the_end_of_a_row_are_there() {
        let wanted = Pattern::literal("$ ", false).unwrap();
        for text in ["a\n$", "$\nmore", "$ ls"] {
            let found = wanted.find_in_rows(text).unwrap();
            assert_eq!(found.text(), Some("$ "), "{text:?}");
        }
        assert!(wanted.find_in_rows("costs $5").is_none());
        assert!(wanted.find("a\n$").is_none());
        assert!(Pattern::literal(" ", false).unwrap().find_in_rows("a\nb").is_none());
        for pattern in [r"\$ $", r"^[$#]\s$", r"(?i)\$ $"] {
            let wanted = Pattern::regex(pattern, false).unwrap();
            assert!(wanted.find_in_rows("a\n$\nb").is_some(), "{pattern}");
            assert!(wanted.find_in_rows("a\n$5\nb").is_none(), "{pattern}");
        }
        let wanted = Pattern::regex(r"\$$", false).unwrap();
        assert!(wanted.find_in_rows("a\n$").is_some());
    }

    #[test]
    fn the_first_group_is_told() {
        let found = Pattern::regex_of_all(r"got (\w+)|x").unwrap();
        let group = |text: &str| match found.find(text) {
            Some(Outcome::Text { text, group }) => (text, group),
            other => panic!("{other:?}"),
        };
        assert_eq!(group("a got it"), ("got it".to_owned(), Some("it".to_owned())));
        assert_eq!(group("an x"), ("x".to_owned(), None));
    }
}
