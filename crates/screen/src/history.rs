//! The lines that left the screen at its top.
//!
//! Lines lie as UTF-8 text in pages, with a newline after each line that really ended and none
//! where it was only wrapped: the text can be searched as it lies, a wrapped line is one line,
//! and dropping the oldest page drops its lines. Styles are runs beside the text, each page with
//! its own list of styles, so a page is complete by itself.
//!
//! Rows are counted from the beginning of the session and never renumbered by trimming:
//! [`History::first`] to [`History::end`]. A resize re-wraps, and then rows are counted anew from
//! the oldest one kept (`resize`).
//!
//! Invariant: pushing a line and trimming one are O(1); what is held is bounded by the limit and
//! one page, but for the lines a narrower size made more: those go as new ones come.

mod line;
mod page;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

pub(crate) use line::HistoryLine;
pub(crate) use page::Page;

use crate::row::Row;
use crate::style::Packed;

/// The most lines a history may be asked to keep. A line costs at least eight bytes.
pub(crate) const MAX_HISTORY: usize = 1_000_000;

/// How many bytes a line may cost on average before old lines have to go early. Ordinary lines
/// cost a tenth of it; a stream of nothing but the largest clusters would cost more.
const BYTES_PER_LINE: usize = 2 * 1024;

/// What even a short history may cost: some pages.
const MIN_BYTES: usize = 1024 * 1024;

/// How many surplus lines one push takes away. A narrower screen wraps the history into more
/// lines than the limit; they go two for one, so that no single push pays for the resize and
/// widening again at once loses nothing.
const TRIM_STEP: usize = 2;

/// The lines that left the screen, oldest first.
#[derive(Debug, Clone)]
pub(crate) struct History {
    pages: VecDeque<Page>,
    /// Lines of the first page that are already trimmed.
    skipped: usize,
    len: usize,
    limit: usize,
    /// The number of the oldest line kept.
    first: u64,
    /// What all pages but the open one hold.
    bytes: usize,
    /// What they may hold.
    max_bytes: usize,
    /// Which number in the open page a style of the grid has.
    numbers: Vec<u32>,
    /// Tells numbers of the open page from those of earlier ones.
    epoch: u16,
}

impl History {
    pub(crate) fn new(limit: usize) -> History {
        History {
            pages: VecDeque::new(),
            skipped: 0,
            len: 0,
            limit: limit.min(MAX_HISTORY),
            first: 0,
            bytes: 0,
            max_bytes: limit.min(MAX_HISTORY).saturating_mul(BYTES_PER_LINE).max(MIN_BYTES),
            numbers: Vec::new(),
            epoch: 1,
        }
    }

