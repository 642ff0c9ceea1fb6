//! Secrets that say themselves what they are: by their first letters, or by the word `Bearer`.

use std::ops::Range;

use super::scan::{Site, Verdict};
use super::tail::{Class, Tail};

/// A kind of token with letters of its own in front.
pub(super) struct Kind {
    pub(super) prefix: &'static str,
    class: Class,
    /// How many bytes must follow. Fewer than real tokens have: a part of one is no less secret.
    least: usize,
}

const fn kind(prefix: &'static str, class: Class, least: usize) -> Kind {
    Kind { prefix, class, least }
}

/// All kinds. That `sk-` takes sixteen is the contract of ptywright.
pub(super) const KINDS: &[Kind] = &[
    kind("sk-", Class::Dashed, 16),
    kind("sk_live_", Class::Word, 16),
    kind("sk_test_", Class::Word, 16),
    kind("rk_live_", Class::Word, 16),
    kind("AKIA", Class::Capital, 16),
    kind("ASIA", Class::Capital, 16),
    kind("ghp_", Class::Word, 16),
    kind("gho_", Class::Word, 16),
    kind("ghs_", Class::Word, 16),
    kind("ghu_", Class::Word, 16),
    kind("ghr_", Class::Word, 16),
    kind("github_pat_", Class::Word, 16),
    kind("glpat-", Class::Dashed, 16),
    kind("npm_", Class::Letter, 30),
    kind("hf_", Class::Letter, 30),
    kind("xoxa-", Class::Dashed, 10),
    kind("xoxb-", Class::Dashed, 10),
    kind("xoxe-", Class::Dashed, 10),
    kind("xoxo-", Class::Dashed, 10),
    kind("xoxp-", Class::Dashed, 10),
    kind("xoxr-", Class::Dashed, 10),
    kind("xoxs-", Class::Dashed, 10),
    kind("xapp-", Class::Dashed, 10),
    kind("AIza", Class::Dashed, 30),
    kind("hvs.", Class::Dashed, 16),
    kind("dop_v1_", Class::Word, 30),
    kind("dckr_pat_", Class::Dashed, 16),
    kind("pypi-AgE", Class::Dashed, 30),
    kind("SG.", Class::Dotted, 30),
    kind("AGE-SECRET-KEY-1", Class::Capital, 30),
];

/// How a JSON web token begins: `{"` in base64.
pub(super) const JWT: &str = "eyJ";

/// How long the first two parts of a web token may be, each. Together they must fit in what a
/// stream holds back.
const JWT_PART: Range<usize> = 5..1800;

/// How many letters of a token are too many to be shown during a pause, if words begin like it.
const TELLING: usize = 8;

/// How many if no word does.
const TELLING_OWN: usize = 4;

/// How long a token after `Bearer` is at least; this is the contract of ptywright.
const BEARER_LEAST: usize = 8;

/// What else follows `bearer`, in prose.
const BEARER_WORDS: &[&str] = &[
    "authentication",
    "authorization",
    "certificate",
    "certificates",
    "credentials",
    "instrument",
];

pub(super) fn judge(site: &Site<'_>, anchor: Range<usize>) -> Verdict {
    let prefix = &site.text[anchor.clone()];
    let kind = KINDS.iter().find(|kind| kind.prefix == prefix);
    let Some(kind) = kind.filter(|_| site.is_word_start(anchor.start)) else { return Verdict::No };
    let (length, open) = site.run(kind.class, anchor.end);
    if length >= kind.least {
        return Verdict::Secret { range: anchor.start..anchor.end + length, tail: open };
    }
    let is_common = kind.prefix.len() < 4 || kind.class == Class::Letter;
    let is_telling = length >= if is_common { TELLING } else { TELLING_OWN };
    match open {
        Some(tail) => {
            let range = anchor.start..site.text.len();
            Verdict::Open { range, tail, is_secret: false, is_telling }
        }
        None => Verdict::No,
    }
}

/// How long the longest prefix is.
const PREFIX_MAX: usize = "AGE-SECRET-KEY-1".len();

/// Where a token begins whose first letters are the last of the text.
pub(super) fn partial(site: &Site<'_>) -> Option<usize> {
    let is_letter = |byte: &u8| Class::Dashed.has(*byte);
    let last = site.text.bytes().rev().take(PREFIX_MAX - 1).take_while(is_letter).count();
    let mut starts = site.text.len() - last..site.text.len();
    starts.find(|&start| {
        let begun = &site.text[start..];
        let begins = |prefix: &str| prefix.len() > begun.len() && prefix.starts_with(begun);
        (begins(JWT) || KINDS.iter().any(|kind| begins(kind.prefix))) && site.is_word_start(start)
    })
}

pub(super) fn jwt(site: &Site<'_>, anchor: Range<usize>) -> Verdict {
    if &site.text[anchor.clone()] != JWT || !site.is_word_start(anchor.start) {
        return Verdict::No;
    }
    let bytes = site.text.as_bytes();
    let (start, mut at) = (anchor.start, anchor.start);
    for _ in 0..2 {
        let (part, _) = site.run(Class::Dashed, at);
        at += part;
        match bytes.get(at) {
            Some(b'.') if JWT_PART.contains(&part) => at += 1,
            None if part < JWT_PART.end => {
                let is_telling = at - start >= TELLING;
                let tail = Tail::While(Class::Dotted);
                return Verdict::Open { range: start..at, tail, is_secret: false, is_telling };
            }
            _ => return Verdict::No,
        }
    }
    let (length, tail) = site.run(Class::Dashed, at);
    Verdict::Secret { range: start..at + length, tail }
}

pub(super) fn bearer(site: &Site<'_>, anchor: Range<usize>) -> Verdict {
    let rest = &site.text.as_bytes()[anchor.end..];
    let blank = rest.iter().take_while(|byte| matches!(**byte, b' ' | b'\t')).count();
    if !site.is_word_start(anchor.start) || (blank == 0 && !rest.is_empty()) {
        return Verdict::No;
    }
    let start = anchor.end + blank;
    let (length, tail) = site.run(Class::Bearer, start);
    let value = &site.text[start..start + length];
    let is_begun =
        |word: &&str| word.get(..length).is_some_and(|it| it.eq_ignore_ascii_case(value));
    let is_prose = |word: &&str| word.eq_ignore_ascii_case(value);
    let range = start..start + length;
    match tail {
        Some(_) if length == 0 => Verdict::Waiting,
        Some(tail) if length < BEARER_LEAST || BEARER_WORDS.iter().any(is_begun) => {
            Verdict::Open { range, tail, is_secret: false, is_telling: false }
        }
        None if length < BEARER_LEAST || BEARER_WORDS.iter().any(is_prose) => Verdict::No,
        _ => Verdict::Secret { range, tail },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_prefix_is_longer_than_is_looked_for() {
        assert!(KINDS.iter().all(|kind| kind.prefix.len() <= PREFIX_MAX));
    }
}
