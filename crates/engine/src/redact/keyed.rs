//! Values that are called a secret by the name in front: `token=abc`, `"api_key": "abc"`.
//!
//! The name may have anything in front (`GITHUB_TOKEN`) but nothing behind (`tokenizer`). Directly
//! behind `=`, everything is a value, as ptywright has it. With white space around, or behind `:`,
//! it may as well be source code or prose; [`code`] knows what those look like. Behind a blank it is one
//! only if the name is an option, as in `--token abc`.

use std::ops::Range;

use super::assigned::{self, Joined, Target};
use super::basic;
use super::code;
use super::scan::{Site, Verdict};
use super::tail::{Class, Quote, Tail};
use super::typed::{self, Typed};

/// What a secret is called, at the end of a name and in any case.
pub(super) const NAMES: &[&str] = &[
    "token",
    "secret",
    PASSWORD,
    "passwd",
    "passphrase",
    "_pass",
    PWD,
    AUTH,
    "credential",
    AUTHORIZATION,
    "api_key",
    "api-key",
    "apikey",
    "access_key",
    "access-key",
    ACCESSKEY,
    "secret_key",
    "secret-key",
    "secretkey",
    "secret_key_base",
    "private_key",
    "private-key",
    "privatekey",
    "account_key",
    "account-key",
    "accountkey",
    "auth_key",
    "auth-key",
    "encryption_key",
    "encryption-key",
    "signing_key",
    "signing-key",
];

const PASSWORD: &str = "password";

const ACCESSKEY: &str = "accesskey";

const AUTHORIZATION: &str = "authorization";

/// In connection strings; for shells it is a folder, and a program of that name has messages.
const PWD: &str = "pwd";

/// The shortest name of a password that ends so. Shorter ones are of switches.
const PWD_VARIABLE: &str = "db_pwd";

/// Names that end so and are of folders.
const FOLDERS: &[&str] = &["init_pwd", "last_pwd", "orig_pwd", "prev_pwd", "start_pwd"];

/// What npm calls a user and a password; only few others have a secret behind it.
const AUTH: &str = "_auth";

/// They do.
const AUTHS: &[&str] = &["redis_auth", "rediscli_auth"];

/// Names that are not declared with a type: what is in quotes behind a word is a parameter of theirs, or a folder.
const UNTYPED: &[&str] = &[AUTHORIZATION, AUTH, PWD];

/// What stands before the secret in an `Authorization` header.
const SCHEMES: &[&str] = &["basic", "bearer", "token", "negotiate", "apikey", "digest"];

/// How much white space may be around the sign between name and value: columns that are lined up.
pub(super) const GAP_MAX: usize = 48;

/// How many backslashes may be before a quote: text in text in text.
const DEPTH_MAX: usize = 7;

/// Within how many bytes a value shows that it is none. Longer ones are secrets.
pub(super) const DECIDE_MAX: usize = 64;

/// How much of the text before a name may matter: what the name begins with, and what is before that.
pub(super) const BEFORE_MAX: usize = DECIDE_MAX + assigned::BEFORE_MAX;

/// How long a value between two tags may be: longer than keys are, shorter than what a stream holds back.
const TAGGED_MAX: usize = 1024;

/// How long a value must be that is on the line below its name: longer than the words of a next sentence.
const FAR_LEAST: usize = 20;

/// Where a value begins, and how.
pub(super) struct Place {
    pub(super) at: usize,
    /// Whether nothing but `=` is between name and value.
    is_tight: bool,
    pub(super) is_name_quoted: bool,
    /// Whether a line ends between name and value.
    pub(super) is_far: bool,
}

