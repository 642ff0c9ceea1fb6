//! Keys of a keyboard and what a person did with them.
//!
//! A [`KeyEvent`] says everything any keyboard protocol of terminals can say. People write events
//! as names (`ctrl+c`, `M-x`, `F5`): reading and writing those is in `key/parse.rs`, the list of
//! names in `key/names.rs`. Which bytes a program gets is decided where events are encoded.

mod code;
mod error;
mod mods;
mod names;
mod parse;
#[cfg(test)]
mod tests;

pub use code::{FKey, Key, Keypad, Media, Modifier};
pub use error::KeyError;
pub use mods::Mods;

/// One thing a person did with a key.
///
/// It is written and read as a chord, such as `ctrl+shift+up`, `C-a`, `M-x`, `F5` or `space`. The
/// written form carries the key and the modifiers; what is read is always a press.
///
/// ```
/// use greenroom_model::{Key, KeyEvent, Mods};
///
/// let event: KeyEvent = "C-S-up".parse()?;
/// assert_eq!(event, KeyEvent::new(Key::Up, Mods::CTRL | Mods::SHIFT));
/// assert_eq!(event.to_string(), "ctrl+shift+up");
/// # Ok::<(), greenroom_model::KeyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyEvent {
    /// The key; for a character, the one the key gives without shift where that is known.
    pub key: Key,
    /// The modifiers held and the locks that are on.
    pub mods: Mods,
    /// Whether the key went down, is held or went up.
    pub action: KeyAction,
    /// The text the event typed, where it is known and more than the key alone says.
    pub text: Option<String>,
    /// What the key gives with shift in the current layout, where it is known.
    pub shifted: Option<char>,
    /// What the same physical key gives in the standard PC layout, where it is known.
    pub base: Option<char>,
}

impl KeyEvent {
    /// The longest text read as a chord, in bytes: all modifiers at their longest and the longest
    /// name of a key make 83, and nobody means a key by anything much longer.
    ///
    /// ```
    /// use greenroom_model::KeyEvent;
    ///
    /// assert!("x".repeat(KeyEvent::MAX_NAME + 1).parse::<KeyEvent>().is_err());
    /// ```
    pub const MAX_NAME: usize = 128;

    /// Makes a press of `key` with `mods`.
    ///
    /// ```
    /// use greenroom_model::{Key, KeyAction, KeyEvent, Mods};
    ///
    /// let event = KeyEvent::new(Key::Enter, Mods::ALT);
    /// assert_eq!(event.action, KeyAction::Press);
    /// ```
    #[must_use]
    pub const fn new(key: Key, mods: Mods) -> KeyEvent {
        KeyEvent { key, mods, action: KeyAction::Press, text: None, shifted: None, base: None }
    }

    /// The same event as another action.
    ///
    /// ```
    /// use greenroom_model::{Key, KeyAction, KeyEvent};
    ///
    /// let up = KeyEvent::from(Key::Tab).with_action(KeyAction::Release);
    /// assert_eq!(up.action, KeyAction::Release);
    /// ```
    #[must_use]
    pub fn with_action(mut self, action: KeyAction) -> KeyEvent {
        self.action = action;
        self
    }

    /// Whether both are the same chord, whatever protocol they came through.
    ///
    /// Locks, text, action and the layout's alternates do not count, and `A` is the chord
    /// `shift+a`: protocols differ in which of the two they report.
    ///
    /// ```
    /// use greenroom_model::{Key, KeyEvent, Mods};
    ///
    /// let wanted: KeyEvent = "ctrl+A".parse()?;
    /// let got = KeyEvent::new(Key::Char('a'), Mods::CTRL | Mods::SHIFT | Mods::NUM_LOCK);
    /// assert!(wanted.same_chord(&got));
    /// # Ok::<(), greenroom_model::KeyError>(())
    /// ```
    #[must_use]
    pub fn same_chord(&self, other: &KeyEvent) -> bool {
        self.chord() == other.chord()
    }

    /// The key and modifiers with shift moved out of the letter and the locks left away.
    fn chord(&self) -> (Key, Mods) {
        let mods = self.mods - Mods::LOCKS;
        let Key::Char(letter) = self.key else { return (self.key, mods) };
        let mut lower = letter.to_lowercase();
        match (lower.next(), lower.next()) {
            (Some(small), None) if small != letter => (Key::Char(small), mods | Mods::SHIFT),
            _ => (self.key, mods),
        }
    }
}

impl From<Key> for KeyEvent {
    fn from(key: Key) -> KeyEvent {
        KeyEvent::new(key, Mods::NONE)
    }
}

/// What happened to a key.
///
/// ```
/// use greenroom_model::{KeyAction, KeyEvent, Key};
///
/// assert_eq!(KeyEvent::from(Key::Up).action, KeyAction::Press);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum KeyAction {
    /// It went down.
    #[default]
    Press,
    /// It is held and the keyboard repeats it.
    Repeat,
    /// It went up.
    Release,
}
