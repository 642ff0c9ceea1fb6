//! Which session is meant.

use std::fmt;

/// The number of a session: never used again, and the same over daemon restarts.
///
/// ```
/// use greenroom_model::SessionId;
///
/// assert_eq!(SessionId(7).to_string(), "7");
/// assert_ne!(SessionId(7), SessionId(8));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
