//! Where in a session's output something is.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// How many bytes the child had written before this point.
///
/// The one cursor of the product: journal, screen, events, waits, replay and reconnect all
/// speak it. It never goes back and never depends on how the bytes were cut on the way.
///
/// ```
/// use greenroom_model::Offset;
///
/// let mut seen = Offset::START + 100;
/// seen += 20;
/// assert_eq!(seen, Offset(120));
/// assert_eq!(seen - Offset(100), 20);
/// assert_eq!(Offset(100) - seen, 0, "never less than nothing");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Offset(pub u64);

impl Offset {
    /// Before the first byte.
    ///
    /// ```
    /// use greenroom_model::Offset;
    ///
    /// assert_eq!(Offset::START, Offset(0));
    /// assert_eq!(Offset::default(), Offset::START);
    /// ```
    pub const START: Offset = Offset(0);
}

impl Add<u64> for Offset {
    type Output = Offset;

    fn add(self, bytes: u64) -> Offset {
        Offset(self.0.saturating_add(bytes))
    }
}

impl AddAssign<u64> for Offset {
    fn add_assign(&mut self, bytes: u64) {
        *self = *self + bytes;
    }
}

/// How many bytes lie between two offsets; zero if `other` is the later one.
impl Sub for Offset {
    type Output = u64;

    fn sub(self, other: Offset) -> u64 {
        self.0.saturating_sub(other.0)
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
