//! How text passes tmux's command line unchanged, and which names cannot.
//!
//! tmux reads an argument that ends in `;` as the end of a command, expands `#` in names and
//! folders (and would run the program in `#(…)`), and changes some characters of names without a
//! word.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use crate::Error;

/// The longest name, in bytes. tmux takes commands up to 16 KiB as one message, and shows the
/// name in a status line.
const MAX_NAME: usize = 256;

/// Refuses a name that tmux would refuse or change.
pub(crate) fn check_name(name: &str) -> Result<(), Error> {
    let why = if name.is_empty() {
        "it is empty"
    } else if name.len() > MAX_NAME {
        "it is longer than 256 bytes"
    } else if name.contains([':', '.']) {
        "tmux uses `:` and `.` to name windows and panes"
    } else if name.contains(['\\', '$']) {
        "tmux changes `\\` and `$` in names"
    } else if name.chars().any(char::is_control) {
        "it has a control character"
    } else {
        return Ok(());
    };
    let shown = name.chars().take(MAX_NAME).collect::<String>().escape_debug().to_string();
    Err(Error::Name { name: shown, why })
}

/// An argument that tmux takes as it is.
pub(crate) fn argument(text: &OsStr) -> OsString {
    let mut bytes = text.as_bytes().to_vec();
    end_no_command(&mut bytes);
    OsString::from_vec(bytes)
}

/// An argument that tmux expands, so that it comes out as this text.
pub(crate) fn expanded(text: &OsStr) -> OsString {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some(start) = rest.iter().position(|&byte| byte == b'#') {
        let length = rest[start..].iter().take_while(|&&byte| byte == b'#').count();
        let (before, after) = rest.split_at(start + length);
        bytes.extend_from_slice(before);
        // Before `[` they begin a style, which is drawn later and so left alone now, however many.
        if after.first() != Some(&b'[') {
            bytes.extend(std::iter::repeat_n(b'#', length));
        }
        rest = after;
    }
    bytes.extend_from_slice(rest);
    end_no_command(&mut bytes);
    OsString::from_vec(bytes)
}

fn end_no_command(bytes: &mut Vec<u8>) {
    if bytes.last() == Some(&b';') {
        bytes.insert(bytes.len() - 1, b'\\');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tmux_would_read_as_its_own_is_escaped() {
        let expanded = |text: &str| expanded(OsStr::new(text)).into_string().unwrap();
        assert_eq!(expanded("plain"), "plain");
        assert_eq!(expanded("#(date) #{pid}"), "##(date) ##{pid}");
        assert_eq!(expanded("a##b#"), "a####b##");
        assert_eq!(expanded("#[bold]##[x"), "#[bold]##[x");
        assert_eq!(expanded("a;"), "a\\;");
        assert_eq!(argument(OsStr::new("echo #x;")), "echo #x\\;");
        assert_eq!(argument(OsStr::new("")), "");
    }

    #[test]
    fn names_tmux_would_change_are_refused_with_the_reason() {
        let long = "x".repeat(MAX_NAME + 1);
        for name in ["", "a:b", "a.b", "a\\b", "$1", "a\tb", "a\u{9b}b", &long] {
            let error = check_name(name).unwrap_err();
            assert!(matches!(error, Error::Name { .. }), "{name}: {error}");
            assert!(!error.to_string().contains(char::is_control), "{error}");
        }
        for name in ["a b", "-x", "=x", "ünï", "#(x)", "a;", "'\"", "{last}", "%1", "@1", "~"] {
            check_name(name).unwrap();
        }
    }
}
