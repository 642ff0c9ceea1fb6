//! What cookies hold: `Cookie: session=abc; theme=dark`, and `Set-Cookie` alike.
//!
//! The name of the first one stays, so that a reader sees what was there; the rest of the line goes, up
//! to a quote: which of the cookies is the secret one only their maker knows.

use std::ops::Range;

use super::code;
use super::keyed::{self, DECIDE_MAX};
use super::scan::{Site, Verdict};
use super::tail::Class;

/// What the header is called, at its end and in any case.
pub(super) const NAME: &str = "cookie";

/// How long the name of a cookie may be: longer than those that say who made them, and why.
const COOKIE_NAME_MAX: usize = 64;

pub(super) fn judge(site: &Site<'_>, anchor: Range<usize>) -> Verdict {
    let bytes = site.text.as_bytes();
    if !site.is_word_start(anchor.start) {
        return Verdict::No;
    }
    let place = match keyed::find_value(bytes, anchor.end) {
        Ok(place) => place,
        Err(verdict) => return verdict,
    };
    // A header has a colon, and its value on the same line; all else is code.
    let sign = &bytes[anchor.end..place.at];
    if place.is_far || !sign.contains(&b':') || sign.contains(&b'=') {
        return Verdict::No;
    }
    let start = keyed::opening(bytes, place.at).map_or(place.at, |(_, start)| start);
    let name = bytes[start..].iter().take_while(|byte| is_name(**byte)).count();
    match bytes.get(start + name) {
        _ if name > COOKIE_NAME_MAX => return Verdict::No,
        None => return Verdict::Waiting,
        Some(b'=') if name > 0 => {}
        Some(_) => return Verdict::No,
    }
    judge_value(site, start + name + 1)
}

fn judge_value(site: &Site<'_>, start: usize) -> Verdict {
    let bytes = site.text.as_bytes();
    let (length, tail) = site.run(Class::Line, start);
    let line = &bytes[start..start + length];
    let end = line.iter().take(DECIDE_MAX + 1).take_while(|byte| is_value(**byte)).count();
    let value = &site.text[start..site.text.floor_char_boundary(start + end)];
    let is_harmless = code::is_placeholder(value) || value.starts_with(['=', '>']);
    let range = start..start + length;
    let is_decided = end < length || end > DECIDE_MAX || tail.is_none();
    match tail {
        _ if site.is_marker(start) => Verdict::No,
        Some(_) if length == 0 => Verdict::Waiting,
        Some(tail) if !is_decided => {
            Verdict::Open { range, tail, is_secret: !is_harmless, is_telling: false }
        }
        _ if end == 0 || is_harmless => Verdict::No,
        _ => Verdict::Secret { range, tail },
    }
}

/// What RFC 6265 allows in the name of a cookie, as far as any has it.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.!#$%&*+^`|~".contains(&byte)
}

fn is_value(byte: u8) -> bool {
    !matches!(byte, b';' | b' ' | b'\t')
}
