//! Keys, pointers, focus and pastes as the bytes a program reads, and back.
//!
//! One direction is for whoever types into a session: [`encode_key`], [`encode_mouse`],
//! [`encode_focus`] and [`encode_paste`] give the bytes a program gets for an event, by the modes
//! it has set. The other is for whoever sits before a person's terminal: a [`KeyDecoder`] takes
//! that terminal's bytes apart into events.
//!
//! Three protocols for keys: `legacy` (what xterm sends), `modify_other` (xterm's modifyOtherKeys
//! on top of it) and `kitty` (the keyboard protocol with progressive enhancements); the codes are
//! in `table`. Everything here is pure: no clock, no I/O, no state but the decoder's.
//!
//! ```
//! use greenroom_screen::keys::{Input, KeyDecoder, KeyModes, encode_key};
//!
//! // What a person typed on their terminal, as the program in the session gets it.
//! let typed = KeyDecoder::default().feed(b"\x1b[1;5C");
//! let Input::Key(key) = &typed[0].input else { panic!() };
//! assert_eq!(key.to_string(), "ctrl+right");
//! assert_eq!(encode_key(key, KeyModes::default()), b"\x1b[1;5C");
//! ```

mod decode;
mod kitty;
mod legacy;
mod modify_other;
mod mouse;
mod paste;
mod table;
#[cfg(test)]
mod tests;
mod typed;

use greenroom_model::KeyEvent;

pub use decode::{Decoded, Input, KeyDecoder};
pub use mouse::{MouseEncoding, MouseModes, MouseTracking, encode_mouse};
pub use paste::encode_paste;

/// The modes of a terminal that decide how a key is encoded.
///
/// ```
/// use greenroom_screen::keys::KeyModes;
///
/// let modes = KeyModes::default();
/// assert!(modes.alt_sends_esc && !modes.app_cursor);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyModes {
    /// DECCKM: cursor keys without modifiers are sent as SS3.
    pub app_cursor: bool,
    /// DECKPAM or DECNKM: the keypad sends SS3 while num lock is off.
    pub app_keypad: bool,
    /// LNM: a carriage return is followed by a line feed.
    pub newline: bool,
    /// DECBKM: backspace sends BS, and DEL with ctrl; otherwise it is the other way round.
    pub backarrow: bool,
    /// How much of modifyOtherKeys is on: 0, 1, or 2 and above.
    pub modify_other_keys: u8,
    /// The enhancements of the kitty keyboard protocol that are on.
    pub kitty: KittyFlags,
    /// Alt puts ESC before a character instead of setting its eighth bit.
    pub alt_sends_esc: bool,
}

impl Default for KeyModes {
    fn default() -> KeyModes {
        KeyModes {
            app_cursor: false,
            app_keypad: false,
            newline: false,
            backarrow: false,
            modify_other_keys: 0,
            kitty: KittyFlags::NONE,
            alt_sends_esc: true,
        }
    }
}

/// The progressive enhancements of the kitty keyboard protocol, as a set.
///
/// ```
/// use greenroom_screen::keys::KittyFlags;
///
/// let flags = KittyFlags::from_bits(0b1_0011);
/// let in_order = [
///     KittyFlags::DISAMBIGUATE,
///     KittyFlags::EVENTS,
///     KittyFlags::ALTERNATES,
///     KittyFlags::ALL_KEYS,
///     KittyFlags::TEXT,
/// ];
/// assert_eq!(in_order.map(|one| flags.contains(one)), [true, true, false, false, true]);
/// assert_eq!(KittyFlags::from_bits(0xff).bits(), 31);
/// assert_eq!(KittyFlags::default(), KittyFlags::NONE);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct KittyFlags(u8);

