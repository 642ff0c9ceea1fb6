//! Control groups that a program was put into: entered, looked at, ended, removed.
//!
//! Where groups can be made, and what they limit, is `limits`. A session may have several: where the
//! controllers are of the first version each has a tree of its own, and a group of the second beside
//! them has no limit but can be ended at once.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};

use crate::kill;

/// Who is in a group; whoever writes zero to it enters.
pub(crate) const MEMBERS: &str = "cgroup.procs";

/// Ends all members at once, since Linux 5.14 and in groups of the second version only.
const KILL: &str = "cgroup.kill";

/// How often a group is tried that has no member and is not free: who left it may not have been
/// buried yet.
const TRIES: u32 = 100;

/// The pause in between: all of them together take less time than anybody notices at an end.
const PAUSE: Duration = Duration::from_millis(1);

/// The control groups of one session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Groups(Vec<PathBuf>);

impl Groups {
    /// Those with these folders.
    #[must_use]
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> Groups {
        Groups(paths.into_iter().collect())
    }

    /// Their folders.
    #[must_use]
    pub fn paths(&self) -> &[PathBuf] {
        &self.0
    }

    /// How to enter them: who writes zero there is in.
    pub(crate) fn doors(&self) -> io::Result<Vec<OwnedFd>> {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        let open = |path: &PathBuf| rustix::fs::open(path.join(MEMBERS), flags, Mode::empty());
        Ok(self.0.iter().map(open).collect::<Result<_, _>>()?)
    }

    /// Ends everybody in them, unless somebody there is to be spared: then it is left to who can tell
    /// them apart.
    pub fn kill(&self, is_spared: impl Fn(u32) -> bool) {
        let members: Vec<Vec<u32>> = self.0.iter().map(|path| members(path)).collect();
        if members.iter().flatten().any(|&pid| is_spared(pid)) {
            return;
        }
        // At once where that can be had: who starts others meanwhile is not faster.
        let ended = |path: &PathBuf| std::fs::write(path.join(KILL), "1").is_ok();
        if !self.0.iter().any(ended) {
            for pid in members.into_iter().flatten() {
                kill(pid, libc::SIGKILL);
            }
        }
    }

    /// Removes them, and says whether none is left. One that somebody is still in stays.
    pub fn remove(&self) -> bool {
        let gone = |path: &PathBuf| {
            matches!(rustix::fs::rmdir(path), Ok(()) | Err(rustix::io::Errno::NOENT))
        };
        // All of them, whatever becomes of the first.
        self.0.iter().filter(|path| !gone(path)).count() == 0
    }

    /// The same, waiting a moment for those who have left but were not buried yet.
    pub fn remove_patiently(&self) -> bool {
        let is_empty = |path: &PathBuf| members(path).is_empty();
        for _ in 0..TRIES {
            if self.remove() {
                return true;
            }
            if !self.0.iter().all(is_empty) {
                return false;
            }
            std::thread::sleep(PAUSE);
        }
        false
    }
}

/// Who is in a group; nobody if it is gone.
pub(crate) fn members(path: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(path.join(MEMBERS)).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}
