//! A method of a door has a heading in its document and a transcript, and the other way round.

use std::collections::BTreeSet;

use anyhow::Result;

use super::checkout::Checkout;

/// The table of methods, the document, and the folder of transcripts of each door.
const DOORS: &[(&str, &str, &str)] = &[(
    "crates/door-carryon/src/methods.rs",
    "docs/protocol/native.md",
    "crates/door-carryon/tests/transcripts/",
)];

/// Transcripts that are about no one method.
const GENERAL: &[&str] = &["errors"];

pub(super) fn are_documented_and_played(checkout: &Checkout) -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for (table, document, transcripts) in DOORS {
        let (Some(source), Some(text)) = (checkout.file(table), checkout.file(document)) else {
            complaints.push(format!("`{table}` or `{document}` is not there"));
            continue;
        };
        let methods = in_table(&source.text);
        let played: BTreeSet<&str> = checkout
            .files
            .iter()
            .filter_map(|file| file.path.strip_prefix(transcripts)?.strip_suffix(".txt"))
            .filter(|name| !GENERAL.contains(name))
            .collect();
        complaints.extend(compare(&methods, &headings(&text.text), document));
        complaints.extend(compare(&methods, &played, transcripts));
    }
    Ok(complaints)
}

/// What stands in `method!("NAME", …)`.
fn in_table(source: &str) -> BTreeSet<&str> {
    let rows = source.lines().filter_map(|line| line.trim().strip_prefix("method!(\""));
    rows.filter_map(|row| row.split('"').next()).collect()
}

/// The first words of headings that look like a method: with a dot in them.
fn headings(document: &str) -> BTreeSet<&str> {
    let headings = document.lines().filter_map(|line| line.strip_prefix("### "));
    headings.filter_map(|it| it.split_whitespace().next()).filter(|it| it.contains('.')).collect()
}

fn compare(methods: &BTreeSet<&str>, found: &BTreeSet<&str>, place: &str) -> Vec<String> {
    let missing = methods.difference(found).map(|it| format!("`{it}` is not in {place}"));
    let unknown = found.difference(methods).map(|it| format!("{place} has `{it}`, no door does"));
    missing.chain(unknown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_on_either_side_is_named() {
        let methods = in_table("    method!(\"a.one\", x),\n    method!(\"a.two\", y),\n");
        let found = headings("### a.two `{}`\n### Frames\n### a.three\n");
        let complaints = compare(&methods, &found, "here");
        assert_eq!(complaints, ["`a.one` is not in here", "here has `a.three`, no door does"]);
    }
}
