//! The marks of shell integration, kept as long as the rows they are in.

use std::collections::VecDeque;

use crate::event::Mark;

/// How many marks are kept: four for each of about a thousand commands. The oldest go first.
const MAX_MARKS: usize = 4096;

/// The marks, in the order they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    marks: VecDeque<Mark>,
    /// Whether some mark is in a row before that of an earlier one.
    unordered: bool,
}

impl Marks {
    pub(crate) fn push(&mut self, mark: Mark) {
        if self.marks.len() == MAX_MARKS {
            self.marks.pop_front();
        }
        self.unordered |= self.marks.back().is_some_and(|last| last.row > mark.row);
        self.marks.push_back(mark);
    }

    /// Forgets the marks in rows before `first`: those at the front, one by one, unless a program
    /// went up and marked there.
    #[inline]
    pub(crate) fn trim(&mut self, first: u64) {
        while self.marks.front().is_some_and(|mark| mark.row < first) {
            self.marks.pop_front();
        }
        if self.unordered {
            self.trim_unordered(first);
        }
    }

    #[cold]
    fn trim_unordered(&mut self, first: u64) {
        self.marks.retain(|mark| mark.row >= first);
        self.unordered = !self.marks.iter().is_sorted_by_key(|mark| mark.row);
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
        self.unordered = !self.marks.iter().is_sorted_by_key(|mark| mark.row);
    }

    pub(crate) fn heap(&self) -> usize {
        self.marks.capacity() * size_of::<Mark>()
    }
}
