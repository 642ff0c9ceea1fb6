//! Each dependency says why it is there, at the end of its line in Cargo.toml.
//!
//! Read as text: a TOML parser drops the comments. The list in the root's `workspace.dependencies`
//! of where our own crates lie is left out: the reason is where one is used.

use anyhow::Result;

use super::checkout::Checkout;

pub(super) fn say_why_a_dependency_is_there(checkout: &Checkout) -> Result<Vec<String>> {
    let manifests = checkout.files.iter().filter(|file| file.path.ends_with("Cargo.toml"));
    let complaints = manifests.flat_map(|file| {
        unexplained(&file.text).into_iter().map(|(line, dependency)| {
            format!("{}:{line}: `{dependency}` has no `# reason` at its end", file.path)
        })
    });
    Ok(complaints.collect())
}

/// The dependencies of a manifest without a reason, with the number of their (last) line.
pub(super) fn unexplained(manifest: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut in_dependencies = false;
    let mut open: Option<&str> = None;
    for (number, line) in (1..).zip(manifest.lines()) {
        if line.starts_with('[') {
            in_dependencies = line.trim_end().ends_with("dependencies]");
            if let Some((_, name)) = line.split_once("dependencies.") {
                // A table of its own has no line to put the reason on.
                found.push((number, name.trim_end_matches(']')));
            }
            continue;
        }
        let (code, reason) = line.split_once('#').unwrap_or((line, ""));
        let start = code.split_once('=').map(|(name, _)| name.trim());
        if !in_dependencies || code.trim().is_empty() || code.contains("path = \"crates/") {
            continue;
        }
        let name = open.or(start).unwrap_or(code);
        let ends = match open {
            None => code.matches(['{', '[']).count() == code.matches(['}', ']']).count(),
            Some(_) => code.contains('}'),
        };
        open = (!ends).then_some(name);
        if ends && reason.trim().is_empty() {
            found.push((number, name));
        }
    }
    found
}
