//! What in an address lets in whoever has the address: signatures (`X-Amz-Signature=…`, Azure's `sig=…`), Slack's hooks.
//!
//! The parameters around a signature stay: a reader sees what the address was for. For passwords in addresses, see `url`.

use std::ops::Range;

use super::code;
use super::keyed::DECIDE_MAX;
use super::scan::{Site, Verdict};
use super::tail::Class;

/// What Azure calls a signature, at the beginning of a parameter.
pub(super) const SIG: &str = "sig=";

/// What the others call it, behind who they are.
pub(super) const SIGNATURE: &str = "-signature=";

/// Who they are, in small letters.
const SIGNERS: &[&str] = &["x-amz", "x-goog"];

/// Where Slack's hooks are.
pub(super) const HOOK: &str = "hooks.slack.com/";

/// What kinds there are.
const HOOKS: &[&str] = &["services/", "workflows/", "triggers/"];

/// How long a signature or what follows the kind of a hook is at least. Real ones have twice as many.
const LEAST: usize = 20;

/// How many letters are too many to be shown during a pause.
const TELLING: usize = 8;

pub(super) fn sig(site: &Site<'_>, anchor: Range<usize>) -> Verdict {
    let before = site.text[..anchor.start].chars().next_back().or(site.before);
    if before.is_some_and(|it| "?&;".contains(it)) { judge(site, anchor.end) } else { Verdict::No }
}

pub(super) fn signature(site: &Site<'_>, anchor: Range<usize>) -> Verdict {
    let before = &site.text.as_bytes()[..anchor.start];
    let is_by = |signer: &&str| {
        let start = before.len().checked_sub(signer.len());
        start.is_some_and(|start| before[start..].eq_ignore_ascii_case(signer.as_bytes()))
    };
    if SIGNERS.iter().any(is_by) { judge(site, anchor.end) } else { Verdict::No }
}

pub(super) fn hook(site: &Site<'_>, anchor: Range<usize>) -> Verdict {
    let rest = &site.text[anchor.end..];
    match HOOKS.iter().find(|kind| rest.starts_with(**kind)) {
        Some(kind) => judge(site, anchor.end + kind.len()),
        None if HOOKS.iter().any(|kind| kind.starts_with(rest)) => Verdict::Waiting,
        None => Verdict::No,
    }
}

/// What begins here and is made of what addresses are made of.
fn judge(site: &Site<'_>, start: usize) -> Verdict {
    let (length, tail) = site.run(Class::Escaped, start);
    let range = start..start + length;
    // What is longer is not looked at again for every name in it.
    let value = if length <= DECIDE_MAX { &site.text[range.clone()] } else { "" };
    let is_named = value.rsplit('/').next().is_some_and(code::is_placeholder);
    let is_harmless = length < LEAST || is_named;
    match tail {
        Some(_) if length == 0 => Verdict::Waiting,
        _ if length == 0 || site.is_marker(start) => Verdict::No,
        Some(tail) if length <= DECIDE_MAX => {
            let is_telling = length >= TELLING && !is_named;
            Verdict::Open { range, tail, is_secret: !is_harmless, is_telling }
        }
        None if length <= DECIDE_MAX && is_harmless => Verdict::No,
        _ => Verdict::Secret { range, tail },
    }
}
