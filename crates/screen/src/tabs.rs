//! Where the tab stops are.

/// The distance of the stops a terminal starts with.
const DEFAULT_EVERY: usize = 8;

/// The tab stops of a screen, one bit a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tabs {
    bits: Vec<u64>,
    cols: usize,
}

impl Tabs {
    pub(crate) fn new(cols: usize) -> Tabs {
        let mut tabs = Tabs { bits: Vec::new(), cols: 0 };
        tabs.resize(cols);
        tabs
    }

    /// Follows the screen's width. New columns get the default stops.
    pub(crate) fn resize(&mut self, cols: usize) {
        self.bits.resize(cols.div_ceil(64), 0);
        for col in self.cols..cols {
            self.set(col, col % DEFAULT_EVERY == 0);
        }
        self.cols = cols;
        if !cols.is_multiple_of(64)
            && let Some(last) = self.bits.last_mut()
        {
            *last &= (1 << (cols % 64)) - 1;
        }
    }

    /// Sets or clears the stop at a column.
    pub(crate) fn set(&mut self, col: usize, stop: bool) {
        if let Some(word) = self.bits.get_mut(col / 64) {
            *word = *word & !(1 << (col % 64)) | u64::from(stop) << (col % 64);
        }
    }

    /// Clears all stops.
    pub(crate) fn clear(&mut self) {
        self.bits.fill(0);
    }

    pub(crate) fn is_stop(&self, col: usize) -> bool {
        self.bits.get(col / 64).is_some_and(|word| word >> (col % 64) & 1 == 1)
    }

    /// The next stop right of a column; the last column if there is none.
    pub(crate) fn next(&self, col: usize) -> usize {
        (col + 1..self.cols).find(|&col| self.is_stop(col)).unwrap_or(self.cols - 1)
    }

    /// The next stop left of a column; the first column if there is none.
    pub(crate) fn previous(&self, col: usize) -> usize {
        (0..col).rev().find(|&col| self.is_stop(col)).unwrap_or(0)
    }

    /// The columns that have a stop.
    pub(crate) fn stops(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.cols).filter(|&col| self.is_stop(col))
    }

    /// Whether the stops are those a terminal starts with.
    pub(crate) fn are_default(&self) -> bool {
        *self == Tabs::new(self.cols)
    }

    pub(crate) fn heap(&self) -> usize {
        self.bits.capacity() * 8
    }
}