pub(super) fn judge(site: &Site<'_>, anchor: Range<usize>) -> Verdict {
    if let Some(at) = option_value(site.text.as_bytes(), anchor.end) {
        return judge_option(site, anchor, at);
    }
    if is_tag(site.text.as_bytes(), anchor.end) {
        return judge_tagged(site, anchor.end + 1);
    }
    if let Some((quote, start)) = sql_value(site.text, anchor.clone()) {
        return judge_quoted(site, PASSWORD, start, quote);
    }
    let bytes = site.text.as_bytes();
    let anchor_end = anchor.end;
    let name = &site.text[anchor];
    let place = match find_value(bytes, anchor_end) {
        Ok(place) => place,
        Err(Verdict::No) => {
            return judge_typed(site, name, typed::behind_name(bytes, anchor_end));
        }
        Err(verdict) => return verdict,
    };
    let whole = whole_name(site.text, anchor_end);
    match name.to_ascii_lowercase().as_str() {
        AUTH if place.is_far => return Verdict::No,
        AUTH if site.is_word_start(anchor_end - AUTH.len()) => return basic::judge(site, place.at),
        AUTH if !AUTHS.iter().any(|it| it.eq_ignore_ascii_case(whole)) => return Verdict::No,
        PWD if !place.is_far && !is_called_pwd(site, anchor_end, &place) => return Verdict::No,
        _ if place.is_far => return judge_far(site, place.at),
        _ => {}
    }
    if let Some((quote, start)) = opening(bytes, place.at) {
        return judge_opened(site, name, &place, start, quote);
    }
    let sign = site.text[..place.at].trim_end_matches([' ', '\t']);
    let before = &site.text[..anchor_end - whole.len()];
    let is_apart = !place.is_tight && sign.ends_with('=');
    match judge_plain(site, &Target { name, whole, before, is_apart }, &place) {
        Verdict::No if !place.is_name_quoted && sign.ends_with(':') => {
            judge_typed(site, name, typed::behind_colon(bytes, place.at))
        }
        verdict => verdict,
    }
}

/// A text behind the type of a name.
fn judge_typed(site: &Site<'_>, name: &str, typed: Typed) -> Verdict {
    match typed {
        Typed::No => Verdict::No,
        Typed::Begun => Verdict::Waiting,
        Typed::Text(..) if UNTYPED.iter().any(|it| it.eq_ignore_ascii_case(name)) => Verdict::No,
        Typed::Text(quote, start) => judge_tripled(site, name, start, quote),
    }
}

/// What follows a quote, which may be one that closes a text.
fn judge_opened(site: &Site<'_>, name: &str, place: &Place, start: usize, quote: Quote) -> Verdict {
    let next = site.text.as_bytes().get(start);
    let ends = |it: &u8| b");],}".contains(it) || (!place.is_tight && *it == b' ');
    // It closes a text that ends in a name, as in `print("Password: ")`.
    if !place.is_name_quoted && next.is_some_and(ends) {
        return Verdict::No;
    }
    judge_tripled(site, name, skip_scheme(site, name, start), quote)
}

/// A text that may be in three quotes, which end where one does: few have another inside.
fn judge_tripled(site: &Site<'_>, name: &str, start: usize, quote: Quote) -> Verdict {
    match site.text.as_bytes()[start..] {
        [mark] if mark == quote.mark => Verdict::Waiting,
        [mark, next, ..] if mark == quote.mark && next == mark => {
            judge_quoted(site, name, start + 2, quote)
        }
        _ => judge_quoted(site, name, start, quote),
    }
}

/// Where the value of an option begins whose name ends here, if it is one: behind one blank, for more
/// are the columns of a list of options.
fn option_value(bytes: &[u8], name_end: usize) -> Option<usize> {
    let is_part = |it: &u8| it.is_ascii_alphanumeric() || matches!(*it, b'_' | b'-');
    let name = bytes[..name_end].iter().rev().take(DECIDE_MAX).take_while(|it| is_part(it)).count();
    let is_option = bytes[name_end - name..].starts_with(b"--");
    let next = bytes.get(name_end + 1).filter(|next| !b":=- \t\r\n".contains(next));
    let has_value = bytes.get(name_end) == Some(&b' ') && next.is_some();
    (is_option && has_value).then_some(name_end + 1)
}

