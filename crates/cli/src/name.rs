//! What a person may call a session.
//!
//! The daemon takes more, for the clients of other programs, and refuses what is a number. Here is
//! what nobody means to type: such a name could not be read in a list, nor typed again.

use crate::failure::{Failure, Result};
use crate::plain::{escaped, is_hidden};

/// Refuses a name that is empty or has something in it that cannot be seen.
///
/// # Errors
/// What is wrong with it.
pub fn check_name(name: &str) -> std::result::Result<(), String> {
    if name.is_empty() {
        return Err("a name has at least one character".to_owned());
    }
    if is_like_an_id(name) {
        return Err(format!("`{name}` is how a session is called by its id"));
    }
    match name.chars().find(|it| is_hidden(*it)) {
        Some(it) => Err(format!(
            "`{}` cannot be a name: `{}` in it cannot be seen",
            escaped(name),
            it.escape_debug()
        )),
        None => Ok(()),
    }
}

/// Whether it is `native-` and twelve hexadecimal digits, or a UUID: nobody could tell which session is meant.
fn is_like_an_id(name: &str) -> bool {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let groups: Vec<&str> = name.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|it| it.len()).collect();
    match groups.as_slice() {
        ["native", digits] => digits.len() == 12 && is_hex(digits),
        groups => lengths == [8, 4, 4, 4, 12] && groups.iter().all(|it| is_hex(it)),
    }
}

/// The same for a name among the arguments.
pub(crate) fn check(name: &str) -> Result<()> {
    check_name(name).map_err(|wrong| {
        Failure::usage(wrong).hint("a name is made of letters, digits and signs, such as `build`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_be_seen() {
        for name in ["build", "größe 日本 🎉", "a\\b", "native-build", "deadbeef"] {
            assert_eq!(check_name(name), Ok(()));
        }
        for id in ["native-0123456789ab", "01234567-89ab-cdef-0123-456789abcdef"] {
            assert!(check_name(id).is_err(), "{id}");
        }
        for name in ["", "a\u{1b}[31m", "a\u{202e}b", "\u{2066}x", "x\u{200f}", "a\nb"] {
            let failure = check(name).unwrap_err();
            assert_eq!(failure.exit().0, 2, "{name:?}");
            assert!(!failure.for_people().trim_end().contains(is_hidden_but_lines), "{name:?}");
        }
        let wrong = check_name("a\u{202e}b").unwrap_err();
        assert_eq!(wrong, r"`a\u{202e}b` cannot be a name: `\u{202e}` in it cannot be seen");
    }

    fn is_hidden_but_lines(it: char) -> bool {
        it != '\n' && is_hidden(it)
    }
}
