//! The numbers of a control sequence.

/// How many numbers are kept. xterm keeps 30; what comes past the bound is read and ignored.
pub(crate) const MAX_PARAMS: usize = 32;

/// The largest number kept; larger ones become this. No screen is larger.
const MAX_NUMBER: u32 = u16::MAX as u32;

/// The numbers of a control sequence, and which of them are sub-parameters (after a colon).
///
/// A number left out reads as zero, which nearly every sequence takes as its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Params {
    values: [u16; MAX_PARAMS],
    /// Bit `n`: number `n` follows a colon.
    colons: u32,
    len: u8,
    /// Whether the next number pushed follows a colon.
    after_colon: bool,
}

/// Appends a decimal digit.
#[inline]
pub(super) fn digit(number: u32, byte: u8) -> u32 {
    (number * 10 + u32::from(byte - b'0')).min(MAX_NUMBER)
}

impl Params {
    pub(super) const EMPTY: Params =
        Params { values: [0; MAX_PARAMS], colons: 0, len: 0, after_colon: false };

    #[inline]
    pub(super) fn clear(&mut self) {
        self.len = 0;
        self.colons = 0;
        self.after_colon = false;
    }

    /// Adds a number that a separator ended.
    #[inline]
    pub(super) fn push(&mut self, number: u32, colon: bool) {
        let at = self.len as usize;
        if let Some(value) = self.values.get_mut(at) {
            *value = number as u16;
            self.colons |= u32::from(self.after_colon) << at;
            self.len += 1;
        }
        self.after_colon = colon;
    }

    /// Adds the last number. A sequence without any has one, left out.
    #[inline]
    pub(super) fn finish(&mut self, number: u32) {
        self.push(number, false);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// The numbers in order, colons and semicolons alike.
    #[inline]
    pub(crate) fn values(&self) -> &[u16] {
        &self.values[..self.len as usize]
    }

    /// Number `index` as written; zero if left out.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> u16 {
        self.values().get(index).copied().unwrap_or(0)
    }

    /// Number `index`, or `default` if it is zero or left out.
    #[inline]
    pub(crate) fn or(&self, index: usize, default: u16) -> u16 {
        match self.get(index) {
            0 => default,
            value => value,
        }
    }

    /// A count: number `index`, at least one.
    #[inline]
    pub(crate) fn count(&self, index: usize) -> usize {
        self.or(index, 1) as usize
    }

    /// Whether number `index` follows a colon.
    #[inline]
    pub(crate) fn is_sub(&self, index: usize) -> bool {
        index < MAX_PARAMS && self.colons >> index & 1 == 1
    }

    /// Whether any number follows a colon.
    #[inline]
    pub(crate) fn has_subs(&self) -> bool {
        self.colons != 0
    }

    /// The numbers that do not follow a colon.
    #[cold]
    pub(crate) fn without_subs(&self) -> Params {
        let mut plain = Params::EMPTY;
        for (index, &value) in self.values().iter().enumerate() {
            if !self.is_sub(index) {
                plain.push(u32::from(value), false);
            }
        }
        plain
    }

    /// The numbers as they were written.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        for (index, value) in self.values().iter().enumerate() {
            if index > 0 {
                out.push(if self.is_sub(index) { b':' } else { b';' });
            }
            if *value > 0 {
                out.extend_from_slice(value.to_string().as_bytes());
            }
        }
    }

    /// Puts a number back, when a checkpoint is restored.
    pub(super) fn restore(&mut self, value: u16, sub: bool) {
        self.after_colon = sub;
        self.push(u32::from(value), false);
    }

    pub(super) fn set_after_colon(&mut self, after_colon: bool) {
        self.after_colon = after_colon;
    }

    /// Whether a colon was the last separator read.
    pub(super) fn after_colon(&self) -> bool {
        self.after_colon
    }
}