/// The value of an option. In a manual or a sentence, what follows the name may be a word about it.
fn judge_option(site: &Site<'_>, anchor: Range<usize>, at: usize) -> Verdict {
    let name = &site.text[anchor];
    if let Some((quote, start)) = opening(site.text.as_bytes(), at) {
        // It closes a text that ends in an option.
        let ends = |it: &u8| b" );],}".contains(it);
        let is_closing = site.text.as_bytes().get(start).is_some_and(ends);
        return if is_closing { Verdict::No } else { judge_quoted(site, name, start, quote) };
    }
    let (length, tail) = site.run(Class::Value, at);
    let range = at..at + length;
    let value = &site.text[range.clone()];
    let is_harmless = || {
        code::is_placeholder(value) || code::is_path(value) || code::is_said_of_options(value, name)
    };
    match tail {
        _ if length == 0 || site.is_marker(at) => Verdict::No,
        Some(tail) if length <= DECIDE_MAX => {
            Verdict::Open { range, tail, is_secret: !is_harmless(), is_telling: false }
        }
        None if length <= DECIDE_MAX && is_harmless() => Verdict::No,
        _ => Verdict::Secret { range, tail },
    }
}

/// Whether a name that ends here is a tag's, as in `<password>`.
fn is_tag(bytes: &[u8], name_end: usize) -> bool {
    let is_part = |it: &u8| it.is_ascii_alphanumeric() || matches!(*it, b'_' | b'-' | b'.' | b':');
    let name = bytes[..name_end].iter().rev().take(DECIDE_MAX).take_while(|it| is_part(it)).count();
    bytes.get(name_end) == Some(&b'>') && bytes[..name_end - name].ends_with(b"<")
}

/// What is between a tag and its end.
fn judge_tagged(site: &Site<'_>, start: usize) -> Verdict {
    let (length, _) = site.run(Class::Tagged, start);
    let range = start..start + length;
    let rest = &site.text.as_bytes()[range.end..];
    let is_harmless = code::is_placeholder(&site.text[range.clone()]);
    match rest {
        [] if length == 0 => Verdict::Waiting,
        _ if length == 0 || length > TAGGED_MAX || is_harmless || site.is_marker(start) => {
            Verdict::No
        }
        [] | [b'<'] => {
            let tail = Tail::While(Class::Tagged);
            Verdict::Open { range, tail, is_secret: false, is_telling: true }
        }
        [b'<', b'/', ..] => Verdict::Secret { range, tail: None },
        _ => Verdict::No,
    }
}

/// Where the text begins that follows `PASSWORD` in SQL, in capitals and behind one blank.
fn sql_value(text: &str, anchor: Range<usize>) -> Option<(Quote, usize)> {
    let is_sql = text[anchor.clone()] == *"PASSWORD" && text[anchor.end..].starts_with(" '");
    if is_sql { opening(text.as_bytes(), anchor.end + 1) } else { None }
}

/// Goes from the end of a name to its value.
pub(super) fn find_value(bytes: &[u8], name_end: usize) -> Result<Place, Verdict> {
    let (mut at, is_name_quoted) = close_name(bytes, name_end)?;
    let before = blanks(&bytes[at..]);
    at += before;
    let mut is_tight = before == 0;
    match (bytes.get(at), bytes.get(at + 1)) {
        (None, _) | (Some(b':' | b'='), None) => return Err(Verdict::Waiting),
        (Some(b'='), Some(b'=' | b'~')) | (Some(b':'), Some(b':')) => return Err(Verdict::No),
        (Some(b'='), Some(b'>')) | (Some(b':'), Some(b'=')) => {
            is_tight = false;
            at += 2;
        }
        (Some(b'='), _) => at += 1,
        (Some(b':'), _) => {
            is_tight = false;
            at += 1;
        }
        _ => return Err(Verdict::No),
    }
    let after = bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let is_far = bytes[at..at + after].iter().any(|byte| matches!(byte, b'\n' | b'\r'));
    match bytes.get(at + after) {
        _ if before.max(after) > GAP_MAX => Err(Verdict::No),
        None => Err(Verdict::Waiting),
        Some(_) => {
            Ok(Place { at: at + after, is_tight: is_tight && after == 0, is_name_quoted, is_far })
        }
    }
}

