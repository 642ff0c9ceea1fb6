//! The styles the grid uses, each once.

use hashbrown::HashMap;

use super::Packed;

/// A style's number in a [`StyleTable`], or in a history page's own list. Zero is the default.
pub(crate) type StyleId = u16;

/// How many styles the table may hold: all that a [`StyleId`] can name but one.
const MAX_STYLES: usize = u16::MAX as usize;

/// How large the table may get before the first sweep for styles no cell uses any more; a screen
/// seldom shows more than a hundred.
const FIRST_SWEEP: usize = 1024;

/// How many new styles a full table leaves without a number before it is swept again.
const PATIENCE: usize = 4096;

/// How many recent styles are found without hashing. A colourful program alternates a few dozen, a
/// gradient a few hundred.
const RECENT: usize = 256;

/// The styles the grid uses, each once; the number of a style stays the same while a cell has it.
#[derive(Debug, Clone)]
pub(crate) struct StyleTable {
    styles: Vec<Packed>,
    numbers: HashMap<Packed, StyleId>,
    free: Vec<StyleId>,
    /// Looked at before `numbers`, by a cheap hash that need not withstand an enemy: a clash only
    /// costs the lookup behind it.
    recent: Vec<(Packed, StyleId)>,
    sweep_at: usize,
    /// How many new styles go without a number before the next sweep, when the last one found
    /// nothing to free: or each of them would pay for one.
    patience: usize,
}

impl Default for StyleTable {
    fn default() -> StyleTable {
        StyleTable {
            styles: vec![Packed::DEFAULT],
            numbers: HashMap::new(),
            free: Vec::new(),
            recent: Vec::new(),
            sweep_at: FIRST_SWEEP,
            patience: 0,
        }
    }
}

impl StyleTable {
    /// A table that is never due for a sweep, only full.
    pub(crate) fn without_sweeps() -> StyleTable {
        StyleTable { sweep_at: MAX_STYLES, ..StyleTable::default() }
    }

    /// Whether more than half of the numbers are given.
    pub(crate) fn is_nearly_full(&self) -> bool {
        self.styles.len() > MAX_STYLES / 2
    }

    /// Whether a sweep may find numbers to free; asked when there is none left.
    pub(crate) fn is_worth_sweeping(&mut self) -> bool {
        let worth = self.patience == 0;
        self.patience = self.patience.saturating_sub(1);
        worth
    }

    /// The style with this number.
    #[inline]
    pub(crate) fn get(&self, id: StyleId) -> Packed {
        self.styles.get(id as usize).copied().unwrap_or_default()
    }

    /// All styles, by number; unused ones among them.
    #[inline]
    pub(crate) fn all(&self) -> &[Packed] {
        &self.styles
    }

    /// The number of a style, which is made if it has none. `None` if the table is full or due
    /// for a sweep: the caller sweeps and asks again.
    #[inline]
    pub(crate) fn find_or_add(&mut self, style: Packed) -> Option<StyleId> {
        if style == Packed::DEFAULT {
            return Some(0);
        }
        let bits = style.bits();
        let mixed = (bits as u64 ^ (bits >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let slot = (mixed >> 56) as usize;
        if let Some((known, id)) = self.recent.get(slot)
            && *known == style
        {
            return Some(*id);
        }
        self.look_up(style, slot)
    }

    fn look_up(&mut self, style: Packed, slot: usize) -> Option<StyleId> {
        let id = match self.numbers.get(&style) {
            Some(id) => *id,
            None => self.add(style)?,
        };
        if self.recent.is_empty() {
            self.recent = vec![(Packed::DEFAULT, 0); RECENT];
        }
        self.recent[slot] = (style, id);
        Some(id)
    }

    fn add(&mut self, style: Packed) -> Option<StyleId> {
        let id = match self.free.pop() {
            Some(id) => id,
            None if self.styles.len() >= self.sweep_at => return None,
            None => {
                self.styles.push(style);
                (self.styles.len() - 1) as StyleId
            }
        };
        self.styles[id as usize] = style;
        self.numbers.insert(style, id);
        Some(id)
    }

    /// As [`StyleTable::find_or_add`], but never due for a sweep.
    pub(crate) fn find_or_grow(&mut self, style: Packed) -> Option<StyleId> {
        self.find_or_add(style).or_else(|| {
            self.sweep_at = (self.sweep_at * 2).min(MAX_STYLES);
            self.find_or_add(style)
        })
    }

    /// Forgets every style whose number `used` does not have, and decides when to sweep next so
    /// that the work stays in proportion to the styles made.
    pub(crate) fn sweep(&mut self, used: &[bool]) {
        let is_used = |id: usize| used.get(id).copied().unwrap_or(false);
        self.recent.clear();
        self.numbers.retain(|_, id| is_used(*id as usize));
        self.free =
            (1..self.styles.len()).rev().filter(|id| !is_used(*id)).map(|id| id as u16).collect();
        let live = self.styles.len() - self.free.len();
        self.sweep_at = (live * 2).clamp(FIRST_SWEEP, MAX_STYLES);
        self.patience = if live * 8 > MAX_STYLES * 7 { PATIENCE } else { 0 };
    }

    /// The styles that have a number now.
    pub(crate) fn in_use(&self) -> impl Iterator<Item = Packed> + '_ {
        self.numbers.keys().copied()
    }

    /// Heap bytes held.
    pub(crate) fn heap(&self) -> usize {
        self.styles.capacity() * size_of::<Packed>()
            + self.numbers.capacity() * (size_of::<(Packed, StyleId)>() + 1)
            + self.free.capacity() * size_of::<StyleId>()
            + self.recent.capacity() * size_of::<(Packed, StyleId)>()
    }
}
