//! Which modules a Lua text requires by name.
//!
//! No Lua parser: a `require` in a comment is found as well, and costs one file read for nothing.

/// The file of a module: `a.b` is `a/b.lua`. None for a name that is no module's.
pub(crate) fn path_of(name: &str) -> Option<String> {
    let is_plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
    };
    name.split('.').all(is_plain).then(|| format!("{}.lua", name.replace('.', "/")))
}

/// The files of the modules that a text requires, in order, repeated if they are.
pub(super) fn required(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, word) in text.match_indices("require") {
        let is_word = !text[..at].ends_with(|it: char| it.is_alphanumeric() || it == '_');
        let name = is_word.then(|| literal(&text[at + word.len()..])).flatten();
        found.extend(name.and_then(path_of));
    }
    found
}

/// The text literal that a call is given: `("a")`, `"a"`, `'a'` or `[[a]]`.
fn literal(rest: &str) -> Option<&str> {
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('(').unwrap_or(rest).trim_start();
    [("\"", "\""), ("'", "'"), ("[[", "]]")].into_iter().find_map(|(open, close)| {
        let inside = rest.strip_prefix(open)?;
        inside.find(close).map(|end| &inside[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_files_or_nothing() {
        assert_eq!(path_of("a.b_2").as_deref(), Some("a/b_2.lua"));
        for bad in ["", ".", "a.", ".a", "a..b", "a/b", "../a", "a-b", "a\\b", "a\0", "é"] {
            assert_eq!(path_of(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn requires_are_found_however_they_are_written() {
        let text = "local a = require('a')\nlocal b = require \"b.c\"\nrequire  ( [[d]] )";
        assert_eq!(required(text), ["a.lua", "b/c.lua", "d.lua"]);
        assert!(required("required('a') prerequire('a') require(name) require('../a')").is_empty());
        assert!(required("require('").is_empty());
    }
}
