//! The bytes printed last, for clients that come back and want to go on where they were.

use std::collections::VecDeque;

use bytes::Bytes;
use greenroom_model::Offset;

/// Consecutive bytes of the output, from an offset on.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    chunks: VecDeque<Bytes>,
    start: Offset,
    end: Offset,
}

impl Journal {
    /// An empty journal at an offset.
    pub(crate) fn at(offset: Offset) -> Journal {
        Journal { chunks: VecDeque::new(), start: offset, end: offset }
    }

    /// The first byte that is known.
    pub(crate) fn start(&self) -> Offset {
        self.start
    }

    /// Adds what follows.
    pub(crate) fn push(&mut self, bytes: Bytes) {
        self.end += bytes.len() as u64;
        self.chunks.push_back(bytes);
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
        }
    }

    /// The bytes from an offset to another, if they are all there.
    pub(crate) fn range(&self, from: Offset, to: Offset) -> Option<Vec<Bytes>> {
        if from < self.start || to > self.end || from > to {
            return None;
        }
        let mut at = self.start;
        let mut found = Vec::new();
        for chunk in &self.chunks {
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
            journal.push(Bytes::from_static(chunk.as_bytes()));
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
        journal.push(Bytes::from_static(b"abc"));
        journal.push(Bytes::from_static(b"def"));
        journal.trim(Offset(4));
        assert_eq!(journal.range(Offset(3), Offset(6)).unwrap().concat(), b"def");
        assert!(journal.range(Offset(2), Offset(6)).is_none());
    }
}
