//! What a pane has printed, made fit for another terminal.

/// How many lines above the screen are asked for: as much as people scroll back, and what the
/// systems we serve give.
pub(crate) const LINES: &str = "-2000";

/// How much is given at most. Lines of 200 columns with a colour for every word come to half.
pub(crate) const MAX_BYTES: usize = 1 << 20;

/// Lines as tmux captures them as bytes for a terminal: apart by CR LF, without the empty rest of
/// the screen, the last of them if there are too many.
pub(crate) fn for_terminal(captured: &[u8]) -> Vec<u8> {
    let mut shown = Vec::with_capacity(captured.len() + captured.len() / 16);
    for (number, line) in captured.trim_ascii_end().split(|&byte| byte == b'\n').enumerate() {
        if number > 0 {
            shown.extend_from_slice(b"\r\n");
        }
        line.iter().for_each(|&byte| draw(byte, &mut shown));
    }
    cut(&mut shown);
    shown
}

/// tmux captures line drawing as the alternate character set, which terminals have not set up.
fn draw(byte: u8, shown: &mut Vec<u8>) {
    const SHIFT_OUT: u8 = 0x0e;
    const SHIFT_IN: u8 = 0x0f;
    match byte {
        SHIFT_OUT => shown.extend_from_slice(b"\x1b(0"),
        SHIFT_IN => shown.extend_from_slice(b"\x1b(B"),
        _ => shown.push(byte),
    }
}

/// Leaves the last whole lines that are not too many. A colour that began before is lost.
fn cut(shown: &mut Vec<u8>) {
    if shown.len() <= MAX_BYTES {
        return;
    }
    shown.drain(..shown.len() - MAX_BYTES);
    if let Some(end) = shown.iter().position(|&byte| byte == b'\n') {
        shown.drain(..=end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_as_terminals_want_and_the_empty_rest_is_left_out() {
        assert_eq!(for_terminal(b"a\n\n\x1b[1mb\n\n\n"), b"a\r\n\r\n\x1b[1mb");
        assert_eq!(for_terminal(b"\n\n"), b"");
        assert_eq!(for_terminal(b"\n\na"), b"\r\n\r\na");
        assert_eq!(for_terminal(b"\x0eq\x0f"), b"\x1b(0q\x1b(B");
    }

    #[test]
    fn too_much_is_cut_at_a_line() {
        let captured = b"0123456789\n".repeat(MAX_BYTES / 8);
        let shown = for_terminal(&captured);
        assert!(shown.len() <= MAX_BYTES && shown.len() > MAX_BYTES - 20);
        assert!(shown.starts_with(b"0123456789\r\n") && shown.ends_with(b"\n0123456789"));
    }
}
