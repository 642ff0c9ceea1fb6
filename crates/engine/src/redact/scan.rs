//! One pass over a lane: where secrets are, and what cannot be shown yet.
//!
//! The beginnings of all rules are found together; each is then judged by its rule alone, also
//! inside of what another rule found. So a text may be cut before any beginning without changing
//! what is found behind it, and where two rules agree the result is their union.

use std::cell::Cell;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, Match, MatchKind, Span, packed};

use super::policy::Redaction;
use super::stream::HOLD_MAX;
use super::tail::{CLASSES, Class, Tail};
use super::{basic, block, command, cookie, keyed, known, signed, url};

/// A lane and where it stands.
pub(super) struct Site<'t> {
    pub(super) text: &'t str,
    /// The letter before the text, if some was there.
    pub(super) before: Option<char>,
    /// Whether more may follow; otherwise everything is decided.
    pub(super) more: bool,
    pub(super) redaction: &'t Redaction,
    /// The last run of each class, so that names inside of a value do not measure it again.
    runs: Cell<[(usize, usize); CLASSES]>,
}

impl<'t> Site<'t> {
    pub(super) fn new(
        text: &'t str,
        before: Option<char>,
        more: bool,
        redaction: &'t Redaction,
    ) -> Site<'t> {
        Site { text, before, more, redaction, runs: Cell::default() }
    }

    /// How many bytes of a class are here, and what goes on if that is all of the text.
    pub(super) fn run(&self, class: Class, at: usize) -> (usize, Option<Tail>) {
        let mut runs = self.runs.get();
        let (start, end) = runs[class as usize];
        let end = if (start..end).contains(&at) {
            end
        } else {
            let rest = &self.text.as_bytes()[at..];
            let end = at + Tail::While(class).consume(rest, &[]).0;
            runs[class as usize] = (at, end);
            self.runs.set(runs);
            end
        };
        (end - at, (end == self.text.len()).then_some(Tail::While(class)))
    }

    /// Whether a word may begin here.
    pub(super) fn is_word_start(&self, at: usize) -> bool {
        let before = self.text[..at].chars().next_back().or(self.before);
        before.is_none_or(|letter| !letter.is_alphanumeric() && letter != '_')
    }

    /// Whether a secret was replaced here before.
    pub(super) fn is_marker(&self, at: usize) -> bool {
        let marker = self.redaction.replacement();
        let rest = &self.text.as_bytes()[at..];
        rest.starts_with(super::policy::MARKER.as_bytes())
            || (!marker.is_empty() && rest.starts_with(marker.as_bytes()))
    }
}

/// What a rule sees at one beginning.
pub(super) enum Verdict {
    /// Nothing, whatever follows.
    No,
    /// Nothing that must be kept back, but it may follow.
    Waiting,
    /// A secret, whatever follows. It goes on if there is a tail.
    Secret { range: Range<usize>, tail: Option<Tail> },
    /// It may be one; what follows decides.
    Open {
        range: Range<usize>,
        tail: Tail,
        /// Whether it is one if nothing follows.
        is_secret: bool,
        /// Whether so much of it is here that it may not be shown while the rest is missing.
        is_telling: bool,
    },
}

/// A secret in a lane.
#[derive(Debug, Clone)]
pub(super) struct Secret {
    pub(super) range: Range<usize>,
    /// Whether its replacement was shown already.
    pub(super) is_continued: bool,
}

/// Something at the end of a lane that may go on.
#[derive(Debug, Clone)]
pub(super) struct Open {
    /// Where it begins, and where the tail takes over.
    pub(super) range: Range<usize>,
    pub(super) tail: Tail,
    /// Whether it is a secret if nothing follows for a while.
    pub(super) is_secret: bool,
    /// Whether it is one whatever follows.
    pub(super) is_sure: bool,
}

/// What was found in a lane.
pub(super) struct Scan {
    /// Sorted and without overlaps.
    pub(super) secrets: Vec<Secret>,
    pub(super) open: Vec<Open>,
    /// What lies behind this may not be shown yet.
    pub(super) hold: usize,
    /// What lies behind this is needed to judge what follows.
    pub(super) keep: usize,
}

/// How many bytes of what may be a secret a pause can show at most, whatever the rule: as long as the
/// words that stand where secrets do. A rule that knows its secrets better shows fewer.
pub(super) const PAUSE_MAX: usize = 16;

/// How much of what was shown is kept to judge what follows: longer than any name before a value.
const CONTEXT: usize = 128;

impl Scan {
    /// Scans a lane in which the tails of earlier secrets go on at given places.
    pub(super) fn of(site: &Site<'_>, tails: &[(usize, Tail)]) -> Scan {
        let end = site.text.len();
        let keep = end.saturating_sub(CONTEXT);
        let mut scan = Scan { secrets: Vec::new(), open: Vec::new(), hold: end, keep };
        for &(at, tail) in tails {
            scan.go_on(site, at, tail);
        }
        find_anchors(site.text, |rule, anchor| {
            let start = anchor.start;
            scan.note(site, start, rule(site, anchor));
        });
        scan.find_custom(site);
        if site.more {
            scan.find_partial(site);
        }
        scan.merge();
        scan
    }

