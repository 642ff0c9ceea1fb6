//! The texts of a row's glyphs that have several code points.

use super::CLUSTER;
use crate::unicode::MAX_CLUSTER_BYTES;

/// Texts by number, one after the other in one string. Those no longer used stay until
/// [`Clusters::keep_used`].
#[derive(Debug, Clone, Default)]
pub(super) struct Clusters {
    text: String,
    /// Where each begins and ends.
    spans: Vec<(u32, u32)>,
}

impl Clusters {
    /// How many there are, unused ones among them.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.spans.clear();
    }

    /// The text with this number; a blank if there is none.
    pub(super) fn get(&self, number: u32) -> &str {
        let span = self.spans.get(number as usize);
        span.and_then(|&(start, end)| self.text.get(start as usize..end as usize)).unwrap_or(" ")
    }

    /// Adds a text and says its number.
    pub(super) fn push(&mut self, text: &str) -> u32 {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        self.spans.push((start, self.text.len() as u32));
        self.spans.len() as u32 - 1
    }

    /// Adds a code point to a text, unless it would grow past the bound. Says its number, which
    /// is another one if others were added since.
    pub(super) fn extend(&mut self, number: u32, c: char) -> u32 {
        let Some(&(start, end)) = self.spans.get(number as usize) else { return number };
        if (end - start) as usize + c.len_utf8() > MAX_CLUSTER_BYTES {
            return number;
        }
        let mut number = number;
        if end as usize != self.text.len() {
            let copy = self.get(number).to_owned();
            number = self.push(&copy);
        }
        self.text.push(c);
        self.spans[number as usize].1 = self.text.len() as u32;
        number
    }

    /// Drops the texts that no cell refers to, and gives the others new numbers.
    pub(super) fn keep_used(&mut self, cells: &mut [u32]) {
        let old = std::mem::take(self);
        for cell in cells.iter_mut().filter(|cell| **cell & CLUSTER != 0) {
            *cell = CLUSTER | self.push(old.get(*cell & !CLUSTER));
        }
    }

    pub(super) fn heap(&self) -> usize {
        self.text.capacity() + self.spans.capacity() * size_of::<(u32, u32)>()
    }
}