    /// How many lines are kept.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The number of the oldest line kept.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// The number the next line will get: that of the screen's top row.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.first + self.len as u64
    }

    /// Adds a row that leaves the screen. `palette` says what its style numbers mean. True if old
    /// lines had to go.
    #[inline]
    pub(crate) fn push(&mut self, row: &Row, palette: &[Packed]) -> bool {
        if self.limit == 0 {
            self.first += 1;
            return true;
        }
        let first = self.first;
        self.make_room(row.len());
        if let Some(page) = self.pages.back_mut() {
            if row.styles().is_empty() {
                page.push(row);
            } else {
                let (numbers, epoch) = (&mut self.numbers, self.epoch);
                page.push_styled(row, |styles, id| number(numbers, epoch, styles, palette, id));
            }
        }
        self.len += 1;
        self.trim();
        self.first != first
    }

    /// Adds a line of ASCII that never was on the screen. True if old lines had to go.
    #[inline]
    pub(crate) fn push_ascii(&mut self, text: &[u8], wrapped: bool) -> bool {
        if self.limit == 0 {
            self.first += 1;
            return true;
        }
        let first = self.first;
        self.make_room(text.len());
        if let Some(page) = self.pages.back_mut() {
            page.push_ascii(text, wrapped);
        }
        self.len += 1;
        self.trim();
        self.first != first
    }

    /// Sees to it that the last page takes a row of `len` cells.
    #[inline]
    fn make_room(&mut self, len: usize) {
        if self.pages.back().is_none_or(|page| page.is_full(len)) {
            self.open_page();
        }
    }

    #[cold]
    fn open_page(&mut self) {
        // The roomy buffers move on to the new page; the full one is left as large as its lines.
        let mut page = match self.pages.back_mut() {
            Some(full) => {
                let exact = full.clone();
                self.bytes += exact.heap();
                std::mem::replace(full, exact)
            }
            None => Page::default(),
        };
        page.reset(self.end());
        self.pages.push_back(page);
        self.forget_numbers();
        self.bound_bytes();
    }

    /// Drops old pages while all together hold more than they may.
    fn bound_bytes(&mut self) {
        while self.bytes > self.max_bytes && self.pages.len() > 1 {
            let before = self.pages.len();
            while self.pages.len() == before {
                self.drop_oldest();
            }
        }
    }

    /// Must be called when numbers of the grid's styles begin to mean something else.
    pub(crate) fn forget_numbers(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.numbers.clear();
            self.epoch = 1;
        }
    }

    #[inline]
    fn trim(&mut self) {
        for _ in 0..TRIM_STEP {
            if self.len <= self.limit {
                return;
            }
            self.drop_oldest();
        }
    }

    #[inline]
    fn drop_oldest(&mut self) {
        let Some(page) = self.pages.front() else { return };
        self.skipped += 1;
        self.len -= 1;
        self.first += 1;
        if self.skipped == page.len() {
            self.drop_page();
        }
    }

    /// Drops the oldest page, all of whose lines are trimmed.
    #[cold]
    fn drop_page(&mut self) {
        self.skipped = 0;
        if let Some(page) = self.pages.pop_front() {
            self.bytes = self.bytes.saturating_sub(page.heap());
        }
    }

    /// Forgets all lines; their numbers are not used again.
    pub(crate) fn clear(&mut self) {
        self.first = self.end();
        self.pages.clear();
        self.skipped = 0;
        self.bytes = 0;
        self.len = 0;
        self.forget_numbers();
    }

    /// Starts over empty, with the same limit and the same first number.
    pub(crate) fn rebuilt(&self) -> History {
        let History { first, limit, max_bytes, .. } = *self;
        History { first, limit, max_bytes, ..History::new(0) }
    }

    /// Changes how many lines may be kept; surplus ones go as new ones come.
    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Takes the bounds of a history of this limit; surplus lines go as new ones come.
    pub(crate) fn bound_to(&mut self, limit: usize) {
        let History { limit, max_bytes, .. } = History::new(limit);
        (self.limit, self.max_bytes) = (limit, max_bytes);
    }

    /// Takes the newest line away again: a taller screen shows it. Says what its styles mean.
    pub(crate) fn pop(&mut self, row: &mut Row) -> Option<Vec<Packed>> {
        let page = self.pages.back_mut()?;
        let line = page.len().checked_sub(1)?;
        page.decode(line, row);
        let palette = page.styles().to_vec();
        page.pop();
        self.len -= 1;
        if page.len() == 0 || (self.pages.len() == 1 && self.len == 0) {
            self.pages.pop_back();
            // The page before is open now, and no longer counted.
            let open = self.pages.back().map_or(0, Page::heap);
            self.bytes = self.bytes.saturating_sub(open);
            if self.pages.is_empty() {
                self.skipped = 0;
                self.bytes = 0;
            }
            self.forget_numbers();
        }
        Some(palette)
    }

    /// The line with this number.
    pub(crate) fn line(&self, number: u64) -> Option<HistoryLine<'_>> {
        if number < self.first || number >= self.end() {
            return None;
        }
        let after = self.pages.partition_point(|page| page.start() <= number);
        let page = self.pages.get(after.checked_sub(1)?)?;
        page.line((number - page.start()) as usize)
    }

    /// The lines `from..to`, by number.
    pub(crate) fn lines(&self, from: u64, to: u64) -> impl Iterator<Item = HistoryLine<'_>> {
        let (from, to) = (from.max(self.first), to.min(self.end()));
        let after = self.pages.partition_point(|page| page.start() <= from);
        let pages = self.pages.iter().skip(after.saturating_sub(1));
        pages.take_while(move |page| page.start() < to).flat_map(move |page| {
            let begin = from.saturating_sub(page.start()) as usize;
            let end = ((to - page.start()) as usize).min(page.len());
            (begin..end).filter_map(move |index| page.line(index))
        })
    }

    /// The pages, each with the index of its first line that is not trimmed.
    pub(crate) fn pages(&self) -> impl DoubleEndedIterator<Item = (&Page, usize)> {
        let skipped = self.skipped;
        self.pages
            .iter()
            .enumerate()
            .map(move |(index, page)| (page, if index == 0 { skipped } else { 0 }))
    }

    /// Whether the newest line goes on in the screen's first row.
    pub(crate) fn is_open(&self) -> bool {
        self.pages.back().is_some_and(|page| page.is_open())
    }

    /// Makes the newest line end, because the row it went on in is gone.
    pub(crate) fn close(&mut self) {
        if let Some(page) = self.pages.back_mut() {
            page.close();
        }
    }

    /// Puts a page back that [`History::pages`] gave out, when a checkpoint is restored.
    pub(crate) fn restore_page(&mut self, mut page: Page, skipped: usize) -> bool {
        let misplaced = skipped > 0 && (!self.pages.is_empty() || skipped as u64 > self.first);
        if page.len() <= skipped || misplaced {
            return false;
        }
        if self.pages.is_empty() {
            self.skipped = skipped;
            page.set_start(self.first.saturating_sub(skipped as u64));
        } else {
            page.set_start(self.end());
        }
        self.len += page.len() - skipped;
        self.bytes += self.pages.back().map_or(0, Page::heap);
        self.pages.push_back(page);
        self.forget_numbers();
        true
    }

    /// Sets the number of the oldest line, before any page is put back.
    pub(crate) fn set_first(&mut self, first: u64) {
        self.first = first;
    }

    /// Marks the links that some line uses.
    pub(crate) fn mark_links(&self, used: &mut [bool]) {
        for style in self.pages.iter().flat_map(|page| page.styles()) {
            if let Some(slot) = used.get_mut(style.link() as usize) {
                *slot = true;
            }
        }
    }

    /// Heap bytes held.
    pub(crate) fn heap(&self) -> usize {
        self.pages.iter().map(Page::heap).sum::<usize>()
            + self.pages.capacity() * size_of::<Page>()
            + self.numbers.capacity() * 4
    }
}

/// The number a style of `palette` has in the open page, giving it one if need be.
#[inline]
fn number(
    numbers: &mut Vec<u32>,
    epoch: u16,
    styles: &mut Vec<Packed>,
    palette: &[Packed],
    id: u16,
) -> u16 {
    let at = id as usize;
    if let Some(entry) = numbers.get(at)
        && (entry >> 16) as u16 == epoch
    {
        return *entry as u16;
    }
    if numbers.len() <= at {
        numbers.resize(at + 1, 0);
    }
    let new = styles.len().min(u16::MAX as usize) as u16;
    if styles.len() <= u16::MAX as usize {
        styles.push(palette.get(at).copied().unwrap_or_default());
    }
    numbers[at] = u32::from(epoch) << 16 | u32::from(new);
    new
}
