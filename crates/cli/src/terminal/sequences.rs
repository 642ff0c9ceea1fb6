//! What is written to the person's terminal beside what the session prints.

use greenroom_model::Size;

use crate::plain::plain;

/// Keeps the title, for [`leave`] to bring it back.
pub(crate) const KEEP_TITLE: &[u8] = b"\x1b[22;0t";

/// What to write before a session draws: keeps the title, and scrolls what is there up, so that it
/// stays in the terminal's own scrollback.
pub(crate) fn enter(size: Size) -> Vec<u8> {
    let mut bytes = KEEP_TITLE.to_vec();
    // From wherever the cursor is, so many newlines push out what is above it and nothing else.
    bytes.extend(std::iter::repeat_n(b"\r\n", size.rows().into()).flatten());
    bytes
}

/// What to write when a session no longer draws: takes back every mode a program can have set, and the
/// alternate screen if that is shown.
///
/// Not a full reset: that would clear the screen and, in some terminals, the scrollback. And not the main screen
/// where it is shown already: tmux would put the cursor where it was before the last program with another.
pub(crate) fn leave(alternate: bool) -> Vec<u8> {
    let main = if alternate { MAIN } else { b"" };
    [HELD, main, MODES].concat()
}

/// What is held back.
const HELD: &[u8] = concat!(
    "\x18\x1b\\",  // whatever sequence was begun is over
    "\x1b[?2026l", // show what is held back by synchronized output
    "\x1b[=0;1u",  // kitty keyboard of the screen that is shown
)
.as_bytes();

/// The main screen; saved first, so that nothing moves on it.
const MAIN: &[u8] = b"\x1b7\x1b[?1049l";

/// Every mode.
const MODES: &[u8] = concat!(
    "\x1b[=0;1u\x1b[>4m", // kitty keyboard of the main screen, modifyOtherKeys
    "\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l", // mouse
    "\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l", // how the mouse is reported
    "\x1b[?1004l\x1b[?2004l\x1b[?2031l\x1b[?2048l", // focus, paste, colour scheme, size reports
    "\x1b[?1l\x1b>\x1b[?66l", // cursor keys and keypad
    "\x1b[4l\x1b[20l\x1b[?5l\x1b[?7h\x1b[?45l", // insert, newline, reverse video, wrap
    "\x1b7\x1b[?69l\x1b[r\x1b[?6l\x1b8", // margins, which move the cursor, and it back
    "\x1b(B\x1b)B\x0f",   // character sets
    "\x1b]8;;\x1b\\\x1b[m", // links and styles
    "\x1b[0 q\x1b[?12l\x1b[?25h", // the cursor
    "\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\", // colours
    "\x1b[23;0t",         // the title
)
.as_bytes();

/// What to write behind [`leave`], before a line of ours: below what the session drew.
pub(crate) const BELOW: &[u8] = b"\r\n\x1b[J";

/// Sets the title of the terminal.
pub(crate) fn title(text: &str) -> Vec<u8> {
    format!("\x1b]2;{}\x1b\\", plain(text)).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_cannot_end_itself() {
        assert_eq!(title("a\x1b\\b\x07c"), b"\x1b]2;a\\bc\x1b\\");
    }

    #[test]
    fn what_is_on_the_terminal_is_scrolled_by_its_height() {
        let bytes = enter(Size::new(80, 3).unwrap());
        assert_eq!(bytes, b"\x1b[22;0t\r\n\r\n\r\n");
    }
}
