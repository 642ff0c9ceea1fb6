//! Which key: every key a terminal protocol has a name for.
//!
//! Keys that come in a family (keypad, media, modifiers) are enums of their own, so that a match
//! over [`Key`] stays short and a family can be handled whole.

/// A key of a keyboard.
///
/// ```
/// use greenroom_model::Key;
///
/// assert_eq!(Key::f(5).map(|key| key.to_string()), Some("f5".to_owned()));
/// assert_eq!(Key::f(36), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// A key that types a character; the space bar is `Char(' ')`.
    Char(char),
    /// Enter, or return.
    Enter,
    /// Tab.
    Tab,
    /// Backspace: delete to the left.
    Backspace,
    /// Escape.
    Escape,
    /// Cursor up.
    Up,
    /// Cursor down.
    Down,
    /// Cursor left.
    Left,
    /// Cursor right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Insert.
    Insert,
    /// Delete: delete to the right.
    Delete,
    /// A function key.
    F(FKey),
    /// A key of the keypad, by what it does.
    Keypad(Keypad),
    /// Caps lock.
    CapsLock,
    /// Scroll lock.
    ScrollLock,
    /// Num lock.
    NumLock,
    /// Print screen.
    PrintScreen,
    /// Pause, or break.
    Pause,
    /// The menu key.
    Menu,
    /// A key for sound and music.
    Media(Media),
    /// A modifier, pressed as a key of its own.
    Modifier(Modifier),
}

impl Key {
    /// The function key with this number, or nothing if there is none.
    ///
    /// ```
    /// use greenroom_model::Key;
    ///
    /// assert!(Key::f(35).is_some());
    /// assert!(Key::f(0).is_none());
    /// ```
    #[must_use]
    pub const fn f(number: u8) -> Option<Key> {
        match FKey::new(number) {
            Some(key) => Some(Key::F(key)),
            None => None,
        }
    }
}

/// A function key, F1 to F35.
///
/// ```
/// use greenroom_model::FKey;
///
/// assert_eq!(FKey::new(12).map(FKey::number), Some(12));
/// assert_eq!(FKey::new(0), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FKey(u8);

impl FKey {
    /// The highest number: no protocol has a code for more.
    ///
    /// ```
    /// use greenroom_model::FKey;
    ///
    /// assert!(FKey::new(FKey::MAX).is_some());
    /// assert!(FKey::new(FKey::MAX + 1).is_none());
    /// ```
    pub const MAX: u8 = 35;

    /// The key with this number, if there is one.
    ///
    /// ```
    /// assert!(greenroom_model::FKey::new(36).is_none());
    /// ```
    #[must_use]
    pub const fn new(number: u8) -> Option<FKey> {
        if number >= 1 && number <= Self::MAX { Some(FKey(number)) } else { None }
    }

    /// Its number, from 1.
    ///
    /// ```
    /// use greenroom_model::FKey;
    ///
    /// assert_eq!(FKey::new(3).map(|key| key.number()), Some(3));
    /// ```
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// A key of the keypad, by what it does with num lock as it was.
///
/// ```
/// use greenroom_model::{Key, KeyEvent, Keypad};
///
/// assert_eq!("KP_5".parse(), Ok(KeyEvent::from(Key::Keypad(Keypad::Five))));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say all there is to say")]
pub enum Keypad {
    Zero,
    One,
    Two,
    Three,
    Four,
    Five,
    Six,
    Seven,
    Eight,
    Nine,
    Decimal,
    Divide,
    Multiply,
    Subtract,
    Add,
    Enter,
    Equal,
    Separator,
    Left,
    Right,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Insert,
    Delete,
    /// The key in the middle, with num lock off.
    Begin,
}

impl Keypad {
    /// Every key of the keypad, in the order protocols number them.
    ///
    /// ```
    /// assert_eq!(greenroom_model::Keypad::ALL.len(), 29);
    /// ```
    pub const ALL: [Keypad; 29] = [
        Keypad::Zero,
        Keypad::One,
        Keypad::Two,
        Keypad::Three,
        Keypad::Four,
        Keypad::Five,
        Keypad::Six,
        Keypad::Seven,
        Keypad::Eight,
        Keypad::Nine,
        Keypad::Decimal,
        Keypad::Divide,
        Keypad::Multiply,
        Keypad::Subtract,
        Keypad::Add,
        Keypad::Enter,
        Keypad::Equal,
        Keypad::Separator,
        Keypad::Left,
        Keypad::Right,
        Keypad::Up,
        Keypad::Down,
        Keypad::PageUp,
        Keypad::PageDown,
        Keypad::Home,
        Keypad::End,
        Keypad::Insert,
        Keypad::Delete,
        Keypad::Begin,
    ];
}

/// A key for sound and music.
///
/// ```
/// use greenroom_model::{Key, KeyEvent, Media};
///
/// assert_eq!("media_play".parse(), Ok(KeyEvent::from(Key::Media(Media::Play))));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say all there is to say")]
pub enum Media {
    Play,
    Pause,
    PlayPause,
    Reverse,
    Stop,
    FastForward,
    Rewind,
    TrackNext,
    TrackPrevious,
    Record,
    LowerVolume,
    RaiseVolume,
    MuteVolume,
}

impl Media {
    /// Every key for sound and music, in the order protocols number them.
    ///
    /// ```
    /// assert_eq!(greenroom_model::Media::ALL.len(), 13);
    /// ```
    pub const ALL: [Media; 13] = [
        Media::Play,
        Media::Pause,
        Media::PlayPause,
        Media::Reverse,
        Media::Stop,
        Media::FastForward,
        Media::Rewind,
        Media::TrackNext,
        Media::TrackPrevious,
        Media::Record,
        Media::LowerVolume,
        Media::RaiseVolume,
        Media::MuteVolume,
    ];
}

/// A modifier as a key of its own.
///
/// ```
/// use greenroom_model::{Key, KeyEvent, Modifier};
///
/// assert_eq!("left_shift".parse(), Ok(KeyEvent::from(Key::Modifier(Modifier::LeftShift))));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say all there is to say")]
pub enum Modifier {
    LeftShift,
    LeftCtrl,
    LeftAlt,
    LeftSuper,
    LeftHyper,
    LeftMeta,
    RightShift,
    RightCtrl,
    RightAlt,
    RightSuper,
    RightHyper,
    RightMeta,
    /// Often called AltGr.
    IsoLevel3Shift,
    IsoLevel5Shift,
}

impl Modifier {
    /// Every modifier, in the order protocols number them.
    ///
    /// ```
    /// assert_eq!(greenroom_model::Modifier::ALL.len(), 14);
    /// ```
    pub const ALL: [Modifier; 14] = [
        Modifier::LeftShift,
        Modifier::LeftCtrl,
        Modifier::LeftAlt,
        Modifier::LeftSuper,
        Modifier::LeftHyper,
        Modifier::LeftMeta,
        Modifier::RightShift,
        Modifier::RightCtrl,
        Modifier::RightAlt,
        Modifier::RightSuper,
        Modifier::RightHyper,
        Modifier::RightMeta,
        Modifier::IsoLevel3Shift,
        Modifier::IsoLevel5Shift,
    ];
}
