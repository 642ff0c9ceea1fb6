//! What a program gets to see of a pointer.
//!
//! Two things a program chooses on its own: which events it wants, and how they are written. The
//! older ways of writing cannot express far cells; such an event is not sent at all, because a
//! click somewhere else is worse than none.

use greenroom_model::{Mods, MouseAction, MouseButton, MouseEvent};

/// The farthest column or row, counted from 1, that fits in a byte after adding 32.
const DEFAULT_MAX: u32 = 223;
/// The farthest column or row, counted from 1, that fits in two bytes of UTF-8 after adding 32.
const UTF8_MAX: u32 = 2015;
/// What no button, or a button the encoding does not name, is called.
const NO_BUTTON: u8 = 3;
/// What is added for a motion.
const MOTION: u8 = 32;

/// Which pointer events a program asked for.
///
/// ```
/// use greenroom_screen::keys::MouseTracking;
/// # use greenroom_screen::{Options, Screen};
/// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// assert_eq!(screen.mouse_modes().tracking, MouseTracking::Off);
/// screen.feed(b"\x1b[?1002h");
/// assert_eq!(screen.mouse_modes().tracking, MouseTracking::Button);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MouseTracking {
    /// None.
    #[default]
    Off,
    /// Mode 9: presses of the first three buttons, without modifiers.
    X10,
    /// Mode 1000: presses and releases, and the wheel.
    Normal,
    /// Mode 1002: these, and motion while a button is held.
    Button,
    /// Mode 1003: these, and all motion.
    Any,
}

/// How a program wants pointer events written.
///
/// ```
/// use greenroom_screen::keys::MouseEncoding;
/// # use greenroom_screen::{Options, Screen};
/// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
/// assert_eq!(screen.mouse_modes().encoding, MouseEncoding::Default);
/// screen.feed(b"\x1b[?1006h");
/// assert_eq!(screen.mouse_modes().encoding, MouseEncoding::Sgr);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MouseEncoding {
    /// Three bytes, each with 32 added.
    #[default]
    Default,
    /// Mode 1005: the same, each as a character of UTF-8.
    Utf8,
    /// Mode 1006: decimal numbers, and releases that say which button.
    Sgr,
    /// Mode 1015: decimal numbers, otherwise as the default.
    Urxvt,
    /// Mode 1016: as 1006, in pixels. An event that does not know its pixel is not sent.
    SgrPixels,
}

/// The modes of a terminal that decide how a pointer event is encoded.
///
/// ```
/// use greenroom_screen::keys::{MouseModes, MouseTracking};
///
/// assert_eq!(MouseModes::default().tracking, MouseTracking::Off);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct MouseModes {
    /// Which events are sent.
    pub tracking: MouseTracking,
    /// How they are written.
    pub encoding: MouseEncoding,
}

/// The bytes a program gets for a pointer event, or nothing if it does not get the event.
///
/// ```
/// use greenroom_model::{MouseButton, MouseEvent};
/// use greenroom_screen::keys::{MouseEncoding, MouseModes, MouseTracking, encode_mouse};
///
/// let click = MouseEvent::press(MouseButton::Left, 0, 9);
/// let mut modes = MouseModes { tracking: MouseTracking::Normal, encoding: MouseEncoding::Sgr };
/// assert_eq!(encode_mouse(&click, modes).as_deref(), Some(&b"\x1b[<0;1;10M"[..]));
/// modes.tracking = MouseTracking::Off;
/// assert_eq!(encode_mouse(&click, modes), None);
/// ```
#[must_use]
pub fn encode_mouse(event: &MouseEvent, modes: MouseModes) -> Option<Vec<u8>> {
    if !wants(modes.tracking, event) {
        return None;
    }
    let named = matches!(modes.encoding, MouseEncoding::Sgr | MouseEncoding::SgrPixels);
    let mut code = match (event.action, event.button) {
        (MouseAction::Release, _) if !named => NO_BUTTON,
        (_, Some(button)) => button_code(button),
        (_, None) => NO_BUTTON,
    };
    if event.action == MouseAction::Move {
        code += MOTION;
    }
    if modes.tracking != MouseTracking::X10 {
        code += mods_code(event.mods);
    }
    let cell = (u32::from(event.col) + 1, u32::from(event.row) + 1);
    match modes.encoding {
        MouseEncoding::Default => in_bytes(code, cell),
        MouseEncoding::Utf8 => in_utf8(code, cell),
        MouseEncoding::Sgr => Some(in_sgr(code, cell, event.action)),
        MouseEncoding::Urxvt => {
            Some(format!("\x1b[{};{};{}M", u32::from(code) + 32, cell.0, cell.1).into_bytes())
        }
        MouseEncoding::SgrPixels => {
            let (x, y) = event.pixel?;
            Some(in_sgr(code, (u32::from(x) + 1, u32::from(y) + 1), event.action))
        }
    }
}

