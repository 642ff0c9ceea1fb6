//! What a CSI sequence from a terminal means.

use greenroom_model::{Key, KeyAction, KeyEvent, Mods, MouseEvent};

use super::super::{mouse, table};
use super::Input;

/// How many fields of a sequence are read; no key and no pointer event has more.
const FIELDS: usize = 3;
/// How many characters of text one key is believed to type: a cluster of emoji has up to ten.
const TEXT_MAX: usize = 32;

/// Decodes one whole sequence; `report_due` says that a cursor position report is expected.
pub(super) fn decode(bytes: &[u8], report_due: bool) -> Input {
    match bytes {
        [_, _, b'M', button, col, row] => return bytes_mouse(*button, *col, *row),
        [_, _, b'[', letter @ b'A'..=b'E'] => {
            return key_or_raw(Key::f(letter - b'A' + 1).map(KeyEvent::from));
        }
        _ => {}
    }
    let [_, _, params @ .., last] = bytes else { return Input::Raw };
    match (params, *last) {
        ([b'<', params @ ..], b'M' | b'm') => sgr_mouse(params, *last == b'm'),
        ([b'?' | b'>' | b'=', ..], _) => Input::Reply,
        ([.., b'$'], b'y') | (_, b'c' | b'n' | b't' | b'x') => Input::Reply,
        ([.., b'&'], b'w') => Input::Reply,
        ([], b'I') => Input::Focus(true),
        ([], b'O') => Input::Focus(false),
        (_, b'M') => urxvt_mouse(params),
        (_, b'R') => f3_or_report(params, report_due),
        (_, b'u') => key_or_raw(Fields::parse(params).and_then(|it| kitty_key(&it))),
        (_, b'~') => key_or_raw(Fields::parse(params).and_then(|it| numbered_key(&it))),
        (_, letter) => key_or_raw(Fields::parse(params).and_then(|it| lettered_key(&it, letter))),
    }
}

fn key_or_raw(event: Option<KeyEvent>) -> Input {
    event.map_or(Input::Raw, Input::Key)
}

/// The modifiers a parameter stands for; nothing if it stands for none there are.
pub(super) fn mods(param: u32) -> Option<Mods> {
    u8::try_from(param.checked_sub(1)?).ok().map(Mods::from_bits)
}

/// The numbers of a sequence: fields with `;` between them, each with parts after `:`.
struct Fields<'a>([&'a [u8]; FIELDS]);

impl<'a> Fields<'a> {
    fn parse(params: &'a [u8]) -> Option<Fields<'a>> {
        if !params.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b';' | b':')) {
            return None;
        }
        let mut fields = [&[][..]; FIELDS];
        for (index, field) in params.split(|byte| *byte == b';').enumerate() {
            *fields.get_mut(index)? = field;
        }
        Some(Fields(fields))
    }

    /// A part of a field: nothing if it is missing or empty.
    fn part(&self, field: usize, part: usize) -> Option<u32> {
        self.parts(field).nth(part)?
    }

    fn parts(&self, field: usize) -> impl Iterator<Item = Option<u32>> + use<'_, 'a> {
        let field = self.0.get(field).copied().unwrap_or_default();
        field.split(|byte| *byte == b':').map(number)
    }

    /// The second field: modifiers, and what happened.
    fn mods_and_action(&self) -> Option<(Mods, KeyAction)> {
        let action = match self.part(1, 1).unwrap_or(1) {
            1 => KeyAction::Press,
            2 => KeyAction::Repeat,
            3 => KeyAction::Release,
            _ => return None,
        };
        Some((mods(self.part(1, 0).unwrap_or(1))?, action))
    }
}

fn number(digits: &[u8]) -> Option<u32> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// `CSI code : shifted : base ; modifiers : event ; text u`
fn kitty_key(fields: &Fields<'_>) -> Option<KeyEvent> {
    let (mods, action) = fields.mods_and_action()?;
    let text: Option<String> =
        fields.parts(2).take(TEXT_MAX).flatten().map(char::from_u32).collect();
    let text = text?;
    let key = match fields.part(0, 0)? {
        // Text that no known key typed: its first character has to do.
        0 => Key::Char(text.chars().next()?),
        code => table::from_kitty(code)?,
    };
    let mut event = KeyEvent::new(key, mods).with_action(action);
    event.text = Some(text).filter(|it| !it.is_empty());
    event.shifted = fields.part(0, 1).and_then(char::from_u32);
    event.base = fields.part(0, 2).and_then(char::from_u32);
    Some(event)
}

/// `CSI number ; modifiers : event ~`, or modifyOtherKeys' `CSI 27 ; modifiers ; code ~`
fn numbered_key(fields: &Fields<'_>) -> Option<KeyEvent> {
    let (mods, action) = fields.mods_and_action()?;
    let key = match (fields.part(0, 0)?, fields.part(2, 0)) {
        (27, Some(8)) => Key::Backspace,
        (27, Some(code)) => table::from_kitty(code)?,
        (number, None) => table::from_number(number)?,
        _ => return None,
    };
    Some(KeyEvent::new(key, mods).with_action(action))
}

/// `CSI letter` or `CSI 1 ; modifiers : event letter`
fn lettered_key(fields: &Fields<'_>, letter: u8) -> Option<KeyEvent> {
    let (mods, action) = fields.mods_and_action()?;
    if fields.part(0, 0).unwrap_or(1) != 1 || fields.part(2, 0).is_some() {
        return None;
    }
    let (key, more) = match letter {
        b'Z' => (Key::Tab, Mods::SHIFT),
        _ => (table::from_letter(letter)?, Mods::NONE),
    };
    Some(KeyEvent::new(key, mods | more).with_action(action))
}

/// `CSI 1 ; modifiers R` is F3 or a report of the cursor's position in the first row.
fn f3_or_report(params: &[u8], report_due: bool) -> Input {
    let key = Fields::parse(params).and_then(|it| lettered_key(&it, b'R'));
    match key {
        Some(event) if !report_due || params.is_empty() => Input::Key(event),
        None if params.is_empty() => Input::Raw,
        _ => Input::Reply,
    }
}

/// A pointer event at a place counted from 1.
fn placed(event: Option<MouseEvent>, col: Option<u32>, row: Option<u32>) -> Option<Input> {
    let mut event = event?;
    event.col = u16::try_from(col?.checked_sub(1)?).ok()?;
    event.row = u16::try_from(row?.checked_sub(1)?).ok()?;
    Some(Input::Mouse(event))
}

fn sgr_mouse(params: &[u8], released: bool) -> Input {
    let decode = || {
        let fields = Fields::parse(params)?;
        let event = mouse::from_code(fields.part(0, 0)?, released);
        placed(event, fields.part(1, 0), fields.part(2, 0))
    };
    decode().unwrap_or(Input::Raw)
}

fn urxvt_mouse(params: &[u8]) -> Input {
    let decode = || {
        let fields = Fields::parse(params)?;
        let event = mouse::from_code(fields.part(0, 0)?.checked_sub(32)?, false);
        placed(event, fields.part(1, 0), fields.part(2, 0))
    };
    decode().unwrap_or(Input::Raw)
}

fn bytes_mouse(button: u8, col: u8, row: u8) -> Input {
    let value = |byte: u8| u32::from(byte).checked_sub(32);
    let event = value(button).and_then(|code| mouse::from_code(code, false));
    placed(event, value(col), value(row)).unwrap_or(Input::Raw)
}
