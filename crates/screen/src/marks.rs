//! The marks of shell integration, kept as long as the rows they are in.

use std::collections::VecDeque;

use crate::event::Mark;

/// How many marks are kept: four for each of about a thousand commands. The oldest go first.
const MAX_MARKS: usize = 4096;

/// The marks, in the order they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Marks(VecDeque<Mark>);

impl Marks {
    pub(crate) fn push(&mut self, mark: Mark) {
        if self.0.len() == MAX_MARKS {
            self.0.pop_front();
        }
        self.0.push_back(mark);
    }

    /// Forgets the marks in rows before `first`.
    #[inline]
    pub(crate) fn trim(&mut self, first: u64) {
        while self.0.front().is_some_and(|mark| mark.row < first) {
            self.0.pop_front();
        }
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Mark> + ExactSizeIterator {
        self.0.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Mark> {
        self.0.iter_mut()
    }

    pub(crate) fn heap(&self) -> usize {
        self.0.capacity() * size_of::<Mark>()
    }
}
