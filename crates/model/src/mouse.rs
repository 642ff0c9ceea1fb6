//! What a pointer did over a terminal.
//!
//! The event says everything that can be known; which of it a program gets to see, and in which
//! bytes, depends on what the program asked for and is decided where events are encoded.

use crate::Mods;

/// One thing a pointer did over a terminal.
///
/// ```
/// use greenroom_model::{MouseAction, MouseButton, MouseEvent};
///
/// let click = MouseEvent::press(MouseButton::Left, 4, 2);
/// assert_eq!((click.col, click.row), (4, 2));
/// assert_eq!(click.action, MouseAction::Press);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MouseEvent {
    /// What happened.
    pub action: MouseAction,
    /// The button it is about, or held while moving; nothing for a bare motion, and for a release
    /// reported by a protocol that does not say which button went up.
    pub button: Option<MouseButton>,
    /// The modifiers held; only shift, alt and ctrl can be reported to a program.
    pub mods: Mods,
    /// The column of the cell, counted from 0.
    pub col: u16,
    /// The row of the cell, counted from 0.
    pub row: u16,
    /// The place in pixels (x, y), counted from 0, where the pointer's owner knows it.
    pub pixel: Option<(u16, u16)>,
}

impl MouseEvent {
    /// Makes an event without modifiers and without a place in pixels.
    ///
    /// ```
    /// use greenroom_model::{MouseAction, MouseEvent};
    ///
    /// let hover = MouseEvent::new(MouseAction::Move, None, 0, 0);
    /// assert!(hover.mods.is_empty());
    /// ```
    #[must_use]
    pub const fn new(
        action: MouseAction,
        button: Option<MouseButton>,
        col: u16,
        row: u16,
    ) -> MouseEvent {
        MouseEvent { action, button, mods: Mods::NONE, col, row, pixel: None }
    }

    /// Makes the press of a button, or one step of a wheel.
    ///
    /// ```
    /// use greenroom_model::{MouseButton, MouseEvent};
    ///
    /// let wheel = MouseEvent::press(MouseButton::WheelUp, 0, 0);
    /// assert_eq!(wheel.button, Some(MouseButton::WheelUp));
    /// ```
    #[must_use]
    pub const fn press(button: MouseButton, col: u16, row: u16) -> MouseEvent {
        MouseEvent::new(MouseAction::Press, Some(button), col, row)
    }

    /// Makes the release of a button.
    ///
    /// ```
    /// use greenroom_model::{MouseAction, MouseButton, MouseEvent};
    ///
    /// let up = MouseEvent::release(MouseButton::Left, 0, 0);
    /// assert_eq!(up.action, MouseAction::Release);
    /// ```
    #[must_use]
    pub const fn release(button: MouseButton, col: u16, row: u16) -> MouseEvent {
        MouseEvent::new(MouseAction::Release, Some(button), col, row)
    }
}

/// What a pointer can do.
///
/// ```
/// use greenroom_model::{MouseAction, MouseButton, MouseEvent};
///
/// let drag = MouseEvent::new(MouseAction::Move, Some(MouseButton::Left), 1, 1);
/// assert_eq!(drag.action, MouseAction::Move);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MouseAction {
    /// A button went down, or a wheel turned one step.
    Press,
    /// A button went up.
    Release,
    /// The pointer moved: a drag with a button, a hover without.
    Move,
}

/// A button of a pointer, by what it usually does; the number is the one protocols count by.
///
/// ```
/// use greenroom_model::MouseButton;
///
/// assert!(MouseButton::WheelDown.is_wheel());
/// assert!(!MouseButton::Back.is_wheel());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MouseButton {
    /// Button 1.
    Left,
    /// Button 2.
    Middle,
    /// Button 3.
    Right,
    /// Button 4: the wheel turned away from the person.
    WheelUp,
    /// Button 5: the wheel turned towards the person.
    WheelDown,
    /// Button 6: the wheel tilted left.
    WheelLeft,
    /// Button 7: the wheel tilted right.
    WheelRight,
    /// Button 8, mostly "back".
    Back,
    /// Button 9, mostly "forward".
    Forward,
    /// Button 10.
    Button10,
    /// Button 11.
    Button11,
}

impl MouseButton {
    /// Every button, in the order of their numbers.
    ///
    /// ```
    /// assert_eq!(greenroom_model::MouseButton::ALL.len(), 11);
    /// ```
    pub const ALL: [MouseButton; 11] = [
        MouseButton::Left,
        MouseButton::Middle,
        MouseButton::Right,
        MouseButton::WheelUp,
        MouseButton::WheelDown,
        MouseButton::WheelLeft,
        MouseButton::WheelRight,
        MouseButton::Back,
        MouseButton::Forward,
        MouseButton::Button10,
        MouseButton::Button11,
    ];

    /// Whether this is a step of a wheel: it has no release and cannot be held.
    ///
    /// ```
    /// assert!(greenroom_model::MouseButton::WheelLeft.is_wheel());
    /// ```
    #[must_use]
    pub const fn is_wheel(self) -> bool {
        matches!(
            self,
            MouseButton::WheelUp
                | MouseButton::WheelDown
                | MouseButton::WheelLeft
                | MouseButton::WheelRight
        )
    }
}
