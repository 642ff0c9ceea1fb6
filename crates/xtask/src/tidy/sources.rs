//! What every source file keeps to: a purpose, a size, nothing unfinished, no home folder.

use anyhow::Result;

use super::checkout::{Checkout, TextFile};
use crate::unicode;

/// Past this a file is usually two.
const LINES_MAX: usize = 700;

/// Macros that say that something is missing or was only tried. clippy knows them as well, but
/// not in a crate that forgot to take the lints of the workspace.
const UNFINISHED: &[&str] = &["dbg!", "todo!", "unimplemented!"];

/// Where the homes of people are. What follows must be a name: this list is no home folder.
const HOMES: &[&str] = &["/home/", "/root/", "/Users/"];

pub(super) fn open_with_their_purpose(checkout: &Checkout) -> Result<Vec<String>> {
    let sources = checkout.sources().filter(|file| file.path.contains("/src/"));
    let silent = sources.filter(|file| !file.text.starts_with("//! "));
    Ok(silent.map(|it| format!("{}: does not open with `//!`, its purpose", it.path)).collect())
}

pub(super) fn are_short(checkout: &Checkout) -> Result<Vec<String>> {
    let written = checkout.sources().filter(|file| file.path != unicode::TABLES);
    let counted = written.map(|file| (&file.path, file.text.lines().count()));
    let long = counted.filter(|(_, lines)| *lines > LINES_MAX);
    Ok(long.map(|(path, lines)| format!("{path}: {lines} lines; {LINES_MAX} are enough")).collect())
}

pub(super) fn are_finished(checkout: &Checkout) -> Result<Vec<String>> {
    let calls = |line: &str| UNFINISHED.iter().any(|name| has_call(line, name));
    Ok(complain(checkout.sources(), calls, "says that something is missing"))
}

pub(super) fn name_no_home(checkout: &Checkout) -> Result<Vec<String>> {
    Ok(complain(checkout.files.iter(), has_home, "names somebody's home folder"))
}

/// A complaint for each line that is `bad`.
fn complain<'a>(
    files: impl Iterator<Item = &'a TextFile>,
    bad: impl Fn(&str) -> bool,
    what: &str,
) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in files {
        for (number, _) in (1..).zip(file.text.lines()).filter(|(_, line)| bad(line)) {
            complaints.push(format!("{}:{number}: {what}", file.path));
        }
    }
    complaints
}

/// Whether a line calls the macro, not only one whose name ends like it.
pub(super) fn has_call(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let is_whole = !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        is_whole && line[at + name.len()..].starts_with(['(', '[', '{'])
    })
}

/// Whether a line has the path of a home folder; the end of a longer path is none.
pub(super) fn has_home(line: &str) -> bool {
    HOMES.iter().flat_map(|home| line.match_indices(home)).any(|(at, home)| {
        let is_absolute =
            !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-~}".contains(c));
        is_absolute
            && line[at + home.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '.')
    })
}
