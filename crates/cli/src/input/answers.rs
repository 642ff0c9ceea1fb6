//! Which sequences are a terminal's answers to questions, and no keys.
//!
//! The daemon is the terminal and asks nothing of the person's; an answer can only be to something
//! asked before, and typed into the session it would be garbage. `CSI … R` is left alone: it is
//! the F3 key with modifiers as well.

/// Whether a control sequence is an answer.
pub(super) fn is_answer(params: &[u8], intermediates: &[u8], end: u8) -> bool {
    let marker = params.first().filter(|it| matches!(it, b'<'..=b'?'));
    match (marker, intermediates, end) {
        // What the terminal is (DA).
        (Some(b'?' | b'>' | b'='), b"", b'c') => true,
        // A mode (DECRQM).
        (_, b"$", b'y') => true,
        // The keyboard flags of kitty; keys have no marker.
        (Some(b'?'), b"", b'u') => true,
        // Where the cursor is, in the form no key has (DECXCPR).
        (Some(b'?'), b"", b'R') => true,
        // How the terminal does (DSR); that the colour scheme changed is news and no answer.
        (Some(b'?'), b"", b'n') => !params.starts_with(b"?997;"),
        (None, b"", b'n') => true,
        // The size of the window; that it changed is told by the daemon, which has another.
        (None, b"", b't') => true,
        _ => false,
    }
}
