//! What tests left behind: the last step of the suite counts it.

use std::env;
use std::fs;
use std::path::PathBuf;

use crate::home::PREFIX;
use crate::process;

/// Everything that homes of tests left on this machine: processes, sockets, folders. Empty if all
/// is well and no test runs.
#[must_use]
pub fn leftovers() -> Vec<String> {
    let begin = env::temp_dir().join(PREFIX);
    let begin = begin.to_string_lossy().into_owned();
    let mut found = Vec::new();
    for pid in process::all().into_iter().filter(|&pid| pid != std::process::id()) {
        let mut pairs = process::environment(pid).into_iter();
        let named = pairs.any(|(name, value)| {
            ["GREENROOM_HOME", "GREENROOM_SOCKET"].contains(&name.as_str())
                && value.starts_with(&begin)
        });
        if named && process::lives(pid) {
            found.push(format!("process {pid}"));
        }
    }
    // `starts_with` of paths compares whole names, so not with the beginning of one.
    let sockets = process::sockets_below(&env::temp_dir()).into_values();
    for socket in sockets.filter(|it| it.to_string_lossy().starts_with(&begin)) {
        for pid in process::listeners(&socket) {
            found.push(format!("process {pid} has the socket {}", socket.display()));
        }
    }
    for folder in folders() {
        found.push(format!("folder {}", folder.display()));
    }
    found.sort();
    found.dedup();
    found
}

fn folders() -> Vec<PathBuf> {
    let entries = fs::read_dir(env::temp_dir()).into_iter().flatten().flatten();
    let ours = entries.filter(|it| it.file_name().to_string_lossy().starts_with(PREFIX));
    ours.map(|it| it.path()).collect()
}
