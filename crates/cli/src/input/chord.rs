//! One key with its modifiers, in every encoding a terminal may send it in.
//!
//! Which encoding is used depends on what the program in the session asked for: a control
//! character, xterm's modifyOtherKeys (`CSI 27;5;93~`) or kitty's protocol (`CSI 93;5u`).

use greenroom_model::{Key, KeyAction, KeyEvent, Mods};

/// A key to be found among those typed.
#[derive(Debug, Clone)]
pub(crate) struct Chord {
    event: KeyEvent,
    /// What a terminal sends for it that knows no better.
    legacy: Vec<u8>,
}

/// How a key that was found had been sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// As a control character, or as function keys always were.
    Legacy,
    /// `CSI code;mods u`.
    Kitty(KeyAction),
    /// `CSI 27;mods;code ~`.
    Xterm,
}

impl Chord {
    /// A chord, if it can be told from typing in every terminal.
    pub(crate) fn new(event: &KeyEvent) -> Result<Chord, String> {
        let legacy = legacy(event).ok_or_else(|| {
            format!(
                "`{event}` cannot be told from typing in every terminal; \
                 take ctrl with a letter or one of `\\]^_`, alt with a character, or a function key"
            )
        })?;
        Ok(Chord { event: event.clone(), legacy })
    }

    /// The same key with alt, if it has none.
    pub(crate) fn with_alt(&self) -> Option<Chord> {
        if self.event.mods.contains(Mods::ALT) {
            return None;
        }
        Chord::new(&KeyEvent::new(self.event.key, self.event.mods | Mods::ALT)).ok()
    }

    /// The control character it is in a terminal that knows no better, if it is just that.
    pub(super) fn control(&self) -> Option<u8> {
        match self.legacy[..] {
            [byte] => Some(byte),
            _ => None,
        }
    }

    /// Whether these bytes are it in a terminal that knows no better.
    pub(super) fn is_legacy(&self, bytes: &[u8]) -> bool {
        self.legacy == bytes
    }

    /// How a control sequence says that it is this key, if it does.
    pub(super) fn encoding(&self, params: &[u8], end: u8) -> Option<Encoding> {
        let (found, encoding) = key(params, end)?;
        let is_it = found.same_chord(&self.event)
            // With a layout of another script, the key is known by its place.
            || found.base.is_some_and(|base| {
                KeyEvent::new(Key::Char(base), found.mods).same_chord(&self.event)
            });
        is_it.then_some(encoding)
    }

    /// Its bytes in an encoding.
    pub(super) fn bytes(&self, encoding: Encoding) -> Vec<u8> {
        let mods = self.event.mods.bits() + 1;
        let code = match self.event.key {
            Key::Char(it) => u32::from(it),
            _ => return self.legacy.clone(),
        };
        match encoding {
            Encoding::Legacy => self.legacy.clone(),
            Encoding::Kitty(KeyAction::Press) => format!("\x1b[{code};{mods}u").into_bytes(),
            Encoding::Kitty(KeyAction::Repeat) => format!("\x1b[{code};{mods}:2u").into_bytes(),
            Encoding::Kitty(KeyAction::Release) => format!("\x1b[{code};{mods}:3u").into_bytes(),
            Encoding::Xterm => format!("\x1b[27;{mods};{code}~").into_bytes(),
        }
    }
}

/// What a terminal that knows no better sends, if that is unlike what typing sends.
fn legacy(event: &KeyEvent) -> Option<Vec<u8>> {
    let mods = event.mods - Mods::LOCKS;
    match event.key {
        Key::Char(it) if mods == Mods::CTRL => control(it).map(|it| vec![it]),
        Key::Char(it) if mods == Mods::CTRL | Mods::ALT => control(it).map(|it| vec![0x1b, it]),
        // Those would be the beginning of every sequence.
        Key::Char('[' | 'O' | ']' | 'P' | '_') if mods == Mods::ALT => None,
        Key::Char(it) if mods == Mods::ALT && it.is_ascii_graphic() => Some(vec![0x1b, it as u8]),
        Key::F(number) => function(number.number(), mods),
        _ => None,
    }
}

/// The control character of a character, unless it is a key of its own.
fn control(it: char) -> Option<u8> {
    match it.to_ascii_lowercase() {
        // Tab, enter and (in some terminals) backspace and newline.
        'i' | 'm' | 'h' | 'j' => None,
        letter @ 'a'..='z' => Some(letter as u8 - b'a' + 1),
        '\\' => Some(0x1c),
        ']' => Some(0x1d),
        '^' => Some(0x1e),
        '_' => Some(0x1f),
        ' ' | '@' => Some(0),
        _ => None,
    }
}

/// What function keys send since the VT220.
fn function(number: u8, mods: Mods) -> Option<Vec<u8>> {
    let with = mods.bits() + 1;
    let old = match number {
        1..=4 => {
            let letter = char::from(b'P' + number - 1);
            return Some(match mods.is_empty() {
                true => format!("\x1bO{letter}").into_bytes(),
                false => format!("\x1b[1;{with}{letter}").into_bytes(),
            });
        }
        5 => 15,
        6..=10 => number + 11,
        11..=12 => number + 12,
        _ => return None,
    };
    Some(match mods.is_empty() {
        true => format!("\x1b[{old}~").into_bytes(),
        false => format!("\x1b[{old};{with}~").into_bytes(),
    })
}

/// The character key a control sequence tells of, with its modifiers and action.
fn key(params: &[u8], end: u8) -> Option<(KeyEvent, Encoding)> {
    let text = str::from_utf8(params).ok()?;
    let mut fields = text.split(';');
    let first = fields.next()?;
    match end {
        b'u' => {
            let mut codes = first.split(':').map(|it| it.parse().ok().and_then(char::from_u32));
            let code = codes.next()??;
            let mut mods = fields.next().unwrap_or("1").split(':');
            let mut event = KeyEvent::new(Key::Char(code), modifiers(mods.next()?)?);
            event.base = codes.nth(1).flatten();
            event.action = match mods.next() {
                Some("2") => KeyAction::Repeat,
                Some("3") => KeyAction::Release,
                _ => KeyAction::Press,
            };
            let action = event.action;
            Some((event, Encoding::Kitty(action)))
        }
        b'~' if first == "27" => {
            let mods = modifiers(fields.next()?)?;
            let code = char::from_u32(fields.next()?.parse().ok()?)?;
            Some((KeyEvent::new(Key::Char(code), mods), Encoding::Xterm))
        }
        _ => None,
    }
}

/// Modifiers as they are sent: one and the sum of their bits.
fn modifiers(text: &str) -> Option<Mods> {
    let number: u16 = text.parse().ok()?;
    u8::try_from(number.checked_sub(1)?).ok().map(Mods::from_bits)
}
