//! Input for the program, encoded as it asked for: keys, mouse, paste and focus by the modes that
//! are set now. How each encoding works is in `keys`.

use greenroom_model::{KeyEvent, MouseEvent};

use crate::keys::{
    KeyModes, KittyFlags, MouseEncoding, MouseModes, MouseTracking, encode_focus, encode_key,
    encode_mouse, encode_paste,
};
use crate::modes::Modes;
use crate::screen::Screen;

impl Screen {
    /// How keys are to be encoded for the program now.
    ///
    /// ```
    /// use greenroom_screen::keys::encode_key;
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// let up = "up".parse().unwrap();
    /// assert_eq!(encode_key(&up, screen.key_modes()), b"\x1b[A");
    /// screen.feed(b"\x1b[?1h"); // application cursor keys
    /// assert_eq!(encode_key(&up, screen.key_modes()), b"\x1bOA");
    /// ```
    #[must_use]
    pub fn key_modes(&self) -> KeyModes {
        let modes = self.terminal.modes;
        KeyModes {
            app_cursor: modes.contains(Modes::APP_CURSOR),
            app_keypad: modes.contains(Modes::APP_KEYPAD),
            newline: modes.contains(Modes::NEWLINE),
            backarrow: modes.contains(Modes::BACKARROW),
            modify_other_keys: self.terminal.other_keys,
            kitty: KittyFlags::from_bits(self.terminal.grid.keyboard.flags()),
            ..KeyModes::default()
        }
    }

    /// How mouse events are to be encoded for the program now.
    ///
    /// ```
    /// use greenroom_model::{MouseButton, MouseEvent};
    /// use greenroom_screen::keys::encode_mouse;
    /// # use greenroom_screen::{Options, Screen};
    /// # let mut screen = Screen::new("20x4".parse().unwrap(), Options::default());
    /// let click = MouseEvent::press(MouseButton::Left, 0, 0);
    /// assert_eq!(encode_mouse(&click, screen.mouse_modes()), None);
    /// screen.feed(b"\x1b[?1000h\x1b[?1006h");
    /// assert_eq!(encode_mouse(&click, screen.mouse_modes()).unwrap(), b"\x1b[<0;1;1M");
    /// ```
    #[must_use]
    pub fn mouse_modes(&self) -> MouseModes {
        let modes = self.terminal.modes;
        let tracking = [
            (Modes::MOUSE_X10, MouseTracking::X10),
            (Modes::MOUSE_NORMAL, MouseTracking::Normal),
            (Modes::MOUSE_BUTTON, MouseTracking::Button),
            (Modes::MOUSE_ANY, MouseTracking::Any),
        ];
        let encoding = [
            (Modes::MOUSE_UTF8, MouseEncoding::Utf8),
            (Modes::MOUSE_SGR, MouseEncoding::Sgr),
            (Modes::MOUSE_URXVT, MouseEncoding::Urxvt),
            (Modes::MOUSE_PIXELS, MouseEncoding::SgrPixels),
        ];
        let tracking = tracking.into_iter().find(|(bit, _)| modes.contains(*bit));
        let encoding = encoding.into_iter().find(|(bit, _)| modes.contains(*bit));
        MouseModes {
            tracking: tracking.map_or(MouseTracking::Off, |(_, it)| it),
            encoding: encoding.map_or(MouseEncoding::Default, |(_, it)| it),
        }
    }

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