impl KittyFlags {
    /// The protocol is off.
    pub const NONE: KittyFlags = KittyFlags(0);
    /// Keys that are ambiguous in legacy encoding get a sequence of their own.
    pub const DISAMBIGUATE: KittyFlags = KittyFlags(1);
    /// Repeats and releases are reported.
    pub const EVENTS: KittyFlags = KittyFlags(1 << 1);
    /// What the key gives with shift and in the standard layout is reported as well.
    pub const ALTERNATES: KittyFlags = KittyFlags(1 << 2);
    /// Every key is reported as a sequence, also those that type text.
    pub const ALL_KEYS: KittyFlags = KittyFlags(1 << 3);
    /// The text a key types is reported as well; means nothing without `ALL_KEYS`.
    pub const TEXT: KittyFlags = KittyFlags(1 << 4);

    /// The set with these bits; bits the protocol does not define are left away.
    ///
    /// ```
    /// use greenroom_screen::keys::KittyFlags;
    ///
    /// assert_eq!(KittyFlags::from_bits(1), KittyFlags::DISAMBIGUATE);
    /// ```
    #[must_use]
    pub const fn from_bits(bits: u8) -> KittyFlags {
        KittyFlags(bits & 0b1_1111)
    }

    /// The bits of the set.
    ///
    /// ```
    /// assert_eq!(greenroom_screen::keys::KittyFlags::TEXT.bits(), 16);
    /// ```
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether everything in `other` is in the set.
    ///
    /// ```
    /// use greenroom_screen::keys::KittyFlags;
    ///
    /// assert!(KittyFlags::from_bits(3).contains(KittyFlags::EVENTS));
    /// ```
    #[must_use]
    pub const fn contains(self, other: KittyFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any key is encoded otherwise than in legacy encoding.
    ///
    /// The other enhancements only add to sequences that these three cause.
    const fn changes_encoding(self) -> bool {
        self.0 & (Self::DISAMBIGUATE.0 | Self::EVENTS.0 | Self::ALL_KEYS.0) != 0
    }
}

/// The bytes a program gets for a key; empty where the modes have none for it.
///
/// ```
/// use greenroom_model::{Key, KeyEvent};
/// use greenroom_screen::keys::{KeyModes, KittyFlags, encode_key};
///
/// let up = KeyEvent::from(Key::Up);
/// let mut modes = KeyModes::default();
/// assert_eq!(encode_key(&up, modes), b"\x1b[A");
/// modes.app_cursor = true;
/// assert_eq!(encode_key(&up, modes), b"\x1bOA");
///
/// modes.kitty = KittyFlags::DISAMBIGUATE;
/// assert_eq!(encode_key(&"ctrl+c".parse()?, modes), b"\x1b[99;5u");
/// # Ok::<(), greenroom_model::KeyError>(())
/// ```
#[must_use]
pub fn encode_key(event: &KeyEvent, modes: KeyModes) -> Vec<u8> {
    let mut out = Vec::new();
    encode_key_into(event, modes, &mut out);
    out
}

/// Appends to `out` what [`encode_key`] gives, for many keys in a row.
///
/// ```
/// use greenroom_screen::keys::{KeyModes, encode_key_into};
///
/// let mut out = Vec::new();
/// for name in ["l", "s", "enter"] {
///     encode_key_into(&name.parse()?, KeyModes::default(), &mut out);
/// }
/// assert_eq!(out, b"ls\r");
/// # Ok::<(), greenroom_model::KeyError>(())
/// ```
pub fn encode_key_into(event: &KeyEvent, modes: KeyModes, out: &mut Vec<u8>) {
    if modes.kitty.changes_encoding() {
        kitty::encode(event, modes, out);
    } else if !modify_other::encode(event, modes, out) {
        legacy::encode(event, modes, out);
    }
}

/// The bytes a program that asked for focus events (mode 1004) gets.
///
/// ```
/// assert_eq!(greenroom_screen::keys::encode_focus(true), b"\x1b[I");
/// assert_eq!(greenroom_screen::keys::encode_focus(false), b"\x1b[O");
/// ```
#[must_use]
pub fn encode_focus(gained: bool) -> &'static [u8] {
    if gained { b"\x1b[I" } else { b"\x1b[O" }
}
