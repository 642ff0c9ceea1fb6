//! Who descends from a process, as `/proc` tells it.
//!
//! The answer is a moment's: processes come and go while it is read. Who wants to end them all
//! asks again until there is none.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::path::Path;

/// How many descendants are told at most: more than any session has, less than a fork bomb takes
/// time to list.
const MAX_DESCENDANTS: usize = 1 << 16;

/// The processes that descend from this one, nearest first, without itself.
#[must_use]
pub fn descendants(pid: u32) -> Vec<u32> {
    descendants_but(pid, |_| false)
}

/// The same without those that are spared, and what descends from them.
pub fn descendants_but(pid: u32, spared: impl Fn(u32) -> bool) -> Vec<u32> {
    descendants_in(Path::new("/proc"), pid, spared)
}

fn descendants_in(proc: &Path, pid: u32, spared: impl Fn(u32) -> bool) -> Vec<u32> {
    // Not every kernel is built with the list of children; the long way is to read every process.
    let listed = children(proc, pid).is_some();
    let parents = if listed { HashMap::new() } else { by_parent(proc) };
    let mut found = Vec::new();
    let mut ahead = VecDeque::from([pid]);
    while let Some(parent) = ahead.pop_front() {
        let next = if listed {
            children(proc, parent).unwrap_or_default()
        } else {
            parents.get(&parent).cloned().unwrap_or_default()
        };
        for child in next.into_iter().filter(|&child| !spared(child)) {
            if found.len() == MAX_DESCENDANTS {
                return found;
            }
            found.push(child);
            ahead.push_back(child);
        }
    }
    found
}

/// The children of all threads of a process; none if there is no such list.
fn children(proc: &Path, pid: u32) -> Option<Vec<u32>> {
    let mut found = None;
    for thread in fs::read_dir(proc.join(pid.to_string()).join("task")).ok()?.flatten() {
        let Ok(list) = fs::read_to_string(thread.path().join("children")) else { continue };
        let pids = list.split_ascii_whitespace().filter_map(|word| word.parse::<u32>().ok());
        found.get_or_insert_with(Vec::new).extend(pids);
    }
    found
}

/// All processes by their parents.
fn by_parent(proc: &Path) -> HashMap<u32, Vec<u32>> {
    let mut found = HashMap::<u32, Vec<u32>>::new();
    for entry in fs::read_dir(proc).into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let Ok(stat) = fs::read(entry.path().join("stat")) else { continue };
        if let Some(parent) = parent(&stat) {
            found.entry(parent).or_default().push(pid);
        }
    }
    found
}

/// The parent in a `stat` line: `pid (name) state parent …`, where the name can be anything.
fn parent(stat: &[u8]) -> Option<u32> {
    let after = stat.iter().rposition(|&byte| byte == b')')? + 1;
    let fields = std::str::from_utf8(&stat[after..]).ok()?;
    fields.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(proc: &Path, path: &str, text: &str) {
        let path = proc.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn lists_of_children_are_followed_through_all_threads() {
        let proc = tempfile::tempdir().unwrap();
        write(proc.path(), "10/task/10/children", "11 ");
        write(proc.path(), "10/task/12/children", "13 14 ");
        write(proc.path(), "13/task/13/children", "15");
        write(proc.path(), "15/task/15/children", "");
        assert_eq!(descendants_in(proc.path(), 10, |_| false), [11, 13, 14, 15]);
        assert_eq!(descendants_in(proc.path(), 15, |_| false), []);
    }

    #[test]
    fn without_lists_every_process_is_asked_for_its_parent() {
        let proc = tempfile::tempdir().unwrap();
        write(proc.path(), "10/task/10/stat", "");
        write(proc.path(), "10/stat", "10 (sh) S 1 10 10");
        write(proc.path(), "11/stat", "11 (a) b) S 99 (x) S 10 11 11");
        write(proc.path(), "12/stat", "12 () R 11 1 1");
        write(proc.path(), "13/stat", "13 broken");
        write(proc.path(), "sys/stat", "14 (no) S 10");
        assert_eq!(descendants_in(proc.path(), 10, |_| false), [11, 12]);
    }

    #[test]
    fn a_real_child_is_found() {
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let found = descendants(std::process::id());
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(found.contains(&child.id()));
    }
}
