//! A method of a door has a heading in its documents and a transcript, and the other way round; and
//! what documents show as said is said in a transcript.

use std::collections::BTreeSet;

use anyhow::Result;

use super::checkout::Checkout;

/// The table of methods, the documents, and the folder of transcripts of each door.
const DOORS: &[(&str, &[&str], &str)] = &[
    (
        "crates/door-carryon/src/methods.rs",
        &["docs/protocol/native.md", "docs/protocol/carryon.md"],
        "crates/door-carryon/tests/transcripts/",
    ),
    (
        "crates/door-ptywright/src/methods.rs",
        &["docs/protocol/ptywright.md"],
        "crates/door-ptywright/tests/transcripts/",
    ),
];

/// The documents that show something said under every heading of a method.
const SHOWN: &[&str] = &["docs/protocol/carryon.md", "docs/protocol/ptywright.md"];

/// Transcripts that are about no one method.
const GENERAL: &[&str] = &["errors", "denied"];

pub(super) fn are_documented_and_played(checkout: &Checkout) -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for (table, documents, transcripts) in DOORS {
        let texts: Vec<&str> =
            documents.iter().filter_map(|it| Some(checkout.file(it)?.text.as_str())).collect();
        let Some(source) = checkout.file(table).filter(|_| texts.len() == documents.len()) else {
            complaints.push(format!("`{table}` or one of {documents:?} is not there"));
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
        let headed: BTreeSet<&str> = texts.iter().flat_map(|text| headings(text)).collect();
        complaints.extend(compare(&methods, &headed, &documents.join(" or ")));
        complaints.extend(compare(&methods, &played, transcripts));
        let files = checkout.files.iter().filter(|file| file.path.starts_with(transcripts));
        let said: BTreeSet<&str> = files.flat_map(|file| file.text.lines()).collect();
        for (document, text) in documents.iter().zip(texts) {
            let odd = shown(text).into_iter().filter(|line| !said.contains(line));
            complaints
                .extend(odd.map(|it| format!("{document} shows what no transcript has: {it}")));
            if SHOWN.contains(document) {
                let bare = without_example(text).into_iter();
                complaints.extend(bare.map(|it| format!("{document} shows nothing of `{it}`")));
            }
        }
    }
    Ok(complaints)
}

/// The lines of examples that somebody sends or gets.
fn shown(document: &str) -> Vec<&str> {
    let blocks = document.split("```").skip(1).step_by(2);
    let said = |line: &&str| ["> ", ">> ", "< ", "~ "].iter().any(|it| line.starts_with(it));
    blocks.flat_map(str::lines).filter(said).collect()
}

/// The methods under whose headings there is no example.
fn without_example(document: &str) -> Vec<&str> {
    let sections = document.split("\n### ").skip(1);
    let bare = sections.filter(|it| {
        let own = it.split("\n## ").next().unwrap_or(it);
        !own.contains("```\n> ") && !own.contains("```\n# ")
    });
    let names = bare.filter_map(|it| it.split_whitespace().next());
    names.filter(|name| name.contains('.')).collect()
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

    #[test]
    fn examples_are_found_and_missed() {
        let text = "\n### a.one\n\n```\n> {}\n< {\"x\":1}\nhex\n```\n\n### a.two\nnone\n\n## End\n";
        assert_eq!(shown(text), ["> {}", "< {\"x\":1}"]);
        assert_eq!(without_example(text), ["a.two"]);
    }
}
