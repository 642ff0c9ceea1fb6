//! What the engine is told when it starts: paths, limits, defaults.

use std::path::PathBuf;
use std::time::Duration;

use greenroom_model::{SessionId, Size};
use greenroom_pty::Limits;
use greenroom_screen::Policy;

/// Who decides how large a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SizePolicy {
    /// The client that attached, typed or resized last.
    #[default]
    Latest,
    /// The smallest of those that may type.
    Smallest,
    /// Nobody but `resize`.
    Fixed,
}

/// What the engine is told when it starts.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program that holds a session.
    pub holder: PathBuf,
    /// Where holders listen. Owned by us, for us only.
    pub holders: PathBuf,
    /// What sessions see as `GREENROOM_SOCKET`.
    pub socket: PathBuf,
    /// Variables every session begins with unless it brings its own.
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
    /// The shell for a session without a command.
    pub shell: String,
    /// The folder for a session without one.
    pub cwd: PathBuf,
    /// The size for a session without one.
    pub size: Size,
    /// Lines of history a screen keeps.
    pub history_lines: usize,
    /// Who sizes.
    pub size_policy: SizePolicy,
    /// How far a client may be behind before it is cut short.
    pub lag_bytes: usize,
    /// Whether programs may set the clipboard of an attached terminal.
    pub clipboard_write: bool,
    /// How much typed input waits for a program that does not read.
    pub input_bytes: usize,
    /// How many sessions may run.
    pub max_sessions: usize,
    /// What those of a session may use that does not say so itself.
    pub limits: Limits,
    /// How long a child has to end by itself.
    pub grace: Duration,
    /// How much a holder keeps before its child blocks.
    pub keep_bytes: u64,
    /// The soft limit on open files that children get; zero for ours.
    pub open_files: u64,
    /// Sessions end with this process, however it ends, instead of waiting for the next daemon.
    pub leashed: bool,
}

impl Options {
    /// Where the holder of a session listens.
    pub(crate) fn holder_socket(&self, id: SessionId) -> PathBuf {
        self.holders.join(format!("{id}.sock"))
    }

    /// What is taken out of what an attached terminal gets.
    pub(crate) fn policy(&self) -> Policy {
        Policy { clipboard: !self.clipboard_write, ..Policy::default() }
    }
}