    fn go_on(&mut self, site: &Site<'_>, at: usize, tail: Tail) {
        let rest = &site.text.as_bytes()[at..];
        let (length, tail) = tail.consume(rest, site.redaction.literals());
        let end = at + length;
        self.secrets.push(Secret { range: at..end, is_continued: true });
        self.leave_open(site, at..end, tail);
    }

    fn leave_open(&mut self, site: &Site<'_>, range: Range<usize>, tail: Option<Tail>) {
        if let Some(tail) = tail {
            self.hold = if site.more { self.hold.min(range.end) } else { self.hold };
            self.keep = self.keep.min(range.end);
            self.open.push(Open { range, tail, is_secret: true, is_sure: true });
        }
    }

    fn note(&mut self, site: &Site<'_>, anchor: usize, verdict: Verdict) {
        let length = site.text.len();
        match verdict {
            Verdict::No => return,
            Verdict::Waiting => {}
            Verdict::Secret { range, tail } => {
                // What a wrapped line adds may still follow a blank and a carriage return.
                let may_go_on = tail.is_some() || range.end + 2 >= length;
                self.secrets.push(Secret { range: range.clone(), is_continued: false });
                self.leave_open(site, range, tail);
                if !may_go_on {
                    return;
                }
            }
            Verdict::Open { range, is_secret, .. } if !site.more => {
                if is_secret {
                    self.secrets.push(Secret { range, is_continued: false });
                }
                return;
            }
            Verdict::Open { range, tail, is_secret, is_telling } => {
                self.hold = self.hold.min(range.start);
                let is_secret = is_secret || is_telling || range.len() > PAUSE_MAX;
                self.open.push(Open { range, tail, is_secret, is_sure: false });
            }
        }
        self.keep = self.keep.min(anchor.saturating_sub(keyed::BEFORE_MAX));
    }

    /// What the caller asked for.
    fn find_custom(&mut self, site: &Site<'_>) {
        let mut found = |range: Range<usize>| match self.secrets.last_mut() {
            // Literals inside of literals are many; they come in the order of their ends.
            Some(last) if range.start < last.range.end && last.range.end <= range.end => {
                last.range = last.range.start.min(range.start)..range.end;
            }
            _ => self.secrets.push(Secret { range, is_continued: false }),
        };
        if let Some(finder) = site.redaction.literal_finder() {
            finder.find_overlapping_iter(site.text).for_each(|it| found(it.range()));
        }
        for regex in site.redaction.regexes() {
            regex.find_iter(site.text).for_each(|it| found(it.range()));
        }
    }

    /// What ends in the beginning of a beginning.
    fn find_partial(&mut self, site: &Site<'_>) {
        if let Some(start) = known::partial(site) {
            self.hold = self.hold.min(start);
        }
        for (index, literal) in site.redaction.literals().iter().enumerate() {
            let Some(length) = overlap(site.text, literal) else { continue };
            let range = site.text.len() - length..site.text.len();
            let tail = Tail::Literal { index, from: length };
            let is_telling = length >= 4 && length * 2 >= literal.len();
            let start = range.start;
            self.note(site, start, Verdict::Open { range, tail, is_secret: false, is_telling });
        }
        if !site.redaction.regexes().is_empty() {
            // Nothing is known of what an expression looks at, so a line is seen whole.
            let line = site.text.rfind('\n').map_or(0, |at| at + 1);
            let line = line.max(floor(site.text, site.text.len().saturating_sub(HOLD_MAX)));
            self.hold = self.hold.min(line);
            self.keep = self.keep.min(line);
        }
    }

    /// Makes secrets of what is one if nothing follows.
    pub(super) fn take_open(&mut self) {
        let open = self.open.iter().filter(|it| it.is_secret && !it.is_sure);
        let open = open.map(|it| Secret { range: it.range.clone(), is_continued: false });
        self.secrets.extend(open);
        self.merge();
    }

    fn merge(&mut self) {
        self.secrets.retain(|secret| !secret.range.is_empty());
        self.secrets.sort_by_key(|secret| (secret.range.start, !secret.is_continued));
        self.secrets.dedup_by(|next, last| {
            let overlaps = next.range.start < last.range.end;
            if overlaps {
                last.range.end = last.range.end.max(next.range.end);
            }
            overlaps
        });
    }
}

/// How many bytes at the end of `text` are the beginning of `literal`, but not all of it.
fn overlap(text: &str, literal: &str) -> Option<usize> {
    let (text, literal) = (text.as_bytes(), literal.as_bytes());
    let most = literal.len().saturating_sub(1).min(text.len());
    (1..=most).rev().find(|length| text.ends_with(&literal[..*length]))
}

