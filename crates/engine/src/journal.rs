//! The bytes printed last, for clients that come back and want to go on where they were.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use greenroom_model::Offset;

/// Chunks smaller than this are copied together: each is a part of the buffer it was read into,
/// and would keep all of it.
const SMALL: usize = 32 << 10;

/// Consecutive bytes of the output, from an offset on.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    chunks: VecDeque<Bytes>,
    /// The small ones behind those.
    small: BytesMut,
    start: Offset,
    end: Offset,
}

impl Journal {
    /// An empty journal at an offset.
    pub(crate) fn at(offset: Offset) -> Journal {
        Journal { start: offset, end: offset, ..Journal::default() }
    }

    /// The first byte that is known.
    pub(crate) fn start(&self) -> Offset {
        self.start
    }

    /// Adds what follows.
    pub(crate) fn push(&mut self, bytes: Bytes) {
        self.end += bytes.len() as u64;
        if bytes.len() < SMALL {
            self.small.extend_from_slice(&bytes);
            if self.small.len() >= SMALL {
                self.chunks.push_back(self.small.split().freeze());
            }
            return;
        }
        if !self.small.is_empty() {
            self.chunks.push_back(self.small.split().freeze());
        }
        self.chunks.push_back(bytes);
    }

    /// Goes on at an offset, with nothing before it.
    pub(crate) fn skip_to(&mut self, offset: Offset) {
        if self.start != self.end {
            *self = Journal::at(offset);
        }
        (self.start, self.end) = (offset, offset);
    }

    /// Drops whole chunks before an offset.
    pub(crate) fn trim(&mut self, keep: Offset) {
        while let Some(first) = self.chunks.front() {
            let end = self.start + first.len() as u64;
            if end > keep {
                break;
            }
            self.start = end;
            self.chunks.pop_front();
        }
        if self.chunks.is_empty() {
            self.chunks.shrink_to_fit();
            if self.end <= keep {
                self.skip_to(self.end);
            }
        }
    }

    /// The bytes from an offset to another, if they are all there.
    pub(crate) fn range(&self, from: Offset, to: Offset) -> Option<Vec<Bytes>> {
        if from < self.start || to > self.end || from > to {
            return None;
        }
        let mut at = self.start;
        let mut found = Vec::new();
        let small = (!self.small.is_empty()).then(|| Bytes::copy_from_slice(&self.small));
        for chunk in self.chunks.iter().chain(&small) {
            let end = at + chunk.len() as u64;
            if end > from && at < to {
                let head = (from - at) as usize;
                let tail = chunk.len() - (end - to) as usize;
                found.push(chunk.slice(head..tail));
            }
            at = end;
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_cut_out_of_the_chunks() {
        let mut journal = Journal::at(Offset(10));
        for chunk in ["abc", "de", "fgh"] {
            // As if each were too large to be copied.
            journal.chunks.push_back(Bytes::from_static(chunk.as_bytes()));
            journal.end += chunk.len() as u64;
        }
        let text = |from, to| {
            let chunks = journal.range(Offset(from), Offset(to))?;
            Some(String::from_utf8(chunks.concat()).unwrap())
        };
        assert_eq!(text(10, 18).as_deref(), Some("abcdefgh"));
        assert_eq!(text(12, 16).as_deref(), Some("cdef"));
        assert_eq!(text(18, 18).as_deref(), Some(""));
        assert_eq!(text(9, 12), None);
        assert_eq!(text(12, 19), None);
    }

    #[test]
    fn trimming_drops_what_is_before() {
        let mut journal = Journal::at(Offset(0));
        let large = Bytes::from(vec![b'x'; SMALL]);
        journal.push(large.clone());
        journal.push(large);
        journal.push(Bytes::from_static(b"end"));
        let (one, two) = (Offset(SMALL as u64), Offset(2 * SMALL as u64));
        journal.trim(one + 1);
        assert_eq!(journal.start(), one, "a chunk goes whole or not at all");
        assert_eq!(journal.range(two, two + 3).unwrap().concat(), b"end");
        assert!(journal.range(Offset(2), two).is_none());
        journal.trim(two + 3);
        assert_eq!(journal.start(), two + 3);
    }

    #[test]
    fn many_small_chunks_become_few() {
        let mut journal = Journal::at(Offset(0));
        (0..100_000).for_each(|_| journal.push(Bytes::from_static(b"noise\n")));
        assert!(journal.chunks.len() < 20);
        let all = journal.range(Offset(0), Offset(600_000)).unwrap().concat();
        assert_eq!(all, b"noise\n".repeat(100_000));
    }
}
