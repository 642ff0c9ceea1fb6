//! Lua's patterns, with a meter.
//!
//! Lua's own matcher can be made to run for ever and cannot be stopped; this one does the same, step
//! by step as lstrlib.c does it, and every step counts. Differences would be bugs: the tests compare
//! both.

use mlua::Error;

use crate::meter::Meter;

/// Captures of one pattern, as in Lua.
const CAPTURES_MAX: usize = 32;

/// Nested matches, as in Lua: a pattern past it is refused.
const DEPTH_MAX: usize = 200;

const ESCAPE: u8 = b'%';

/// Characters that make a text a pattern.
pub(super) const SPECIAL: &[u8] = b"^$*+?.([%-";

/// Bytes that a plain search passes in the time of one step of a pattern, about.
pub(super) const BYTES_PER_STEP: usize = 16;

/// What was captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    Unclosed,
    /// `()`: where, not what.
    Position,
    Bytes(usize),
}

/// A capture, or the whole match.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Captured<'a> {
    Text(&'a [u8]),
    Position(usize),
}

pub(super) struct Matcher<'a> {
    source: &'a [u8],
    pattern: &'a [u8],
    meter: &'a Meter,
    depth: usize,
    level: usize,
    captures: [(usize, Length); CAPTURES_MAX],
}

type Matched = Result<Option<usize>, Error>;

fn malformed<T>(why: &str) -> Result<T, Error> {
    Err(Error::runtime(why))
}

impl<'a> Matcher<'a> {
    pub(super) fn new(source: &'a [u8], pattern: &'a [u8], meter: &'a Meter) -> Self {
        let captures = [(0, Length::Unclosed); CAPTURES_MAX];
        Self { source, pattern, meter, depth: 0, level: 0, captures }
    }

    /// Matches at one place; returns where the match ends.
    pub(super) fn at(&mut self, start: usize) -> Matched {
        self.level = 0;
        self.depth = 0;
        self.go(start, 0)
    }

    /// The first match from a place on; returns where it begins and ends.
    pub(super) fn from(&mut self, start: usize) -> Result<Option<(usize, usize)>, Error> {
        let literal = self.first_literal();
        let mut start = start;
        while start <= self.source.len() {
            if let Some(literal) = literal {
                // Most patterns begin with a character that most places do not have.
                let Some(skipped) = memchr::memchr(literal, &self.source[start..]) else { break };
                self.meter.step(skipped / BYTES_PER_STEP)?;
                start += skipped;
            }
            if let Some(end) = self.at(start)? {
                return Ok(Some((start, end)));
            }
            start += 1;
        }
        Ok(None)
    }

    /// The character that every match begins with, if the pattern says so plainly.
    fn first_literal(&self) -> Option<u8> {
        let first = self.byte(0).filter(|it| !SPECIAL.contains(it) && *it != b')')?;
        let repeated = matches!(self.byte(1), Some(b'*' | b'?' | b'-'));
        (!repeated).then_some(first)
    }

    /// How many values a match has: the captures, or the whole if there are none.
    pub(super) fn count(&self, whole_if_none: bool) -> usize {
        if self.level == 0 && whole_if_none { 1 } else { self.level }
    }

