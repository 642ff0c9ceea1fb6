//! Whether a terminal shows its alternate screen, by what was written to it.

const ESC: u8 = 0x1b;

/// The modes that show the alternate screen.
const MODES: [u32; 3] = [47, 1047, 1049];

/// Follows which screen is shown, however the bytes are cut.
#[derive(Debug, Default)]
pub(crate) struct Alternate {
    is_shown: bool,
    state: State,
    /// The parameter that is being read, and whether one before it, or it, is one of ours.
    parameter: u32,
    is_ours: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    Csi,
    /// In the parameters of a private mode.
    Mode,
}

impl Alternate {
    pub(crate) fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// Takes note of what was written.
    pub(crate) fn note(&mut self, mut bytes: &[u8]) {
        loop {
            if self.state == State::Ground {
                let Some(at) = bytes.iter().position(|byte| *byte == ESC) else { return };
                (self.state, bytes) = (State::Escape, &bytes[at + 1..]);
            }
            let Some((&byte, rest)) = bytes.split_first() else { return };
            bytes = rest;
            self.state = self.next(byte);
        }
    }

    fn next(&mut self, byte: u8) -> State {
        match (self.state, byte) {
            (_, ESC) => State::Escape,
            (State::Escape, b'[') => State::Csi,
            (State::Escape, b'c') => {
                self.is_shown = false;
                State::Ground
            }
            (State::Csi, b'?') => {
                (self.parameter, self.is_ours) = (0, false);
                State::Mode
            }
            (State::Mode, b'0'..=b'9') => {
                let digit = u32::from(byte - b'0');
                self.parameter = self.parameter.saturating_mul(10).saturating_add(digit);
                State::Mode
            }
            (State::Mode, b';' | b'h' | b'l') => {
                self.is_ours |= MODES.contains(&self.parameter);
                self.parameter = 0;
                if byte == b';' {
                    return State::Mode;
                }
                self.is_shown = if self.is_ours { byte == b'h' } else { self.is_shown };
                State::Ground
            }
            _ => State::Ground,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str, expected: bool) {
        for cut in 0..=written.len() {
            let (head, tail) = written.as_bytes().split_at(cut);
            let mut alternate = Alternate::default();
            alternate.note(head);
            alternate.note(tail);
            assert_eq!(alternate.is_shown(), expected, "cut at {cut}: {written:?}");
        }
    }

    #[test]
    fn the_screen_is_followed_however_the_bytes_are_cut() {
        check("text", false);
        check("\x1b[?1049h", true);
        check("\x1b[?25;1049h\x1b[Hvim", true);
        check("\x1b[?1049h\x1b[?1049l$ ", false);
        check("\x1b[?47h\x1b[?25h\x1b[1049l", true);
        check("\x1b[?1047h\x1bc", false);
        check("\x1b\x1b[?1049h", true);
        check("\x1b[?1049$p", false);
    }
}
