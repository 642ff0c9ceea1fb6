//! Finding text in the history and on the screen.
//!
//! The pages of the history are searched as they lie: no line is unpacked, and a line that was
//! wrapped is one piece of text, so a match may span rows. Only where a match was found is its
//! place worked out in rows and columns.
//!
//! A match lies within one line (wrapped rows are one line); lines longer than 256 KiB are
//! searched in pieces of that length.

use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};

use super::text::Pos;
use crate::history::{History, Page};
use crate::screen::Screen;

/// The longest pattern taken: longer ones are mistakes, and compiling them costs.
const MAX_PATTERN: usize = 4096;

/// How much memory a compiled pattern may take.
const MAX_COMPILED: usize = 1024 * 1024;

/// What to look for.
///
/// Compiling a pattern costs: make it once and search many screens with it.
///
/// ```
/// use greenroom_screen::{Options, Query, Screen, Search};
///
/// let query = Query::literal("error").unwrap();
/// for (text, found) in [("no error", 1), ("fine", 0)] {
///     let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
///     screen.feed(text.as_bytes());
///     assert_eq!(screen.search(&query, Search::default()).len(), found);
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Query {
    finder: Find,
}

#[derive(Debug, Clone)]
enum Find {
    Literal(Box<Finder<'static>>),
    Regex(Regex),
}

/// Why a pattern cannot be searched for.
///
/// ```
/// use greenroom_screen::{Query, QueryError};
///
/// assert_eq!(Query::literal("").unwrap_err(), QueryError::Empty);
/// assert_eq!(Query::folded(&"x".repeat(5000)).unwrap_err(), QueryError::TooLong(5000));
/// assert!(matches!(Query::regex("a{2", false), Err(QueryError::Invalid(_))));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// There is nothing to look for.
    #[error("the pattern is empty")]
    Empty,
    /// The pattern is longer than 4096 bytes: it has this many.
    #[error("the pattern has {0} bytes, the limit is {MAX_PATTERN}")]
    TooLong(usize),
    /// It has a line break or another control character, and matches lie within a line.
    #[error("the pattern has a control character, and matches lie within a line")]
    Control,
    /// It is not a regular expression, or one that takes too much memory.
    #[error("not a regular expression: {0}")]
    Invalid(String),
}

impl Query {
    /// Looks for this text, letter for letter.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Query, Screen, Search};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"a.b a+b");
    /// let found = screen.search(&Query::literal("a+b").unwrap(), Search::default());
    /// assert_eq!((found.len(), found[0].start.col), (1, 4));
    /// ```
    pub fn literal(text: &str) -> Result<Query, QueryError> {
        check(text)?;
        let finder = Find::Literal(Box::new(Finder::new(text).into_owned()));
        Ok(Query { finder })
    }

    /// Looks for this text, whatever the case of its letters (Unicode simple folding).
    ///
    /// ```
    /// # use greenroom_screen::{Options, Query, Screen, Search};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed("Über ÜBER".as_bytes());
    /// let found = screen.search(&Query::folded("über").unwrap(), Search::default());
    /// assert_eq!(found.len(), 2);
    /// ```
    pub fn folded(text: &str) -> Result<Query, QueryError> {
        check(text)?;
        compile(&regex::escape(text), true)
    }

    /// Looks for a regular expression, matched within a line; `^` and `$` are a line's ends.
    /// Blanks a program wrote at a line's end are part of the line here.
    ///
    /// ```
    /// use greenroom_screen::Query;
    /// # use greenroom_screen::{Options, Screen, Search};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// screen.feed(b"error[E0308]\r\nsee error[E0277]");
    /// let query = Query::regex(r"^error\[E\d+\]", false).unwrap();
    /// assert_eq!(screen.search(&query, Search::default()).len(), 1);
    /// assert!(Query::regex("(", false).unwrap_err().to_string().starts_with("not a regular"));
    /// ```
    pub fn regex(pattern: &str, fold_case: bool) -> Result<Query, QueryError> {
        check(pattern)?;
        compile(pattern, fold_case)
    }
}

fn check(pattern: &str) -> Result<(), QueryError> {
    match pattern.len() {
        0 => Err(QueryError::Empty),
        len if len > MAX_PATTERN => Err(QueryError::TooLong(len)),
        _ if pattern.contains(char::is_control) => Err(QueryError::Control),
        _ => Ok(()),
    }
}

fn compile(pattern: &str, fold_case: bool) -> Result<Query, QueryError> {
    RegexBuilder::new(pattern)
        .case_insensitive(fold_case)
        .multi_line(true)
        .size_limit(MAX_COMPILED)
        .dfa_size_limit(MAX_COMPILED)
        .build()
        .map(|regex| Query { finder: Find::Regex(regex) })
        .map_err(|error| QueryError::Invalid(error.to_string()))
}

/// Where to look, and for how many matches.
///
/// The limit keeps the oldest matches; to go on, ask again from the row of the last one.
///
/// ```
/// use greenroom_screen::{Options, Query, Screen, Search};
///
/// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// screen.feed(b"x\r\nx\r\nx x");
/// let rows = |search| -> Vec<_> {
///     let found = screen.search(&Query::literal("x").unwrap(), search);
///     found.iter().map(|one| one.start.row).collect()
/// };
/// assert_eq!(rows(Search { limit: 2, ..Search::default() }), [0, 1]);
/// assert_eq!(rows(Search { from: 2, ..Search::default() }), [2, 2]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Search {
    /// Only in rows from this number on.
    pub from: u64,
    /// How many matches at most.
    pub limit: usize,
}

