//! The latest entries, in memory.

use std::collections::VecDeque;

use tracing::level_filters::LevelFilter;

use super::Entry;

/// How many entries are kept: hours of a daemon at work, a screen's worth many times over.
const ENTRIES_MAX: usize = 10_000;

/// How many bytes they may take: 400 each is more than usual, and a flood of long ones must not
/// count in the daemon's memory.
const BYTES_MAX: usize = 4 * 1024 * 1024;

/// The latest entries, oldest first.
#[derive(Debug, Default)]
pub(super) struct Ring {
    entries: VecDeque<Entry>,
    bytes: usize,
}

impl Ring {
    /// Adds an entry, and drops the oldest past a bound.
    pub(super) fn push(&mut self, entry: Entry) {
        self.bytes += cost(&entry);
        self.entries.push_back(entry);
        while self.entries.len() > ENTRIES_MAX || self.bytes > BYTES_MAX {
            let Some(oldest) = self.entries.pop_front() else { return };
            self.bytes -= cost(&oldest);
        }
    }

    /// The latest `last` that are at least as grave as `level`, oldest first.
    pub(super) fn tail(&self, last: usize, level: LevelFilter) -> Vec<Entry> {
        let grave = self.entries.iter().rev().filter(|it| it.level <= level);
        let mut tail: Vec<Entry> = grave.take(last).cloned().collect();
        tail.reverse();
        tail
    }
}

/// What an entry takes, its place in the ring included.
fn cost(entry: &Entry) -> usize {
    size_of::<Entry>() + entry.component.len() + entry.message.len()
}
