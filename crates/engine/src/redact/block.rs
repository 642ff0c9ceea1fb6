//! Private keys in lines of base64, between `-----BEGIN … PRIVATE KEY-----` and its end; numbered, or all on one line.
//!
//! The two lines stay, so a reader sees what was there; what is between them goes, also if the end
//! is missing.

use std::ops::Range;

use greenroom_screen::Belongs;
use memchr::memmem;

use super::lanes::is_full;
use super::scan::{Site, Verdict};
use super::tail::{Numbered, Tail};

/// How such a block begins.
pub(super) const BEGIN: &str = "-----BEGIN ";

/// How it ends.
pub(super) const END: &str = "-----END ";

const DASHES: &str = "-----";

/// How long the name of a kind may be: `OPENSSH PRIVATE KEY` and the like.
const NAME_MAX: usize = 48;

/// How long the name of a header may be: `Proc-Type`, `DEK-Info`, `Comment`.
const HEADER_MAX: usize = 24;

/// How long all headers may be, and white space with them.
const HEADERS_MAX: usize = 1024;

/// The shortest row that is taken for one of a key by itself. Rows of terminals that wrap it are shorter than its lines.
const DENSE_MIN: usize = 16;

/// How long what is between the first and the last line may be: longer than any key in use.
const BODY_MAX: usize = 16 << 10;

/// How many lines a block has before its base64: the first, headers, and an empty one.
const HEAD_LINES: usize = 6;

