//! Values whose type stands between them and their name: `password: str = "abc"`, and Go's `var token string = "abc"`.
//!
//! Only what is in quotes is a value here: anything else behind a type is source code. Where the value stands right
//! behind its name, see `keyed`.

use super::keyed::{GAP_MAX, opening};
use super::tail::Quote;

/// How long a type may be: longer than those of texts are, shorter than sentences.
const TYPE_MAX: usize = 48;

/// How many words a type has at most, as in `&'static mut str`. Sentences have more.
const WORDS_MAX: usize = 3;

/// The type of texts in Go, which has no sign between a name and its type.
const GO: &[u8] = b"string";

/// What stands behind a name.
pub(super) enum Typed {
    /// No value with a type.
    No,
    /// What is here may be a type.
    Begun,
    /// The text that begins here.
    Text(Quote, usize),
}

/// Looks for a type behind a name that ends here and has no value right behind it.
pub(super) fn behind_name(bytes: &[u8], name_end: usize) -> Typed {
    let rest = &bytes[name_end..];
    match rest {
        [b'?' | b'!'] => Typed::Begun,
        // As TypeScript says that it may be missing, or that it is not.
        [b'?' | b'!', b':', ..] => behind_colon(bytes, name_end + 2),
        // An array of letters.
        [b'[', inner @ ..] => {
            let digits = inner.iter().take(TYPE_MAX).take_while(|it| it.is_ascii_digit()).count();
            match inner.get(digits) {
                None => Typed::Begun,
                Some(b']') => assigned(bytes, name_end + digits + 2),
                Some(_) => Typed::No,
            }
        }
        [b' ' | b'\t', ..] => {
            let blank = blanks(rest);
            let word = &rest[blank..];
            match word.strip_prefix(GO) {
                _ if blank > GAP_MAX => Typed::No,
                Some(_) => assigned(bytes, name_end + blank + GO.len()),
                None if GO.starts_with(word) => Typed::Begun,
                None => Typed::No,
            }
        }
        _ => Typed::No,
    }
}

/// Looks for a type behind a colon.
pub(super) fn behind_colon(bytes: &[u8], at: usize) -> Typed {
    let at = at + blanks(&bytes[at..]);
    let (mut depth, mut words, mut has_word, mut last) = (0_usize, 0, false, b' ');
    for (length, &byte) in bytes[at..].iter().enumerate() {
        let is_word = byte.is_ascii_alphanumeric() || byte == b'_';
        match byte {
            _ if length > TYPE_MAX => return Typed::No,
            b'=' if depth == 0 && has_word => return assigned(bytes, at + length),
            b'<' | b'[' => depth += 1,
            b'>' | b']' if depth > 0 => depth -= 1,
            b',' if depth > 0 => {}
            b'|' => words = 0,
            _ if is_word => {
                has_word = true;
                words += usize::from(depth == 0 && b" &*|'".contains(&last));
                if words > WORDS_MAX {
                    return Typed::No;
                }
            }
            // A lifetime, not a text.
            b'\'' if b"&< ,".contains(&last) => {}
            b' ' | b'&' | b'*' | b'?' | b'.' | b':' => {}
            _ => return Typed::No,
        }
        last = byte;
    }
    Typed::Begun
}

/// Looks for `=` and a text behind it.
fn assigned(bytes: &[u8], at: usize) -> Typed {
    let sign = at + blanks(&bytes[at..]);
    match bytes.get(sign) {
        None => return Typed::Begun,
        Some(b'=') => {}
        Some(_) => return Typed::No,
    }
    let start = sign + 1 + blanks(&bytes[sign + 1..]);
    match opening(bytes, start) {
        _ if start - at > GAP_MAX => Typed::No,
        Some((quote, start)) => Typed::Text(quote, start),
        None if bytes.get(start) == Some(&b'`') => {
            Typed::Text(Quote { mark: b'`', depth: 0, slashes: 0 }, start + 1)
        }
        // A letter may say what kind of text comes.
        None if bytes.len() <= start + 2 => Typed::Begun,
        None => Typed::No,
    }
}

fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}
