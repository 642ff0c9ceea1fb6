//! Text on its way into a program as if a person had pasted it.
//!
//! Invariant: nothing pasted can act. Whatever the text contains, what is sent has no ESC, no C1
//! control, no control character but tab and carriage return: it cannot end its own brackets,
//! interrupt a program or be edited by the line discipline.

/// What a terminal sends before a paste, in a program that asked for it (mode 2004).
pub(super) const START: &[u8] = b"\x1b[200~";
/// What a terminal sends after it.
pub(super) const END: &[u8] = b"\x1b[201~";

/// The bytes a program gets for a paste of `text`.
///
/// Ends of lines become carriage returns, as if typed; every other control character but tab is
/// taken out, with brackets or without.
///
/// ```
/// use greenroom_screen::keys::encode_paste;
///
/// assert_eq!(encode_paste("a\r\nb\x1b[201~c", true), b"\x1b[200~a\rb[201~c\x1b[201~");
/// assert_eq!(encode_paste("rm\x03 -i\n", false), b"rm -i\r");
/// ```
#[must_use]
pub fn encode_paste(text: &str, bracketed: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + START.len() + END.len());
    if bracketed {
        out.extend(START);
    }
    let mut after_return = false;
    for c in text.chars() {
        match c {
            '\n' if after_return => {}
            '\n' | '\r' => out.push(b'\r'),
            _ if c.is_control() && c != '\t' => {}
            _ => out.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
        after_return = c == '\r';
    }
    if bracketed {
        out.extend(END);
    }
    out
}