/// Steps over the quote behind a name, and the bracket of `env["TOKEN"]`.
fn close_name(bytes: &[u8], at: usize) -> Result<(usize, bool), Verdict> {
    let slashes = bytes[at..].iter().take_while(|byte| **byte == b'\\').count();
    let end = at + slashes;
    match bytes.get(end) {
        None => Err(Verdict::Waiting),
        Some(b'"' | b'\'') if bytes.get(end + 1) == Some(&b']') => Ok((end + 2, false)),
        Some(b'"' | b'\'') => Ok((end + 1, true)),
        Some(byte) if slashes > 0 || byte.is_ascii_alphanumeric() || *byte == b'_' => {
            Err(Verdict::No)
        }
        Some(_) => Ok((end, false)),
    }
}

fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// The quote that opens a value, with the letters that say what kind of text it is.
pub(super) fn opening(bytes: &[u8], at: usize) -> Option<(Quote, usize)> {
    let letters = bytes[at..].iter().take_while(|byte| b"bBrRuUfF$@".contains(byte)).count();
    let from = if letters <= 2 { at + letters } else { at };
    let depth = bytes[from..].iter().take(DEPTH_MAX).take_while(|it| **it == b'\\').count();
    match bytes.get(from + depth) {
        Some(&mark @ (b'"' | b'\'')) => Some((Quote { mark, depth, slashes: 0 }, from + depth + 1)),
        _ => None,
    }
}

/// Steps over the scheme of an `Authorization` header: it is no secret.
fn skip_scheme(site: &Site<'_>, name: &str, start: usize) -> usize {
    let rest = &site.text.as_bytes()[start..];
    let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let word = &site.text[start..start + length];
    let blank = blanks(&rest[length..]);
    if blank > 0 && is_scheme(name, word) { start + length + blank } else { start }
}

fn is_scheme(name: &str, word: &str) -> bool {
    name.eq_ignore_ascii_case(AUTHORIZATION)
        && SCHEMES.iter().any(|scheme| scheme.eq_ignore_ascii_case(word))
}

pub(super) fn judge_quoted(site: &Site<'_>, name: &str, start: usize, quote: Quote) -> Verdict {
    let rest = &site.text.as_bytes()[start..];
    let (length, tail) = Tail::Quoted(quote).consume(rest, &[]);
    let range = start..start + length;
    let value = &site.text[range.clone()];
    let is_closed = tail.is_some() || !matches!(rest.get(length), Some(b'\n' | b'\r'));
    let is_harmless = || {
        code::is_placeholder(value)
            || code::is_named_alike(value, name)
            || code::is_color(value)
            || assigned::is_joined_without_blanks(value, is_closed)
            // The text is on the lines below; if it is a key, `block` finds it.
            || value == "\\"
            || (value.starts_with("-----BEGIN ") && value.ends_with("-----"))
            // A key of the keyboard, in HTML.
            || (name.eq_ignore_ascii_case(ACCESSKEY) && length == 1)
    };
    match tail {
        Some(_) if length == 0 => Verdict::Waiting,
        _ if length == 0 || site.is_marker(start) => Verdict::No,
        _ if assigned::is_joined(value) == Joined::Yes => Verdict::No,
        Some(tail) if assigned::is_joined(value) == Joined::Perhaps => {
            Verdict::Open { range, tail, is_secret: false, is_telling: false }
        }
        Some(tail) if length <= DECIDE_MAX => {
            let is_secret = !is_harmless();
            Verdict::Open { range, tail, is_secret, is_telling: false }
        }
        None if length <= DECIDE_MAX && is_harmless() => Verdict::No,
        _ => Verdict::Secret { range, tail },
    }
}

