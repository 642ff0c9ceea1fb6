//! The rows of one screen, in order.
//!
//! Rows stay where they are; what moves when a region scrolls is a list of small numbers. So
//! scrolling costs the same whatever the rows hold, and a row's memory is used again at once.

use crate::keyboard::KeyboardStack;
use crate::row::Row;
use crate::terminal::SavedCursor;

/// The rows of one screen, in order, and what belongs to that screen alone.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    slots: Vec<Row>,
    /// Which slot each row of the screen is in.
    order: Vec<u16>,
    /// What DECSC saved; each screen has its own.
    pub(crate) saved: Option<SavedCursor>,
    /// The kitty keyboard flags; each screen has its own.
    pub(crate) keyboard: KeyboardStack,
}

impl Grid {
    pub(crate) fn new(rows: usize) -> Grid {
        Grid {
            slots: vec![Row::default(); rows],
            order: (0..rows as u16).collect(),
            saved: None,
            keyboard: KeyboardStack::default(),
        }
    }

    /// Makes a grid of these rows.
    pub(crate) fn from_rows(rows: Vec<Row>) -> Grid {
        let order = (0..rows.len() as u16).collect();
        Grid { slots: rows, order, saved: None, keyboard: KeyboardStack::default() }
    }

    /// How many rows there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// Row `y`, which must be on the screen.
    #[inline]
    pub(crate) fn row(&self, y: usize) -> &Row {
        &self.slots[self.order[y] as usize]
    }

    /// Row `y`, which must be on the screen.
    #[inline]
    pub(crate) fn row_mut(&mut self, y: usize) -> &mut Row {
        &mut self.slots[self.order[y] as usize]
    }

    /// The rows from the top.
    pub(crate) fn rows(&self) -> impl DoubleEndedIterator<Item = &Row> + ExactSizeIterator {
        self.order.iter().map(|&slot| &self.slots[slot as usize])
    }

    /// Takes the rows out, from the top.
    pub(crate) fn take_rows(&mut self) -> Vec<Row> {
        let order = std::mem::take(&mut self.order);
        let mut slots = std::mem::take(&mut self.slots);
        order.iter().map(|&slot| std::mem::take(&mut slots[slot as usize])).collect()
    }

    /// Puts rows in, from the top.
    pub(crate) fn set_rows(&mut self, rows: Vec<Row>) {
        self.order = (0..rows.len() as u16).collect();
        self.slots = rows;
    }

    /// Moves rows `top..=bottom` one up; the top one comes to the bottom.
    #[inline]
    pub(crate) fn rotate_up(&mut self, top: usize, bottom: usize) {
        let first = self.order[top];
        self.order.copy_within(top + 1..=bottom, top);
        self.order[bottom] = first;
    }

    /// Moves rows `top..=bottom` one down; the bottom one comes to the top.
    #[inline]
    pub(crate) fn rotate_down(&mut self, top: usize, bottom: usize) {
        let last = self.order[bottom];
        self.order.copy_within(top..bottom, top + 1);
        self.order[top] = last;
    }

    /// Heap bytes held.
    pub(crate) fn heap(&self) -> usize {
        self.slots.capacity() * size_of::<Row>()
            + self.slots.iter().map(Row::heap).sum::<usize>()
            + self.order.capacity() * 2
    }
}
