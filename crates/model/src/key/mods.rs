//! The modifiers and locks that accompany a key, as a small set.

use std::fmt;
use std::ops::{BitOr, BitOrAssign, Sub, SubAssign};

/// A set of modifiers and locks, one bit each, in the order terminal protocols number them.
///
/// ```
/// use greenroom_model::Mods;
///
/// let mods = Mods::CTRL | Mods::ALT;
/// assert!(mods.contains(Mods::ALT));
/// assert_eq!(mods - Mods::ALT, Mods::CTRL);
///
/// let held = Mods::SHIFT | mods | Mods::SUPER | Mods::HYPER | Mods::META;
/// assert_eq!(held.bits(), 0b0011_1111);
/// assert_eq!((held | Mods::LOCKS) - Mods::CAPS_LOCK - Mods::NUM_LOCK, held);
/// assert_eq!(held - held, Mods::NONE);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Mods(u8);

impl Mods {
    /// No modifier.
    pub const NONE: Mods = Mods(0);
    /// Shift.
    pub const SHIFT: Mods = Mods(1);
    /// Alt, or option.
    pub const ALT: Mods = Mods(1 << 1);
    /// Control.
    pub const CTRL: Mods = Mods(1 << 2);
    /// The logo or command key.
    pub const SUPER: Mods = Mods(1 << 3);
    /// Hyper, on keyboards configured to have it.
    pub const HYPER: Mods = Mods(1 << 4);
    /// Meta as a key of its own, which is not what people mean by `M-`: that is alt.
    pub const META: Mods = Mods(1 << 5);
    /// Caps lock is on.
    pub const CAPS_LOCK: Mods = Mods(1 << 6);
    /// Num lock is on.
    pub const NUM_LOCK: Mods = Mods(1 << 7);
    /// Both locks: states rather than keys that are held.
    pub const LOCKS: Mods = Mods(Self::CAPS_LOCK.0 | Self::NUM_LOCK.0);

    /// The set with these bits.
    ///
    /// ```
    /// use greenroom_model::Mods;
    ///
    /// assert_eq!(Mods::from_bits(5), Mods::SHIFT | Mods::CTRL);
    /// ```
    #[must_use]
    pub const fn from_bits(bits: u8) -> Mods {
        Mods(bits)
    }

    /// The bits of the set.
    ///
    /// ```
    /// assert_eq!(greenroom_model::Mods::SUPER.bits(), 8);
    /// ```
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether nothing is in the set.
    ///
    /// ```
    /// assert!(greenroom_model::Mods::default().is_empty());
    /// ```
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether everything in `other` is in the set.
    ///
    /// ```
    /// use greenroom_model::Mods;
    ///
    /// assert!((Mods::CTRL | Mods::ALT).contains(Mods::CTRL));
    /// ```
    #[must_use]
    pub const fn contains(self, other: Mods) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether anything in `other` is in the set.
    ///
    /// ```
    /// use greenroom_model::Mods;
    ///
    /// assert!(Mods::CAPS_LOCK.intersects(Mods::LOCKS));
    /// ```
    #[must_use]
    pub const fn intersects(self, other: Mods) -> bool {
        self.0 & other.0 != 0
    }

    /// What is in both sets.
    ///
    /// ```
    /// use greenroom_model::Mods;
    ///
    /// assert_eq!((Mods::CTRL | Mods::ALT).intersection(Mods::ALT), Mods::ALT);
    /// ```
    #[must_use]
    pub const fn intersection(self, other: Mods) -> Mods {
        Mods(self.0 & other.0)
    }
}

impl BitOr for Mods {
    type Output = Mods;

    fn bitor(self, other: Mods) -> Mods {
        Mods(self.0 | other.0)
    }
}

impl BitOrAssign for Mods {
    fn bitor_assign(&mut self, other: Mods) {
        self.0 |= other.0;
    }
}

impl Sub for Mods {
    type Output = Mods;

    fn sub(self, other: Mods) -> Mods {
        Mods(self.0 & !other.0)
    }
}

impl SubAssign for Mods {
    fn sub_assign(&mut self, other: Mods) {
        self.0 &= !other.0;
    }
}

impl fmt::Debug for Mods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mods(")?;
        super::names::write_mods(f, *self)?;
        f.write_str(")")
    }
}