/// Whether a program that asked for `tracking` gets this event.
fn wants(tracking: MouseTracking, event: &MouseEvent) -> bool {
    let wheel = event.button.is_some_and(MouseButton::is_wheel);
    match (event.action, event.button) {
        (MouseAction::Press, None) => false,
        (MouseAction::Press, Some(button)) => match tracking {
            MouseTracking::Off => false,
            MouseTracking::X10 => button_code(button) < NO_BUTTON,
            MouseTracking::Normal | MouseTracking::Button | MouseTracking::Any => true,
        },
        // A wheel is never held: it has no release and drags nothing.
        (MouseAction::Release | MouseAction::Move, _) if wheel => false,
        (MouseAction::Release, _) => !matches!(tracking, MouseTracking::Off | MouseTracking::X10),
        (MouseAction::Move, Some(_)) => {
            matches!(tracking, MouseTracking::Button | MouseTracking::Any)
        }
        (MouseAction::Move, None) => tracking == MouseTracking::Any,
    }
}

/// What a button is called: buttons come in groups, each with its own high bits.
fn button_code(button: MouseButton) -> u8 {
    match button {
        MouseButton::Left => 0,
        MouseButton::Middle => 1,
        MouseButton::Right => 2,
        MouseButton::WheelUp => 64,
        MouseButton::WheelDown => 65,
        MouseButton::WheelLeft => 66,
        MouseButton::WheelRight => 67,
        MouseButton::Back => 128,
        MouseButton::Forward => 129,
        MouseButton::Button10 => 130,
        MouseButton::Button11 => 131,
    }
}

/// Shift, alt and ctrl as they are added to the button.
fn mods_code(mods: Mods) -> u8 {
    [(Mods::SHIFT, 4), (Mods::ALT, 8), (Mods::CTRL, 16)]
        .iter()
        .map(|(one, code)| if mods.contains(*one) { *code } else { 0 })
        .sum()
}

/// The event that a button number with its modifiers and motion stands for, at no place yet.
pub(super) fn from_code(code: u32, released: bool) -> Option<MouseEvent> {
    let code = u8::try_from(code).ok()?;
    let named = code & !(4 | 8 | 16 | MOTION);
    let button = MouseButton::ALL.into_iter().find(|it| button_code(*it) == named);
    if button.is_none() && named != NO_BUTTON {
        return None;
    }
    let action = match button {
        _ if code & MOTION != 0 => MouseAction::Move,
        _ if released => MouseAction::Release,
        // Encodings that cannot name the button say "no button" for a release.
        None => MouseAction::Release,
        Some(_) => MouseAction::Press,
    };
    let mut event = MouseEvent::new(action, button, 0, 0);
    event.mods = Mods::from_bits(code >> 2 & 0b111);
    Some(event)
}

fn in_sgr(code: u8, (x, y): (u32, u32), action: MouseAction) -> Vec<u8> {
    let last = if action == MouseAction::Release { 'm' } else { 'M' };
    format!("\x1b[<{code};{x};{y}{last}").into_bytes()
}

fn in_bytes(code: u8, (col, row): (u32, u32)) -> Option<Vec<u8>> {
    if col > DEFAULT_MAX || row > DEFAULT_MAX {
        return None;
    }
    let byte = |value: u32| u8::try_from(value + 32).ok();
    Some(vec![0x1b, b'[', b'M', byte(u32::from(code))?, byte(col)?, byte(row)?])
}

fn in_utf8(code: u8, (col, row): (u32, u32)) -> Option<Vec<u8>> {
    if col > UTF8_MAX || row > UTF8_MAX {
        return None;
    }
    let mut text = String::from("\x1b[M");
    for value in [u32::from(code), col, row] {
        text.push(char::from_u32(value + 32)?);
    }
    Some(text.into_bytes())
}