impl Default for Search {
    /// Everywhere, for at most a thousand matches: more than anybody reads.
    fn default() -> Search {
        Search { from: 0, limit: 1000 }
    }
}

/// A match.
///
/// Its place stays true while the history is trimmed.
///
/// ```
/// use greenroom_screen::{Match, Options, Pos, Query, Screen, Search, Wrap};
///
/// let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// screen.feed(b"took 31 ms");
/// let found = screen.search(&Query::regex(r"\d+ ms", false).unwrap(), Search::default());
/// assert_eq!(found, [Match { start: Pos { row: 0, col: 5 }, end: Pos { row: 0, col: 10 } }]);
/// assert_eq!(screen.text_between(found[0].start, found[0].end, Wrap::Joined), "31 ms");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// Its first cell.
    pub start: Pos,
    /// The cell after its last; in another row if the line is wrapped in between.
    pub end: Pos,
}

impl Screen {
    /// Finds text in the history and on the screen, oldest first.
    ///
    /// ```
    /// use greenroom_screen::{Options, Query, Screen, Search};
    ///
    /// let mut screen = Screen::new("8x2".parse().unwrap(), Options::default());
    /// screen.feed(b"one error\r\ntwo\r\nError");
    /// let found = screen.search(&Query::folded("error").unwrap(), Search::default());
    /// assert_eq!(found.len(), 2);
    /// assert_eq!((found[0].start.row, found[0].start.col), (0, 4));
    /// assert_eq!((found[0].end.row, found[0].end.col), (1, 1));
    /// ```
    #[must_use]
    pub fn search(&self, query: &Query, search: Search) -> Vec<Match> {
        let mut found = Vec::new();
        let history = &self.terminal.history;
        let tail = self.tail();
        // The last line of the history may go on in the screen: then both are in the tail.
        let tail_start = tail.first();
        for (page, skipped) in history.pages() {
            let to = page.start() + page.len() as u64;
            if to <= search.from {
                continue;
            }
            let first = skipped.max(search.from.saturating_sub(page.start()) as usize);
            let last = (tail_start.min(to) - page.start().min(tail_start)) as usize;
            query.search_page(page, first, last, search.limit, &mut found);
        }
        for (page, skipped) in tail.pages() {
            let first = skipped.max(search.from.saturating_sub(page.start()) as usize);
            query.search_page(page, first, page.len(), search.limit, &mut found);
        }
        found
    }

    /// The rows of the screen as history lines, with what the history's last line begins with.
    fn tail(&self) -> History {
        let terminal = &self.terminal;
        let history = &terminal.history;
        let mut first = history.end();
        if !terminal.is_alternate() && history.is_open() {
            // Walk back to where the line begins, but no further than a page would hold it.
            while first > history.first()
                && history.line(first - 1).is_some_and(|line| line.wrapped)
                && history.end() - first < terminal.rows as u64 + 4096
            {
                first -= 1;
            }
        }
        let mut tail = History::new(usize::MAX);
        tail.set_first(first);
        let mut row = crate::row::Row::default();
        for line in history.lines(first, history.end()) {
            line.decode(&mut row);
            tail.push(&row, line.styles);
            tail.forget_numbers();
        }
        for row in terminal.grid.rows() {
            tail.push(row, terminal.styles.all());
        }
        tail
    }
}

impl Query {
    /// Finds matches in the lines `first..last` of a page.
    fn search_page(
        &self,
        page: &Page,
        first: usize,
        last: usize,
        limit: usize,
        found: &mut Vec<Match>,
    ) {
        if first >= last {
            return;
        }
        let (start, end) = (page.text_start(first), page.text_start(last));
        let text = &page.text()[..end];
        let mut at = start;
        // Whether each line is searched by itself, because a match once took in a line's end.
        let mut by_line = false;
        while found.len() < limit && at < end {
            let haystack = if by_line { &text[..line_end(text, at)] } else { text };
            let Some((from, to)) = self.find(haystack, at) else {
                if !by_line {
                    return;
                }
                at = haystack.len() + 1;
                continue;
            };
            if !by_line && memchr::memchr(b'\n', &text[from..to]).is_some() {
                by_line = true;
                at = at.max(line_start(text, from));
                continue;
            }
            found.extend((from < to).then(|| place(page, from, to)).flatten());
            at = to.max(from + 1);
        }
    }

    /// The next match at or after `at`.
    fn find(&self, text: &[u8], at: usize) -> Option<(usize, usize)> {
        match &self.finder {
            Find::Literal(finder) => {
                let from = at + finder.find(text.get(at..)?)?;
                Some((from, from + finder.needle().len()))
            }
            Find::Regex(regex) => regex.find_at(text, at).map(|found| (found.start(), found.end())),
        }
    }
}

/// Where the line that byte `at` is in ends.
fn line_end(text: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |newline| at + newline)
}

/// Where the line that byte `at` is in begins.
fn line_start(text: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1)
}

/// Where the bytes `from..to` of a page's text stand.
fn place(page: &Page, from: usize, to: usize) -> Option<Match> {
    let pos = |at: usize, end: bool| {
        // The end belongs to the row of the last byte.
        let line = page.line_at(if end { at.saturating_sub(1) } else { at })?;
        let start = page.text_start((line.number - page.start()) as usize);
        Some(Pos { row: line.number, col: line.col_of(at - start) as u16 })
    };
    Some(Match { start: pos(from, false)?, end: pos(to, true)? })
}
