//! How a child ended.

use std::fmt;

/// How a child ended: by itself with a code, or by a signal.
///
/// Never both, never guessed.
///
/// ```
/// use greenroom_model::ExitStatus;
///
/// assert_eq!(ExitStatus::Code(2).to_string(), "exit code 2");
/// assert_eq!(ExitStatus::Signal(9).to_string(), "signal 9");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExitStatus {
    /// It called `exit` with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl ExitStatus {
    /// Whether the child reported success.
    ///
    /// ```
    /// use greenroom_model::ExitStatus;
    ///
    /// assert!(ExitStatus::Code(0).success());
    /// assert!(!ExitStatus::Signal(15).success());
    /// ```
    #[must_use]
    pub fn success(self) -> bool {
        self == ExitStatus::Code(0)
    }

    /// The one number a shell would show: the code, or 128 and the signal.
    ///
    /// ```
    /// use greenroom_model::ExitStatus;
    ///
    /// assert_eq!(ExitStatus::Code(3).shell_code(), 3);
    /// assert_eq!(ExitStatus::Signal(2).shell_code(), 130);
    /// ```
    #[must_use]
    pub fn shell_code(self) -> i32 {
        match self {
            ExitStatus::Code(code) => code,
            ExitStatus::Signal(signal) => 128 + signal,
        }
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExitStatus::Code(code) => write!(f, "exit code {code}"),
            ExitStatus::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}
