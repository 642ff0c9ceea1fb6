//! Why a text does not name a key.

use std::fmt;

use super::KeyEvent;

/// How much of a text an error repeats: enough to recognise it, whatever was sent.
const SHOWN_MAX: usize = 40;

/// Why a text does not name a key.
///
/// ```
/// use greenroom_model::KeyEvent;
///
/// let error = "ctrl+entr".parse::<KeyEvent>().unwrap_err();
/// assert_eq!(error.to_string(), "no key is called `entr`; did you mean `enter`?");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyError {
    /// There is no text at all.
    Empty,
    /// The text is longer than any chord; this many bytes.
    TooLong(usize),
    /// There are modifiers, but no key after them.
    NoKey {
        /// What the key should have followed.
        after: String,
    },
    /// Nothing is called by this name.
    UnknownKey {
        /// The part that should have been a key, shortened.
        part: String,
        /// The nearest known name, if one is near.
        nearest: Option<&'static str>,
    },
    /// Something other than a modifier stands before the key.
    UnknownModifier {
        /// The part that should have been a modifier, shortened.
        part: String,
        /// The nearest known name, if one is near.
        nearest: Option<&'static str>,
    },
}

/// The beginning of `part`, for an error to repeat.
pub(super) fn shown(part: &str) -> String {
    part.chars().take(SHOWN_MAX).collect()
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, part, nearest) = match self {
            KeyError::Empty => return f.write_str("the name of a key is empty"),
            KeyError::TooLong(length) => {
                let most = KeyEvent::MAX_NAME;
                return write!(f, "the name of a key has {length} bytes, at most {most} are read");
            }
            KeyError::NoKey { after } => {
                return write!(f, "no key follows `{}`", after.escape_debug());
            }
            KeyError::UnknownKey { part, nearest } => ("key", part, nearest),
            KeyError::UnknownModifier { part, nearest } => ("modifier", part, nearest),
        };
        write!(f, "no {what} is called `{}`", part.escape_debug())?;
        match nearest {
            Some(name) => write!(f, "; did you mean `{name}`?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for KeyError {}
