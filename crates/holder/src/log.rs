//! Every byte the child wrote since the last checkpoint, where it was read to.
//!
//! In segments of one size, so that a long log is never moved. Those that were trimmed are used again,
//! for the system takes longer to give a page than a program to fill it; a log without bytes has none.

use std::collections::VecDeque;
use std::io;

use greenroom_model::Offset;

/// How much one segment holds. With the allocator's own few bytes it is 64 KiB of whole pages;
/// those that were never written to cost nothing.
pub(crate) const SEGMENT: usize = (64 << 10) - 64;

/// How much room a read should have. A terminal gives about this much at once; a segment with less
/// left is full, so that no read is cut short by us.
const ROOM: usize = 4 << 10;

/// The bytes between two offsets.
#[derive(Debug, Default)]
pub(crate) struct Log {
    segments: VecDeque<Segment>,
    /// Room of those that were trimmed, while there are others.
    spare: Vec<Vec<u8>>,
    kept: Offset,
    end: Offset,
}

#[derive(Debug)]
struct Segment {
    /// The offset of its first byte.
    at: Offset,
    bytes: Vec<u8>,
}

impl Segment {
    fn end(&self) -> Offset {
        self.at + self.bytes.len() as u64
    }
}

impl Log {
    /// The first byte it has.
    pub(crate) fn kept(&self) -> Offset {
        self.kept
    }

    /// The byte after the last it has.
    pub(crate) fn end(&self) -> Offset {
        self.end
    }

    /// How many bytes it has.
    pub(crate) fn len(&self) -> u64 {
        self.end - self.kept
    }

    /// Lets `read` append to it, and gives what that gave.
    pub(crate) fn read(
        &mut self,
        read: impl FnOnce(&mut Vec<u8>) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let mut last = match self.segments.pop_back() {
            Some(last) if SEGMENT - last.bytes.len() >= ROOM => last,
            full => {
                self.segments.extend(full);
                let spare = self.spare.pop();
                Segment {
                    at: self.end,
                    bytes: spare.unwrap_or_else(|| Vec::with_capacity(SEGMENT)),
                }
            }
        };
        let result = read(&mut last.bytes);
        if !last.bytes.is_empty() {
            self.end = last.end();
            self.segments.push_back(last);
        }
        result
    }

    /// The bytes from an offset on, up to a length, where they lie.
    pub(crate) fn slices(&self, at: Offset, length: usize) -> impl Iterator<Item = &[u8]> {
        let first = self.segments.partition_point(|segment| segment.end() <= at);
        let mut skip = self.segments.get(first).map_or(0, |segment| (at - segment.at) as usize);
        let mut left = length;
        self.segments.range(first..).map_while(move |segment| {
            let bytes = segment.bytes.get(std::mem::take(&mut skip)..).unwrap_or_default();
            let bytes = &bytes[..bytes.len().min(left)];
            left -= bytes.len();
            (!bytes.is_empty()).then_some(bytes)
        })
    }

    /// Drops the bytes before an offset.
    pub(crate) fn trim(&mut self, keep: Offset) {
        self.kept = keep.clamp(self.kept, self.end);
        while self.segments.front().is_some_and(|first| first.end() <= self.kept) {
            let first = self.segments.pop_front();
            self.spare.extend(first.map(|mut first| {
                first.bytes.clear();
                first.bytes
            }));
        }
        if self.segments.is_empty() {
            (self.segments, self.spare) = (VecDeque::new(), Vec::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn append(log: &mut Log, bytes: &[u8]) {
        let taken = log.read(|buffer| {
            assert!(buffer.capacity() - buffer.len() >= bytes.len());
            buffer.extend_from_slice(bytes);
            Ok(bytes.len())
        });
        assert_eq!(taken.unwrap(), bytes.len());
    }

    fn text(log: &Log, at: u64, length: usize) -> Vec<u8> {
        log.slices(Offset(at), length).collect::<Vec<_>>().concat()
    }

    #[test]
    fn bytes_are_found_by_offset_whatever_was_trimmed() {
        let all: Vec<u8> = (0..300_000_u32).map(|number| (number / 7) as u8).collect();
        let mut log = Log::default();
        for chunk in all.chunks(3000) {
            append(&mut log, chunk);
        }
        assert_eq!((log.kept(), log.end()), (Offset(0), Offset(300_000)));
        for keep in [0, 1, 65_000, 65_536, 130_000, 299_999] {
            log.trim(Offset(keep));
            assert_eq!(log.kept(), Offset(keep));
            for at in [keep, keep + 1, (keep + 300_000) / 2] {
                for length in [1, 100, 65_536, 300_000] {
                    let to = (at as usize + length).min(all.len());
                    assert!(text(&log, at, length) == all[at as usize..to], "{at}+{length}");
                }
            }
        }
        assert_eq!(text(&log, 300_000, 5), b"");
    }

    #[test]
    fn an_empty_log_has_no_memory_and_goes_on() {
        let mut log = Log::default();
        append(&mut log, b"hello");
        log.trim(Offset(99));
        assert_eq!((log.len(), log.segments.capacity(), log.spare.capacity()), (0, 0, 0));
        log.trim(Offset(2));
        assert_eq!(log.kept(), Offset(5), "it never goes back");
        append(&mut log, b" world");
        assert_eq!(text(&log, 6, 99), b"world");
    }

    #[test]
    fn a_failed_read_leaves_nothing_behind() {
        let mut log = Log::default();
        let failed = log.read(|_| Err(io::ErrorKind::WouldBlock.into()));
        assert!(failed.is_err() && log.segments.is_empty());
    }
}
