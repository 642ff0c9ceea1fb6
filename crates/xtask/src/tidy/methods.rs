//! A method of a door has a heading in its document and a transcript, and the other way round.

use std::collections::BTreeSet;

use anyhow::Result;

use super::checkout::Checkout;

/// The table of methods, the document, and the folder of transcripts of each door.
const DOORS: &[(&str, &str, &str)] = &[
    (
        "crates/door-carryon/src/methods.rs",
        "docs/protocol/native.md",
        "crates/door-carryon/tests/transcripts/",
    ),
    (
        "crates/door-ptywright/src/methods.rs",
        "docs/protocol/ptywright.md",
        "crates/door-ptywright/tests/transcripts/",
    ),
];

/// Transcripts that are about no one method.
const GENERAL: &[&str] = &["errors", "denied"];

pub(super) fn are_documented_and_played(checkout: &Checkout) -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for (table, document, transcripts) in DOORS {
        let (Some(source), Some(text)) = (checkout.file(table), checkout.file(document)) else {
            complaints.push(format!("`{table}` or `{document}` is not there"));
            continue;
        };
        let methods = in_table(&source.text);
        if methods.is_empty() {
            complaints.push(format!("`{table}` has no methods that this rule can read"));
        }
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

/// What stands in `method!("NAME", …)`, and in `"NAME" => function,` of a `methods!` table.
fn in_table(source: &str) -> BTreeSet<&str> {
    let rows = source.lines().map(str::trim).filter_map(|line| match line.strip_prefix('"') {
        Some(row) if line.contains("\" => ") => Some(row),
        _ => line.strip_prefix("method!(\""),
    });
    rows.filter_map(|row| row.split('"').next()).filter(|it| it.contains('.')).collect()
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
        assert_eq!(
            methods,
            in_table("methods! {\n    \"a.one\" => a::one,\n    \"a.two\" => a::two,\n}")
        );
        let found = headings("### a.two `{}`\n### Frames\n### a.three\n");
        let complaints = compare(&methods, &found, "here");
        assert_eq!(complaints, ["`a.one` is not in here", "here has `a.three`, no door does"]);
    }
}
