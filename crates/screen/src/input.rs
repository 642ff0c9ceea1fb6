//! Input for the program, encoded as it asked for: keys, mouse, paste and focus by the modes that
//! are set now. How each encoding works is in `keys`.

use greenroom_model::{KeyEvent, MouseEvent};

use crate::keys::{encode_focus, encode_key, encode_mouse, encode_paste};
use crate::modes::Modes;
use crate::screen::Screen;

impl Screen {
    /// What a key sends to the program; nothing for a key that has no encoding in its modes.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// let up = "up".parse().unwrap();
    /// assert_eq!(screen.key(&up), b"\x1b[A");
    /// screen.feed(b"\x1b[?1h");
    /// assert_eq!(screen.key(&up), b"\x1bOA");
    /// ```
    #[must_use]
    pub fn key(&self, event: &KeyEvent) -> Vec<u8> {
        encode_key(event, self.key_modes())
    }

    /// What a paste sends: in brackets if the program asked for them, and never with anything in
    /// it that could end them or act as a control.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// assert_eq!(screen.paste("a\nb"), b"a\rb");
    /// screen.feed(b"\x1b[?2004h");
    /// assert_eq!(screen.paste("a\x1b[201~b"), b"\x1b[200~a[201~b\x1b[201~");
    /// ```
    #[must_use]
    pub fn paste(&self, text: &str) -> Vec<u8> {
        encode_paste(text, self.modes().contains(Modes::BRACKETED_PASTE))
    }

    /// What a mouse event sends, if the program wants to hear of it.
    ///
    /// ```
    /// use greenroom_model::{MouseAction, MouseButton, MouseEvent};
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// let press = MouseEvent::new(MouseAction::Press, Some(MouseButton::Left), 4, 1);
    /// assert_eq!(screen.mouse(&press), None);
    /// screen.feed(b"\x1b[?1000;1006h");
    /// assert_eq!(screen.mouse(&press).unwrap(), b"\x1b[<0;5;2M");
    /// ```
    #[must_use]
    pub fn mouse(&self, event: &MouseEvent) -> Option<Vec<u8>> {
        encode_mouse(event, self.mouse_modes())
    }

    /// What gaining or losing the focus sends, if the program wants to hear of it.
    ///
    /// ```
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// assert_eq!(screen.focus(true), None);
    /// screen.feed(b"\x1b[?1004h");
    /// assert_eq!(screen.focus(true).unwrap(), b"\x1b[I");
    /// ```
    #[must_use]
    pub fn focus(&self, gained: bool) -> Option<&'static [u8]> {
        self.modes().contains(Modes::FOCUS).then(|| encode_focus(gained))
    }
}