/// Whether lines belong to a block that goes on below them, asked from below: nobody could tell otherwise that
/// what follows is a secret.
pub(super) fn part_of_block(cols: usize) -> impl FnMut(&str) -> Belongs {
    let (mut head, mut inside) = (HEAD_LINES, false);
    move |line| {
        let key = behind_number(line).trim();
        if !key.is_empty() && key.bytes().all(is_base64) {
            inside = true;
            // A short one may be a word, or what a program broke at the margin.
            return if key.len() < DENSE_MIN { Belongs::IfAbove } else { Belongs::Yes };
        }
        if line.contains(BEGIN) {
            return Belongs::Yes;
        }
        // A head that a program broke at the margin has any number of full rows.
        head = head.saturating_sub(usize::from(!is_full(line, cols)));
        inside |= key.ends_with('-');
        let is_head = inside || key.is_empty() || line.contains(": ");
        if is_head && head > 0 { Belongs::IfAbove } else { Belongs::No }
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// What follows the number that `cat -n` or `grep -n` put before a row.
fn behind_number(row: &str) -> &str {
    let number = row.trim_start();
    let rest = number.trim_start_matches(|it: char| it.is_ascii_digit());
    let key = rest.trim_start_matches([' ', '\t', ':', '|']);
    if rest.len() < number.len() && key.len() < rest.len() { key } else { row }
}

/// Where the block begins that may go on behind a text, if there is one.
pub(crate) fn open_block(text: &str) -> Option<usize> {
    // Forwards: that is many bytes at a time, and most texts have none.
    let begin = memmem::find_iter(text.as_bytes(), BEGIN.as_bytes()).last()?;
    memmem::find(&text.as_bytes()[begin..], END.as_bytes()).is_none().then_some(begin)
}

pub(super) fn judge(site: &Site<'_>, anchor: Range<usize>) -> Verdict {
    let rest = &site.text[anchor.end..];
    let is_name = |byte: &u8| byte.is_ascii_uppercase() || matches!(byte, b' ' | b'0'..=b'9');
    let name = rest.bytes().take_while(is_name).count();
    if name > NAME_MAX {
        return Verdict::No;
    }
    let after = &rest[name..];
    if after.len() < DASHES.len() && DASHES.starts_with(after) {
        return Verdict::Waiting;
    }
    if !rest[..name].contains("PRIVATE KEY") || !after.starts_with(DASHES) {
        return Verdict::No;
    }
    body(site, anchor.end + name + DASHES.len())
}

/// The lines above the last one of a block: its first may have been left behind by a pager, or by `tail`.
pub(super) fn judge_end(site: &Site<'_>, anchor: Range<usize>) -> Verdict {
    let rest = &site.text[anchor.end..];
    let name = rest.find(DASHES).filter(|name| *name <= NAME_MAX);
    if !name.is_some_and(|name| rest[..name].contains("PRIVATE KEY")) {
        return Verdict::No;
    }
    let least = site.text.floor_char_boundary(anchor.start.saturating_sub(BODY_MAX));
    let above = &site.text[least..anchor.start];
    let (mut found, mut was_short): (Option<Range<usize>>, bool) = (None, false);
    let mut end = above.rfind('\n').unwrap_or(0);
    let is_indent = |it: char| it.is_ascii_digit() || it.is_ascii_whitespace() || ":|".contains(it);
    if !above[end..].chars().all(is_indent) {
        return Verdict::No;
    }
    while end > 0 {
        let begin = above[..end].rfind('\n').map_or(0, |at| at + 1);
        let line = above[begin..end].trim_end_matches('\r');
        // A pager has taken its own line away from before this one.
        let row = line.rsplit_once('\r').map_or(line, |(_, row)| row);
        let key = behind_number(row).trim();
        if !key.is_empty() {
            // A short one is a word above the key, or what a program broke at the margin between two long ones.
            let is_short = key.len() < DENSE_MIN && found.is_some();
            if !key.bytes().all(is_base64) || (is_short && was_short) {
                break;
            }
            if !is_short {
                let last = least + begin + (line.len() - row.len()) + row.trim_end().len();
                found = Some(last - key.len()..found.map_or(last, |below| below.end));
            }
            was_short = is_short;
        }
        end = begin.saturating_sub(1);
    }
    found.map_or(Verdict::No, |range| Verdict::Secret { range, tail: None })
}

/// What follows the first line, behind headers.
fn body(site: &Site<'_>, first: usize) -> Verdict {
    let mut start = first;
    // All on one line, as a shell puts what it is not told to keep in lines.
    let mut is_flat;
    loop {
        let blanks = breaks(&site.text[start..]);
        is_flat = blanks > 0 && site.text[first..start + blanks].bytes().all(|it| it == b' ');
        start += blanks;
        let rest = &site.text[start..];
        if start - first > HEADERS_MAX || site.is_marker(start) {
            return Verdict::No;
        }
        if rest.is_empty() || rest == "\\" {
            return Verdict::Waiting;
        }
        let name = rest.bytes().take_while(|it| it.is_ascii_alphabetic() || *it == b'-').count();
        match rest.as_bytes().get(name) {
            Some(b':') if name > 0 && name <= HEADER_MAX => {
                match rest.bytes().take(HEADERS_MAX).position(|it| it == b'\n') {
                    Some(end) => start += end + 1,
                    None if rest.len() < HEADERS_MAX => return Verdict::Waiting,
                    None => return Verdict::No,
                }
            }
            None if name <= HEADER_MAX => {
                let is_secret = !rest.contains('-');
                let range = start..site.text.len();
                let tail =
                    if is_flat { Tail::Flat(name) } else { Tail::Block(Numbered::default()) };
                return Verdict::Open { range, tail, is_secret, is_telling: false };
            }
            _ => break,
        }
    }
    let tail = if is_flat { Tail::Flat(0) } else { Tail::Block(Numbered::LINE) };
    let (length, tail) = tail.consume(&site.text.as_bytes()[start..], &[]);
    match length {
        0 => Verdict::No,
        _ => Verdict::Secret { range: start..start + length, tail },
    }
}

/// How long the white space at the beginning is. In JSON, the end of a line is written `\n`.
fn breaks(text: &str) -> usize {
    let mut rest = text;
    loop {
        let next = rest.trim_start_matches(|it: char| it.is_ascii_whitespace());
        let next = next.trim_start_matches("\\n").trim_start_matches("\\r");
        if next.len() == rest.len() {
            return text.len() - rest.len();
        }
        rest = next;
    }
}
