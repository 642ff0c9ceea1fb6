//! The password in `scheme://user:password@host`.

use std::ops::Range;

use super::code;
use super::scan::{Site, Verdict};
use super::tail::{Class, Tail};

/// How long a user's name may be, in bytes.
const USER_MAX: usize = 128;

/// How long the password and the host may be, in bytes. Tokens that are used here say what they are.
const PASSWORD_MAX: usize = 512;

pub(super) fn judge(site: &Site<'_>, anchor: Range<usize>) -> Verdict {
    let rest = &site.text.as_bytes()[anchor.end..];
    let user = rest.iter().take_while(|byte| is_user(**byte)).count();
    match rest.get(user) {
        _ if user > USER_MAX => return Verdict::No,
        None => return Verdict::Waiting,
        Some(b':') => {}
        Some(_) => return Verdict::No,
    }
    let start = anchor.end + user + 1;
    let rest = &site.text.as_bytes()[start..];
    let length = rest.iter().take_while(|byte| is_authority(**byte)).count();
    let is_open = length == rest.len();
    if length > PASSWORD_MAX || site.is_marker(start) {
        return Verdict::No;
    }
    // A password may have an `@` of its own, a host may not.
    let end = rest[..length].iter().rposition(|byte| *byte == b'@');
    let password = &site.text[start..start + end.unwrap_or(length)];
    let is_named = code::is_placeholder(password);
    match end {
        _ if is_open && length == 0 => Verdict::Waiting,
        _ if is_open && site.more => {
            let tail = Tail::While(Class::Password);
            let is_port = length < 6 && password.bytes().all(|byte| byte.is_ascii_digit());
            let range = start..site.text.len();
            Verdict::Open { range, tail, is_secret: false, is_telling: !is_port && !is_named }
        }
        Some(end) if end > 0 && !is_named => {
            Verdict::Secret { range: start..start + end, tail: None }
        }
        _ => Verdict::No,
    }
}

fn is_user(byte: u8) -> bool {
    is_authority(byte) && !matches!(byte, b':' | b'@' | b'[' | b'(')
}

fn is_authority(byte: u8) -> bool {
    byte > b' ' && byte != 0x7f && !b"/\"'<>`\\".contains(&byte)
}
