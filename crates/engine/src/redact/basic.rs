//! A user and a password in base64 behind a name that says little: Docker's `"auth": "…"`, npm's `_auth=…`.
//!
//! The name alone may be anything's (`"auth": "required"`), so the value must say it: letters with a colon behind them.

use std::ops::Range;

use super::keyed::{DECIDE_MAX, find_value, opening};
use super::scan::{Site, Verdict};
use super::tail::{Class, Tail};

/// How Docker's name begins. Behind it comes a quote, or it is another.
pub(super) const DOCKER: &str = "\"auth";

/// What is known of a value by its first letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Other,
    /// A name so far.
    Name,
    /// A name, a colon, and what is behind it.
    Password,
}

pub(super) fn docker(site: &Site<'_>, anchor: Range<usize>) -> Verdict {
    match find_value(site.text.as_bytes(), anchor.end) {
        Ok(place) if place.is_name_quoted && !place.is_far => judge(site, place.at),
        Ok(_) => Verdict::No,
        Err(verdict) => verdict,
    }
}

/// The value that begins here, in quotes or not.
pub(super) fn judge(site: &Site<'_>, at: usize) -> Verdict {
    let quoted = opening(site.text.as_bytes(), at);
    let start = quoted.map_or(at, |it| it.1);
    let (length, open) = site.run(Class::Bearer, start);
    let inside = look(&site.text.as_bytes()[start..start + length.min(DECIDE_MAX)]);
    match open {
        _ if site.is_marker(start) || inside == Inside::Other => Verdict::No,
        _ if inside == Inside::Password => {
            // In JSON a slash may have another before it, which is not in base64.
            let rest = &site.text.as_bytes()[start..];
            let (length, tail) = match quoted {
                Some((quote, _)) => Tail::Quoted(quote).consume(rest, &[]),
                None => (length, open),
            };
            Verdict::Secret { range: start..start + length, tail }
        }
        Some(_) if length == 0 => Verdict::Waiting,
        Some(tail) if length <= DECIDE_MAX => {
            let range = start..start + length;
            Verdict::Open { range, tail, is_secret: false, is_telling: false }
        }
        _ => Verdict::No,
    }
}

/// What is inside of the first letters of a value.
fn look(value: &[u8]) -> Inside {
    let (mut bits, mut count) = (0_u32, 0);
    let mut has_name = false;
    for byte in value {
        let Some(sextet) = sextet(*byte) else { return Inside::Other };
        (bits, count) = ((bits << 6 | sextet) & 0xfff, count + 6);
        if count >= 8 {
            count -= 8;
            match bits >> count & 0xff {
                0x3a if has_name => return Inside::Password,
                0x3a | ..=0x20 | 0x7f.. => return Inside::Other,
                _ => has_name = true,
            }
        }
    }
    Inside::Name
}

fn sextet(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(value.into())
}
