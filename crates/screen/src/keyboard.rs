//! The kitty keyboard flags a program has asked for, as a stack.

/// How many levels a program may push. The protocol says a terminal may bound it and then drops
/// the oldest.
pub(crate) const MAX_LEVELS: usize = 16;

/// All flags the protocol defines.
const ALL_FLAGS: u8 = 0b1_1111;

/// The kitty keyboard flags, the current ones last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KeyboardStack(Vec<u8>);

impl KeyboardStack {
    /// The flags in force.
    pub(crate) fn flags(&self) -> u8 {
        self.0.last().copied().unwrap_or(0)
    }

    /// The levels, oldest first, for a dump.
    pub(crate) fn levels(&self) -> &[u8] {
        &self.0
    }

    /// `CSI > flags u`.
    pub(crate) fn push(&mut self, flags: u16) {
        // The level below holds what was in force before the first push.
        if self.0.is_empty() {
            self.0.push(0);
        }
        if self.0.len() > MAX_LEVELS {
            self.0.remove(0);
        }
        self.0.push(flags as u8 & ALL_FLAGS);
    }

    /// `CSI < count u`.
    pub(crate) fn pop(&mut self, count: usize) {
        self.0.truncate(self.0.len().saturating_sub(count));
    }

    /// `CSI = flags ; mode u`: replace, add or remove.
    pub(crate) fn set(&mut self, flags: u16, mode: u16) {
        let (old, flags) = (self.flags(), flags as u8 & ALL_FLAGS);
        let new = match mode {
            0 | 1 => flags,
            2 => old | flags,
            3 => old & !flags,
            _ => return,
        };
        match self.0.last_mut() {
            Some(level) => *level = new,
            None => self.0.push(new),
        }
    }

    /// Puts levels back; those past the bound are dropped.
    pub(crate) fn restore(levels: &[u8]) -> KeyboardStack {
        let levels = levels.iter().take(MAX_LEVELS + 1).map(|flags| flags & ALL_FLAGS);
        KeyboardStack(levels.collect())
    }
}
