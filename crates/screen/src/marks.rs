//! The marks of shell integration, kept as long as the rows they are in.

use std::collections::VecDeque;

use crate::event::Mark;

/// How many marks are kept: four for each of about a thousand commands. The oldest go first.
const MAX_MARKS: usize = 4096;

/// The marks, in the order they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    marks: VecDeque<Mark>,
    /// No mark is in a row before this one.
    lowest: u64,
}

impl Marks {
    pub(crate) fn push(&mut self, mark: Mark) {
        if self.marks.len() == MAX_MARKS {
            self.marks.pop_front();
        }
        self.lowest = if self.marks.is_empty() { mark.row } else { self.lowest.min(mark.row) };
        self.marks.push_back(mark);
    }

    /// Forgets the marks in rows before `first`. They mostly come in the order of their rows, but
    /// a program may go up and mark there.
    #[inline]
    pub(crate) fn trim(&mut self, first: u64) {
        if self.lowest < first && !self.marks.is_empty() {
            self.marks.retain(|mark| mark.row >= first);
            self.lowest = self.marks.iter().map(|mark| mark.row).min().unwrap_or(0);
        }
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Mark> + ExactSizeIterator {
        self.marks.iter()
    }

    /// Gives every mark a new place, in order.
    pub(crate) fn relocate(&mut self, mut new: impl FnMut() -> Option<(u64, u16)>) {
        for mark in &mut self.marks {
            if let Some((row, col)) = new() {
                (mark.row, mark.col) = (row, col);
            }
        }
        self.lowest = self.marks.iter().map(|mark| mark.row).min().unwrap_or(0);
    }

    pub(crate) fn heap(&self) -> usize {
        self.marks.capacity() * size_of::<Mark>()
    }
}
