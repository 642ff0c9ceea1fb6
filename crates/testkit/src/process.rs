//! Processes, looked at from outside: `/proc` and signals.

use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};

/// Sends a signal; false if there is no such process.
pub fn kill(pid: u32, signal: Signal) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| kill_process(pid, signal).is_ok())
}

/// Whether a process is there and not a zombie.
#[must_use]
pub fn lives(pid: u32) -> bool {
    state(pid).is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// The letter of a process's state, if there is such a process.
#[must_use]
pub fn state(pid: u32) -> Option<char> {
    stat(pid)?.first()?.chars().next()
}

/// The process that started a process, or took it over.
#[must_use]
pub fn parent(pid: u32) -> Option<u32> {
    stat(pid)?.get(1)?.parse().ok()
}

/// The processor time a process has used, in clock ticks.
#[must_use]
pub fn cpu_ticks(pid: u32) -> u64 {
    let fields = stat(pid).unwrap_or_default();
    fields.iter().skip(11).take(2).filter_map(|it| it.parse::<u64>().ok()).sum()
}

/// The fields of `/proc/PID/stat` from the state on: the name before it may have any character.
fn stat(pid: u32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

/// How often the threads of a process were given the processor: how often it woke up, if it sleeps.
#[must_use]
pub fn switches(pid: u32) -> u64 {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return 0 };
    let statuses =
        tasks.flatten().filter_map(|it| fs::read_to_string(it.path().join("status")).ok());
    statuses.map(|it| field(&it, "voluntary_ctxt_switches:")).sum()
}

/// What the threads of a process are called.
#[must_use]
pub fn threads(pid: u32) -> Vec<String> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let names = tasks.flatten().filter_map(|it| fs::read_to_string(it.path().join("comm")).ok());
    names.map(|it| it.trim_end().to_owned()).collect()
}

/// The memory of a process that is its own and not a file's, in KiB.
#[must_use]
pub fn memory_kib(pid: u32) -> u64 {
    field(&fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default(), "RssAnon:")
}

fn field(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|it| it.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// The open descriptors of a process and what they are.
#[must_use]
pub fn fds(pid: u32) -> Vec<(u32, PathBuf)> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    let opened = entries.flatten().filter_map(|it| {
        let number = it.file_name().to_str()?.parse().ok()?;
        Some((number, fs::read_link(it.path()).ok()?))
    });
    let mut fds: Vec<_> = opened.collect();
    fds.sort_unstable();
    fds
}

/// The environment of a process, as it was started.
#[must_use]
pub fn environment(pid: u32) -> Vec<(String, String)> {
    let bytes = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let pairs = text.split('\0').filter_map(|it| it.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// All processes.
#[must_use]
pub fn all() -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|it| it.file_name().to_str()?.parse().ok()).collect()
}

/// What a process has started, or took over, zombies included.
#[must_use]
pub fn children(pid: u32) -> Vec<u32> {
    all().into_iter().filter(|it| parent(*it) == Some(pid)).collect()
}

/// The children of a process that have ended and were not reaped.
#[must_use]
pub fn zombies(pid: u32) -> Vec<u32> {
    children(pid).into_iter().filter(|it| state(*it) == Some('Z')).collect()
}

/// The processes that came of a home, this one left out: their environment names it, they run a
/// program in it, or they have a socket there. Holders have no environment; they have a socket.
#[must_use]
pub fn of_home(home: &Path) -> Vec<u32> {
    let sockets = sockets_below(home);
    let us = std::process::id();
    let named = |pid: u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let path = home.as_os_str().as_bytes();
        let mut places = environment.windows(path.len()).enumerate().filter(|it| it.1 == path);
        // The name of another home may begin with that of this one.
        places.any(|(at, _)| !environment.get(at + path.len()).is_some_and(u8::is_ascii_digit))
    };
    let runs = |pid: u32| {
        fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|program| program.starts_with(home))
    };
    let listens = |pid: u32| {
        !sockets.is_empty() && fds(pid).iter().any(|(_, what)| sockets.contains_key(what))
    };
    let found = all().into_iter().filter(|&pid| pid != us && lives(pid));
    found.filter(|&pid| named(pid) || runs(pid) || listens(pid)).collect()
}

/// Who has a socket of that path.
#[must_use]
pub fn listeners(socket: &Path) -> Vec<u32> {
    let sockets = sockets_below(socket);
    let has = |pid: &u32| fds(*pid).iter().any(|(_, what)| sockets.contains_key(what));
    all().into_iter().filter(has).collect()
}

/// The sockets at or below a path, as descriptors show them.
pub(crate) fn sockets_below(path: &Path) -> HashMap<PathBuf, PathBuf> {
    let table = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let rows = table.lines().skip(1).filter_map(|row| {
        let mut fields = row.split_whitespace().skip(6);
        let (inode, bound) = (fields.next()?, PathBuf::from(fields.next()?));
        bound.starts_with(path).then(|| (PathBuf::from(format!("socket:[{inode}]")), bound))
    });
    rows.collect()
}