    /// One capture of the last match; the first of a pattern without any is the whole.
    pub(super) fn capture(
        &self,
        index: usize,
        start: usize,
        end: usize,
    ) -> Result<Captured<'a>, Error> {
        if index >= self.level {
            if index != 0 {
                return malformed(&format!("invalid capture index %{}", index + 1));
            }
            return Ok(self.whole(start, end));
        }
        match self.captures[index] {
            (_, Length::Unclosed) => malformed("unfinished capture"),
            (at, Length::Position) => Ok(Captured::Position(at + 1)),
            (at, Length::Bytes(length)) => Ok(Captured::Text(&self.source[at..at + length])),
        }
    }

    /// The last match.
    pub(super) fn whole(&self, start: usize, end: usize) -> Captured<'a> {
        Captured::Text(&self.source[start..end])
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.pattern.get(at).copied()
    }

    fn go(&mut self, s: usize, p: usize) -> Matched {
        if self.depth == DEPTH_MAX {
            return malformed("pattern too complex");
        }
        self.depth += 1;
        let matched = self.items(s, p);
        self.depth -= 1;
        matched
    }

    /// Goes on with the pattern as long as there is only one way to do so.
    fn items(&mut self, mut s: usize, mut p: usize) -> Matched {
        loop {
            self.meter.step(1)?;
            let Some(item) = self.byte(p) else { return Ok(Some(s)) };
            match (item, self.byte(p + 1)) {
                (b'(', Some(b')')) => return self.open(s, p + 2, Length::Position),
                (b'(', _) => return self.open(s, p + 1, Length::Unclosed),
                (b')', _) => return self.close(s, p + 1),
                (b'$', None) => return Ok((s == self.source.len()).then_some(s)),
                (ESCAPE, Some(b'b')) => match self.balanced(s, p + 2)? {
                    Some(end) => (s, p) = (end, p + 4),
                    None => return Ok(None),
                },
                (ESCAPE, Some(b'f')) => match self.frontier(s, p + 2)? {
                    Some(end) => p = end,
                    None => return Ok(None),
                },
                (ESCAPE, Some(digit @ b'0'..=b'9')) => match self.again(s, digit)? {
                    Some(end) => (s, p) = (end, p + 2),
                    None => return Ok(None),
                },
                _ => match self.single(s, p)? {
                    Step::Next(next) => (s, p) = next,
                    Step::Done(end) => return Ok(end),
                },
            }
        }
    }

    /// One character class and what repeats it.
    fn single(&mut self, s: usize, p: usize) -> Result<Step, Error> {
        let end = self.class_end(p)?;
        let repeat = self.byte(end);
        if !self.fits(s, p, end)? {
            return Ok(match repeat {
                Some(b'*' | b'?' | b'-') => Step::Next((s, end + 1)),
                _ => Step::Done(None),
            });
        }
        Ok(match repeat {
            Some(b'?') => match self.go(s + 1, end + 1)? {
                Some(matched) => Step::Done(Some(matched)),
                None => Step::Next((s, end + 1)),
            },
            Some(b'+') => Step::Done(self.most(s + 1, p, end)?),
            Some(b'*') => Step::Done(self.most(s, p, end)?),
            Some(b'-') => Step::Done(self.least(s, p, end)?),
            _ => Step::Next((s + 1, end)),
        })
    }

    /// Where the class that starts at `p` ends.
    fn class_end(&self, p: usize) -> Result<usize, Error> {
        match self.byte(p) {
            Some(ESCAPE) if p + 1 >= self.pattern.len() => {
                malformed("malformed pattern (ends with '%')")
            }
            Some(ESCAPE) => Ok(p + 2),
            Some(b'[') => {
                let mut at = p + 1 + usize::from(self.byte(p + 1) == Some(b'^'));
                loop {
                    match self.byte(at) {
                        None => return malformed("malformed pattern (missing ']')"),
                        Some(ESCAPE) if at + 1 < self.pattern.len() => at += 2,
                        Some(_) => at += 1,
                    }
                    if self.byte(at) == Some(b']') {
                        self.meter.step(at - p)?;
                        return Ok(at + 1);
                    }
                }
            }
            _ => Ok(p + 1),
        }
    }

    /// Whether the class from `p` to `end` has the character at `s`.
    fn fits(&self, s: usize, p: usize, end: usize) -> Result<bool, Error> {
        self.meter.step(1)?;
        let Some(&character) = self.source.get(s) else { return Ok(false) };
        Ok(match self.pattern[p] {
            b'.' => true,
            ESCAPE => in_class(character, self.pattern[p + 1]),
            b'[' => self.in_set(character, p, end - 1)?,
            other => other == character,
        })
    }

    /// Whether the set from `[` at `p` to `]` at `end` has a character.
    fn in_set(&self, character: u8, mut p: usize, end: usize) -> Result<bool, Error> {
        self.meter.step(end - p)?;
        let set = self.pattern;
        let mut found = true;
        p += 1;
        if set[p] == b'^' {
            found = false;
            p += 1;
        }
        while p < end {
            if set[p] == ESCAPE {
                p += 1;
                if in_class(character, set[p]) {
                    return Ok(found);
                }
            } else if set[p + 1] == b'-' && p + 2 < end {
                p += 2;
                if (set[p - 2]..=set[p]).contains(&character) {
                    return Ok(found);
                }
            } else if set[p] == character {
                return Ok(found);
            }
            p += 1;
        }
        Ok(!found)
    }

    /// As many as possible.
    fn most(&mut self, s: usize, p: usize, end: usize) -> Matched {
        let mut count = 0;
        while self.fits(s + count, p, end)? {
            count += 1;
        }
        loop {
            if let Some(matched) = self.go(s + count, end + 1)? {
                return Ok(Some(matched));
            }
            match count.checked_sub(1) {
                Some(less) => count = less,
                None => return Ok(None),
            }
        }
    }

    /// As few as possible.
    fn least(&mut self, mut s: usize, p: usize, end: usize) -> Matched {
        loop {
            if let Some(matched) = self.go(s, end + 1)? {
                return Ok(Some(matched));
            }
            if !self.fits(s, p, end)? {
                return Ok(None);
            }
            s += 1;
        }
    }

    fn open(&mut self, s: usize, p: usize, length: Length) -> Matched {
        let Some(capture) = self.captures.get_mut(self.level) else {
            return malformed("too many captures");
        };
        *capture = (s, length);
        self.level += 1;
        let matched = self.go(s, p)?;
        if matched.is_none() {
            self.level -= 1;
        }
        Ok(matched)
    }

    fn close(&mut self, s: usize, p: usize) -> Matched {
        let open = self.captures[..self.level].iter().rposition(|it| it.1 == Length::Unclosed);
        let Some(open) = open else { return malformed("invalid pattern capture") };
        self.captures[open].1 = Length::Bytes(s - self.captures[open].0);
        let matched = self.go(s, p)?;
        if matched.is_none() {
            self.captures[open].1 = Length::Unclosed;
        }
        Ok(matched)
    }

    /// `%bxy`.
    fn balanced(&self, s: usize, p: usize) -> Matched {
        let (Some(open), Some(close)) = (self.byte(p), self.byte(p + 1)) else {
            return malformed("malformed pattern (missing arguments to '%b')");
        };
        if self.source.get(s) != Some(&open) {
            return Ok(None);
        }
        let mut nested = 1;
        for (at, &character) in self.source.iter().enumerate().skip(s + 1) {
            self.meter.step(1)?;
            if character == close {
                nested -= 1;
                if nested == 0 {
                    return Ok(Some(at + 1));
                }
            } else if character == open {
                nested += 1;
            }
        }
        Ok(None)
    }

    /// `%f[set]`; returns where the pattern goes on.
    fn frontier(&self, s: usize, p: usize) -> Matched {
        if self.byte(p) != Some(b'[') {
            return malformed("missing '[' after '%f' in pattern");
        }
        let end = self.class_end(p)?;
        let before = s.checked_sub(1).map_or(0, |at| self.source[at]);
        let after = self.source.get(s).copied().unwrap_or(0);
        let is_edge = !self.in_set(before, p, end - 1)? && self.in_set(after, p, end - 1)?;
        Ok(is_edge.then_some(end))
    }

    /// `%1`: the same text again.
    fn again(&self, s: usize, digit: u8) -> Matched {
        let index = usize::from(digit).wrapping_sub(usize::from(b'1'));
        match self.captures[..self.level].get(index) {
            Some(&(at, Length::Bytes(length))) => {
                self.meter.step(length)?;
                let same = self.source[s..].starts_with(&self.source[at..at + length]);
                Ok(same.then_some(s + length))
            }
            // Lua compares the length of a position, a negative number, and never matches.
            Some((_, Length::Position)) => Ok(None),
            Some((_, Length::Unclosed)) | None => {
                malformed(&format!("invalid capture index %{}", char::from(digit)))
            }
        }
    }
}

/// How matching goes on after one class.
enum Step {
    Next((usize, usize)),
    Done(Option<usize>),
}

/// The classes of the C locale, which is the one Lua has here.
fn in_class(character: u8, class: u8) -> bool {
    let has = match class.to_ascii_lowercase() {
        b'a' => character.is_ascii_alphabetic(),
        b'c' => character.is_ascii_control(),
        b'd' => character.is_ascii_digit(),
        b'g' => character.is_ascii_graphic(),
        b'l' => character.is_ascii_lowercase(),
        b'p' => character.is_ascii_punctuation(),
        b's' => matches!(character, b' ' | 0x09..=0x0d),
        b'u' => character.is_ascii_uppercase(),
        b'w' => character.is_ascii_alphanumeric(),
        b'x' => character.is_ascii_hexdigit(),
        // Deprecated, but still there.
        b'z' => character == 0,
        _ => return class == character,
    };
    has != class.is_ascii_uppercase()
}

#[cfg(test)]
mod tests;