/// The last boundary of a letter at or before `at`.
pub(super) fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}

/// Judges what begins with the match of an anchor.
type Rule = fn(&Site<'_>, Range<usize>) -> Verdict;

/// How secrets begin, in small letters, whatever they are written in; the rules look closer.
static RULES: LazyLock<Vec<(String, Rule)>> = LazyLock::new(|| {
    let mut rules: Vec<(&str, Rule)> = Vec::new();
    rules.extend(keyed::NAMES.iter().map(|name| (*name, keyed::judge as Rule)));
    rules.extend(known::KINDS.iter().map(|kind| (kind.prefix, known::judge as Rule)));
    rules.push(("bearer", known::bearer));
    rules.push((known::JWT, known::jwt));
    rules.push((cookie::NAME, cookie::judge));
    rules.push((basic::DOCKER, basic::docker));
    rules.push(("://", url::judge));
    rules.push((signed::SIG, signed::sig));
    rules.push((signed::SIGNATURE, signed::signature));
    rules.push((signed::HOOK, signed::hook));
    rules.push((block::BEGIN, block::judge));
    rules.push((block::END, block::judge_end));
    rules.extend(command::COMMANDS.iter().map(|it| (it.name, command::judge as Rule)));
    rules.push((command::IDENTIFIED, command::identified));
    rules.push((command::MACHINE, command::netrc));
    rules.into_iter().map(|(anchor, rule)| (anchor.to_ascii_lowercase(), rule)).collect()
});

/// Gives every beginning in a text to its rule, also those inside of others.
fn find_anchors(text: &str, mut found: impl FnMut(Rule, Range<usize>)) {
    let Some(finder) = &*ANCHORS else { return };
    let text = text.to_ascii_lowercase();
    let mut from = 0;
    while let Some(first) = finder.find_in(&text, Span::from(from..text.len())) {
        let start = first.start();
        for (anchor, rule) in RULES.iter() {
            if text[start..].starts_with(anchor) {
                found(*rule, start..start + anchor.len());
            }
        }
        from = start + 1;
    }
}

/// What several beginnings have in common. The search for many bytes at once takes 64 of them.
const STEMS: &[&str] = &["secret", "xox", "passw", "encryption", "signing"];

/// As much of a beginning as is looked for.
fn stem(anchor: &str) -> &str {
    STEMS.iter().find(|stem| anchor.starts_with(**stem)).unwrap_or(&anchor)
}

/// How many buckets the search for many bytes at once has for more than 32 beginnings.
const BUCKETS: usize = 16;

/// Finds the first beginning of many bytes at once; a text without any takes next to no time.
static ANCHORS: LazyLock<Option<Finder>> = LazyLock::new(Finder::new);

enum Finder {
    /// Where the processor can.
    Packed(packed::Searcher),
    /// Where it cannot.
    Plain(AhoCorasick),
}

impl Finder {
    fn new() -> Option<Finder> {
        let anchors = Finder::anchors();
        match packed::Searcher::new(&anchors) {
            Some(finder) => Some(Finder::Packed(finder)),
            // A few hundred states: it cannot fail.
            None => AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostFirst)
                .kind(Some(AhoCorasickKind::DFA))
                .build(anchors)
                .ok()
                .map(Finder::Plain),
        }
    }

    /// All that is looked for, in the order in which the search puts it into [`BUCKETS`], one after another. What has the
    /// same second letter comes into the same: the fewer letters a bucket has in a place, the less often the search
    /// stops for nothing. It is three times as fast as by the alphabet.
    fn anchors() -> Vec<&'static str> {
        let mut anchors: Vec<&str> = RULES.iter().map(|(anchor, _)| stem(anchor)).collect();
        anchors.sort_unstable();
        anchors.dedup();
        anchors.sort_by_key(|anchor| anchor.as_bytes().get(1));
        let each = anchors.len().div_ceil(BUCKETS);
        (0..each).flat_map(|nth| anchors.iter().skip(nth).step_by(each).copied()).collect()
    }

    /// One that begins first.
    fn find_in(&self, text: &str, span: Span) -> Option<Match> {
        match self {
            Finder::Packed(finder) => finder.find_in(text, span),
            Finder::Plain(finder) => finder.find(Input::new(text).span(span)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With more of them every text takes half as much time again: then find [`STEMS`] that some have in common.
    #[test]
    fn what_is_looked_for_fits_in_the_search_for_many_bytes_at_once() {
        let anchors = Finder::anchors();
        assert!(anchors.len() <= 64, "{} of {anchors:?}", anchors.len());
        let is_found = |anchor: &str| anchors.iter().any(|it| anchor.starts_with(it));
        assert!(RULES.iter().all(|(anchor, _)| is_found(anchor)));
    }
}