fn judge_plain(site: &Site<'_>, target: &Target<'_>, place: &Place) -> Verdict {
    let Target { name, whole, .. } = *target;
    let start = skip_scheme(site, name, place.at);
    let (length, tail) = site.run(Class::Value, start);
    let range = start..start + length;
    let value = &site.text[range.clone()];
    let first = &value[..value.floor_char_boundary(DECIDE_MAX)];
    if site.is_marker(start) || code::is_expression(first, place.is_tight) {
        return Verdict::No;
    }
    let is_harmless = || {
        code::is_placeholder(value)
            || code::is_path(value)
            || is_scheme(name, value)
            || code::is_amount(value, whole)
            || code::is_color(value)
            || code::is_call(value, site.text.as_bytes().get(start + length))
            || (whole.contains('_') && value.trim_end_matches([')', ';']) == whole)
            || target.is_given_name(value)
            || (!place.is_tight && code::is_word(value, name))
    };
    match tail {
        Some(_) if length == 0 => Verdict::Waiting,
        _ if length == 0 => Verdict::No,
        Some(tail) if length <= DECIDE_MAX => {
            let is_secret = !is_harmless();
            Verdict::Open { range, tail, is_secret, is_telling: false }
        }
        None if length <= DECIDE_MAX && is_harmless() => Verdict::No,
        _ => Verdict::Secret { range, tail },
    }
}

/// Whether `pwd` is a password here: in `Uid=sa;Pwd=abc` and in what is written like it, and in `MYSQL_PWD=abc`.
fn is_called_pwd(site: &Site<'_>, name_end: usize, place: &Place) -> bool {
    let is_folder = |byte: &u8| b"/~.$`".contains(byte);
    let whole = whole_name(site.text, name_end);
    let is_connection =
        whole.len() == PWD.len() && site.text[..name_end - PWD.len()].ends_with(';');
    let is_variable = whole.len() >= PWD_VARIABLE.len()
        && whole[..whole.len() - PWD.len()].ends_with('_')
        && !FOLDERS.iter().any(|folder| folder.eq_ignore_ascii_case(whole));
    (is_connection || is_variable)
        && place.is_tight
        && !site.text.as_bytes().get(place.at).is_some_and(is_folder)
}

/// The name with all that is in front, as in `GITHUB_TOKEN`.
///
/// It is not passed to itself as a secret: `f(auth_token=auth_token)`.
fn whole_name(text: &str, end: usize) -> &str {
    let is_part = |it: &u8| it.is_ascii_alphanumeric() || *it == b'_';
    let length = text.as_bytes()[..end].iter().rev().take(DECIDE_MAX).take_while(|it| is_part(it));
    &text[end - length.count()..end]
}

/// A value on a line below is one only if it looks like nothing else.
fn judge_far(site: &Site<'_>, start: usize) -> Verdict {
    let (length, tail) = site.run(Class::Bearer, start);
    let value = &site.text.as_bytes()[start..start + length.min(DECIDE_MAX)];
    let is_mixed =
        value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic);
    let is_strong = is_mixed && !matches!(value, [b'/' | b'.' | b'-', ..]);
    let range = start..start + length;
    match tail {
        _ if is_strong && length >= FAR_LEAST => Verdict::Secret { range, tail },
        Some(tail) if length <= DECIDE_MAX => {
            let is_telling = is_strong && length >= FAR_LEAST / 2;
            Verdict::Open { range, tail, is_secret: false, is_telling }
        }
        _ => Verdict::No,
    }
}
