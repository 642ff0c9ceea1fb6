//! Passwords as some programs take them, with no name that says so: `curl -u bob:abc`, `mysql -pabc`,
//! `sshpass -p abc`, SQL's `IDENTIFIED BY 'abc'` and a netrc's `login bob password abc`.
//!
//! A rule begins at the program's name and looks ahead, so that a stream keeps what it needs.

use std::ops::Range;

use super::code;
use super::keyed::{DECIDE_MAX, judge_quoted, opening};
use super::scan::{Site, Verdict};
use super::tail::Class;

/// How far behind the name of a program its option may be: a long address and some headers.
const REACH: usize = 512;

/// How long the name of a user may be, or the white space between two words.
const USER_MAX: usize = 64;

/// How long the name of a machine may be: as long as DNS allows.
const HOST_MAX: usize = 253;

/// A program, and the option its password stands behind.
pub(super) struct Command {
    pub(super) name: &'static str,
    options: &'static [&'static str],
    /// Whether the name of a user and a colon stand before it.
    has_user: bool,
    /// Whether it may be the next word; otherwise the program asks for it.
    is_apart: bool,
}

pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "curl",
        options: &["-u", "--user", "--proxy-user"],
        has_user: true,
        is_apart: true,
    },
    Command { name: "mysql", options: &["-p"], has_user: false, is_apart: false },
    Command { name: "sshpass", options: &["-p"], has_user: false, is_apart: true },
];

/// Before a password in SQL.
pub(super) const IDENTIFIED: &str = "identified by";

/// What an entry of a netrc begins with.
pub(super) const MACHINE: &str = "machine";

pub(super) fn judge(site: &Site<'_>, anchor: Range<usize>) -> Verdict {
    let command = COMMANDS.iter().find(|it| it.name == &site.text[anchor.clone()]);
    let Some(command) = command.filter(|_| site.is_word_start(anchor.start)) else {
        return Verdict::No;
    };
    let end = site.text.floor_char_boundary(anchor.end.saturating_add(REACH));
    let line = &site.text[anchor.end..end];
    let line = &line[..line.find(['\n', '\r', '|', ';']).unwrap_or(line.len())];
    let mut at = anchor.end;
    for word in line.split_inclusive(' ') {
        let rest = command.options.iter().find_map(|it| word.strip_prefix(it));
        match rest.filter(|_| at > anchor.end) {
            // The password is the next word.
            Some(" " | "") if command.is_apart => return value(site, at + word.len(), command),
            Some("") if at + word.len() == site.text.len() => return Verdict::Waiting,
            Some(" " | "") => return Verdict::No,
            Some(rest) if !word.starts_with("--") => {
                return value(site, at + word.len() - rest.len(), command);
            }
            _ => at += word.len(),
        }
    }
    if at == site.text.len() { Verdict::Waiting } else { Verdict::No }
}

/// The password of a command, which begins here, or behind the user's name.
fn value(site: &Site<'_>, at: usize, command: &Command) -> Verdict {
    let bytes = site.text.as_bytes();
    let quoted = opening(bytes, at);
    let mut start = quoted.map_or(at, |it| it.1);
    if command.has_user {
        let is_user = |it: &&u8| it.is_ascii_graphic() && !b":'\"/$<>|;&".contains(it);
        let user = bytes[start..].iter().take_while(is_user).count();
        match bytes.get(start + user) {
            None if user <= USER_MAX => return Verdict::Waiting,
            Some(b':') if user <= USER_MAX => start += user + 1,
            _ => return Verdict::No,
        }
    }
    match quoted {
        Some((quote, _)) => judge_quoted(site, command.name, start, quote),
        None => plain(site, start),
    }
}

/// What is written here without quotes.
fn plain(site: &Site<'_>, start: usize) -> Verdict {
    let (length, tail) = site.run(Class::Value, start);
    let range = start..start + length;
    let value = &site.text[range.clone()];
    let is_harmless = || {
        // `-p3306:3306` are ports, of a container that is called like the program.
        let is_ports =
            value.contains(':') && value.bytes().all(|it| it.is_ascii_digit() || it == b':');
        is_ports
            || code::is_placeholder(value)
            || code::is_path(value)
            || value.starts_with(['-', '[', '('])
    };
    match tail {
        Some(_) if length == 0 => Verdict::Waiting,
        _ if length == 0 || site.is_marker(start) => Verdict::No,
        Some(tail) if length <= DECIDE_MAX => {
            Verdict::Open { range, tail, is_secret: !is_harmless(), is_telling: false }
        }
        None if length <= DECIDE_MAX && is_harmless() => Verdict::No,
        _ => Verdict::Secret { range, tail },
    }
}

pub(super) fn identified(site: &Site<'_>, anchor: Range<usize>) -> Verdict {
    let bytes = site.text.as_bytes();
    match bytes.get(anchor.end..anchor.end + 2) {
        None => Verdict::Waiting,
        Some([b' ', b'\'' | b'"']) => match opening(bytes, anchor.end + 1) {
            Some((quote, start)) => judge_quoted(site, IDENTIFIED, start, quote),
            None => Verdict::No,
        },
        Some(_) => Verdict::No,
    }
}

/// The words of a netrc before a password; one that is empty may be any.
const NETRC: [&str; 4] = ["", "login", "", "password"];

/// `machine HOST login NAME password VALUE`, on one line or on several.
pub(super) fn netrc(site: &Site<'_>, anchor: Range<usize>) -> Verdict {
    let bytes = site.text.as_bytes();
    let blanks = |at: usize| bytes[at..].iter().take_while(|it| it.is_ascii_whitespace()).count();
    let mut at = anchor.end;
    for expected in NETRC {
        let start = at + blanks(at);
        let length = bytes[start..].iter().take_while(|it| it.is_ascii_graphic()).count();
        let word = &bytes[start..start + length];
        let is_cut = start + length == bytes.len();
        let is_right = expected.is_empty() || word == expected.as_bytes();
        let is_begun = expected.is_empty() || expected.as_bytes().starts_with(word);
        match start - at {
            blank if blank > USER_MAX || length > HOST_MAX => return Verdict::No,
            0 if start < bytes.len() => return Verdict::No,
            _ if is_cut && is_begun => return Verdict::Waiting,
            _ if !is_right => return Verdict::No,
            _ => at = start + length,
        }
    }
    let start = at + blanks(at);
    if start - at > USER_MAX { Verdict::No } else { plain(site, start) }
}
